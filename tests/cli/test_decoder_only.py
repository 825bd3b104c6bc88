"""A decoder-only model through every command: what holds for two stacks holds for one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mt.model_folder.folder import read_config
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import Toy, as_bytes, toy_sources

ONE_STACK = (
    *("--architecture", "decoder-only", "--vocab-size", "300", "--seed", "1"),
    *("--device", "cpu", "--precision", "float32", "--batch-tokens", "512"),
    *("--set", "model.d_model=32", "--set", "model.d_inner=32", "--set", "model.heads=2"),
    *("--set", "model.decoder_layers=2", "--set", "model.bidirectional_source=true"),
    *("--set", "model.positions=rotary", "--set", "training.warmup_updates=30"),
    *("--set", "training.validate_every=90", "--set", "search.beam=3"),
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    return Toy.write(tmp_path_factory.mktemp("toy"))


def train(toy: Toy, folder: Path, *options: str) -> Path:
    files = (*toy.train.arguments, *toy.dev.as_dev)
    run_here("train", *files, "-o", folder, *ONE_STACK, *options).check()
    return folder


@pytest.fixture(scope="module")
def model(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(toy, tmp_path_factory.mktemp("model") / "one", "--updates", "180")


def test_the_flag_gives_a_preset_one_stack_of_all_its_layers(toy: Toy, tmp_path: Path) -> None:
    options = [*SMALL]
    for layers in ("model.encoder_layers=1", "model.decoder_layers=1"):
        place = options.index(layers)
        del options[place - 1 : place + 1]
    files = (*toy.train.arguments, *toy.dev.as_dev)
    run = run_here(
        *("train", *files, "-o", tmp_path / "tiny", "--preset", "tiny", "--updates", "1"),
        *("--architecture", "decoder-only", *options),
    ).check()
    shape = read_config(tmp_path / "tiny").model
    assert (shape.architecture, shape.encoder_layers, shape.decoder_layers) == (
        "decoder-only",
        0,
        8,
    )
    assert not shape.bidirectional_source
    assert "decoder-only, 8 layers" in (tmp_path / "tiny" / "README.md").read_text("utf-8")
    assert "warning: on the 20 dev pairs the model scores BLEU " in run.err


def test_an_encoder_for_it_is_refused(toy: Toy, tmp_path: Path) -> None:
    run = run_here(
        *("train", *toy.train.arguments, "-o", tmp_path / "one", "--architecture", "decoder-only"),
        *("--set", "model.encoder_layers=2"),
    )
    assert "a decoder-only model has no encoder, but model.encoder_layers is 2" in (
        run.check_refusal(status=2)
    )
    assert not (tmp_path / "one").exists()


def test_it_resumes_bit_for_bit(toy: Toy, model: Path, tmp_path: Path) -> None:
    stopped = train(toy, tmp_path / "stopped", "--updates", "90")
    machine = ("--device", "cpu", "--precision", "float32")
    run_here("train", "--resume", stopped, "--updates", "180", *machine).check()
    name = "model.safetensors"
    assert (stopped / name).read_bytes() == (model / name).read_bytes()


def test_the_rest_of_a_batch_changes_nothing_and_scores_are_those_of_mt_score(
    model: Path, tmp_path: Path
) -> None:
    sources = toy_sources(40, seed="one stack")
    flags = ("translate", "-m", model, "--device", "cpu", "--n-best", "2", "--json")
    given = as_bytes(sources)
    together = run_here(*flags, stdin=given).check()
    alone = run_here(*flags, "--batch-size", "1", "--workers", "1", stdin=given).check()
    found, by_itself = ([json.loads(line) for line in run.lines] for run in (together, alone))
    for one, other in zip(found, by_itself, strict=True):
        assert [h["text"] for h in one["hypotheses"]] == [h["text"] for h in other["hypotheses"]]
        scores = [h["score"] for h in other["hypotheses"]]
        assert [h["score"] for h in one["hypotheses"]] == pytest.approx(scores, abs=1e-5)
    # Others of the same text are cut into other tokens than `mt score` cuts them into.
    pairs = [(each["source"], h) for each in found for h in each["hypotheses"] if h["same_tokens"]]
    assert len(pairs) >= 20
    for name, lines in (("s", [s for s, _ in pairs]), ("t", [h["text"] for _, h in pairs])):
        (tmp_path / name).write_bytes(as_bytes(lines))
    run = run_here("score", "-m", model, "--device", "cpu", tmp_path / "s", tmp_path / "t")
    scores = [float(line.split("\t")[0]) for line in run.check().lines]
    assert scores == pytest.approx([h["score"] for _, h in pairs], abs=1e-4)


def test_it_joins_a_model_of_two_stacks_and_is_averaged(
    toy: Toy, model: Path, tmp_path: Path
) -> None:
    one = ONE_STACK.index("decoder-only")
    two_stacks = [*ONE_STACK[: one - 1], *ONE_STACK[one + 1 :]]
    place = two_stacks.index("model.bidirectional_source=true")
    two_stacks[place] = "model.encoder_layers=1"
    files = (*toy.train.arguments, *toy.dev.as_dev)
    run_here("train", *files, "-o", tmp_path / "two", *two_stacks, "--updates", "30").check()
    given = as_bytes(toy_sources(3, seed="together"))
    both = run_here(
        *("translate", "-m", model, "-m", tmp_path / "two", "--device", "cpu"), stdin=given
    )
    assert len(both.check().lines) == 3
    refused = run_here("average", model, tmp_path / "two", "-o", tmp_path / "mean")
    assert "architecture" in refused.check_refusal()
    twin = shutil.copytree(model, tmp_path / "twin")
    run_here("average", model, twin, "-o", tmp_path / "mean").check()
    assert read_config(tmp_path / "mean").model == read_config(model).model


def test_alignments_and_a_page_of_its_attention(model: Path, tmp_path: Path) -> None:
    (source,) = toy_sources(1, seed="page")
    flags = ("translate", "-m", model, "--device", "cpu", "--json", "--alignment")
    run = run_here(*flags, stdin=as_bytes([source])).check()
    (hypothesis, *_) = json.loads(run.lines[0])["hypotheses"]
    words = len(source.split())
    assert hypothesis["alignment"]
    assert all(0 <= source_word < words for source_word, _ in hypothesis["alignment"])
    page = tmp_path / "page.html"
    run_here("inspect", model, "--source", source, "-o", page, "--device", "cpu").check()
    report = tmp_path / "report.html"
    run_here("report", model, "-o", report, "--device", "cpu", "--resamples", "100").check()
    assert '<select id="sentence">' in report.read_text("utf-8")
    text = page.read_text("utf-8")
    assert "Self-attention of the stream: 4 heads" in text
    assert "Cross-attention:" not in text


def test_there_is_no_export_with_ctranslate2(model: Path, tmp_path: Path) -> None:
    run = run_here("export", "-m", model, "-o", tmp_path / "ct2")
    assert "model.architecture" in run.check_refusal()


def test_another_architecture_contradicts_from(toy: Toy, model: Path, tmp_path: Path) -> None:
    run = run_here(
        *("train", *toy.train.arguments, "--from", model, "-o", tmp_path / "tuned"),
        *("--architecture", "encoder-decoder"),
    )
    assert "model.architecture (--architecture) = encoder-decoder contradicts" in run.check_refusal(
        status=2
    )
