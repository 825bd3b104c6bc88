"""Files of another model in a model folder: they fit by their shapes, and would give garbage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from mt.model_folder.folder import load_model, read_config, save_weights, write_config
from mt.text.subwords import SubwordTokenizer
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import Toy


def foreign(model: bytes) -> bytes:
    """A tokenizer with as many pieces, of which two have changed places with their text."""
    pieces = [SubwordTokenizer(model).pieces([i])[0].encode() for i in range(260, 330)]
    one, other = next(
        (one, other)
        for one in pieces
        for other in pieces
        if one != other and len(one) == len(other) > 5
    )
    field = b"\n" + bytes((len(one),))  # in the form of protobuf: number and length
    assert model.count(field + one) == model.count(field + other) == 1
    held = field + bytes(len(one))
    return (
        model.replace(field + one, held)
        .replace(field + other, field + one)
        .replace(held, field + other)
    )


@pytest.fixture
def swapped(own_model: Path) -> Path:
    """A model folder whose tokenizer is another's, with the same number of pieces."""
    path = own_model / "tokenizer.model"
    before = SubwordTokenizer(path.read_bytes())
    path.write_bytes(foreign(before.model))
    after = SubwordTokenizer(path.read_bytes())
    assert after.vocab_size == before.vocab_size
    assert after.pieces(range(260, 330)) != before.pieces(range(260, 330))
    return own_model


def test_every_command_refuses_the_tokenizer_of_another_model(
    swapped: Path, toy: Toy, tmp_path: Path
) -> None:
    test, out = toy.test.arguments, tmp_path / "out"
    commands: list[tuple[str | Path, ...]] = [
        ("translate", "-m", swapped, toy.test.source),
        ("eval", "-m", swapped, *test),
        ("score", "-m", swapped, *test),
        ("inspect", swapped, "--source", "bako", "-o", out),
        ("report", swapped, *test, "-o", out),
        ("average", swapped, "--last", "1", "-o", out),
        ("export", "-m", swapped, "-o", out),
        ("train", *toy.train.arguments, "--from", swapped, "-o", out),
        ("train", "--resume", swapped, "--updates", "301"),
    ]
    for command in commands:
        message = run_here(*command).check_refusal()
        assert f"{swapped}/tokenizer.model (SHA-256 " in message, command
        assert "is not the tokenizer that model.safetensors was trained with" in message, command
    assert not out.exists()


def test_a_run_without_weights_yet_knows_the_tokenizer_of_its_tokens(swapped: Path) -> None:
    (swapped / "model.safetensors").unlink()
    message = run_here("train", "--resume", swapped, "--updates", "301").check_refusal()
    assert "is not the tokenizer of the tokens in" in message


def test_one_side_of_two_tokenizers_is_refused_as_well(toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    separate = ("--set", "tokenizer.joint=false", "--set", "model.tied=target")
    run_here(
        "train", *toy.dev.arguments, *toy.dev.as_dev, "-o", folder, *SMALL, *separate,
        *("--updates", "1", "--keep", "overlap_source"),
    ).check()  # fmt: skip
    run_here("translate", "-m", folder, toy.test.source).check()
    shutil.copy(folder / "tokenizer.source.model", folder / "tokenizer.target.model")
    message = run_here("translate", "-m", folder, toy.test.source).check_refusal()
    assert "tokenizer.target.model" in message


def test_weights_of_another_model_are_refused(model: Path, swapped: Path, toy: Toy) -> None:
    """The other way round: a whole model, but for the weights of one with another tokenizer."""
    _without_digests(swapped)  # what says nothing is taken as it is
    save_weights(swapped, load_model(swapped).model)
    run_here("translate", "-m", swapped, toy.test.source).check()
    shutil.copy(model / "model.safetensors", swapped)
    message = run_here("translate", "-m", swapped, toy.test.source).check_refusal()
    assert "is not the tokenizer that model.safetensors was trained with" in message


@pytest.mark.parametrize(
    ("name", "value"),
    [("heads", 8), ("norm", "post"), ("activation", "gelu"), ("positions", "sinusoidal")],
)
def test_settings_of_another_model_are_refused(
    name: str, value: int | str, own_model: Path, toy: Toy
) -> None:
    """They change no shape, but what the numbers mean."""
    write_config(own_model, read_config(own_model).with_values({"model": {name: value}}))
    message = run_here("translate", "-m", own_model, toy.test.source).check_refusal()
    # Post-norm has no last norm, which is found first.
    assert f"model.{name}" in message or (name == "norm" and "stray tensor" in message)


def test_settings_of_training_alone_may_be_changed(own_model: Path, toy: Toy) -> None:
    changes = {"dropout": 0.0, "initialisation": "depth"}
    write_config(own_model, read_config(own_model).with_values({"model": changes}))
    run_here("translate", "-m", own_model, toy.test.source).check()


def _without_digests(folder: Path) -> None:
    weights = folder / "model.safetensors"
    save_file(load_file(weights), weights, metadata={"format": "pt"})
    prepared = folder / "training" / "corpus.json"
    record = json.loads(prepared.read_text("utf-8"))
    del record["tokenizers"]
    prepared.write_text(json.dumps(record), "utf-8")


def test_a_folder_of_an_older_version_loads_as_before(own_model: Path, toy: Toy) -> None:
    expected = run_here("translate", "-m", own_model, toy.test.source).check().out
    _without_digests(own_model)
    assert run_here("translate", "-m", own_model, toy.test.source).check().out == expected
    run_here("train", "--resume", own_model, "--updates", "300").check()


def average(model: Path, out: Path) -> Path:
    shutil.copytree(model, out.with_name("copy"))
    run_here("average", model, out.with_name("copy"), "-o", out).check()
    return out


@pytest.mark.parametrize("make", [average])
def test_folders_that_other_commands_write_know_their_tokenizer(
    make: Callable[[Path, Path], Path], model: Path, toy: Toy, tmp_path: Path
) -> None:
    folder = make(model, tmp_path / "made")
    path = folder / "tokenizer.model"
    path.write_bytes(foreign(path.read_bytes()))
    message = run_here("translate", "-m", folder, toy.test.source).check_refusal()
    assert "is not the tokenizer" in message
