"""What a decoder keeps between steps: the KV cache, passed and returned, never hidden.

The rows of a sentence share one cache. In a decoder-only model its first slots, which all rows see,
are those of the source. Each step adds a slot a row, and nothing is moved after that: which slots a
row may see, those of its own past, is a bias. Reordering a beam reorders only the bias. Now and
then the slots that no row sees any more are left behind. Of several sentences, the newest slots
stand side by side; a sentence that came later has none further back.

Keys and values of a position stand side by side, those of all layers in one buffer, so that they
are gathered by one operation. Slots fill whole vectors of a CPU: behind the last one come
numbers of no meaning, which the bias hides.

Shapes: Y layers, B sentences, K rows a sentence, N = B * K rows, L slots, S source positions, H
heads of keys and values, E head width.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

_ROOM = 6  # steps that a new buffer has room for: then it is gathered anew, without dead slots
_VECTOR = 16  # numbers: a softmax over other lengths takes up to ten times as long on a CPU


def whole_vectors(length: int) -> int:
    """The next length that is a multiple of a vector."""
    return -(-length // _VECTOR) * _VECTOR


class SlotCache:
    """Keys and values of `length` slots in all layers, in a buffer with room to grow."""

    def __init__(self, buffer: Tensor, length: int, filled: list[int]) -> None:
        """Stand on `buffer` (Y, B, H, room, 2 E), keys before values.

        `filled` is shared by all that stand on it: the first slot that none has taken.
        """
        self._buffer = buffer
        self.length = length
        self._filled = filled

    @staticmethod
    def empty(layers: int, size: int, heads: int, width: int, like: Tensor) -> SlotCache:
        """Without a slot; of the device and the type of `like`."""
        return SlotCache(like.new_empty(layers, size, heads, 0, 2 * width), 0, [0])

    @staticmethod
    def of(keys_values: Tensor, length: int) -> SlotCache:
        """With the first `length` slots of keys_values (Y, B, H, W, 2 E) as its first ones."""
        return SlotCache(keys_values, length, [length])

    def grown(self, count: int) -> SlotCache:
        """With `count` slots more, to be written by the layers. The cache itself stays as it is."""
        end = self.length + count
        buffer, filled = self._buffer, self._filled
        if filled[0] != self.length or end > buffer.size(3):
            buffer = functional.pad(
                self._window(), (0, 0, 0, whole_vectors(end + _ROOM * count) - self.length)
            )
            filled = [self.length]
        filled[0] = end
        return SlotCache(buffer, end, filled)

    def written(self, layer: int, key_value: Tensor) -> Tensor:
        """Write the newest slots of a layer, (B, H, K, 2 E); gives all, (B, H, W, 2 E).

        W is `length` in whole vectors.
        """
        of_layer = self._buffer[layer]
        of_layer[:, :, self.length - key_value.size(2) : self.length] = key_value
        return of_layer[:, :, : whole_vectors(self.length)]

    def has_room(self, count: int) -> bool:
        """Whether `count` slots more fit into the buffer."""
        return self.length + count <= self._buffer.size(3)

    def gathered(self, sentences: Tensor, slots: Tensor, *, room: int) -> SlotCache:
        """Of the given sentences (B'), the given slots (B', L'), with `room` for more behind."""
        layers, size, heads, space, width = self._buffer.shape
        length = slots.size(1)
        new_space = whole_vectors(length + room)
        # Any slot fills the room, for the bias hides it.
        padded = functional.pad(slots, (0, new_space - length))
        head = torch.arange(heads, device=slots.device)
        first = (sentences[:, None] * heads + head) * space  # (B', H)
        rows = first[:, :, None] + padded[:, None]
        layer = torch.arange(layers, device=slots.device) * (size * heads * space)
        rows = (layer[:, None] + rows.flatten()).flatten()
        buffer = self._buffer.view(-1, width).index_select(0, rows)
        return SlotCache(buffer.view(layers, -1, heads, new_space, width), length, [length])

    def joined(self, other: SlotCache, *, room: int) -> SlotCache:
        """With the sentences of `other` behind its own; the newest slots stand side by side.

        There is `room` for more behind.
        """
        length = max(self.length, other.length)
        space = whole_vectors(length + room)
        # Slots that a sentence never had are never seen, but multiplied with a weight of 0.
        parts = [
            functional.pad(each._window(), (0, 0, length - each.length, space - length))
            for each in (self, other)
        ]
        return SlotCache(torch.cat(parts, dim=1), length, [length])

    def _window(self) -> Tensor:
        return self._buffer[:, :, :, : self.length]


@dataclass(frozen=True, kw_only=True)
class SourceCache:
    """Keys and values of the source for all layers, computed once."""

    keys_values: Tensor
    """(Y, B, H, S, 2 E) keys before values."""
    bias: Tensor
    """(B, 1, 1, S) 0 at tokens, else -inf."""

    def of_sentences(self, sentences: Tensor) -> SourceCache:
        """Keep the given sentences, in the given order."""
        return SourceCache(
            keys_values=self.keys_values.index_select(1, sentences),
            bias=self.bias.index_select(0, sentences),
        )

    def joined(self, other: SourceCache) -> SourceCache:
        """With the sentences of `other` behind its own."""
        length = max(self.bias.size(3), other.bias.size(3))
        missing = [length - each.bias.size(3) for each in (self, other)]
        pairs = list(zip((self, other), missing, strict=True))
        return SourceCache(
            keys_values=torch.cat(
                [functional.pad(each.keys_values, (0, 0, 0, more)) for each, more in pairs], dim=1
            ),
            bias=torch.cat(
                [functional.pad(each.bias, (0, more), value=-math.inf) for each, more in pairs]
            ),
        )


@dataclass(frozen=True, kw_only=True)
class DecoderState:
    """The state of N rows of a decoder; the K rows of a sentence stand together."""

    position: Tensor
    """(B) tokens fed to each sentence, those of a source in the slots among them."""
    longest: int
    """The largest of them."""
    past: Tensor
    """(B, K, L) 0 at the slots that a row may see, its own past; else -inf."""
    cache: SlotCache
    source: SourceCache | None
    """None where the source stands in the slots itself."""
    slot_positions: Tensor | None = None
    """(B, L) how many tokens were fed before that of a slot; None where attention does not ask."""

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
            if self.cache.has_room(lines.size(1)):
                return dataclasses.replace(self, past=past)
            return self._gathered(torch.arange(lines.size(0), device=rows.device), past)
        sentences = torch.div(lines[:, 0], self.rows_per_sentence, rounding_mode="floor")
        position = self.position[sentences]
        chosen = dataclasses.replace(
            self,
            position=position,
            longest=int(position.max()) if len(position) else 0,
            source=self.source and self.source.of_sentences(sentences),
        )
        return chosen._gathered(sentences, past)

    def _gathered(self, sentences: Tensor, past: Tensor) -> DecoderState:
        """With the slots of the given sentences (B') that a row of `past` (B', K', L) sees."""
        is_seen = (past > -math.inf).any(dim=1)  # (B', L)
        length = int(is_seen.sum(dim=1).max()) if len(sentences) else 0
        # A stable sort brings those that are seen to the right, in their order.
        slots = is_seen.byte().argsort(dim=1, stable=True)[:, is_seen.size(1) - length :]
        positions = self.slot_positions
        return dataclasses.replace(
            self,
            past=past.gather(2, slots[:, None].expand(-1, past.size(1), -1)),
            slot_positions=None if positions is None else positions[sentences].gather(1, slots),
            cache=self.cache.gathered(sentences, slots, room=_ROOM * past.size(1)),
        )

    def joined(self, other: DecoderState) -> DecoderState:
        """With the sentences of `other` behind its own; K must be equal."""
        length = max(self.past.size(2), other.past.size(2))
        return DecoderState(
            position=torch.cat((self.position, other.position)),
            longest=max(self.longest, other.longest),
            past=torch.cat([_padded_left(past, length) for past in (self.past, other.past)]),
            cache=self.cache.joined(other.cache, room=_ROOM * self.rows_per_sentence),
            source=self.source and other.source and self.source.joined(other.source),
            slot_positions=_joined_positions(self.slot_positions, other.slot_positions, length),
        )

    def grown(self) -> DecoderState:
        """After a step: with a slot more for each row, seen only by it; the layers write them."""
        rows = self.rows_per_sentence
        own = _own_slots(rows, self.past.dtype, self.past.device)
        positions = self.slot_positions
        if positions is not None:
            positions = torch.cat((positions, self.position[:, None].expand(-1, rows)), dim=1)
        return dataclasses.replace(
            self,
            slot_positions=positions,
            position=self.position + 1,
            longest=self.longest + 1,
            past=torch.cat((self.past, own.expand(self.past.size(0), -1, -1)), dim=2),
            cache=self.cache.grown(rows),
        )

    def past_bias(self) -> Tensor:
        """`past` for attention, in whole vectors: (B, 1, K, W)."""
        length = self.past.size(2)
        padded = functional.pad(self.past, (0, whole_vectors(length) - length), value=-math.inf)
        return padded[:, None]


@cache
def _own_slots(rows: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The bias (K, K) by which each row sees its own newest slot only."""
    own = torch.full((rows, rows), -math.inf, dtype=dtype, device=device)
    return own.fill_diagonal_(0.0)


def _padded_left(past: Tensor, length: int) -> Tensor:
    return functional.pad(past, (length - past.size(2), 0), value=-math.inf)


def _joined_positions(first: Tensor | None, second: Tensor | None, length: int) -> Tensor | None:
    """Newest slots side by side; slots that a sentence never had count as its first."""
    if first is None or second is None:
        return None
    return torch.cat([functional.pad(each, (length - each.size(1), 0)) for each in (first, second)])
