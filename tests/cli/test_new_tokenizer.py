"""`mt train --from PARENT --new-tokenizer`: a vocabulary of its own on the weights of a parent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from mt.model_folder.folder import LoadedModel, load_model, read_config
from mt.text.tokenizer import RESERVED, Tokenizer
from tests.cases.model_files import same_tensors
from tests.cases.runs import SMALL, run_here
from tests.cli.starter import BRIEF, MACHINE, content, write_corpus
from tests.exchange.marian_models import write_huggingface

FORMS: dict[str, tuple[str, ...]] = {
    "joint": (),
    "one for each side": ("tokenizer.joint=false", "model.tied=target"),
    "untied": ("tokenizer.joint=false", "model.tied=none", "model.output_bias=true"),
    "decoder-only": ("model.architecture=decoder-only", "model.encoder_layers=0"),
}
KEEPS_START = ("--set", "training.peak_rate=3", "--set", "training.warmup_updates=1")
"""A rate at which no update is better: the model in the folder stays that of update 0."""


def settings(*assignments: str) -> list[str]:
    return [word for each in assignments for word in ("--set", each)]


@pytest.fixture(scope="module")
def make_parent(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A model of German to English of a form; tests do not change it."""
    folder = tmp_path_factory.mktemp("parents")
    corpus = write_corpus(folder, "train", 0)

    def make(form: str) -> Path:
        made = folder / form.replace(" ", "-")
        if not made.exists():
            options = (*SMALL, *settings(*FORMS[form]), "--vocab-size", "400", "--updates", "2")
            run_here("train", *corpus, "-o", made, *options, "--threads", "1").check()
        return made

    return make


def train_child(parent: Path, output: Path, *options: str, languages: str = "en nds") -> str:
    corpus = write_corpus(output.parent, "more", 100, languages=languages)
    start = ("--from", parent, "--new-tokenizer", "-o", output)
    more = (*BRIEF, "--set", "training.metric=loss", *options)
    run = run_here("train", *corpus, *start, *more)
    return run.check().err


