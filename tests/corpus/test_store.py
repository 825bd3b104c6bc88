"""The Arrow stores give back what was written."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from mt.corpus.store import TokenBlock, TokenStore, read_pairs, write_pairs, write_tokens
from mt.formats.pair import Pair


def test_texts_come_back_in_order(tmp_path: Path) -> None:
    pairs = [Pair(f"s{i} \u2028 null", f"t{i}", "a.de", i) for i in range(25_000)]
    assert write_pairs(tmp_path / "t.arrow", iter(pairs)) == 25_000
    assert [pair for block in read_pairs(tmp_path / "t.arrow") for pair in block] == pairs


@pytest.mark.parametrize("vocab_size", [300, 1 << 16, (1 << 16) + 1])
def test_tokens_come_back_by_index(vocab_size: int, tmp_path: Path) -> None:
    sources = [[vocab_size - 1 - j for j in range(i % 7)] for i in range(300)]
    targets = [[i % vocab_size] * (i % 5 + 1) for i in range(300)]
    cuts = itertools.pairwise([0, 1, 1, 120, 300])
    blocks = [TokenBlock.of(sources[a:b], targets[a:b]) for a, b in cuts]
    assert write_tokens(tmp_path / "t.arrow", blocks, vocab_size=vocab_size) == 300
    store = TokenStore(tmp_path / "t.arrow")
    assert len(store) == 300
    assert store.source_lengths.tolist() == [len(source) for source in sources]
    assert store.target_lengths.tolist() == [len(target) for target in targets]
    for i in (0, 1, 119, 120, 299):
        assert store.sources([i])[0].tolist() == sources[i]
        assert store.targets([i])[0].tolist() == targets[i]


def test_a_new_store_under_an_old_name_is_read_anew(tmp_path: Path) -> None:
    for word in ("old", "new"):
        write_pairs(tmp_path / "t.arrow", [Pair(word, word, "a", 1)])
        assert list(read_pairs(tmp_path / "t.arrow")) == [[Pair(word, word, "a", 1)]]


def test_an_empty_store_is_a_store(tmp_path: Path) -> None:
    assert write_pairs(tmp_path / "a.arrow", []) == 0
    assert [pair for block in read_pairs(tmp_path / "a.arrow") for pair in block] == []
    assert write_tokens(tmp_path / "b.arrow", [], vocab_size=9) == 0
    assert len(TokenStore(tmp_path / "b.arrow")) == 0
