"""Which pairs are left out of training, and why. Pure functions over pairs; pairs go whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from mt.corpus.pair import Pair, Reader
from mt.events import Listener, PairDropped

BLANK = "blank side"
TOO_LONG = "too long"


@dataclass(kw_only=True)
class Tally:
    """How many pairs were read, and how many were dropped for each reason."""

    num_read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def num_used(self) -> int:
        """Pairs that were kept."""
        return self.num_read - self.dropped.total()

    def drop(self, pair: Pair, reason: str, listener: Listener) -> None:
        """Count a pair that is left out, and report it."""
        self.dropped[reason] += 1
        listener(
            PairDropped(
                origin=pair.origin,
                line=pair.line,
                reason=reason,
                source=pair.source,
                target=pair.target,
            )
        )


def usable_pairs(
    readers: Iterable[Reader], *, is_blank: Callable[[str], bool], tally: Tally, listener: Listener
) -> Iterator[Pair]:
    """Read all pairs and give those with text on both sides, counting in `tally`."""
    for reader in readers:
        for pair in reader:
            tally.num_read += 1
            reason = pair.fault
            if not reason and (is_blank(pair.source) or is_blank(pair.target)):
                reason = BLANK
            if not reason:
                yield pair
            else:
                tally.drop(pair, reason, listener)
