"""What a decoder remembers between steps: the cache, passed and returned, never hidden.

The rows of a sentence share one cache. Each step adds a slot a row, and nothing is moved after
that: which slots a row may see, those of its own past, is a bias. Reordering a beam reorders the
bias alone. Now and then the slots that no row sees any more are left behind. Of several sentences,
the newest slots stand side by side; a sentence that came later has none further back.

Shapes: B sentences, K rows a sentence, N = B * K rows, L slots, S source positions, D model width,
H heads, E head width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_ROOM = 6  # steps that a new buffer has room for: then it is gathered anew, without dead slots


class SlotCache:
    """Keys and values of the slots `start` to `end` of one layer, in a buffer with room to grow."""

    def __init__(self, buffer: Tensor, start: int, end: int, filled: list[int]) -> None:
        """Stand on `buffer` (B, H, 2, room, E), keys before values.

        `filled` is shared by all that stand on it: the first slot that none has taken.
        """
        self._buffer = buffer
        self._start = start
        self._end = end
        self._filled = filled

    @staticmethod
    def empty(like: Tensor) -> SlotCache:
        """Without a slot, for sentences and heads as in `like` (B, H, S, E)."""
        size, heads, _, width = like.shape
        return SlotCache(like.new_empty(size, heads, 2, 0, width), 0, 0, [0])

    def added(self, key_value: Tensor) -> SlotCache:
        """With key_value (B, H, 2, K, E) behind. The cache itself stays what it is."""
        count = key_value.size(3)
        end = self._end + count
        if self._filled[0] != self._end or end > self._buffer.size(3):
            length = self._end - self._start
            return _on_new_buffer(self._window(), room=length + _ROOM * count).added(key_value)
        self._buffer[:, :, :, self._end : end] = key_value
        self._filled[0] = end
        return SlotCache(self._buffer, self._start, end, self._filled)

    def has_room(self, count: int) -> bool:
        """Whether `count` slots more fit into the buffer."""
        return self._end + count <= self._buffer.size(3)

    def gathered(self, sentences: Tensor, slots: Tensor, *, room: int) -> SlotCache:
        """Of the given sentences (B'), the given slots (B', L'), with `room` for more behind."""
        _, heads, two, space, width = self._buffer.shape
        places = functional.pad(slots + self._start, (0, room))  # any slot fills the room
        pair = torch.arange(heads * two, device=slots.device)
        first = (sentences[:, None] * (heads * two) + pair) * space  # (B', 2 H)
        rows = (first[:, :, None] + places[:, None]).flatten()
        buffer = self._buffer.reshape(-1, width).index_select(0, rows)
        length = slots.size(1)
        return SlotCache(buffer.view(-1, heads, two, length + room, width), 0, length, [length])

    def joined(self, other: SlotCache, *, room: int) -> SlotCache:
        """With the sentences of `other` behind its own; the newest slots stand side by side.

        There is `room` for more behind.
        """
        mine, more = self._window(), other._window()
        length = max(mine.size(3), more.size(3))
        size, heads, two, _, width = mine.shape
        buffer = mine.new_empty(size + more.size(0), heads, two, length + room, width)
        for part, window in ((buffer[:size], mine), (buffer[size:], more)):
            first = length - window.size(3)
            part[:, :, :, :first] = 0.0  # never seen, but multiplied with a weight of 0
            part[:, :, :, first:length] = window
        return SlotCache(buffer, 0, length, [length])

    @property
    def keys_values(self) -> tuple[Tensor, Tensor]:
        """Keys and values, each (B, H, L, E)."""
        window = self._window()
        return window[:, :, 0], window[:, :, 1]

    def _window(self) -> Tensor:
        return self._buffer[:, :, :, self._start : self._end]


def _on_new_buffer(window: Tensor, *, room: int) -> SlotCache:
    size, heads, two, length, width = window.shape
    buffer = window.new_empty(size, heads, two, room, width)
    buffer[:, :, :, :length] = window
    return SlotCache(buffer, 0, length, [length])


@dataclass(frozen=True, kw_only=True)
class SourceKeysValues:
    """Keys and values of the source for one layer, computed once; each (B, H, S, E)."""

    key: Tensor
    value: Tensor

    def of_sentences(self, sentences: Tensor) -> SourceKeysValues:
        """Keep the given sentences, in the given order."""
        return SourceKeysValues(
            key=self.key.index_select(0, sentences), value=self.value.index_select(0, sentences)
        )

    def joined(self, other: SourceKeysValues) -> SourceKeysValues:
        """With the sentences of `other` behind its own."""
        pairs = ((self.key, other.key), (self.value, other.value))
        key, value = (_joined(mine, more, dim=2, value=0.0) for mine, more in pairs)
        return SourceKeysValues(key=key, value=value)


@dataclass(frozen=True, kw_only=True)
class DecoderState:
    """The state of N rows of an encoder-decoder; the K rows of a sentence stand together."""

    position: Tensor
    """(B) tokens fed to each sentence."""
    longest: int
    """The largest of them."""
    past: Tensor
    """(B, K, L) 0 at the slots that a row may see, its own past; else -inf."""
    caches: tuple[SlotCache, ...]
    """One a layer."""
    sources: tuple[SourceKeysValues, ...]
    """One a layer."""
    source_bias: Tensor
    """(B, 1, 1, S): 0 at tokens, -inf at padding."""

    @property
    def rows_per_sentence(self) -> int:
        """K."""
        return self.past.size(1)

    def select(self, rows: Tensor) -> DecoderState:
        """Keep the given rows, in the given order: expand, reorder or drop.

        rows (B', K') are K' rows of one sentence in each line; where there are as many lines as
        sentences, they must be those sentences, in order. rows (N') become sentences of one row
        each. Raises IndexError for a row that does not exist.
        """
        lines = rows if rows.dim() == 2 else rows[:, None]
        past = self.past.flatten(0, 1)[lines]
        if rows.dim() == 2 and lines.size(0) == self.past.size(0):
            if self.caches[0].has_room(lines.size(1)):
                return self._with(past=past)
            return self._gathered(torch.arange(lines.size(0), device=rows.device), past)
        sentences = torch.div(lines[:, 0], self.rows_per_sentence, rounding_mode="floor")
        position = self.position[sentences]
        chosen = self._with(
            position=position,
            longest=int(position.max()) if len(position) else 0,
            sources=tuple(source.of_sentences(sentences) for source in self.sources),
            source_bias=self.source_bias[sentences],
        )
        return chosen._gathered(sentences, past)

    def _gathered(self, sentences: Tensor, past: Tensor) -> DecoderState:
        """With the slots of the given sentences (B') that a row of `past` (B', K', L) sees."""
        is_seen = (past > -math.inf).any(dim=1)  # (B', L)
        length = int(is_seen.sum(dim=1).max()) if len(sentences) else 0
        # A stable sort brings those that are seen to the right, in their order.
        slots = is_seen.byte().argsort(dim=1, stable=True)[:, is_seen.size(1) - length :]
        room = _ROOM * past.size(1)
        return self._with(
            past=past.gather(2, slots[:, None].expand(-1, past.size(1), -1)),
            caches=tuple(cache.gathered(sentences, slots, room=room) for cache in self.caches),
        )

    def joined(self, other: DecoderState) -> DecoderState:
        """With the sentences of `other` behind its own; K must be equal."""
        length = max(self.past.size(2), other.past.size(2))
        room = _ROOM * self.rows_per_sentence
        caches = zip(self.caches, other.caches, strict=True)
        return DecoderState(
            position=torch.cat((self.position, other.position)),
            longest=max(self.longest, other.longest),
            past=torch.cat([_padded_left(past, length) for past in (self.past, other.past)]),
            caches=tuple(mine.joined(more, room=room) for mine, more in caches),
            sources=tuple(a.joined(b) for a, b in zip(self.sources, other.sources, strict=True)),
            source_bias=_joined(self.source_bias, other.source_bias, dim=3, value=-math.inf),
        )

    def advanced(self, caches: tuple[SlotCache, ...], past: Tensor) -> DecoderState:
        """After a step: with `caches` that have its slots, seen as `past` says."""
        return self._with(
            position=self.position + 1,
            longest=self.longest + 1,
            past=past,
            caches=caches,
        )

    def past_of_step(self) -> Tensor:
        """(B, K, L + K): `past` and the slots of the running step, of which a row sees its own."""
        rows = self.rows_per_sentence
        own = torch.full((rows, rows), -math.inf, dtype=self.past.dtype, device=self.past.device)
        own.fill_diagonal_(0.0)
        return torch.cat((self.past, own.expand(self.past.size(0), -1, -1)), dim=2)

    def _with(self, **changes: object) -> DecoderState:
        return DecoderState(**{**self.__dict__, **changes})


def _padded_left(past: Tensor, length: int) -> Tensor:
    return functional.pad(past, (length - past.size(2), 0), value=-math.inf)


def _joined(mine: Tensor, more: Tensor, *, dim: int, value: float) -> Tensor:
    """Sentences (dimension 0) of both, `dim` padded at its end to the longer of the two."""
    length = max(mine.size(dim), more.size(dim))

    def padded(x: Tensor) -> Tensor:
        widths = [0, 0] * (x.dim() - dim)
        widths[-1] = length - x.size(dim)
        return functional.pad(x, widths, value=value)

    return torch.cat((padded(mine), padded(more)))
