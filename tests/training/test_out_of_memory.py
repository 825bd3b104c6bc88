"""Batches that do not fit in memory: the same update in pieces, and no run that ends of it."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.errors import DeviceMemoryError, TrainingError
from mt.events import BatchDone, Notice
from mt.model_folder import folder as model_folder
from mt.training import checkpoint
from mt.training.batch import Batch, make_batch
from mt.training.trainer import Trainer
from tests.training.small_run import VOCABULARY, Run, budget, run_in_float64, same

LENGTHS = [2, 3, 9, 4, 30, 5, 6]


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    sources = [[4 + (i + j) % 9 for j in range(n)] for i, n in enumerate(LENGTHS)]
    targets = [source[::-1] + [5] * (i % 3) for i, source in enumerate(sources)]
    write_tokens(tmp_path / "s.arrow", [TokenBlock.of(sources, targets)], vocab_size=VOCABULARY)
    return TokenStore(tmp_path / "s.arrow")


class Device:
    """Stands for a small GPU: it gives up on batches above a size, half of the work done."""

    def __init__(self, run: Run, room: int) -> None:
        self.tried: list[int] = []
        self._run, self._room = run, room
        self._loss = run.trainer.gradients.loss
        run.trainer.gradients.loss = self.loss  # type: ignore[method-assign]

    def loss(self, batch: Batch) -> Tensor:
        self.tried.append(batch.num_padded)
        loss = self._loss(batch)
        if batch.num_padded > self._room:
            loss.register_hook(self._give_up)  # type: ignore[no-untyped-call]
        return loss

    def _give_up(self, gradient: Tensor) -> Tensor:
        parameter = next(self._run.trainer.model.parameters())
        parameter.grad = torch.full_like(parameter, 1e9)  # what must not come into the update
        raise torch.OutOfMemoryError("CUDA out of memory")


def notices(run: Run) -> list[Notice]:
    return [event for event in run.events if isinstance(event, Notice)]


@pytest.mark.parametrize("room", [14, 20, 40])
def test_updates_in_pieces_equal_those_of_a_device_with_room(room: int, tmp_path: Path) -> None:
    whole = run_in_float64(tmp_path, 12)
    whole.trainer.run()
    pieces = run_in_float64(tmp_path, 12)
    device = Device(pieces, room)
    pieces.trainer.run()
    assert max(device.tried) > room
    for one, other in zip(whole.weights(), pieces.weights(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)
    assert pieces.losses == pytest.approx(whole.losses, rel=1e-9)
    tokens = [
        [event.num_target_tokens for event in run.events if isinstance(event, BatchDone)]
        for run in (whole, pieces)
    ]
    assert tokens[0] == tokens[1]
    assert pieces.trainer.progress.num_skipped_pairs == 0
    (notice,) = notices(pieces)
    assert "does not fit" in notice.text
    assert not notice.is_warning


def test_what_is_known_not_to_fit_is_not_tried_again(store: TokenStore, tmp_path: Path) -> None:
    run = run_in_float64(tmp_path, 9)
    device = Device(run, room=90)
    batch = make_batch(store, [0, 1, 2, 3, 5, 6])
    assert batch.num_padded > 90
    run.trainer._update([batch])
    assert sum(size > 90 for size in device.tried) == 1
    run.trainer._update([batch, batch])
    assert sum(size > 90 for size in device.tried) == 1


def test_a_pair_that_does_not_fit_alone_is_skipped_and_counted(
    store: TokenStore, tmp_path: Path
) -> None:
    without = run_in_float64(tmp_path, 9)
    without.trainer._update([make_batch(store, [0, 1, 2, 3, 5, 6])])
    run = run_in_float64(tmp_path, 9)
    Device(run, room=50)
    run.trainer._update([make_batch(store, [0, 1, 2, 3, 4, 5, 6])])
    assert run.trainer.progress.num_skipped_pairs == 1
    (warning,) = [notice.text for notice in notices(run) if notice.is_warning]
    assert "31 source and 32 target tokens" in warning
    assert run.losses == pytest.approx(without.losses, rel=1e-9)
    for one, other in zip(run.weights(), without.weights(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


def test_an_update_of_which_nothing_fits_changes_nothing(store: TokenStore, tmp_path: Path) -> None:
    run = run_in_float64(tmp_path, 9)
    before = run.weights()
    Device(run, room=1)
    run.trainer._update([make_batch(store, [0, 1])])
    assert same(before, run.weights())
    assert run.trainer.progress.num_skipped_pairs == 2
    assert run.trainer.progress.num_skipped == 0


def test_a_device_on_which_nothing_ever_fits_ends_the_run(tmp_path: Path) -> None:
    run = run_in_float64(tmp_path, 1000)
    Device(run, room=1)
    with pytest.raises(TrainingError, match="not one pair of 20 updates"):
        run.trainer.run()


def test_the_tensors_of_a_failed_try_are_gone_before_the_next(
    store: TokenStore, tmp_path: Path
) -> None:
    """Else the second try finds the memory still full."""
    run = run_in_float64(tmp_path, 1)
    large: list[weakref.ref[Tensor]] = []
    held: list[bool] = []

    def loss(batch: Batch) -> Tensor:
        held.extend(each() is not None for each in large)
        taken = torch.zeros(9)
        large.append(weakref.ref(taken))
        if batch.num_pairs > 2:
            raise torch.OutOfMemoryError(f"no room for {taken.numel()}")
        return original(batch)

    original = run.trainer.gradients.loss
    run.trainer.gradients.loss = loss  # type: ignore[method-assign]
    run.trainer._update([make_batch(store, [0, 1, 2, 3])])
    assert held == [False] * 3


def test_the_largest_batch_is_tried_at_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With dropout, whose draws must be those of a run without the trial."""
    plain = Run(tmp_path / "plain", budget(9))
    plain.trainer.run()
    run = Run(tmp_path / "tried", budget(9))
    batches = run.trainer.stream.epoch(0)
    sizes = [make_batch(run.trainer.data.train, each.tolist()).num_padded for each in batches]
    assert sizes[0] < max(sizes)
    device = Device(run, room=10**6)
    run.trainer.try_largest()
    assert device.tried == [max(sizes)] * 2  # as many as it takes to meet gradients that are there
    run.trainer.run()
    assert same(plain.weights(), run.weights())
    assert plain.losses == run.losses


