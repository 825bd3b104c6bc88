"""Processes that take parts of a batch from a run when they have nothing else to do.

They are started from nothing (no fork: a fork copies locks that other threads hold) and share the
memory of `mt.training.shared_memory` with the run. A part is on offer as one byte in a pipe
that the run and all workers read: whoever is free first takes it, so that a worker that has lost
its core to another program delays nobody by more than the part that it is at. Only the run's end
of the pipes is written and held by the run: when it ends in any way, so do they.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import traceback
import weakref
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mt.errors import MtError
from mt.training.gradient_part import Part, gradient_of, unpacked
from mt.training.loss import Objective
from mt.training.shared_memory import Block, BlockPlan, TensorPlan, new_block, share

_HEADER = struct.Struct("<qd")  # bytes of the error, 0 for none; the loss
_STATE_BYTES = torch.Generator().get_state().numel()
_ERROR_BYTES = 1 << 14
_LOOK = 1.0  # seconds between looks whether the workers are alive
_CLOSED = -1
_BOOT = """import sys
sys.path[:] = {path!r}
from mt.training.worker_processes import serve
serve{descriptors!r}
"""


class WorkerEndedError(Exception):
    """A worker process ended before the run did, for example killed for its memory."""


class WorkerProcesses:
    """Worker processes of a run, for at most 256 parts of an update."""

    def __init__(
        self, objective: Objective, *, num_parts: int, num_threads: int, job_bytes: int
    ) -> None:
        """Start one fewer than there are parts, since the run computes too.

        The weights of `objective` move into shared memory. Raises OSError where there is none.
        """
        parameters = list(objective.parameters())
        plan = BlockPlan(
            weights=tuple(map(TensorPlan.of, parameters)),
            trained=tuple(i for i, p in enumerate(parameters) if p.requires_grad),
            num_parts=num_parts,
            job_bytes=job_bytes,
            result_bytes=_HEADER.size + max(_STATE_BYTES, _ERROR_BYTES),
        )
        packed = _packed(objective, parameters, plan, num_threads)
        memory, self._block = new_block(plan)
        model = os.memfd_create("mt-train-model")
        self._offered, self._offers = os.pipe()
        self._done, done = os.pipe()
        os.set_blocking(self._offered, False)
        self._processes: list[subprocess.Popen[bytes]] = []
        ends = (self._offered, self._offers, self._done)
        self._end = weakref.finalize(self, _end, self._processes, ends)
        try:
            with open(os.dup(model), "wb") as file:
                file.write(packed)
            descriptors = (memory, model, self._offered, done)
            for _ in range(num_parts - 1):
                self._processes.append(_start(descriptors))
        except BaseException:
            self.close()
            raise
        finally:
            for each in (memory, model, done):
                os.close(each)
        share(parameters, self._block)

    def offer(self, number: int, part: Part, generator: torch.Generator) -> bool:
        """Let a worker take part `number`; False if it is too large to be handed over."""
        packed = part.packed(generator)
        slot = self._block.jobs[number]
        if len(packed) > len(slot):
            return False
        slot[: len(packed)] = packed
        os.write(self._offers, bytes([number]))
        return True

    def take_back(self) -> int | None:
        """The number of a part that no worker has taken, if there is one; now it is the run's."""
        return _taken(self._offered)

    def result(self, generators: Sequence[torch.Generator]) -> tuple[int, Tensor, list[Tensor]]:
        """Wait for a part that a worker has taken: its number, its loss and its gradient.

        Its generator is put to where it stands after the part. The gradient stays in shared memory
        until the part is offered again. Raises WorkerEndedError if a worker was killed, and what
        was raised in it for a fault.
        """
        while not select.select([self._done], [], [], _LOOK)[0]:
            self._look()
        said = os.read(self._done, 1)
        if not said:  # the end of the last of them
            for process in self._processes:
                process.wait()
            self._look()
        number = said[0]
        result = self._block.results[number]
        error_bytes, loss = _HEADER.unpack_from(result)
        body = bytes(result[_HEADER.size :])
        if error_bytes:
            raise pickle.loads(body[:error_bytes])  # noqa: S301
        state = bytearray(body[:_STATE_BYTES])
        generators[number].set_state(torch.frombuffer(state, dtype=torch.uint8))
        return number, torch.tensor(loss, dtype=torch.float64), self._block.gradients[number]

    def _look(self) -> None:
        codes = [process.poll() for process in self._processes]
        if any(code is not None for code in codes):
            ended = ", ".join(str(code) for code in codes if code is not None)
            raise WorkerEndedError(f"a worker process ended (exit code {ended})")

    def close(self) -> None:
        """End the processes; the weights stay where they are. So does forgetting this object."""
        self._end()


