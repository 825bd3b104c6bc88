"""Lines of another corpus (a test set) that occur in the one at hand, exactly or nearly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from mt.corpus.checks.finding import Finding
from mt.corpus.checks.sides import loose_key
from mt.corpus.pair import Pair, Reader


class Overlap:
    """Counts the lines of `against` that occur in the pairs given to `add`."""

    def __init__(self, against: Iterable[Reader]) -> None:
        self._pairs: list[Pair] = []
        self._lines: dict[tuple[str, int], list[int]] = defaultdict(list)
        for reader in against:
            for pair in reader:
                if not pair.fault and pair.source.strip() and pair.target.strip():
                    for name, key in _keys(pair.source, pair.target):
                        self._lines[name, key].append(len(self._pairs))
                    self._pairs.append(pair)
        self._found: dict[str, dict[int, str]] = defaultdict(dict)

    def add(self, pair: Pair) -> None:
        """Look for the sides of a pair of the corpus at hand."""
        for name, key in _keys(pair.source, pair.target):
            for line in self._lines.get((name, key), ()):
                self._found[name].setdefault(line, f"{pair.origin}:{pair.line}")

    def findings(self) -> list[Finding]:
        """A finding for each kind of likeness that was met; loose ones where they add lines."""
        findings = []
        for kind in ("source", "target", "pair"):
            exact = self._found.get(kind, {})
            loose = self._found.get(f"{kind}_loose", {})
            for name, lines in ((kind, exact), (f"{kind}_loose", loose)):
                if not lines or (lines is loose and len(loose) <= len(exact)):
                    continue
                finding = Finding(id=f"overlap_{name}", out_of=len(self._pairs))
                for line, place in sorted(lines.items()):
                    other = self._pairs[line]
                    text = other.target if kind == "target" else other.source
                    finding.add(f"{other.origin}:{other.line} = {place}", text)
                findings.append(finding)
        return findings


def _keys(source: str, target: str) -> list[tuple[str, int]]:
    """Names of the kinds of likeness and a 64-bit key for each; empty loose keys are left out."""
    source, target = source.strip(), target.strip()
    keys = [
        ("source", hash(source)),
        ("target", hash(target)),
        ("pair", hash((source, target))),
    ]
    left, right = loose_key(source), loose_key(target)
    if left:
        keys.append(("source_loose", hash(left)))
    if right:
        keys.append(("target_loose", hash(right)))
    if left and right:
        keys.append(("pair_loose", hash((left, right))))
    return keys
