"""Facts about training: gradients of whole updates, exact resume, faults that do not spread."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import Config, Optimizer
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.errors import ModelFolderError, TrainingError
from mt.events import BatchDone, TrainingStarted, Validated
from mt.training import checkpoint
from mt.training.batch import Batch, label_indices_of, make_batch
from tests.training.small_run import PLAN, TINY, VOCABULARY, Run, budget, same


def test_unequal_micro_batches_give_the_gradient_of_their_union(tmp_path: Path) -> None:
    model = dataclasses.replace(TINY, dropout=0.0)
    lengths = [2, 2, 2, 2, 30, 30, 30, 30]
    sides = [[4 + (i + j) % 9 for j in range(n)] for i, n in enumerate(lengths)]
    write_tokens(tmp_path / "p.arrow", [TokenBlock.of(sides, sides)], vocab_size=VOCABULARY)
    store = TokenStore(tmp_path / "p.arrow")
    config = budget(1, accumulate=1, clip_norm=0.0, peak_rate=1e-12)

    def gradients(*parts: list[int]) -> tuple[list[Tensor], float]:
        run = Run(tmp_path, config, model=model)
        run.trainer._update([make_batch(store, part) for part in parts])
        return [p.grad for p in run.trainer.model.parameters() if p.grad is not None], run.losses[0]

    whole, whole_loss = gradients([0, 1, 2, 3, 4, 5, 6, 7])
    parts, parts_loss = gradients([0, 1], [2, 4], [3], [5, 6, 7])
    assert parts_loss == pytest.approx(whole_loss, rel=1e-6)
    for one, other in zip(whole, parts, strict=True):
        assert float((one - other).abs().max() / one.abs().max()) < 1e-5


def test_padding_and_repetition_change_no_loss_per_token(tmp_path: Path) -> None:
    write_tokens(
        tmp_path / "p.arrow",
        [TokenBlock.of([[4, 5], [6] * 40], [[7, 8, 9], [5] * 40])],
        vocab_size=VOCABULARY,
    )
    store = TokenStore(tmp_path / "p.arrow")
    trainer = Run(tmp_path, budget(1)).trainer
    trainer.model.eval()

    def loss_of(batch: Batch) -> float:
        return float(trainer.gradients.loss(batch).detach()) / batch.num_target_tokens

    alone = make_batch(store, [0])
    wide = make_batch(store, [0, 1])
    padded = Batch(
        source=wide.source[:1],
        source_mask=wide.source_mask[:1],
        target=wide.target[:1],
        target_mask=wide.target_mask[:1],
        labels=alone.labels,
        label_indices=label_indices_of(wide.target_mask[:1]),
    )
    twice = make_batch(store, [0, 0])
    assert loss_of(padded) == pytest.approx(loss_of(alone), abs=1e-6)
    assert loss_of(twice) == pytest.approx(loss_of(alone), abs=1e-6)


@pytest.mark.parametrize(
    ("stops", "optimizer"), [([20], "adamw"), ([7], "muon"), ([3, 9, 26], "adamw")]
)
def test_a_resumed_run_is_the_run_itself(
    tmp_path: Path, stops: list[int], optimizer: Optimizer
) -> None:
    """40 updates equal stopping in the middle of an epoch and going on, bit for bit."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    whole = Run(tmp_path / "whole", budget(40, optimizer=optimizer, dropout_epochs=6.0))
    whole.trainer.run()
    losses: list[float] = []
    for number, end in enumerate([*stops, 40]):
        torch.manual_seed(999 + number)  # another process has another random state
        part = Run(tmp_path / "parts", budget(end, optimizer=optimizer, dropout_epochs=6.0))
        if number:
            part.trainer.resume()
            assert part.trainer.progress.update == stops[number - 1]
        part.trainer.run()
        losses += part.losses
    assert losses == whole.losses
    assert same(part.weights(), whole.weights())
    for key in ("epoch", "batch", "target_tokens"):
        assert getattr(part.trainer.progress, key) == getattr(whole.trainer.progress, key)


def test_dropout_begins_without_any_and_rises_by_epochs(tmp_path: Path) -> None:
    """Until a quarter of the epochs are over it is a run without dropout; so it is resumed."""
    losses = []
    plans = ((0.3, 8.0), (0.0, 0.0), (0.3, 0.0))
    for number, (rate, epochs) in enumerate(plans):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = Run(
            folder,
            budget(30, dropout_epochs=epochs),
            model=dataclasses.replace(TINY, dropout=rate),
        )
        run.trainer.run()
        losses.append(run.losses)
    rising, without, at_once = losses
    (per_epoch,) = {e.updates_per_epoch for e in run.events if isinstance(e, TrainingStarted)}
    first = 2 * per_epoch
    assert 4 < first < 28
    assert rising[: first - 1] == without[: first - 1]
    assert rising[first + 1 :] != without[first + 1 :]
    assert at_once[0] != without[0]


