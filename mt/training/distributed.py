"""Several processes that train one model: PyTorch's own engine, as `torchrun` starts it.

Each process is a rank with its own device and its own share of the batches of an update. Gradients
are summed by DistributedDataParallel, or by FSDP2 where weights are sharded (`sharding.py`);
counts, flags and texts go over the CPU, so that no rank waits for its GPU to say how many tokens
it has. A single process is the first rank of one, and nothing here costs anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, zip_longest
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.fsdp import FSDPModule
from torch.distributed.rendezvous import rendezvous

from mt.errors import ConfigError, MtError, TrainingError
from mt.training.rank_watch import RankWatch

TIMEOUT = "MT_RANK_TIMEOUT"
"""Environment variable: seconds after which a rank that answers nothing counts as lost."""
_LONGEST_WAIT = timedelta(hours=6)  # for the first rank to prepare a corpus, say
_LONGEST_START = timedelta(minutes=10)  # for all ranks to start
_NOTHING: Any = object()

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """The number of this process among those that train together."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """Its number on its machine, which is that of its GPU."""

    @classmethod
    def of_environment(cls) -> Ranks:
        """As `torchrun` says in RANK, WORLD_SIZE and LOCAL_RANK; one rank without these."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        try:
            rank, size, local_rank = (
                int(os.environ.get(name, default))
                for name, default in zip(names, "010", strict=True)
            )
        except ValueError as error:
            raise ConfigError(f"RANK, WORLD_SIZE and LOCAL_RANK must be numbers: {error}") from None
        return cls(rank=rank, size=size, local_rank=local_rank)

    @property
    def is_first(self) -> bool:
        """Whether this rank speaks and writes for all."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """The items that fall to this rank: every `size`th."""
        return list(items[self.rank :: self.size])

    def joined(self, mine: list[T]) -> list[T]:
        """The shares of all ranks in the order that `share` took them from."""
        shares = self.gathered(mine)
        woven = chain.from_iterable(zip_longest(*shares, fillvalue=_NOTHING))
        return [item for item in woven if item is not _NOTHING]

    def gathered(self, value: T) -> list[T]:
        """The values of all ranks, in their order."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def of_first(self, value: T) -> T:
        """The value of the first rank."""
        if self.size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def summed(self, *values: float) -> list[float]:
        """Sums over all ranks."""
        if self.size == 1:
            return list(values)
        sums = torch.tensor(values, dtype=torch.float64)
        distributed.all_reduce(sums)
        return sums.tolist()

    def parallel(self, module: nn.Module) -> nn.Module:
        """A module whose gradients are those of all ranks, averaged as the ranks are equal.

        One whose weights are sharded sees to that itself.
        """
        if self.size == 1 or isinstance(module, FSDPModule):
            return module
        return nn.parallel.DistributedDataParallel(
            module,
            forward_sync_buffers=False,  # tables of positions, which each rank grows as it needs
            gradient_as_bucket_view=True,
        )

    def unsynchronised(self, module: nn.Module) -> AbstractContextManager[None]:
        """Within, gradients stay with their rank; for all but the last batch of an update.

        Those of sharded weights are sent each time: a rank could not hold them whole.
        """
        if isinstance(module, nn.parallel.DistributedDataParallel):
            context: AbstractContextManager[None] = module.no_sync()
            return context
        return nullcontext()

    def meet(self) -> None:
        """Wait for all: whoever leaves first would take its end of the connections along."""
        if self.size > 1:
            distributed.barrier()


@contextmanager
def joined_ranks(ranks: Ranks) -> Iterator[None]:
    """Within, the ranks can talk. Raises TrainingError when one of the others ends early.

    Raises ConfigError when the environment does not say where they meet, and ends the process by
    itself where another rank ends and this one waits for it inside of a library.
    """
    if ranks.size == 1:
        yield
        return
    timeout = _timeout()
    watch: RankWatch | None = None
    is_done = False
    try:
        watch = _join(ranks, timeout)
        yield
        is_done = True
        distributed.destroy_process_group()
    except RuntimeError as error:
        if not _is_of_talk(error):
            raise
        raise _lost(ranks, error) from error
    finally:
        if watch is not None:
            watch.close(is_done=is_done)


def _timeout() -> timedelta:
    """How long a rank waits for another that lives."""
    text = os.environ.get(TIMEOUT, "")
    if not text:
        return _LONGEST_WAIT
    if not text.isdecimal() or not int(text):
        raise ConfigError(f"{TIMEOUT} must be a number of seconds, but is {text!r}")
    return timedelta(seconds=int(text))


def _join(ranks: Ranks, timeout: timedelta) -> RankWatch:
    """Connect this rank with all others, in minutes, and let them wait for each other for longer.

    First comes the watch, so that a rank that is lost while the rest connect is missed too.
    """
    start = min(timeout, _LONGEST_START)
    try:
        store, _, _ = next(rendezvous("env://", timeout=start))
        watch = RankWatch(
            rank=ranks.rank,
            size=ranks.size,
            store=PrefixStore("mt", store),
            host=os.environ["MASTER_ADDR"],
            timeout=start,
        )
    except ValueError as error:
        raise ConfigError(
            f"WORLD_SIZE is {ranks.size}, but the ranks cannot find each other: {error}",
            hint="Start them with torchrun, or unset WORLD_SIZE to train in one process",
        ) from error
    except (OSError, distributed.DistError) as error:
        raise TrainingError(
            f"rank {ranks.rank} of {ranks.size} did not meet the others within "
            f"{start.total_seconds():.0f} s: {error}",
            hint="Start all ranks, with the same MASTER_ADDR and MASTER_PORT",
        ) from error
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        distributed.init_process_group(
            backend,
            store=PrefixStore("default_pg", store),
            rank=ranks.rank,
            world_size=ranks.size,
            timeout=timeout,
        )
    except BaseException:
        watch.close(is_done=False)
        raise
    return watch


def _lost(ranks: Ranks, error: Exception) -> MtError:
    return TrainingError(
        f"rank {ranks.rank} of {ranks.size} lost another one: {error}",
        hint="Look for its message above; go on from the last checkpoint by --resume",
    )


def _is_of_talk(error: Exception) -> bool:
    """Whether an error comes from the connections between ranks."""
    words = ("gloo", "nccl", "connection", "rendezvous", "store")
    return isinstance(error, distributed.DistError) or (
        type(error) is RuntimeError and any(word in str(error).lower() for word in words)
    )
