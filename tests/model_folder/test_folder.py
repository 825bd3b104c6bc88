"""A model folder is whole, plain, and refused by name when it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from mt.config import Config, ModelConfig, TokenizerConfig
from mt.errors import ModelFolderError
from mt.model_folder import folder as model_folder
from mt.model_folder.folder import load_model
from mt.text.subwords import train_subwords
from mt.text.tokenizer_pair import TokenizerPair

SHAPE = ModelConfig(d_model=16, d_inner=32, encoder_layers=1, decoder_layers=1, heads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    write(path, Config(model=SHAPE))
    return path


def write(path: Path, config: Config) -> None:
    one, other = (
        train_subwords([text], kind="bpe", vocab_size=270) for text in ("ab abc", "de def g")
    )
    pair = TokenizerPair(source=one, target=one if config.tokenizer.joint else other)
    torch.manual_seed(5)
    model = model_folder.build_model(config, pair)
    pair.save(path)
    model_folder.write_config(path, config)
    model_folder.save_weights(path, model)


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("tied", ["target", "none"])
def test_a_folder_gives_back_what_was_saved(tmp_path: Path, joint: bool, tied: str) -> None:
    import dataclasses

    shape = dataclasses.replace(SHAPE, tied=tied)  # type: ignore[arg-type]
    config = Config(model=shape, tokenizer=TokenizerConfig(joint=joint), source_language="xx")
    write(tmp_path, config)
    loaded = load_model(tmp_path)
    assert loaded.config == config
    assert loaded.tokenizers.is_joint == joint
    torch.manual_seed(5)
    fresh = model_folder.build_model(config, loaded.tokenizers)
    for mine, its in zip(fresh.parameters(), loaded.model.parameters(), strict=True):
        assert torch.equal(mine, its)
    assert not loaded.model.training


def test_a_missing_setting_takes_its_default(folder: Path) -> None:
    text = (folder / "config.toml").read_text()
    kept = [line for line in text.split("\n") if not line.startswith(("alpha", "attention_drop"))]
    (folder / "config.toml").write_text("\n".join(kept))
    assert load_model(folder).config == Config(model=SHAPE)


def test_a_newer_format_is_refused_naming_both_versions(folder: Path) -> None:
    text = (folder / "config.toml").read_text()
    text = text.replace("format_version = 2", "format_version = 999\nfancy = [[1]]")
    (folder / "config.toml").write_text(text)
    with pytest.raises(ModelFolderError, match=r"format version 999.* knows up to 2"):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.toml", "tokenizer.model", "model.safetensors"])
@pytest.mark.parametrize("damage", ["missing", "empty", "text", "cut", "pickle"])
def test_every_damage_names_the_file(folder: Path, name: str, damage: str) -> None:
    path = folder / name
    content = path.read_bytes()
    path.unlink()
    new = {"empty": b"", "text": b"hello [", "cut": content[:100], "pickle": b"\x80\x04K\x01."}
    if damage != "missing":
        path.write_bytes(new[damage])
    with pytest.raises(ModelFolderError) as caught:
        load_model(folder)
    assert name in str(caught.value) or str(folder) in str(caught.value)


def test_a_bit_that_flipped_in_a_weight_is_refused(folder: Path) -> None:
    """The file is well-formed and every number in it is finite: its digest differs."""
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors is damaged.*SHA-256 differs"):
        load_model(folder)


def test_weights_of_another_shape_are_named(folder: Path) -> None:
    text = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(text.replace("d_inner = 32", "d_inner = 48"))
    with pytest.raises(ModelFolderError, match=r"feed_forward\S+ has shape"):
        load_model(folder)
    (folder / "config.toml").write_text(text.replace("decoder_layers = 1", "decoder_layers = 2"))
    with pytest.raises(ModelFolderError, match=r"lacks tensor decoder\.1"):
        load_model(folder)


def test_no_folder_and_no_model_folder_are_told_apart(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ModelFolderError, match="no such folder"):
        load_model(tmp_path / "none")
    with pytest.raises(ModelFolderError, match="has no config"):
        load_model(tmp_path)
    shutil.rmtree(tmp_path / "model" / "x", ignore_errors=True)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelFolderError, match="no weights yet"):
        load_model(folder)


def test_the_weights_file_holds_each_matrix_once(folder: Path) -> None:
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", framework="pt") as file:
        names = list(file.keys())
    assert "target_embedding.weight" in names
    assert not [name for name in names if name.startswith(("source_embedding", "output."))]
