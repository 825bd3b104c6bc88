"""Parts of a batch side by side: the same gradient, and the same run whoever is faster."""

from __future__ import annotations

import dataclasses
import functools
import gc
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.corpus.store import TokenStore
from mt.errors import MtError
from mt.events import Event
from mt.model.encoder_decoder import EncoderDecoder
from mt.training import workers
from mt.training.batch import Batch, make_batch
from mt.training.distributed import Ranks
from mt.training.gradient_part import Part
from mt.training.loss import Objective
from mt.training.shared_memory import CAN_SHARE
from mt.training.workers import Workers, make_workers
from tests.training.small_run import TINY, VOCABULARY, Run, budget, same, write_pairs

CPU = torch.device("cpu")
needs_processes = pytest.mark.skipif(not CAN_SHARE, reason="worker processes are for Linux")


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workers, "_LEAST_TOKENS", 10)
    monkeypatch.setattr(workers, "_LEAST_TOKENS_OF_TWO", 10)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def objective_in(dtype: torch.dtype, *, dropout: float = 0.0) -> Objective:
    torch.manual_seed(3)
    config = dataclasses.replace(TINY, dropout=dropout)
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


@pytest.fixture(scope="module")
def with_processes() -> Iterator[Workers]:
    """Three parts, with two processes that have started."""
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    made = Workers(objective_in(torch.float32, dropout=0.3), count=3, seed=1)
    torch.set_num_threads(threads)
    assert start_processes(made)
    yield made
    made._processes.close()  # type: ignore[union-attr]


def start_processes(made: Workers) -> bool:
    """Whether the worker processes of `made` are there and have begun to serve."""
    made._begun = -1000.0
    made._start()
    if made._processes is None:
        return False
    part = Part(batches=[make_batch(pairs(), [0])], num_tokens=1)
    while True:  # until one of them is faster than the run itself
        assert made._processes.offer(1, part, torch.Generator())
        time.sleep(0.05)
        if made._processes.take_back() is None:
            made._processes.result(made.generators)
            break
    made.generators[1].manual_seed(2)
    return True


@functools.cache
def pairs() -> TokenStore:
    return write_pairs(Path(tempfile.mkdtemp()) / "pairs.arrow", 9)


def computed(
    made: Workers, *, states: Sequence[Tensor], batches: Sequence[Batch], dropout: float = 1.0
) -> list[Tensor]:
    """Loss, gradient and the next states of the generators."""
    for generator, state in zip(made.generators, states, strict=True):
        generator.set_state(state)
    done = made.accumulate(batches, dropout=dropout)
    assert done.loss is not None
    gradient = [p.grad.clone() for p in made._parameters if p.grad is not None]
    return [done.loss.float(), *gradient, *(g.get_state() for g in made.generators)]


@needs_processes
@pytest.mark.parametrize(
    ("late", "dropout"), [((), 0.0), ((1,), 0.5), ((2,), 1.0), ((0,), 0.5), ((0, 2), 1.0)]
)
def test_who_computes_a_part_changes_nothing(
    with_processes: Workers,
    late: tuple[int, ...],
    dropout: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = [torch.Generator().manual_seed(i).get_state() for i in range(3)]
    batches = [make_batch(pairs(), [0, 1, 2, 3]), make_batch(pairs(), [4, 5, 6, 7, 8])]
    processes = with_processes._processes
    assert processes is not None
    monkeypatch.setattr(with_processes, "_processes", None)
    monkeypatch.setattr(with_processes, "_may_start", False)
    usual = computed(with_processes, states=states, batches=batches, dropout=dropout)
    monkeypatch.setattr(with_processes, "_processes", processes)
    computed_here: list[int] = []
    compute = with_processes._compute

    def slowly(number: int, part: Part) -> tuple[Tensor, list[Tensor]]:
        computed_here.append(number)
        if number in late:
            time.sleep(0.3)
        return compute(number, part)

    stopped = [each.pid for each in processes._processes] if 2 in late else []
    monkeypatch.setattr(with_processes, "_compute", slowly)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        shaken = computed(with_processes, states=states, batches=batches, dropout=dropout)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert same(shaken, usual)
    if stopped:
        assert computed_here == [0, 1, 2], "workers that do not run hold up nothing"
    elif 0 in late:
        assert computed_here == [0], "workers took the other parts"


@needs_processes
def test_a_killed_worker_costs_no_result() -> None:
    said: list[Event] = []
    made = Workers(objective_in(torch.float32, dropout=0.3), count=2, seed=1, listener=said.append)
    states = [torch.Generator().manual_seed(i).get_state() for i in range(2)]
    batches = [make_batch(pairs(), [0, 1, 2, 3])]
    usual = computed(made, states=states, batches=batches)
    assert start_processes(made)
    assert made._processes is not None
    (process,) = made._processes._processes
    process.kill()
    process.wait()
    made._processes.take_back = lambda: None  # type: ignore[method-assign]  # as if it had taken it
    assert same(computed(made, states=states, batches=batches), usual)
    assert made._processes is None
    assert "exit code -9" in str(said)
    assert same(computed(made, states=states, batches=batches), usual), "and the run goes on"


@needs_processes
def test_an_error_in_a_worker_process_is_raised_with_its_traceback() -> None:
    made = Workers(objective_in(torch.float32), count=2, seed=1)
    assert start_processes(made)
    batch = make_batch(pairs(), [0, 1])
    broken = dataclasses.replace(batch, source=batch.source + 10**6)
    assert made._processes is not None
    assert made._processes.offer(1, Part(batches=[broken], num_tokens=1), made.generators[1])
    while (taken := made._processes.take_back()) is not None:
        assert made._processes.offer(
            taken, Part(batches=[broken], num_tokens=1), made.generators[1]
        )
        time.sleep(0.01)
    with pytest.raises(IndexError) as raised:
        made._processes.result(made.generators)
    assert "in a worker process" in "".join(raised.value.__notes__)


@needs_processes
def test_processes_end_with_what_they_work_for() -> None:
    made = Workers(objective_in(torch.float32), count=2, seed=1)
    assert start_processes(made)
    assert made._processes is not None
    (process,) = made._processes._processes
    del made
    gc.collect()
    assert process.returncode is not None


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
    [
        (4096, 2, 2),
        (4096, 16, 4),
        (2048, 16, 2),
        (2048, 1, None),
        (512, 2, 2),
        (1024, 8, 2),
        (511, 2, None),
    ],
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
