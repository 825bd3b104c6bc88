"""The stream of batches: what is made ahead changes neither the batches nor the place."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from mt.text.tokenizer import END
from mt.training.batch import Batch
from mt.training.data_loader import BatchStream, TrainingData
from mt.training.distributed import Ranks
from mt.training.progress import Progress
from tests.training.small_run import budget, write_pairs

Place = tuple[int, int, float]


def walk(
    folder: Path,
    *,
    count: int,
    ahead: int,
    start: tuple[int, int] = (0, 0),
    ranks: Ranks | None = None,
    device: str = "cpu",
) -> tuple[list[list[int]], list[Place]]:
    """The sources of `count` batches, and the place after each of them."""
    store = write_pairs(folder / "pairs.arrow", 30)
    progress = Progress(epoch=start[0], batch=start[1])
    stream = BatchStream(
        TrainingData(train=store, dev=store),
        budget(1),
        progress,
        device=torch.device(device),
        ranks=ranks or Ranks(),
    )
    sources, places = [], []
    for batch in itertools.islice(stream, count):
        sources.append(batch.source.flatten().tolist())
        places.append((progress.epoch, progress.batch, stream.epochs))
        stream.prepare(ahead)
    return sources, places


@pytest.mark.parametrize("ranks", [Ranks(), Ranks(rank=1, size=2)])
def test_batches_made_ahead_are_those_that_would_have_come(ranks: Ranks, tmp_path: Path) -> None:
    plain = walk(tmp_path, count=25, ahead=0, ranks=ranks)
    assert plain[1][-1][0] > 0  # the end of an epoch lies between
    for ahead in (1, 3):
        assert walk(tmp_path, count=25, ahead=ahead, ranks=ranks) == plain


def test_a_stop_finds_the_place_of_what_was_used_and_not_of_what_was_made(tmp_path: Path) -> None:
    whole, places = walk(tmp_path, count=25, ahead=0)
    first, stopped = walk(tmp_path, count=7, ahead=4)
    assert first == whole[:7]
    assert stopped[-1] == places[6]
    epoch, batch, _ = stopped[-1]
    assert walk(tmp_path, count=18, ahead=4, start=(epoch, batch))[0] == whole[7:]


@pytest.mark.parametrize(("first", "then"), [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda")])
@pytest.mark.parametrize("stop", [1, 7, 12])
def test_a_run_goes_on_from_one_device_to_another_with_the_next_batch(
    stop: int, first: str, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On CUDA batches are made ahead, and memory is tried; the place means the same."""
    monkeypatch.setattr(Batch, "to", lambda batch, device: batch)
    ahead = {"cpu": 0, "cuda": 3}
    whole, places = walk(tmp_path, count=25, ahead=0)
    begun, stopped = walk(tmp_path, count=stop, ahead=ahead[first], device=first)
    assert begun == whole[:stop]
    assert stopped == places[:stop]
    epoch, batch, _ = stopped[-1]
    rest = walk(tmp_path, count=25 - stop, ahead=ahead[then], start=(epoch, batch), device=then)
    assert rest == (whole[stop:], places[stop:])


def test_an_epoch_holds_each_pair_once(tmp_path: Path) -> None:
    """The second and the third as well as the first; the order is another one each time."""
    store = write_pairs(tmp_path / "pairs.arrow", 30)
    progress = Progress()
    stream = BatchStream(
        TrainingData(train=store, dev=store),
        budget(1),
        progress,
        device=torch.device("cpu"),
        ranks=Ranks(),
    )
    epochs: dict[int, list[tuple[int, ...]]] = {}
    for batch in stream:
        if progress.epoch == 3:
            break
        rows = [
            tuple(row[mask].tolist())
            for row, mask in zip(batch.source, batch.source_mask, strict=True)
        ]
        epochs.setdefault(progress.epoch, []).extend(rows)
    end = [(*ids.tolist(), END) for ids in store.sources(range(30))]
    assert [sorted(epochs[epoch]) for epoch in range(3)] == [sorted(end)] * 3
    assert epochs[1] != epochs[2]
