"""Parts of a batch side by side: the same gradient, and the same run whoever is faster."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.errors import MtError
from mt.model.encoder_decoder import EncoderDecoder
from mt.train import workers
from mt.train.batch import Batch, make_batch
from mt.train.distributed import Ranks
from mt.train.objective import Objective
from mt.train.workers import Workers, make_workers
from tests.train.test_trainer import TINY, VOCABULARY, Run, budget, same, write_pairs

CPU = torch.device("cpu")


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workers, "_LEAST_TOKENS", 10)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def objective_in(dtype: torch.dtype) -> Objective:
    torch.manual_seed(3)
    config = dataclasses.replace(TINY, dropout=0.0)
    model = EncoderDecoder(config, source_vocab=VOCABULARY, target_vocab=VOCABULARY).to(dtype)
    return Objective(model, smoothing=0.1, dtype=dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_have_the_gradient_of_the_whole(
    count: int, dtype: torch.dtype, tolerance: float, tmp_path: Path
) -> None:
    store = write_pairs(tmp_path / "pairs.arrow", 9)
    batches = [make_batch(store, [0, 1, 2, 3]), make_batch(store, [4, 5, 6, 7, 8])]
    objective = objective_in(dtype)
    num_tokens = sum(batch.num_target_tokens for batch in batches)
    whole = sum((objective(batch) for batch in batches), torch.zeros((), dtype=dtype))
    parameters = list(objective.parameters())
    expected = torch.autograd.grad(whole / num_tokens, parameters)

    done = Workers(objective, count=count, seed=1).accumulate(batches)

    assert done.num_tokens == num_tokens
    assert done.loss is not None
    assert float(done.loss) == pytest.approx(float(whole.detach()), rel=tolerance)
    largest = max(float(gradient.abs().max()) for gradient in expected)
    for parameter, gradient in zip(parameters, expected, strict=True):
        assert parameter.grad is not None
        assert float((parameter.grad - gradient).abs().max()) < tolerance * largest


def test_a_resumed_run_of_workers_is_the_run_itself(three_threads: None, tmp_path: Path) -> None:
    changes = {"average_decay": 0.9, "batch_tokens": 60}
    whole = Run(tmp_path / "whole", budget(40, **changes))
    assert len(whole.trainer.parts.generators) == 3
    whole.trainer.run()
    first = Run(tmp_path / "parts", budget(20, **changes))
    first.trainer.run()
    second = Run(tmp_path / "parts", budget(40, **changes))
    second.trainer.resume()
    second.trainer.run()
    assert first.losses + second.losses == whole.losses
    assert same(second.weights(), whole.weights())


def test_which_worker_is_faster_changes_nothing(
    three_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Run(tmp_path / "usual", budget(6))
    usual.trainer.run()
    forward = Objective.forward
    delays = iter([0.02, 0.0, 0.01, 0.0, 0.03] * 100)

    def late(self: Objective, batch: Batch) -> Tensor:
        time.sleep(next(delays))
        return forward(self, batch)

    monkeypatch.setattr(Objective, "forward", late)
    shaken = Run(tmp_path / "shaken", budget(6))
    shaken.trainer.run()
    assert same(shaken.weights(), usual.weights())


def test_a_fault_in_a_worker_ends_the_run(
    three_threads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, budget(6))

    def fail(self: Objective, batch: Batch) -> Tensor:
        raise MtError("a fault of the third worker")

    monkeypatch.setattr(Objective, "forward", fail)
    with pytest.raises(MtError, match="third worker"):
        run.trainer.run()
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize(
    ("batch_tokens", "threads", "expected"),
    [(4096, 2, 2), (4096, 16, 4), (2048, 1, None), (1000, 2, None), (1024, 8, None)],
)
def test_no_part_is_small(batch_tokens: int, threads: int, expected: int | None) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        config = TrainingConfig(batch_tokens=batch_tokens)
        made = make_workers(objective_in(torch.float32), config, device=CPU, ranks=Ranks())
        several = make_workers(
            objective_in(torch.float32), config, device=CPU, ranks=Ranks(rank=1, size=2)
        )
    finally:
        torch.set_num_threads(before)
    assert (made and len(made.generators)) == expected
    assert several is None
