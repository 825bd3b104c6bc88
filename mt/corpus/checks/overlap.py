"""Lines of another corpus (a test set) that occur in the corpus at hand, exactly or nearly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from mt.corpus.checks.finding import Finding
from mt.corpus.keys import Keys, keys_of
from mt.formats.pair import Pair, Reader


class Overlap:
    """Counts the lines of `against` that occur in the pairs given to `add`."""

    def __init__(self, against: Iterable[Reader], normalise: Callable[[str], str]) -> None:
        self._normalise = normalise
        self._pairs: list[Pair] = []
        self._lines: dict[tuple[str, int], list[int]] = defaultdict(list)
        for reader in against:
            for pair in reader:
                if not pair.fault and pair.source.strip() and pair.target.strip():
                    for name, key in _named(keys_of(pair.source, pair.target, normalise)):
                        self._lines[name, key].append(len(self._pairs))
                    self._pairs.append(pair)
        self._found: dict[str, dict[int, str]] = defaultdict(dict)

    def add(self, pair: Pair, keys: Keys) -> None:
        """Look for the sides of a pair of the corpus at hand."""
        for name, key in _named(keys) if self._pairs else ():
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
                for line, location in sorted(lines.items()):
                    other = self._pairs[line]
                    text = other.target if kind == "target" else other.source
                    finding.add(f"{other.origin}:{other.line} = {location}", text)
                findings.append(finding)
        return findings


def _named(keys: Keys) -> list[tuple[str, int]]:
    """Names of the kinds of likeness and a key for each; those of no letters are left out."""
    named = [
        ("source", keys.source),
        ("target", keys.target),
        ("pair", hash((keys.source, keys.target))),
    ]
    if keys.source_loose:
        named.append(("source_loose", keys.source_loose))
    if keys.target_loose:
        named.append(("target_loose", keys.target_loose))
    if keys.source_loose and keys.target_loose:
        named.append(("pair_loose", hash((keys.source_loose, keys.target_loose))))
    return named
