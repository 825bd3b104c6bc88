"""Training runs: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
import random
import re
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mt.config import MetricName
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.events import BatchDone, Event
from mt.training import validation as validation_module
from mt.training.batch import Batch, make_batch
from mt.training.gradients import Gradients
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores, ValidationTask
from tests.cases.model_files import records, same_tensors
from tests.cases.runs import SMALL, UNTRAINED, Run, run_here, run_process, run_python
from tests.cases.toy import Toy, as_bytes, toy_pairs, write_bytes, write_files
from tests.training.small_run import TINY, VOCABULARY, budget
from tests.training.small_run import Run as SmallRun


@pytest.mark.parametrize(
    ("source", "target"),
    [(b"", b""), (b"one .\n", b" \n"), (b"\n\n", b"a\nb\n"), (b"\xe2\x80\x8b\n", b"a\n")],
    ids=["empty", "blank target", "blank sources", "invisible source"],
)
def test_validation_set_without_a_usable_pair_is_refused(
    source: bytes, target: bytes, toy: Toy, tmp_path: Path
) -> None:
    """T12 (marian-dev#310; sockeye PR#794, #1034): before the first update, and never nan."""
    dev = write_bytes(tmp_path, "dev", source=source, target=target)
    run = run_here("train", *toy.dev.arguments, *dev.as_dev, "-o", tmp_path / "m", *UNTRAINED)
    message = run.check_refusal()
    assert "validation set has no usable pair" in message
    assert "nan" not in run.err
    assert not (tmp_path / "m").exists()


def test_blank_validation_pairs_are_reported_and_harm_nothing(toy: Toy, tmp_path: Path) -> None:
    """T12: the loss is over the others, the scores over all lines of the file."""
    dev = write_bytes(
        tmp_path, "dev", source=b"one .\n\n\xe2\x80\x8b\nfour .\n", target=b"a .\nb .\nc .\n\n"
    )
    run = run_here("train", *toy.dev.arguments, *dev.as_dev, "-o", tmp_path / "m", *UNTRAINED)
    run.check()
    assert "warning: 3 of 4 validation pairs have a blank side" in run.err
    assert "nan" not in run.err
    (validated,) = records(tmp_path / "m", "Validated")
    assert 0 < validated["scores"]["loss"] < 100


def test_validation_set_beyond_the_length_limit_harms_nothing(toy: Toy, tmp_path: Path) -> None:
    """T12: the limit on training pairs leaves the validation set whole."""
    long = as_bytes([" ".join(["one"] * 300)] * 2)
    dev = write_bytes(tmp_path, "dev", source=long, target=long)
    limit = ("--set", "corpus.max_length=60")
    corpus = ("train", *toy.dev.arguments, *dev.as_dev)
    run = run_here(*corpus, "-o", tmp_path / "m", *UNTRAINED, *limit).check()
    assert "nan" not in run.err


@pytest.mark.parametrize(("updates", "interval"), [(10, 4), (10, 5), (3, 100), (7, 1)])
def test_last_update_is_saved_whatever_the_interval(
    updates: int, interval: int, toy: Toy, tmp_path: Path
) -> None:
    """T16 (fairseq#2230, #775): a state and a validation of just that update."""
    options = ("--updates", str(updates), "--set", f"training.validate_every={interval}")
    folder = tmp_path / "m"
    arguments = ("train", *toy.test.arguments, *toy.dev.as_dev, "-o", folder, *UNTRAINED)
    run_here(*arguments, *options).check()
    (state,) = (folder / "training").glob("checkpoint-*")
    assert state.name == f"checkpoint-{updates}"
    progress = json.loads((state / "progress.json").read_text("utf-8"))["progress"]
    assert progress["update"] == progress["validated_update"] == updates
    validated = [record["update"] for record in records(folder, "Validated")]
    assert validated == sorted({*range(interval, updates + 1, interval), updates})


def test_last_update_at_the_end_of_an_epoch_is_saved(toy: Toy, tmp_path: Path) -> None:
    """T16: where the budget counts epochs."""
    folder = tmp_path / "m"
    arguments = ("train", *toy.test.arguments, *toy.dev.as_dev, "-o", folder, *SMALL)
    run_here(*arguments, "--epochs", "2", "--batch-tokens", "64").check()
    (ended,) = records(folder, "TrainingEnded")
    (state,) = (folder / "training").glob("checkpoint-*")
    progress = json.loads((state / "progress.json").read_text("utf-8"))["progress"]
    assert progress["update"] == progress["validated_update"] == ended["update"] > 2


@pytest.fixture
def few(tmp_path: Path) -> tuple[str, ...]:
    """200 toy pairs and a validation set, as arguments of `mt train`, on one thread."""
    train = write_files(tmp_path, "few", toy_pairs(200, seed="few"))
    dev = write_files(tmp_path, "dev", toy_pairs(5, seed="dev"))
    return (*train.arguments, *dev.as_dev, "--threads", "1")


@pytest.mark.parametrize("settings", [(), ("training.accumulate=2", "tokenizer.joint=false")])
def test_same_seed_gives_the_same_model_in_another_process(
    settings: tuple[str, ...], few: tuple[str, ...], tmp_path: Path
) -> None:
    """T06 (OpenNMT-py#2006; transformers#11323): whatever order Python's sets have there."""
    flags = [flag for setting in settings for flag in ("--set", setting)]
    if settings:
        flags += ["--set", "model.tied=none"]
    plan: tuple[str | Path, ...] = (*few, *SMALL, *flags, "--updates", "20")
    for name, seed in (("a", 7), ("c", 8)):
        run_here("train", "-o", tmp_path / name, "--seed", str(seed), *plan).check()
    other = {"PYTHONHASHSEED": "98" if os.environ.get("PYTHONHASHSEED") != "98" else "99"}
    again = ("train", "-o", tmp_path / "b", "--seed", "7", *plan)
    run_process(*again, environment=other).check()
    a, b, c = (tmp_path / name for name in "abc")
    assert same_tensors(a, b)
    assert not same_tensors(a, c)
    losses = [[record["loss"] for record in records(each, "BatchDone")] for each in (a, b, c)]
    assert losses[0] == losses[1] != losses[2]


def _store(folder: Path, lengths: Sequence[int]) -> TokenStore:
    sides = [[4 + (i + j) % 9 for j in range(n)] for i, n in enumerate(lengths)]
    targets = [side[::-1] for side in sides]
    write_tokens(folder / "s.arrow", [TokenBlock.of(sides, targets)], vocab_size=VOCABULARY)
    return TokenStore(folder / "s.arrow")


def _exact_run(folder: Path) -> Trainer:
    """A tiny trainer in float64 without dropout; always with the same first weights."""
    torch.set_default_dtype(torch.float64)
    try:
        model = dataclasses.replace(TINY, dropout=0.0)
        trainer = SmallRun(folder, budget(9, clip_norm=0.0, peak_rate=1e-12), model=model).trainer
    finally:
        torch.set_default_dtype(torch.float32)
    trainer.gradients.objective.dtype = torch.float64
    return trainer


@pytest.mark.parametrize("seed", range(4))
def test_however_an_update_is_cut_its_gradient_is_the_same(seed: int, tmp_path: Path) -> None:
    """T07 (transformers#35203, PR#35438; OpenNMT-py#2209, PR#526, #2601; trl#2175)."""
    draw = random.Random(seed)
    lengths = [2, 2, 2, 2, 30, 30, 30, 30, 1, 7]
    store = _store(tmp_path, lengths)
    order = draw.sample(range(len(lengths)), len(lengths))
    cuts = sorted(draw.sample(range(1, len(lengths)), draw.randint(1, 5)))
    bounds = [0, *cuts, len(lengths)]
    gradients, losses = [], []
    for parts in (
        [list(range(len(lengths)))],
        [order[a:b] for a, b in itertools.pairwise(bounds)],
    ):
        trainer = _exact_run(tmp_path)
        events: list[Event] = []
        trainer.listener = events.append
        trainer._update([make_batch(store, part) for part in parts])
        gradients.append([p.grad for p in trainer.model.parameters() if p.grad is not None])
        losses += [event.loss for event in events if isinstance(event, BatchDone)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-10)
    for whole, cut in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, cut, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_of_a_batch_is_that_of_its_pairs_alone(smoothing: float, tmp_path: Path) -> None:
    """T08 (pytorch#73205; transformers#7546, PR#5919, PR#9241; d2l-en PR#2717)."""
    store = _store(tmp_path, [1, 5, 40, 5])
    trainer = _exact_run(tmp_path)
    trainer.config = dataclasses.replace(trainer.config, label_smoothing=smoothing)
    trainer.model.eval()

    def loss_of(indices: list[int]) -> float:
        return trainer.gradients.loss(make_batch(store, indices)).item()

    alone = [loss_of([i]) for i in range(4)]
    for company in ([0, 2], [0, 0], [1, 2, 3], [0, 1, 2, 3], [2, 0, 2]):
        assert loss_of(company) == pytest.approx(sum(alone[i] for i in company), rel=1e-10)


def test_update_that_is_not_finite_is_skipped_and_told(
    few: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T09 (marian-dev#699; fairseq#512, #1529, #4555): once, and the run goes on."""
    original = Gradients.loss
    update = itertools.count(1)

    def loss(self: Gradients, batch: Batch) -> Tensor:
        factor = math.nan if next(update) in (5, 7) else 1.0
        return original(self, batch) * factor

    monkeypatch.setattr(Gradients, "loss", loss)
    run = run_here("train", *few, "-o", tmp_path / "m", *SMALL, "--updates", "9").check()
    assert "warning: update 5 skipped" in run.err
    assert "updates skipped, their gradient being non-finite: 2" in run.err
    skipped = [r["update"] for r in records(tmp_path / "m", "BatchDone") if r["skipped"]]
    assert skipped == [5, 7]
    (state,) = (tmp_path / "m" / "training").glob("checkpoint-*")
    tensors = load_file(state / "state.safetensors")
    assert all(bool(t.isfinite().all()) for t in tensors.values() if t.is_floating_point())


def test_rate_that_is_far_too_high_ends_the_run_with_a_state_that_loads(
    few: tuple[str, ...], tmp_path: Path
) -> None:
    """T09: without end, it ends with the number of the update, and nothing lost."""
    folder = tmp_path / "m"
    absurd = ("--set", "training.peak_rate=1e30", "--set", "training.max_nonfinite=5")
    run = run_here("train", *few, "-o", folder, *SMALL, *absurd, "--updates", "999")
    message = run.check_refusal()
    assert re.search(r"update \d+: the gradient was non-finite 5 times in a row", message)
    (state,) = (folder / "training").glob("checkpoint-*")
    tensors = load_file(state / "state.safetensors")
    assert all(bool(tensor.isfinite().all()) for tensor in tensors.values() if tensor.ndim)
    resumed = run_here("train", "--resume", folder, "--updates", "999", "--device", "cpu")
    assert "non-finite" in resumed.check_refusal()


def test_half_precision_learns_as_well(few: tuple[str, ...], tmp_path: Path) -> None:
    """T09: bfloat16 products; float16, which would overflow, is not offered."""
    losses = []
    for precision in ("float32", "bfloat16"):
        plan = (*SMALL, "--updates", "30", "--set", "training.warmup_updates=20")
        arguments = ("train", *few, "-o", tmp_path / precision, *plan, "--precision", precision)
        run_here(*arguments).check()
        losses += [r["scores"]["loss"] for r in records(tmp_path / precision, "Validated")][-1:]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    arguments = ("train", *few, "-o", tmp_path / "float16", *SMALL, "--precision", "float16")
    assert run_here(*arguments).check(2).out == b""


@pytest.mark.parametrize(
    ("metric", "scores", "patience", "kept", "last"),
    [
        ("loss", [1.0, 0.9, 0.95, 0.96, 0.5], 2, [1, 2], 4),
        ("bleu", [10, 12, 11, 12, 13], 3, [1, 2, 5], 5),
        ("chrf", [10, 12, 11, 12, 13], 3, [1, 2, 5], 5),
        ("loss", [1.0, 1.1], 1, [1], 2),
        ("bleu", [5, 5, 5, 6], 2, [1], 3),
        ("bleu", [math.nan, 2.0, math.nan, math.nan, 3.0], 2, [2], 4),
    ],
)
def test_best_weights_and_the_end_follow_the_direction_of_the_metric(
    metric: MetricName,
    scores: list[float],
    patience: int,
    kept: list[int],
    last: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T10, T11 (joeynmt PR#111; fairseq PR#1845, #2361; early-stopping-pytorch#16, PR#28)."""
    given = iter(scores)
    plan = budget(len(scores), metric=metric, patience=patience, validate_every=1)
    run = SmallRun(tmp_path, plan)
    held = {"BLEU": 0.0, "chrF2": 0.0}
    name = {"loss": "loss", "bleu": "BLEU", "chrf": "chrF2"}[metric]

    def validator(task: ValidationTask) -> TranslationScores:
        return TranslationScores(
            scores=held if name == "loss" else {**held, name: next(given)}, signatures={}
        )

    run.trainer.validator = validator
    monkeypatch.setattr(
        validation_module,
        "validation_loss",
        lambda *a, **k: (next(given) if name == "loss" else 0.0, 1),
    )
    run.trainer.run()
    assert run.kept == kept
    assert run.trainer.progress.update == last


_SIGNALLED = """
import os, signal, sys
from mt.cli.main import main
from mt.training.update_step import UpdateStep
from mt.training.validation_step import ValidationStep
where, number, count, at = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
step, name = {"update": (UpdateStep, "run"), "validation": (ValidationStep, "_task")}[where]
original = getattr(step, name)
def signalled(self, *arguments, **options):
    found = original(self, *arguments, **options)
    if self.parts.progress.update == at:
        for _ in range(count):
            os.kill(os.getpid(), number)
    return found
setattr(step, name, signalled)
main(sys.argv[5:])
"""


def _signalled(*arguments: object) -> Run:
    return run_python("-c", _SIGNALLED, *map(str, arguments))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["update", "validation"])
def test_signal_ends_a_run_with_all_saved(
    where: str, number: signal.Signals, few: tuple[str, ...], tmp_path: Path
) -> None:
    """T15 (marian-dev PR#442; pocket-tts PR#277; Fast-LLM PR#260): in a validation too."""
    folder = tmp_path / "m"
    plan = ("-o", folder, *SMALL, "--updates", "50", "--set", "training.validate_every=4")
    run = _signalled(where, int(number), 1, 8, "train", *few, *plan).check(128 + number)
    assert "interrupted and saved" in run.err
    (state,) = (folder / "training").glob("checkpoint-*")
    assert state.name == "checkpoint-8"
    run_here("train", "--resume", folder, "--updates", "9", "--device", "cpu").check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_ends_a_run_at_once(
    number: signal.Signals, few: tuple[str, ...], tmp_path: Path
) -> None:
    """T15: what was saved before stays."""
    folder = tmp_path / "m"
    plan = ("-o", folder, *SMALL, "--updates", "50", "--set", "training.validate_every=4")
    run = _signalled("validation", int(number), 2, 8, "train", *few, *plan)
    assert run.status in (128 + number, -number)
    assert "Traceback" not in run.err
    assert "interrupted and saved" not in run.err
    (state,) = (folder / "training").glob("checkpoint-*")
    assert state.name == "checkpoint-8"  # saved before it is validated
    run_here("train", "--resume", folder, "--updates", "9", "--device", "cpu").check()


def test_signal_in_the_last_update_leaves_the_last_validation_to_a_resume(
    few: tuple[str, ...], tmp_path: Path
) -> None:
    """T15, T16: else the run would be done, and have no weights."""
    folder = tmp_path / "m"
    plan = ("train", *few, "-o", folder, *SMALL, "--updates", "5")
    _signalled("update", int(signal.SIGTERM), 1, 5, *plan).check(143)
    assert not (folder / "model.safetensors").exists()
    run_here("train", "--resume", folder, "--device", "cpu").check()
    (validated,) = records(folder, "Validated")
    assert validated["update"] == 5
    assert (folder / "model.safetensors").exists()
    again = run_here("train", "--resume", folder, "--device", "cpu").check()
    assert "nothing left to do" in again.err