def expected_rows(
    parent: NDArray[np.float32], child: Tokenizer, its: Tokenizer
) -> NDArray[np.float32]:
    """Row by row; the parent's cut of a piece is that of a word, or of what follows a letter."""
    wall = "漢"
    names = its.pieces(range(its.vocab_size))
    rows = [parent[i] for i in range(len(RESERVED))]
    for piece in child.pieces(range(len(RESERVED), child.vocab_size)):
        if piece in names:
            rows.append(parent[names.index(piece)])
        else:
            text = wall + piece.replace("\u2581", " ")
            parts = its.encode(text)[len(its.encode(wall)) :]
            rows.append(parent[parts].astype(np.float64).mean(axis=0))
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_a_vocabulary_are_those_of_the_same_pieces_or_the_mean_of_parts(
    form: str, make_parent: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = make_parent(form)
    before = content(folder)
    told = train_child(folder, tmp_path / "new", "--vocab-size", "380", *KEEPS_START)
    assert content(folder) == before
    parent, child = load_model(folder), load_model(tmp_path / "new")
    assert child.tokenizers.source.model != parent.tokenizers.source.model
    assert child.tokenizers.is_joint == parent.tokenizers.is_joint
    assert child.config.model == parent.config.model
    assert child.config.preset == parent.config.preset
    assert (child.config.source_language, child.config.target_language) == ("en", "nds")
    _require_inherited(parent, child)
    names = dict(child.model.named_parameters())
    for name, tensor in parent.model.named_parameters():
        if "embedding" not in name and not name.startswith("output"):
            assert torch.equal(names[name], tensor), name
    pairs = {(each.source, each.target) for each in (parent.tokenizers, child.tokenizers)}
    assert len(pairs) == 2
    config, size = child.config, child.tokenizers.target.vocab_size
    assert config.tokenizer.vocab_size == size <= 380
    assert 0 < config.num_new_pieces < size
    assert f"{config.num_new_pieces} start from the mean of their parts" in told
    assert "with a new tokenizer" in told and "but " not in told.partition("training ended")[0]
    card = (tmp_path / "new" / "README.md").read_text("utf-8")
    name = folder.name
    lacked = f"which lacked {config.num_new_pieces} of the pieces"
    assert f"| fine-tuned from | {name}, {lacked} |" in card


def _require_inherited(parent: LoadedModel, child: LoadedModel) -> None:
    for of, side in (
        ("source_embedding.weight", "source"),
        ("target_embedding.weight", "target"),
        ("output.weight", "target"),
        ("output_bias", "target"),
    ):
        model, its = child.model.state_dict(), parent.model.state_dict()
        if of in model:
            tokenizers = (getattr(each.tokenizers, side) for each in (child, parent))
            rows = expected_rows(its[of].numpy(), *tokenizers)
            np.testing.assert_allclose(model[of].numpy(), rows, rtol=1e-5, atol=1e-7, err_msg=of)
            assert np.abs(model[of].numpy()).max() > 0


def test_a_child_whose_tokenizer_comes_out_the_same_is_a_fine_tuned_model(
    make_parent: Callable[[str], Path], tmp_path: Path
) -> None:
    parent = make_parent("joint")
    corpus = write_corpus(tmp_path, "train", 0)
    for name, flags in (("a", ()), ("b", ("--new-tokenizer", "--vocab-size", "400"))):
        options = ("-o", tmp_path / name, *BRIEF, *flags, "--set", "training.metric=loss")
        run_here("train", *corpus, "--from", parent, *options).check()
    models = [(each / "tokenizer.model").read_bytes() for each in (parent, tmp_path / "b")]
    assert models[0] == models[1]
    assert same_tensors(tmp_path / "a", tmp_path / "b")
    assert read_config(tmp_path / "b").num_new_pieces == 0


def test_without_a_size_that_of_the_corpus_is_taken_and_the_run_is_resumed(
    make_parent: Callable[[str], Path], tmp_path: Path
) -> None:
    told = train_child(make_parent("joint"), tmp_path / "a", "--updates", "4")
    assert "a vocabulary of 1000 pieces: what fits" in told
    assert "preset" not in told
    train_child(make_parent("joint"), tmp_path / "b", "--updates", "2")
    run_here("train", "--resume", tmp_path / "b", "--updates", "4", *MACHINE).check()
    states = [
        load_file(tmp_path / name / "training" / "checkpoint-4" / "state.safetensors")
        for name in ("a", "b")
    ]
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    run = run_here("translate", "-m", tmp_path / "b", "--device", "cpu", stdin=b"A man.\n")
    assert len(run.check().lines) == 1


def test_a_vocabulary_for_each_side_may_follow_a_joint_one(
    make_parent: Callable[[str], Path], tmp_path: Path
) -> None:
    """Of an untied or target-tied model; a matrix for both sides needs one vocabulary."""
    joint = ("tokenizer.joint=true", "--vocab-size", "380")
    train_child(make_parent("untied"), tmp_path / "new", "--set", *joint, *KEEPS_START)
    child = load_model(tmp_path / "new")
    assert child.tokenizers.is_joint
    _require_inherited(load_model(make_parent("untied")), child)
    corpus = write_corpus(tmp_path, "more", 100)
    options = ("--from", make_parent("joint"), "--new-tokenizer", "-o", tmp_path / "x", *BRIEF)
    run = run_here("train", *corpus, *options, "--set", "tokenizer.joint=false")
    assert "needs one joint tokenizer" in run.check_refusal(status=2)


def test_an_imported_model_is_a_parent_of_models_of_any_language(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    parent = tmp_path / "parent"
    run_here("import", tmp_path / "hf", "-o", parent, "--prefix", ">>deu<<").check()
    told = train_child(parent, tmp_path / "new", "--vocab-size", "380", *KEEPS_START)
    assert "the new tokenizer knows no >>deu<<, which parent puts before lines" in told
    child, its = load_model(tmp_path / "new"), load_model(parent)
    assert child.config.tokenizer.kind == "unigram"
    assert child.config.model.tied == "all" and child.tokenizers.is_joint
    assert dataclasses.replace(child.config.model) == its.config.model
    pieces = child.tokenizers.target.pieces(range(child.tokenizers.target.vocab_size))
    rows, biases = child.model.target_embedding.weight, child.model.output_bias
    assert biases is not None and its.model.output_bias is not None
    unspelt = pieces.index("<0xE4>")
    torch.testing.assert_close(rows[unspelt], its.model.target_embedding.weight[4:].mean(dim=0))
    torch.testing.assert_close(biases[unspelt], its.model.output_bias[4:].mean())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--tokenizer", "symbols"), "--new-tokenizer is for models of text, but --tokenizer"),
        (("--set", "model.d_model=16"), "model.d_model = 16 contradicts --from"),
        (("--preset", "small"), "--preset small contradicts --from"),
    ],
)
def test_what_cannot_be_is_refused(
    options: tuple[str, ...], named: str, make_parent: Callable[[str], Path], tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path, "more", 100)
    start = ("--from", make_parent("joint"), "--new-tokenizer")
    run = run_here("train", *corpus, *start, "-o", tmp_path / "new", *BRIEF, *options)
    assert named in run.check_refusal(status=2)
    assert not (tmp_path / "new").exists()


def test_a_model_of_symbols_has_no_other_vocabulary(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, "train", 0)
    options = (*SMALL, "--tokenizer", "symbols", "--updates", "1", "--threads", "1")
    run_here("train", *corpus, "-o", tmp_path / "old", *options).check()
    start = ("--from", tmp_path / "old", "--new-tokenizer")
    run = run_here("train", *corpus, *start, "-o", tmp_path / "new", *BRIEF)
    assert "old is a model of symbols" in run.check_refusal(status=2)


def test_the_flag_says_what_it_needs(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, "train", 0)
    run = run_here("train", *corpus, "--new-tokenizer", "-o", tmp_path / "new")
    assert "--new-tokenizer has an effect with --from only" in run.check_refusal(status=2)
    run = run_here("train", "--resume", tmp_path / "new", "--new-tokenizer")
    assert "--new-tokenizer cannot change when a run is resumed" in run.check(2).err
