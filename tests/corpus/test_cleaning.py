"""Pairs are dropped whole, counted by reason, and named by file and line."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mt.corpus.cleaning import BLANK, Tally, usable_pairs
from mt.corpus.pair import INVALID, Pair
from mt.events import Event, PairDropped
from mt.text.normalise import is_blank


class ListReader:
    def __init__(self, pairs: list[tuple[str | None, str | None]]) -> None:
        self.pairs = pairs
        self.name = "list"
        self.languages = None

    def __iter__(self) -> Iterator[Pair]:
        for number, (source, target) in enumerate(self.pairs, start=1):
            if source is None or target is None:
                yield Pair("", "", "list", number, INVALID)
            else:
                yield Pair(source, target, "list", number)


def clean(
    pairs: list[tuple[str | None, str | None]],
) -> tuple[list[tuple[str, str]], Tally, list[Event]]:
    tally = Tally()
    events: list[Event] = []
    kept = usable_pairs([ListReader(pairs)], is_blank=is_blank, tally=tally, listener=events.append)
    return [(pair.source, pair.target) for pair in kept], tally, events


def test_a_pair_with_a_blank_side_goes_whole_and_is_named() -> None:
    kept, tally, events = clean(
        [("a", "b"), ("", "c"), ("d", "  "), ("\u3000\u200b", "e"), (None, "f"), ("g", "h")]
    )
    assert kept == [("a", "b"), ("g", "h")]
    assert tally.dropped == {BLANK: 3, INVALID: 1}
    assert (tally.num_read, tally.num_used) == (6, 2)
    assert events[0] == PairDropped(origin="list", line=2, reason=BLANK, source="", target="c")
    assert [e.line for e in events if isinstance(e, PairDropped)] == [2, 3, 4, 5]


SIDES = st.none() | st.text(max_size=4)


@given(st.lists(st.tuples(SIDES, SIDES)))
def test_cleaning_is_idempotent_and_adds_up(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    kept, tally, _ = clean(pairs)
    again, second, _ = clean([(source, target) for source, target in kept])
    assert again == kept
    assert second.dropped.total() == 0
    assert tally.num_used == len(kept)
    assert tally.num_read == len(pairs)
