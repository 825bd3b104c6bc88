"""From many tokenised lines to their search results: groups by length, refilled beams, workers.

Several workers, each a thread or a process with a core of its own, have a share of the groups each.
Threads that share every small product would wait for each other instead; workers never do. Several
devices likewise: each has a share, its own copy of the weights and a thread that drives it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

import torch

from mt.config import SamplingConfig, SearchConfig
from mt.events import Listener, Notice
from mt.model.device import (
    choose_search_precision,
    fitting_in_memory,
    is_out_of_memory,
    sent_to,
    using_threads,
)
from mt.model.translation_model import TranslationModel
from mt.processes import may_fork
from mt.search.hypothesis import SearchResult
from mt.search.scheduler import Group, search_groups
from mt.search.sentence import Symbols
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, PAD, START, UNKNOWN
from mt.translation.options import TranslationOptions, fast_batch_size
from mt.translation.replicas import Replica, replicas_of
from mt.translation.source import Source
from mt.translation.worker_processes import ForkedWorkers

_BATCH_TOKENS = 64  # padded source tokens for each sentence that may be searched at a time
_PARTS = 2  # groups in a full beam: so much room is waited for
_FEWEST = 8  # sentences that are worth a worker
_FEW = 1 << 25  # multiplications of a product, below which threads wait longer than they save


@dataclass(frozen=True)
class _Job:
    """What a worker does: groups of keys, and the sources of these."""

    sources: Mapping[int, Source] | Sequence[Source]
    groups: Sequence[list[int]]
    capacity: int


@dataclass(kw_only=True)
class Searcher:
    """Searches tokenised sources; the rest of a batch changes no result.

    The products of a batch round a little differently with its size. Where so little decides a
    choice (`SearchResult.is_close_call`), the sentence is searched again by itself: in float32 on
    the CPU the result follows from the sentence.
    """

    replicas: Sequence[Replica]
    """One a device, all of the same weights."""
    config: SearchConfig
    capacity: int
    """Most sentences searched at a time, by each worker."""
    is_exact: bool
    """Whether close calls are searched again."""
    workers: int | None
    """How many work side by side on the CPU; None takes as many as torch has threads."""
    forks: bool
    """Whether they are processes (`mt.translation.worker_processes`); else they are threads."""
    refill: bool
    """Whether waiting sentences take the rows of those that are done.

    On CPUs that is slower: to join lays out all caches anew (docs/log.md).
    """
    listener: Listener
    forbidden: tuple[int, ...] = (PAD, START, UNKNOWN)
    """Tokens that no translation may hold."""
    sampling: SamplingConfig | None = None
    """How samples are drawn, instead of searching."""
    _forked: ForkedWorkers[_Job, dict[int, SearchResult]] | None = field(
        default=None, init=False, repr=False
    )

    @staticmethod
    def of(
        models: Sequence[TranslationModel],
        config: SearchConfig,
        *,
        copies_on: Sequence[torch.device],
        options: TranslationOptions,
        listener: Listener,
        forbidden: tuple[int, ...] = (PAD, START, UNKNOWN),
    ) -> Searcher:
        """Search by `models`, together, on the device where all are and on each of `copies_on`.

        Raises ConfigError for a precision that the device does not have.
        """
        device = next(models[0].parameters()).device
        precision = choose_search_precision(options.precision, device)
        sampling = options.sampling
        hypotheses = config.beam if sampling is None else sampling.samples
        return Searcher(
            replicas=replicas_of(models, copies_on=copies_on, precision=precision),
            config=config,
            capacity=options.batch_size or fast_batch_size(hypotheses, on_cpu=device.type == "cpu"),
            is_exact=precision == "float32",
            workers=options.workers,
            forks=options.forks and may_fork(),
            refill=device.type != "cpu",
            listener=listener,
            forbidden=forbidden,
            sampling=sampling,
        )

    def giving(self, n_best: int) -> Searcher:
        """The same search, by the same weights, with so many hypotheses of its beam."""
        return dataclasses.replace(self, config=dataclasses.replace(self.config, n_best=n_best))

    def search(self, sources: Sequence[Source]) -> list[SearchResult]:
        """The results of sources, none of them empty, in their order.

        Raises DeviceMemoryError for a sentence that does not fit in memory by itself.
        """
        order = sorted(range(len(sources)), key=lambda key: -len(sources[key]))
        found = self._in_room(sources, order)
        if self.is_exact and len(sources) > 1:
            close = [key for key in order if found[key].is_close_call]
            if close:
                found.update(self._together(sources, [[key] for key in close], capacity=1))
        return [found[key] for key in range(len(sources))]

    def _in_room(self, sources: Sequence[Source], order: list[int]) -> dict[int, SearchResult]:
        """Search what fits in memory at a time, which is found out by trying."""
        while True:
            groups = self._groups(sources, order)
            try:
                return self._together(sources, groups, capacity=self.capacity)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if self.capacity == 1:
                    longest = max(len(sources[key]) for key in order)
                    with fitting_in_memory(
                        f"the search for a sentence of {longest} tokens",
                        hint="Take a smaller --beam or --sample, split the line, or use "
                        "--device cpu",
                    ):
                        raise
                # The error holds the tensors of its frames until this block ends.
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            self.capacity = max(min(self.capacity, len(order)) // 2, 1)
            text = (
                "the search does not fit in the memory of the device: from here on "
                f"{self.capacity} sentences are searched together (--batch-size, --beam and "
                "--sample make it smaller)"
            )
            self.listener(Notice(text=text))

    def _groups(self, sources: Sequence[Source], order: Sequence[int]) -> list[list[int]]:
        """Keys in groups of like lengths that are encoded together, longest first."""
        size = max(self.capacity // _PARTS, 1) if self.refill else self.capacity
        fair = -(-len(order) // self._wanted_workers(torch.get_num_threads()))
        size = min(size, max(fair, _FEWEST))
        budget = size * _BATCH_TOKENS
        groups: list[list[int]] = []
        for key in order:
            longest = len(sources[groups[-1][0]]) + 1 if groups else 0
            # Sources shorter than half the longest would be padding for the most part.
            if (
                not groups
                or len(groups[-1]) == size
                or (len(groups[-1]) + 1) * longest > budget
                or 2 * len(sources[key]) < longest - 1
            ):
                groups.append([])
            groups[-1].append(key)
        return groups

    def _together(
        self, sources: Sequence[Source], groups: Sequence[list[int]], *, capacity: int
    ) -> dict[int, SearchResult]:
        """Search groups by as many workers as there is work for."""
        threads = torch.get_num_threads()
        wanted = self._wanted_workers(threads)
        num_workers = min(wanted, len(groups))
        if num_workers <= 1:
            replica = self.replicas[0]
            is_small = replica.device.type == "cpu" and self._num_products(groups) < _FEW
            with using_threads(1) if is_small else nullcontext():
                return self._work(replica, _Job(sources, groups, capacity))
        # A device that refills its rows has a share from the first. Else a job is one group, and
        # the worker that is free first takes it: one that lost its core holds up no other.
        shares = [[group] for group in groups]
        if self.refill:
            shares = [list(groups[number::num_workers]) for number in range(num_workers)]
        jobs = [
            _Job({key: sources[key] for group in share for key in group}, share, capacity)
            for share in shares
        ]
        if self.forks and len(self.replicas) == 1 and self.replicas[0].device.type == "cpu":
            if self._forked is None:
                each = max(threads // wanted, 1)
                work = partial(self._work, self.replicas[0])
                self._forked = ForkedWorkers(wanted, work, threads=each)
            parts = self._forked.do(jobs)
        else:
            parts = self._in_threads(jobs, num_workers, max(threads // num_workers, 1))
        return {key: result for part in parts for key, result in part.items()}

    def _num_products(self, groups: Sequence[list[int]]) -> int:
        """Multiplications of the largest product of a step."""
        hypotheses = self.sampling.samples if self.sampling else self.config.beam
        rows = hypotheses * max(map(len, groups), default=0)
        return rows * self.replicas[0].members[0].output_weight.numel()

    def _in_threads(
        self, jobs: Sequence[_Job], num_workers: int, threads: int
    ) -> list[dict[int, SearchResult]]:
        def work_apart(number: int) -> dict[int, SearchResult]:
            torch.set_num_threads(threads)
            return self._work(self.replicas[number % len(self.replicas)], jobs[number])

        with using_threads(threads), ThreadPoolExecutor(num_workers, "search") as pool:
            return list(pool.map(work_apart, range(len(jobs))))

    def _wanted_workers(self, threads: int) -> int:
        """One a device; a CPU by itself has several."""
        if len(self.replicas) > 1 or self.replicas[0].device.type != "cpu":
            return len(self.replicas)
        return self.workers or threads

    def _work(self, replica: Replica, job: _Job) -> dict[int, SearchResult]:
        """Search groups one after the other, on one device."""
        device, sources = replica.device, job.sources

        def padded(keys: list[int]) -> Group:
            source, mask = pad_with_end([sources[key].tokens for key in keys])
            return Group(
                keys=keys,
                source=sent_to(source, device),
                source_mask=sent_to(mask, device),
                demands=[sources[key].demands for key in keys],
            )

        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            results = search_groups(
                replica.model,
                map(padded, job.groups),
                symbols=Symbols(start=START, end=END, forbidden=self.forbidden),
                config=self.config,
                capacity=job.capacity,
                max_tokens=job.capacity * _BATCH_TOKENS,
                sampling=self.sampling,
            )
            return dict(results)