def test_what_does_not_fit_shows_before_the_first_update(tmp_path: Path) -> None:
    run = Run(tmp_path, budget(1))
    Device(run, room=20)
    run.trainer.try_largest()
    (notice,) = notices(run)
    assert "does not fit" in notice.text
    assert run.trainer.progress.update == run.trainer.progress.num_skipped_pairs == 0
    assert all(p.grad is None for p in run.trainer.model.parameters())


def test_a_run_on_a_gpu_begins_with_the_largest_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(Trainer, "try_largest", lambda trainer: tried.append(trainer.device.type))
    monkeypatch.setattr(Trainer, "reason_to_end", lambda trainer: "enough")
    monkeypatch.setattr(Trainer, "_validate", lambda trainer: None)
    for name in ("cpu", "cuda"):
        run = Run(tmp_path, budget(1))
        run.trainer.device = torch.device(name)
        monkeypatch.setattr(Trainer, "save", lambda trainer: None)
        run.trainer.run()
    assert tried == ["cuda"]


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError(), OSError(12, "x")]
)
def test_a_checkpoint_that_does_not_fit_in_memory_is_not_called_damaged(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, budget(1))
    run.trainer.run()

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(checkpoint, "load_file", fail)
    with pytest.raises(
        DeviceMemoryError, match="checkpoint-1 does not fit in the memory"
    ) as caught:
        Run(tmp_path, budget(2)).trainer.resume()
    assert "damaged" not in str(caught.value)
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(model_folder, "load_file", fail)
    with pytest.raises(DeviceMemoryError, match=r"model\.safetensors does not fit in the memory"):
        model_folder.load_weights(tmp_path / "model.safetensors", run.trainer.model)


def give_up(*arguments: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize("part", ["optimizer", "average"])
def test_a_step_that_does_not_fit_is_one_line(
    part: str, store: TokenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in_float64(tmp_path, 1)
    step = {"optimizer": "step", "average": "update"}[part]
    monkeypatch.setattr(getattr(run.trainer.parts, part), step, give_up)
    with pytest.raises(DeviceMemoryError, match="the step of the optimizer does not fit") as caught:
        run.trainer._update([make_batch(store, [0, 1])])
    assert "--preset" in str(caught.value)


def test_a_validation_that_does_not_fit_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in_float64(tmp_path, 1)
    monkeypatch.setattr(run.trainer.model, "forward", give_up)
    with pytest.raises(DeviceMemoryError, match=r"a batch of \d+ validation pairs"):
        run.trainer._validate()
