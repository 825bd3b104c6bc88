"""Pairs are dropped whole, for the reasons that the settings name, and counted and shown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.config import DROPPABLE, CorpusConfig
from mt.corpus.checks.finding import KINDS
from mt.corpus.cleaning import BLANK, Cleaner, TextRules, reason_of
from mt.corpus.keys import KeyTable, keys_of, loose_text
from mt.errors import DataError
from mt.events import PairDropped
from mt.formats.pair import INVALID
from mt.text.normalise import is_blank, normalise
from tests.corpus.list_reader import ListReader, Sides

RULES = TextRules(normalise=normalise, is_blank=is_blank)


class Cleaned:
    """A corpus after cleaning."""

    def __init__(
        self,
        *corpora: Sides,
        against: Sequence[tuple[str, str]] = (),
        hold_out: int = 0,
        **options: Any,
    ) -> None:
        self.events: list[PairDropped] = []
        self.cleaner = Cleaner(CorpusConfig(**options), RULES, self._listen)
        readers = [ListReader(pairs, name=f"c{i}") for i, pairs in enumerate(corpora)]
        self.stored = list(self.cleaner.pairs(readers))
        unwanted = KeyTable()
        for source, target in against:
            unwanted.append(keys_of(source, target, normalise))
        self.cleaner.drop_likenesses(unwanted)
        if hold_out:
            self.cleaner.hold_out(hold_out)
        for row, pair in enumerate(self.stored):
            if not self.cleaner.kept[row]:
                self.cleaner.report_row(pair, row)

    def _listen(self, event: object) -> None:
        assert isinstance(event, PairDropped)
        self.events.append(event)

    def pairs(self, mask: Any) -> list[tuple[str, str]]:
        return [(p.source, p.target) for p in itertools.compress(self.stored, mask)]

    @property
    def kept(self) -> list[tuple[str, str]]:
        return self.pairs(self.cleaner.for_training)

    @property
    def dropped(self) -> dict[str, int]:
        total: dict[str, int] = {}
        for origin in self.cleaner.summary():
            for reason, count in origin.dropped.items():
                total[reason] = total.get(reason, 0) + count
        return total


def test_a_pair_with_a_blank_side_goes_whole_and_is_named() -> None:
    cleaned = Cleaned(
        [("a", "b"), ("", "c"), ("d", "  "), ("\u3000\u200b", "e"), (None, "f"), ("g", "h")]
    )
    assert cleaned.kept == [("a", "b"), ("g", "h")]
    assert cleaned.dropped == {BLANK: 3, INVALID: 1}
    assert cleaned.events[0] == PairDropped(
        origin="c0", line=2, reason=BLANK, source="", target="c"
    )
    assert [event.line for event in cleaned.events] == [2, 3, 4, 5]


SIDES = st.none() | st.text(max_size=4) | st.sampled_from(["A a", "a  a", "b", "<b>"])


@given(
    st.lists(st.tuples(SIDES, SIDES)),
    st.sets(st.sampled_from(DROPPABLE)),
    st.lists(st.tuples(st.text(max_size=2), st.text(max_size=2))),
)
def test_cleaning_is_idempotent_and_adds_up(
    pairs: list[tuple[str | None, str | None]], drop: set[str], against: list[tuple[str, str]]
) -> None:
    cleaned = Cleaned(pairs, drop=tuple(drop), against=against)
    again = Cleaned(cleaned.kept, drop=tuple(drop), against=against)
    assert again.kept == cleaned.kept
    assert not again.dropped
    (origin,) = cleaned.cleaner.summary()
    assert origin.num_used == len(cleaned.kept)
    assert origin.num_read == len(pairs) == len(cleaned.kept) + len(cleaned.events)


LONG = "word " * 12
GERMAN = "Der alte Mann geht jeden Morgen langsam durch den Garten hinter dem Haus"
ENGLISH = "The old man walks slowly through the garden behind the house every morning"

CASES: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {
    # finding: pairs that go, pairs that stay though they look alike
    "ratio": ([(LONG * 9, "kurz")], [(LONG, "kurz und gut"), ("a" * 39, "b")]),
    "duplicate": ([("a b", "c d"), (" a  b ", "c d")], [("A b", "c d"), ("a b", "other")]),
    "near_duplicate": ([("A b!", "c d"), ("a b 2", "c d.")], [("a b", "other"), ("7", "8")]),
    "overlap_source": ([("in test", "new"), ("in  test ", "x")], [("In test", "y")]),
    "overlap_target": ([("new", "im Test")], [("z", "im test")]),
    "overlap_source_loose": ([("In TEST 3.", "new")], [("in another test", "y")]),
    "overlap_target_loose": ([("new", "im test!")], [("z", "im Haus")]),
    "copy": ([("same", " same")], [("same", "Same")]),
    "serial": ([("12. first", "eins"), ("one", "(3) drei")], [("12 Uhr", "12 o'clock")]),
    "markup": ([("a <b>c</b>", "d"), ("e", "f &amp; g")], [("a < b", "c > d")]),
    "numbers_differ": ([("95 Euro", "59 euros")], [("1.000,5", "1,000.5"), ("zwei", "2")]),
    "mojibake": ([("Ã¼ber", "over")], [("über", "over"), ("Ã", "A")]),
    "replacement": ([("\ufffdber", "over")], [("\u3000über", "over")]),
    "nul": ([("a\0b", "c")], []),
    "control": ([("a\x07b", "c")], [("a\tb", "c")]),
    "separator": ([("a\u2028b", "c"), ("d", "e\x0cf")], []),
    "carriage_return": ([("a\rb", "c")], []),
    "bom": ([("a\ufeffb", "c")], []),
    "not_nfc": ([("u\u0308ber", "over")], [("\xfcber", "over")]),
    "script_source": ([("привет мир", "hello you")], [("hello world", "привет мир")]),
    "script_target": ([("hello world", "привет мир")], [("привет мир", "hello you")]),
    "language_source": ([(GERMAN, "x")], [(ENGLISH, "x")]),
    "language_target": ([("x", ENGLISH)], [("x", GERMAN)]),
}
FIRST = [("a b", "c d"), ("plain words here", "schlichte Worte hier")]
ENGLISH_GERMAN = [(f"{ENGLISH} {word}", f"{GERMAN} {word}") for word in ("one", "two", "three")]


@pytest.mark.parametrize("finding", CASES)
def test_a_filter_drops_what_it_names_and_nothing_else(finding: str) -> None:
    goes, stays = CASES[finding]
    pairs = [*FIRST, *ENGLISH_GERMAN, *goes, *stays]
    test_set = [("in test", "im Test")]
    cleaned = Cleaned(pairs, against=test_set, drop=(finding,))
    assert cleaned.kept == [*FIRST, *ENGLISH_GERMAN, *stays]
    assert cleaned.dropped == {reason_of(finding): len(goes)}
    assert Cleaned(pairs, against=test_set, drop=()).dropped == {}


def test_every_finding_that_can_be_dropped_is_tried() -> None:
    elsewhere = {"long", "not_utf8"}  # tests/cases/test_corpus_cases.py
    assert set(DROPPABLE) == set(CASES) | elsewhere
    assert set(DROPPABLE) <= set(KINDS)


def test_the_ratio_is_that_of_the_corpus() -> None:
    """Where targets are ten times as long as sources, that is no fault."""
    usual = [(f"{i} word", "langes Wort " * 8) for i in range(50)]
    cleaned = Cleaned([*usual, ("a much longer source " * 9, "kurz")], max_ratio=5.0)
    assert cleaned.kept == usual
    assert cleaned.dropped == {"extreme ratio": 1}


def test_counts_are_by_origin() -> None:
    cleaned = Cleaned([("a", "b"), ("", "c")], [("a", "b"), ("d", "e"), (None, None)])
    first, second = cleaned.cleaner.summary()
    assert (first.name, first.num_read, first.dropped) == ("c0", 2, {BLANK: 1})
    assert (second.name, second.num_read) == ("c1", 3)
    assert second.dropped == {"duplicate": 1, INVALID: 1}
    assert second.num_used == 1


@pytest.mark.parametrize("drop", [(), ("overlap_target",), ("overlap_source_loose",)])
def test_a_held_out_set_has_no_overlap_with_the_rest(drop: tuple[str, ...]) -> None:
    pairs = [
        (f"{a} {b} {mark}{c}", f"{b} {c}")
        for a in "abcde"
        for b in "fghijklmno"
        for c in "pqrstu"
        for mark in ("", "1", "2")
    ]
    cleaned = Cleaned(pairs, hold_out=30, drop=drop)
    held_out = cleaned.pairs(cleaned.cleaner.held_out)
    assert 10 < len(held_out) < 60
    assert len(cleaned.kept) > 300
    assert not {source for source, _ in held_out} & {source for source, _ in cleaned.kept}
    if "overlap_target" in drop:
        assert not {target for _, target in held_out} & {target for _, target in cleaned.kept}
    if "overlap_source_loose" in drop:
        loose = [{loose_text(s) for s, _ in part} for part in (held_out, cleaned.kept)]
        assert not loose[0] & loose[1]
    assert sum(cleaned.dropped.values()) == len(pairs) - len(held_out) - len(cleaned.kept)
    assert bool(cleaned.dropped) == bool(drop)


def test_a_corpus_that_leaves_nothing_once_a_set_is_held_out_is_refused() -> None:
    with pytest.raises(DataError, match="1 usable pairs leaves nothing"):
        Cleaned([("a", "b")], hold_out=5)
    with pytest.raises(DataError, match="3 usable pairs leaves nothing"):
        Cleaned([("a", "x"), ("b", "x"), ("c", "x")], hold_out=1, drop=("overlap_target",))
