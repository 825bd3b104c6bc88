"""Tokenising in several processes gives what one gives, in order."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from mt.errors import TrainingError
from mt.formats.pair import Pair
from mt.preparation import tokenise
from mt.preparation.tokenise import encoded_blocks
from mt.text.subwords import train_subwords
from mt.text.tokenizer_pair import TokenizerPair

WORDS = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "lmn"]
BLOCKS = [
    [Pair(f"{WORDS[i]} {WORDS[-i]} ½", f"{WORDS[j]}. {i}", "c", i) for i in range(j % 40)]
    for j in range(60)
]


@pytest.fixture(scope="module")
def tokenizers() -> TokenizerPair:
    pairs = [pair for block in BLOCKS for pair in block]
    source = train_subwords([pair.source for pair in pairs], kind="bpe", vocab_size=320)
    target = train_subwords([pair.target for pair in pairs], kind="bpe", vocab_size=310)
    return TokenizerPair(source=source, target=target)


@pytest.mark.parametrize("num_blocks", [0, 1, 4, 5, 60])
def test_several_processes_give_what_one_gives(num_blocks: int, tokenizers: TokenizerPair) -> None:
    blocks = BLOCKS[:num_blocks]
    found = list(encoded_blocks(blocks, tokenizers, num_processes=2))
    alone = list(encoded_blocks(blocks, tokenizers, num_processes=1))
    assert [pairs for pairs, _, _ in found] == blocks
    for (pairs, source, target), (_, other_source, other_target) in zip(found, alone, strict=True):
        for mine, other in ((source, other_source), (target, other_target)):
            assert mine.ids.tolist() == other.ids.tolist()
            assert mine.lengths.tolist() == other.lengths.tolist()
        ids = source.ids.tolist()
        for pair, length in zip(pairs, source.lengths.tolist(), strict=True):
            assert tokenizers.source.encode(pair.source) == ids[:length]
            ids = ids[length:]


def test_a_process_that_dies_is_an_error_in_words(
    tokenizers: TokenizerPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenise, "_encode_in_worker", kill_oneself)

    def endless() -> Iterator[list[Pair]]:
        while True:
            yield BLOCKS[5]

    with pytest.raises(TrainingError, match="was killed"):
        for _ in encoded_blocks(endless(), tokenizers, num_processes=2):
            pass


def kill_oneself(texts: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_leaves_ctrl_c_to_the_first_process(
    tokenizers: TokenizerPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C goes to all processes of a terminal: only one of them is to answer."""
    monkeypatch.setattr(tokenise, "_tokenizers", None)
    before = signal.getsignal(signal.SIGINT)
    try:
        tokenise._start_worker([tokenizers.source.model, tokenizers.target.model])
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