def test_the_best_score_and_the_patience_survive_a_stop(tmp_path: Path) -> None:
    config = budget(1000, patience=3)
    scores = {7: 5.0, 14: 9.0, 21: 8.0, 28: 7.0, 35: 6.0}
    first = Run(tmp_path, dataclasses.replace(config, max_updates=21), scores=scores.__getitem__)
    first.trainer.run()
    assert first.kept == [7, 14]
    second = Run(tmp_path, config, scores=scores.__getitem__)
    second.trainer.resume()
    reason = second.trainer.run()
    assert second.trainer.progress.update == 35
    assert "no better bleu in 3 validations" in reason
    assert second.kept == []
    assert second.trainer.parts.tracker.best_update == 14


def test_the_same_seed_gives_the_same_weights_and_another_one_others(tmp_path: Path) -> None:
    runs = []
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        (tmp_path / name).mkdir()
        run = Run(tmp_path / name, budget(10, seed=seed))
        run.trainer.run()
        runs.append(run)
    assert same(runs[0].weights(), runs[1].weights())
    assert runs[0].losses == runs[1].losses
    assert not same(runs[0].weights(), runs[2].weights())


def test_eight_pairs_are_learned_by_heart(tmp_path: Path) -> None:
    config = budget(300, accumulate=1, batch_tokens=200, label_smoothing=0.0, validate_every=300)
    run = Run(tmp_path, config, model=dataclasses.replace(TINY, dropout=0.0), count=8)
    run.trainer.run()
    assert run.losses[0] > 2.0
    assert run.losses[-1] < 0.05


def poison(run: Run, updates: set[int]) -> None:
    """Make the gradient of these updates not a number."""
    parameter = next(run.trainer.model.parameters())

    def hook(gradient: Tensor) -> Tensor:
        bad = run.trainer.progress.update + 1 in updates
        return gradient * float("nan") if bad else gradient

    parameter.register_hook(hook)  # type: ignore[no-untyped-call]


def test_one_bad_gradient_is_skipped_and_counted(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(12))
    poison(run, {5})
    run.trainer.run()
    skipped = [e.update for e in run.events if isinstance(e, BatchDone) and e.skipped]
    assert skipped == [5]
    assert run.trainer.progress.num_skipped == 1
    assert all(bool(w.isfinite().all()) for w in run.weights())


def test_bad_gradients_without_end_stop_the_run_with_the_last_good_weights(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path, budget(1000, max_nonfinite=6))
    poison(run, set(range(5, 1000)))
    with pytest.raises(TrainingError, match="update 10: the gradient was non-finite 6 times"):
        run.trainer.run()
    again = Run(tmp_path, budget(1000))
    again.trainer.resume()
    assert all(bool(w.isfinite().all()) for w in again.weights())
    assert same(again.weights(), run.weights())


def test_bad_gradients_in_a_row_are_counted_over_a_stop(tmp_path: Path) -> None:
    first = Run(tmp_path, budget(7, max_nonfinite=6))
    poison(first, set(range(5, 1000)))
    first.trainer.run()
    again = Run(tmp_path, budget(1000, max_nonfinite=6))
    poison(again, set(range(5, 1000)))
    again.trainer.resume()
    with pytest.raises(TrainingError, match="update 10: the gradient was non-finite 6 times"):
        again.trainer.run()


def test_the_last_update_is_validated_and_saved(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(10))
    run.trainer.run()
    assert [e.update for e in run.events if isinstance(e, Validated)] == [7, 10]
    (path,) = checkpoint.list_checkpoints(tmp_path / "training")
    assert path.name == "checkpoint-10"


def test_a_stop_that_is_asked_for_saves_the_update_that_was_made(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(1000))
    run.trainer.should_stop = lambda: run.trainer.progress.update >= 4
    assert run.trainer.run() == "interrupted"
    (path,) = checkpoint.list_checkpoints(tmp_path / "training")
    assert path.name == "checkpoint-4"


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"max_epochs": 1.5}, "1.5 epochs"), ({"max_minutes": 0.01}, "0.01 minutes are over")],
)
def test_a_budget_ends_the_run(tmp_path: Path, limit: dict[str, float], reason: str) -> None:
    run = Run(tmp_path, dataclasses.replace(PLAN, **limit))  # type: ignore[arg-type]
    assert reason in run.trainer.run()


def test_a_kill_while_saving_leaves_the_old_checkpoint_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, budget(4))
    run.trainer.run()
    run.trainer.progress.update = 5

    def die(*arguments: object, **options: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", die)
    with pytest.raises(OSError, match="No space"):
        checkpoint.save_checkpoint(tmp_path / "training", run.trainer.parts)
    # What a kill leaves behind is not taken for a checkpoint either.
    (tmp_path / "training" / ".checkpoint-9.1.tmp").mkdir()
    again = Run(tmp_path, budget(4))
    again.trainer.resume()
    assert again.trainer.progress.update == 4


@pytest.mark.parametrize("content", [b"", b"text", b"\x80\x04pickle"])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, content: bytes) -> None:
    run = Run(tmp_path, budget(2))
    run.trainer.run()
    (path,) = checkpoint.list_checkpoints(tmp_path / "training")
    (path / "state.safetensors").write_bytes(content)
    with pytest.raises(ModelFolderError, match="checkpoint-2 is damaged"):
        Run(tmp_path, budget(2)).trainer.resume()


def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="no checkpoint"):
        Run(tmp_path, budget(2)).trainer.resume()


def test_presets_train_without_settings() -> None:
    assert Config().training.max_updates is None
    assert Config().training.patience > 0