def _end(processes: Sequence[subprocess.Popen[bytes]], ends: Sequence[int]) -> None:
    for process in processes:
        process.kill()
        process.wait()
    for end in ends:
        os.close(end)


def serve(memory: int, model: int, offered: int, done: int) -> None:
    """Be a worker: take parts on offer until the run closes the pipe. The arguments are files."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    objective, block, parameters = _unpacked(model, memory)
    while True:
        select.select([offered], [], [])
        number = _taken(offered)
        if number == _CLOSED:
            return
        if number is not None:
            _answer(block, number, objective, parameters)
            os.write(done, bytes([number]))


def _answer(block: Block, number: int, objective: Objective, parameters: Sequence[Tensor]) -> None:
    """Compute a part and leave what came out, or the error, in its result and its gradient."""
    result = block.results[number]
    try:
        part, generator = unpacked(block.jobs[number])
        loss, gradient = gradient_of(objective, parameters, part, generator)
        torch._foreach_copy_(block.gradients[number], gradient)
        body, error_bytes = generator.get_state().numpy().tobytes(), 0
    except Exception as error:
        loss = torch.zeros(())
        body = _packed_error(error)
        error_bytes = len(body)
    result[_HEADER.size : _HEADER.size + len(body)] = body
    _HEADER.pack_into(result, 0, error_bytes, float(loss))


def _packed_error(error: Exception) -> bytes:
    """An error with its traceback as a note; one that cannot be packed as RuntimeError."""
    text = "".join(traceback.format_exception(error))[-_ERROR_BYTES // 2 :]
    if not isinstance(error, MtError):
        error.add_note(f"in a worker process:\n{text}")
    try:
        packed = pickle.dumps(error)
        if len(packed) <= _ERROR_BYTES:
            return packed
    except Exception:  # whatever an error of a library may hold
        pass
    return pickle.dumps(RuntimeError(f"in a worker process:\n{text}"))


def _start(descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """A new Python that serves, in a process group of its own: Ctrl-C is for the run to answer."""
    return subprocess.Popen(
        [sys.executable, "-c", _BOOT.format(path=sys.path, descriptors=descriptors)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        process_group=0,
    )


def _taken(offered: int) -> int | None:
    """The number of a part that is on offer, which is now taken; None where there is none."""
    try:
        said = os.read(offered, 1)
    except BlockingIOError:
        return None
    return said[0] if said else _CLOSED


class _Packer(pickle.Pickler):
    """Packs a module without its parameters, whose indices stand for them."""

    indices: dict[int, int]

    def persistent_id(self, obj: Any) -> int | None:
        return self.indices.get(id(obj)) if isinstance(obj, nn.Parameter) else None


class _Unpacker(pickle.Unpickler):
    parameters: list[nn.Parameter]

    def persistent_load(self, pid: int) -> nn.Parameter:
        return self.parameters[pid]


def _packed(
    objective: Objective, parameters: Sequence[Tensor], plan: BlockPlan, num_threads: int
) -> bytes:
    """What a worker is given at its start: the plan of the memory, its threads and the model."""
    file = io.BytesIO()
    packer = _Packer(file, protocol=5)
    packer.indices = {id(parameter): i for i, parameter in enumerate(parameters)}
    for each in (plan, num_threads, objective):
        packer.dump(each)
    return file.getvalue()


def _unpacked(model: int, memory: int) -> tuple[Objective, Block, list[nn.Parameter]]:
    """The model in shared memory, that memory, and the parameters that are trained."""
    content = os.pread(model, os.fstat(model).st_size, 0)  # workers share the offset of a file
    unpacker = _Unpacker(io.BytesIO(content))
    plan: BlockPlan = unpacker.load()
    torch.set_num_threads(unpacker.load())
    block = Block(memory, plan)
    unpacker.parameters = [
        nn.Parameter(weight, requires_grad=i in plan.trained)
        for i, weight in enumerate(block.weights)
    ]
    objective: Objective = unpacker.load()
    return objective.train(), block, [unpacker.parameters[i] for i in plan.trained]
