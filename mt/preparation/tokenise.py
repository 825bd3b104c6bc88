"""Blocks of pairs to blocks of token ids, by several processes where there is enough to do.

The result does not depend on their number: blocks come back in order, and each is the work of a
single process. A process holds the tokenizers and one block at a time.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice

from mt.corpus.store import Sequences
from mt.errors import TrainingError
from mt.events import Listener, Notice
from mt.formats.pair import Pair
from mt.text.tokenizer_pair import TokenizerPair, read_tokenizer

EncodedBlock = tuple[list[Pair], Sequences, Sequences]
"""Pairs and the token ids of their sources and targets."""

_BLOCKS_BY_ITSELF = 4  # tokenised by this process before others are started
_BLOCKS_WAITING = 2  # for each process: enough that none is idle

_tokenizers: TokenizerPair | None = None  # of a worker process


def encoded_blocks(
    blocks: Iterable[list[Pair]], tokenizers: TokenizerPair, *, num_processes: int
) -> Iterator[EncodedBlock]:
    """Tokenise blocks in order; raises TrainingError when a worker process dies."""
    stream = iter(blocks)
    first = list(islice(stream, _BLOCKS_BY_ITSELF))
    for pairs in first:
        yield (pairs, *_encode(tokenizers, _texts(pairs), num_threads=num_processes))
    rest = next(stream, None)
    if rest is None:
        return
    stream = chain([rest], stream)
    if num_processes < 2:
        for pairs in stream:
            yield (pairs, *_encode(tokenizers, _texts(pairs), num_threads=num_processes))
        return
    models = [tokenizers.source.model]
    if not tokenizers.is_joint:
        models.append(tokenizers.target.model)
    with ProcessPoolExecutor(
        num_processes,
        mp_context=multiprocessing.get_context("spawn"),  # a fork would copy torch's threads badly
        initializer=_start_worker,
        initargs=(models,),
    ) as pool:
        try:
            yield from _in_order(pool, stream, most_waiting=_BLOCKS_WAITING * num_processes)
        except BrokenProcessPool as error:
            raise TrainingError(
                "a process that tokenises the corpus was killed, perhaps for want of memory",
                hint="--threads 1 tokenises in one process",
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, blocks: Iterable[list[Pair]], *, most_waiting: int
) -> Iterator[EncodedBlock]:
    waiting: deque[tuple[list[Pair], Future[tuple[Sequences, Sequences]]]] = deque()
    for pairs in blocks:
        waiting.append((pairs, pool.submit(_encode_in_worker, _texts(pairs))))
        if len(waiting) > most_waiting:
            done, future = waiting.popleft()
            yield (done, *future.result())
    for done, future in waiting:
        yield (done, *future.result())


def _texts(pairs: list[Pair]) -> tuple[list[str], list[str]]:
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _encode(
    tokenizers: TokenizerPair, texts: tuple[list[str], list[str]], *, num_threads: int
) -> tuple[Sequences, Sequences]:
    sources, targets = texts
    return (
        Sequences.of(tokenizers.source.encode_batch(sources, num_threads=num_threads)),
        Sequences.of(tokenizers.target.encode_batch(targets, num_threads=num_threads)),
    )


def _start_worker(models: list[bytes]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's to answer
    global _tokenizers
    loaded = [read_tokenizer(model) for model in models]
    _tokenizers = TokenizerPair(source=loaded[0], target=loaded[-1])


def _encode_in_worker(texts: tuple[list[str], list[str]]) -> tuple[Sequences, Sequences]:
    assert _tokenizers is not None
    return _encode(_tokenizers, texts, num_threads=1)


def report_unknown(what: str, num_unknown: int, num_tokens: int, listener: Listener) -> None:
    """Warn of symbols that a model does not know, where there are any."""
    if num_unknown:
        text = f"{num_unknown} of {num_tokens} symbols of {what} are unknown to the model"
        listener(Notice(text=text, is_warning=True))
