"""A journal gives back the blocks that were added and nothing else, whatever its end is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.errors import ConfigError, DataError
from mt.files.journal import Journal

BLOCKS = [b"one\n", b"", b"40 0123456789abcdef0123456789abcdef\n", b"\x00\xff" * 50, b"no end"]


def written(path: Path) -> bytes:
    journal = Journal(path, request="a")
    for block in BLOCKS:
        journal.append(block)
    assert list(journal) == BLOCKS
    return path.read_bytes()


def test_blocks_are_read_again_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    journal = Journal(path, request="a")
    assert list(journal) == BLOCKS
    assert len(journal) == len(BLOCKS)
    assert journal.num_bytes_cut == 0


def test_a_journal_cut_anywhere_goes_on_with_its_whole_blocks(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    head = whole.index(b"\n") + 1
    counts = []
    for size in range(head, len(whole)):
        path.write_bytes(whole[:size])
        journal = Journal(path, request="a")
        counts.append(len(journal))
        assert list(journal) == BLOCKS[: len(journal)]
        for block in BLOCKS[len(journal) :]:
            journal.append(block)
        assert path.read_bytes() == whole
    assert counts == sorted(counts)
    assert set(counts) == set(range(len(BLOCKS)))


@settings(max_examples=25)
@given(place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_a_flipped_bit_costs_the_blocks_from_there_on(
    place: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"
    whole = written(path)
    place %= len(whole)
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    try:
        journal = Journal(path, request="a")
    except (ConfigError, DataError):
        assert place <= whole.index(b"\n")
        return
    assert list(journal) == BLOCKS[: len(journal)]
    assert len(journal) < len(BLOCKS)
    assert journal.num_bytes_cut > 0


def test_the_journal_of_another_request_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    with pytest.raises(ConfigError, match="of another request"):
        Journal(path, request="b")
    assert path.read_bytes() == whole


def test_what_is_no_journal_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"Dear diary,\n")
    with pytest.raises(DataError, match="does not begin as a journal does"):
        Journal(path, request="a")
    assert path.read_bytes() == b"Dear diary,\n"


def test_a_seal_of_more_bytes_than_there_are_is_no_block(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    path.write_bytes(whole + b"9" * 15 + b" " + b"0" * 32 + b"\nx")
    assert list(Journal(path, request="a")) == BLOCKS
    assert path.read_bytes() == whole
