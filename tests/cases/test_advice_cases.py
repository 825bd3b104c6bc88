"""What `mt train` says so that nobody is left with nothing: at its start, and at its end."""

from __future__ import annotations

import dataclasses
import json
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import mt
from mt.config import TokenizerConfig
from mt.events import Event, Notice, TrivialCompared, Validated, ignore
from mt.model_folder.facts import read_facts
from mt.model_folder.folder import read_config
from mt.tasks import dev_comparison
from mt.tasks.advice import advise, tell_few_pairs
from mt.tasks.dev_comparison import compare_with_trivial
from mt.tasks.training_run import resume_command
from mt.training.best import BestTracker, Standing, keys_of, scores_of
from tests.cases.conftest import Trained
from tests.cases.model_files import records
from tests.cases.runs import SMALL, UNTRAINED, run_here
from tests.cases.toy import Toy, as_lines, toy_pairs, write_files
from tests.evaluation.corpus_scores import sequence_scores


@pytest.fixture(scope="module")
def untrained(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("untrained") / "m"
    plan = ("-o", folder, *SMALL, "--updates", "3")
    run = run_here("train", *toy.train.arguments, *toy.dev.as_dev, *plan).check()
    return Trained(folder=folder, run=run)


def told(err: str) -> list[str]:
    """The two lines of advice."""
    return [line for line in err.split("\n") if "dev pairs the model" in line or "to try" in line]


# At the end


def test_model_that_beats_nothing_is_told_with_the_numbers_of_eval(
    untrained: Trained, toy: Toy
) -> None:
    run, folder = untrained.run, untrained.folder
    assert run.out == b""
    warning, tries = told(run.err)
    assert run.err.endswith(f"{warning}\n{tries}\n")
    record = json.loads(run_here("eval", "-m", folder, *toy.dev.arguments, "--json").check().out)
    own = [row["score"] for row in record["scores"][:2]]
    copy, nearest = ([row["score"] for row in each["scores"][:2]] for each in record["trivial"])
    sources, references = (as_lines(Path(path).read_bytes()) for path in toy.dev.arguments)
    assert copy == [
        pytest.approx(metric.corpus_score(sources, [references]).score)
        for metric in (BLEU(), CHRF())
    ]
    assert warning == (
        f"warning: on the 20 dev pairs the model scores BLEU {own[0]:.2f} and chrF2 {own[1]:.2f}, "
        f"the copy of the source {copy[0]:.2f} and {copy[1]:.2f}, "
        f"the nearest of 2,000 training pairs {nearest[0]:.2f} and {nearest[1]:.2f}: "
        "it has not learnt to translate yet"
    )
    resume = f"mt train --resume {folder} --updates …"
    assert tries == f"to try: a longer budget ({resume}); more text (docs/low-resource.md)"
    (compared,) = records(folder, "TrivialCompared")
    assert list(compared["scores"].values()) == own
    assert [list(each.values()) for each in compared["systems"].values()] == [copy, nearest]
    assert compared["beaten_by"] == list(compared["systems"])
    assert (compared["update"], compared["num_pairs"]) == (3, 20)


def test_model_that_has_learnt_gets_no_word(trained: Trained) -> None:
    assert not told(trained.run.err)
    assert "fewer than" not in trained.run.err
    (compared,) = records(trained.folder, "TrivialCompared")
    assert compared["beaten_by"] == []
    (nearest,) = [each for name, each in compared["systems"].items() if "nearest" in name]
    assert compared["scores"]["BLEU"] > nearest["BLEU"] > 5


def test_a_sample_is_compared_with_the_same_lines(toy: Toy, tmp_path: Path) -> None:
    pairs = toy_pairs(510, seed="many")
    dev = write_files(tmp_path, "many", pairs)
    plan = ("-o", tmp_path / "m", *UNTRAINED, "--keep", "overlap_source")
    run = run_here("train", *toy.train.arguments, *dev.as_dev, *plan).check()
    (warning, _) = told(run.err)
    chosen = [pairs[number * 510 // 200] for number in range(200)]
    sources, references = map(list, zip(*chosen, strict=True))
    copy = [each.corpus_score(sources, [references]).score for each in (BLEU(), CHRF())]
    assert "on 200 of the 510 dev pairs the model scores" in warning
    assert f"the copy of the source {copy[0]:.2f} and {copy[1]:.2f}, " in warning


def test_of_a_large_set_that_was_translated_the_sample_is_compared(
    untrained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev_comparison, "_MOST_LINES", 300)
    pairs = toy_pairs(301, seed="many")
    for name, side in (("source", 0), ("target", 1)):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (tmp_path / f"dev.{name}").write_text(text, "utf-8")
    config = read_config(untrained.folder)
    best = Validated(
        update=1,
        epoch=1.0,
        scores={"loss": 3.0, "BLEU": 50.0, "chrF2": 60.0},
        signatures={},
        is_best=True,
        seconds=1.0,
        validation_seconds=1.0,
    )
    of_sample = keys_of("bleu", {"loss": 3.0, "BLEU": 49.0, "chrF2": 59.0})
    standing = Standing(keys=of_sample, of_sample=of_sample)
    compared = compare_with_trivial(tmp_path, config, best, standing, ignore)
    assert compared is not None
    assert (compared.num_pairs, compared.num_all_pairs) == (200, 301)
    assert compared.scores == {"BLEU": 49.0, "chrF2": 59.0}
    assert not compared.beaten_by
    assert compare_with_trivial(tmp_path, config, best, None, ignore) is None


def test_scores_come_back_from_their_keys() -> None:
    scores = {"SER": 12.34, "exact": 56.78, "chrF2": 90.12, "loss": 1.23456}
    assert scores_of("ser", keys_of("ser", scores)) == scores
    assert scores_of("loss", keys_of("loss", scores)) == {"loss": 1.23456}


@pytest.mark.parametrize(
    ("own", "is_beaten", "verdict"),
    [
        ({"BLEU": 12.0, "chrF2": 60.0}, False, ""),
        ({"BLEU": 12.0, "chrF2": 30.0}, True, "it has hardly learnt to translate"),
        ({"BLEU": 8.0, "chrF2": 60.0}, True, "it has hardly learnt to translate"),
        ({"BLEU": 0.0, "chrF2": 0.0}, True, "it has not learnt to translate yet"),
    ],
)
def test_both_scores_of_text_must_be_better(
    own: dict[str, float], is_beaten: bool, verdict: str, untrained: Trained, tmp_path: Path
) -> None:
    """Those of the nearest pair are 9.96 and 51.13."""
    folder = tmp_path / "m"
    _copy(untrained.folder, folder, scores=own)
    warning, *_ = [*_said(folder, BestTracker(metric="bleu", patience=0, best_update=3)), ""]
    assert bool(warning) == is_beaten
    assert warning.endswith(verdict)


@pytest.mark.parametrize(
    ("losses", "waited", "tries"),
    [
        ([6.0] * 3 + [4.0] * 37, 0, ("a longer budget",)),
        ([6.0] * 3 + [5.5] * 37, 0, ("a longer budget", "`mt check` on the corpus")),
        ([6.0] * 3 + [5.5] * 3, 0, ("a longer budget",)),  # it is still warming up
        ([6.0] * 3 + [4.0] * 37, 1, ("`mt check` on the corpus",)),
        ([6.0] * 3 + [3.0] * 20 + [5.9] * 5, 0, ("a new run with a lower rate",)),
        (
            [8.0] * 6 + [3.9, 3.5, 2.0, 3.6] * 20 + [3.9, 3.6, 3.9],
            0,
            ("a longer budget",),
        ),  # batches differ
    ],
)
def test_what_to_try_follows_from_the_run(
    losses: list[float], waited: int, tries: tuple[str, ...], untrained: Trained, tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    _copy(untrained.folder, folder, losses=losses)
    tracker = BestTracker(metric="bleu", patience=1, best_update=3, num_without_improvement=waited)
    _, line = _said(folder, tracker)
    found = line.removeprefix("to try: ").split("; ")
    assert found.pop() == "more text (docs/low-resource.md)"
    assert [text.startswith(known) for text, known in zip(found, tries, strict=True)] == (
        [True] * len(tries)
    )
    rate = "--set training.peak_rate=0.0025), since"  # float32 it was already
    assert (rate in line) == (tries[0].startswith("a new run"))


def _copy(
    model: Path,
    folder: Path,
    *,
    losses: list[float] | None = None,
    scores: dict[str, float] | None = None,
) -> None:
    """Another model folder with another course of training."""
    folder.mkdir()
    for path in model.iterdir():
        if path.name != "metrics.jsonl":
            (folder / path.name).symlink_to(path)
    lines = (model / "metrics.jsonl").read_text("utf-8").split("\n")
    kept = [json.loads(line) for line in lines if line]
    for record in kept:
        if record["event"] == "Validated":
            record["scores"] |= scores or {}
    for number, loss in enumerate(losses or (), start=1):
        batch = {"event": "BatchDone", "update": 20 * number, "epoch": 1.0, "seconds": 1.0}
        kept.append({**batch, "loss": loss, "rate": 0.1, "gradient_norm": 1.0, "skipped": False})
    text = "".join(f"{json.dumps(record)}\n" for record in kept)
    (folder / "metrics.jsonl").write_text(text, "utf-8")


def _said(folder: Path, tracker: BestTracker) -> list[str]:
    events: list[Event] = []
    advise(
        folder,
        read_config(folder),
        tracker,
        num_pairs=2000,
        resume=resume_command(folder),
        listener=events.append,
    )
    return [event.text for event in events if isinstance(event, Notice)]


def test_scores_of_other_weights_are_not_compared(untrained: Trained) -> None:
    tracker = BestTracker(metric="bleu", patience=0, best_update=2)
    assert _said(untrained.folder, tracker) == []


def test_damaged_validation_set_is_no_end_of_a_run(untrained: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    _copy(untrained.folder, folder)
    (folder / "dev.source").unlink()
    (text,) = _said(folder, BestTracker(metric="bleu", patience=0, best_update=3))
    assert "is not known" in text


class Asked:
    """A stop that is asked for with the first validation."""

    received: int | None = None

    def installed(self, *, is_silent: bool) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_result_has_the_scores_unless_the_run_was_interrupted(
    is_stopped: bool, toy: Toy, tmp_path: Path
) -> None:
    stop = Asked()
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, Validated) and is_stopped:
            stop.received = 15

    request = mt.TrainRequest(
        corpus=toy.test.arguments,
        dev=toy.dev.arguments,
        output=str(tmp_path / "m"),
        vocab_size=300,
        budget=mt.Budget(updates=4),
        machine=mt.Machine(device="cpu", precision="float32", threads=1),
        settings={
            "model": {"d_model": 8, "d_inner": 8, "heads": 2},
            "search": {"max_length": 3},
            "training": {"validate_every": 2},
        },
    )
    result = mt.train(request, listen, stop=stop)
    assert result.best_update is not None
    assert (result.trivial is None) == is_stopped
    assert any(isinstance(event, TrivialCompared) for event in events) != is_stopped
    if result.trivial is not None:
        assert [each.system for each in result.trivial] == [
            "copy of the source",
            "nearest of 20 training pairs",
        ]


@pytest.mark.parametrize("metric", ["ser", "exact"])
def test_symbols_have_scores_of_their_own(metric: str, toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    small = [word for word in SMALL if word not in ("--vocab-size", "300")]
    options = ("--tokenizer", "symbols", "--updates", "1", "--set", f"training.metric={metric}")
    corpus = (*toy.train.arguments, *toy.dev.as_dev)
    run = run_here("train", *corpus, "-o", folder, *small, *options).check()
    sources, references = (as_lines(Path(path).read_bytes()) for path in toy.dev.arguments)
    exact, ser = (each.score for each in sequence_scores(sources, [references]))
    warning, tries = told(run.err)
    record = json.loads(run_here("eval", "-m", folder, *toy.dev.arguments, "--json").check().out)
    own = {row["name"]: row["score"] for row in record["scores"]}
    assert f"scores exact {own['exact']:.2f} and SER {own['SER']:.2f}, " in warning
    assert f"the copy of the source {exact:.2f} and {ser:.2f}, " in warning
    assert re.search(r"the nearest of [\d,]+ training pairs 0\.00 and ", warning)
    assert tries.endswith("more pairs")


def test_symbols_without_an_exact_match_may_beat_what_has_none(
    untrained: Trained, tmp_path: Path
) -> None:
    """A sequence that is long has no exact match for long: the error rate tells them apart."""
    folder = tmp_path / "m"
    _copy(untrained.folder, folder, scores={"exact": 0.0, "SER": 40.0})
    config = read_config(folder)
    training = dataclasses.replace(config.training, metric="exact")
    tokenizer = TokenizerConfig(kind="symbols", vocab_size=config.tokenizer.vocab_size)
    of_symbols = dataclasses.replace(config, training=training, tokenizer=tokenizer)
    facts = read_facts(folder, config)
    assert facts.best is not None
    for name in ("dev.source", "dev.target"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    compared = compare_with_trivial(tmp_path, of_symbols, facts.best, None, ignore)
    assert compared is not None
    assert compared.trivial[0].by_name["exact"] == 0
    assert not compared.beaten_by


# At the start


def test_corpus_of_few_pairs_is_told(toy: Toy, tmp_path: Path) -> None:
    line = (
        "fewer than 1,000 pairs to train on: expect a model that knows their words and little "
        "else; more text, or --from a trained model, helps (docs/low-resource.md)"
    )
    first, tuned = tmp_path / "a", tmp_path / "b"
    corpus = (*toy.test.arguments, *toy.dev.as_dev)
    run = run_here("train", *corpus, "-o", first, *UNTRAINED).check()
    said = run.err.split("\n")
    assert said.index("corpus: 20 pairs read, 20 used, 0 dropped") + 1 == said.index(line)
    again = run_here("train", *corpus, "-o", tmp_path / "c", *UNTRAINED).check()
    assert "is taken over" in again.err
    assert line in again.err.split("\n")
    plan = ("--updates", "1", "--device", "cpu", "--set", "search.max_length=3")
    run = run_here("train", *corpus, "-o", tuned, "--from", first, *plan).check()
    assert "fewer than" not in run.err


@pytest.mark.parametrize(("num_pairs", "is_told"), [(999, True), (1000, False)])
def test_few_are_fewer_than_a_thousand(num_pairs: int, is_told: bool) -> None:
    events: list[Event] = []
    tell_few_pairs(num_pairs, events.append)
    assert bool(events) == is_told
