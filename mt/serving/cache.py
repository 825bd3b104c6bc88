"""Lines that were translated lately."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

Key = tuple[str, str]
"""What translates, and the line."""
_OVERHEAD = 200  # characters that an entry counts beside its text


@dataclass
class LineCache:
    """The candidates of lines, best first; what was asked for longest ago goes first."""

    most_characters: int
    num_characters: int = 0
    _entries: OrderedDict[Key, tuple[str, ...]] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> tuple[str, ...] | None:
        """The candidates of a line, if they are remembered."""
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, key: Key, candidates: tuple[str, ...]) -> None:
        """Remember the candidates of a line, as far as there is room."""
        size = _size(key, candidates)
        if key in self._entries or size > self.most_characters:
            return
        self._entries[key] = candidates
        self.num_characters += size
        while self.num_characters > self.most_characters:
            self.num_characters -= _size(*self._entries.popitem(last=False))


def _size(key: Key, candidates: tuple[str, ...]) -> int:
    return _OVERHEAD + len(key[1]) + sum(map(len, candidates))
