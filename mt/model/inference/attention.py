"""The attention of search, without dropout or gradient, on projections that are arranged once.

Shapes: B sentences, K rows a sentence, N = B * K rows, S source positions, W slots or source
positions in whole vectors, T positions that attend, D model width, H heads of queries, G heads of
keys and values, E head width. Rows of products lie flat, (B T, D).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mt.model.attention import MultiHeadAttention, has_fused_kernels
from mt.model.inference.linear import Products, make_product
from mt.model.relative import RelativeAttention
from mt.model.rotary import RotaryAttention


@dataclass(frozen=True, kw_only=True)
class Offsets:
    """How far before a query each key stands, as indices into a table."""

    table: Tensor
    """Sinusoids of offsets, larger ones first, (..., D)."""
    rows: slice
    """Those of its rows that are needed (M)."""
    index: Tensor
    """(B or 1, 1, T or 1, W) the index of each key's offset among them."""


PositionInput = Tensor | Offsets | None
"""What self-attention is to know of positions: the turns of rotary ones, offsets, or nothing."""


def make_self_attention(attention: MultiHeadAttention, products: Products) -> SelfAttention:
    """Arrange the self-attention of a layer."""
    if isinstance(attention, RotaryAttention):
        return RotarySelfAttention(attention, products)
    if isinstance(attention, RelativeAttention):
        return RelativeSelfAttention(attention, products)
    return SelfAttention(attention, products)


class SelfAttention:
    """Queries, keys and values by one product; the keys and values of a head side by side."""

    def __init__(
        self,
        attention: MultiHeadAttention,
        products: Products,
        *,
        query_bias: Tensor | None = None,
    ) -> None:
        """Arrange `attention`; `query_bias` (D) is added to its bias of queries, over sqrt(E)."""
        self._heads = attention.heads
        self._shared = attention.key_value_heads
        self._head_width = attention.head_width
        is_turned = [True] * self._heads + [True, False] * self._shared
        self._is_turned = torch.tensor(is_turned, device=attention.query.weight.device)
        weight, bias = _scaled_query(attention)
        if query_bias is not None:
            bias = query_bias if bias is None else bias + query_bias
        both, both_bias = by_heads(attention)
        if bias is not None and both_bias is None:
            both_bias = bias.new_zeros(both.size(0))
        joined = None if bias is None or both_bias is None else torch.cat((bias, both_bias))
        self._project = make_product(
            self.arranged(torch.cat((weight, both))),
            None if joined is None else self.arranged(joined),
            products,
        )
        self._output = make_product(attention.output.weight, attention.output.bias, products)

    def arranged(self, x: Tensor) -> Tensor:
        """The rows of queries, then of keys and values by heads, ((H + 2 G) E, ...), in order."""
        return x

    def located(self, positions: PositionInput) -> PositionInput:
        """What `project` takes, the same for all layers, from what the model has of positions."""
        return positions

    def turned(self, rows: Tensor, size: int, positions: PositionInput) -> Tensor:
        """Rows (B T, (H + 2 G) E) as their positions turn them."""
        return rows

    def project(self, x: Tensor, size: int, positions: PositionInput) -> tuple[Tensor, Tensor]:
        """Rows (B T, D) -> queries (B, H, T, E), keys and values (B, G, T, 2 E)."""
        width = x.size(1)
        length, head = x.size(0) // size, width // self._heads
        rows = self.turned(self._project(x), size, positions)
        query = rows[:, :width].view(size, length, self._heads, head)
        key_value = rows[:, width:].view(size, length, self._shared, 2 * head)
        return query.transpose(1, 2), key_value.transpose(1, 2)

    def output(
        self, query: Tensor, key_value: Tensor, bias: Tensor, positions: PositionInput
    ) -> Tensor:
        """Attend and project: (B, H, T, E), (B, G, W, 2 E), (B, 1, 1 or T, W) -> (B T, D)."""
        return self._output(_attend(query, key_value, bias))


class RotarySelfAttention(SelfAttention):
    """With queries and keys turned by their positions, so that keys can stay in the cache.

    The pairs that are turned (`mt.model.rotary`) stand side by side here: queries, keys and values
    are complex numbers that one product turns, those of values by no angle.
    """

    def arranged(self, x: Tensor) -> Tensor:
        """As in `SelfAttention`: in queries and keys the pairs (i, i + E/2) side by side."""
        heads = x.view(self._heads + 2 * self._shared, self._head_width, *x.shape[1:])
        halves = heads[self._is_turned].view(-1, 2, self._head_width // 2, *x.shape[1:])
        pairs = halves.transpose(1, 2).flatten(1, 2)
        return heads.index_put((self._is_turned,), pairs).view(x.shape)

    def located(self, positions: PositionInput) -> PositionInput:
        """Cosines and sines (..., E) of each position -> what each pair is multiplied by.

        Complex, (..., H + 2 G, E/2), and 1 for values.
        """
        assert isinstance(positions, Tensor)
        turn = torch.complex(*positions.chunk(2, dim=-1))
        either = torch.stack((torch.ones_like(turn), turn), dim=-2)
        return either[..., self._is_turned.long(), :]

    def turned(self, rows: Tensor, size: int, positions: PositionInput) -> Tensor:
        """As in `SelfAttention`."""
        assert isinstance(positions, Tensor)
        wide = rows.to(torch.promote_types(rows.dtype, torch.float32))
        pairs = wide.view(size, rows.size(0) // size, -1, self._head_width // 2, 2)
        torch.view_as_complex(pairs).mul_(positions)
        return wide.to(rows.dtype)


class RelativeSelfAttention(SelfAttention):
    """With scores of offsets; the content bias u is part of the bias of queries."""

    def __init__(self, attention: RelativeAttention, products: Products) -> None:
        content = attention.content_bias.detach()
        root = math.sqrt(attention.head_width)
        super().__init__(attention, products, query_bias=content / root)
        difference = attention.position_bias.detach() - content
        scale = 1.0 / root
        self._difference = difference.view(attention.heads, 1, -1) * scale
        self._position = attention.position
        self._by_heads = attention.by_heads
        self._known: tuple[Tensor | None, Tensor] = (None, self._difference)

    def output(
        self, query: Tensor, key_value: Tensor, bias: Tensor, positions: PositionInput
    ) -> Tensor:
        """As in `SelfAttention`."""
        assert isinstance(positions, Offsets)
        size, heads, length, width = query.shape
        biased = (query + self._difference.to(query.dtype)).transpose(0, 1)
        offsets = self._projected(positions.table)[:, positions.rows].to(query.dtype)
        scores = torch.bmm(biased.reshape(heads, -1, width), offsets.transpose(1, 2))
        scores = scores.view(heads, size, length, -1).transpose(0, 1)
        index = positions.index.expand(size, heads, length, -1)
        return self._output(_attend(query, key_value, scores.gather(3, index) + bias))

    def _projected(self, table: Tensor) -> Tensor:
        """Table (..., D) -> (H, ..., E), made once for each table."""
        known, projected = self._known
        if known is not table:
            projected = self._by_heads(functional.linear(table, self._position.weight.detach()))
            self._known = (table, projected)
        return projected


class CrossAttention:
    """Attention to keys and values that were computed once."""

    def __init__(self, attention: MultiHeadAttention, products: Products) -> None:
        self._heads = attention.heads
        self._query = make_product(*_scaled_query(attention), products)
        self._output = make_product(attention.output.weight, attention.output.bias, products)

    def __call__(self, x: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
        """X (N, D), key_value (B, G, S, 2 E), bias (B, 1, 1, S) -> (N, D)."""
        query = self._query(x).view(key_value.size(0), -1, self._heads, x.size(1) // self._heads)
        return self._output(_attend(query.transpose(1, 2), key_value, bias))


def by_heads(attention: MultiHeadAttention) -> tuple[Tensor, Tensor | None]:
    """Weight (2 G E, D) and bias (2 G E) of keys and values, with those of a head together."""

    def together(x: Tensor) -> Tensor:
        both = x.detach().view(2, attention.key_value_heads, -1, *x.shape[1:])
        return both.transpose(0, 1).flatten(0, 2)

    linear = attention.key_value
    return together(linear.weight), None if linear.bias is None else together(linear.bias)


def _attend(query: Tensor, key_value: Tensor, bias: Tensor) -> Tensor:
    """softmax(Q K^T + bias) V with scaled queries; heads side by side, (B T, D)."""
    size, heads, length, width = query.shape
    shared = key_value.size(1)
    if shared != heads:
        # Queries that share keys stand behind each other: (B, H, T, E) -> (B, G, H / G T, E)
        query = query.reshape(size, shared, -1, width)
        if bias.size(1) != 1:
            bias = bias.reshape(size, shared, -1, bias.size(3))
        elif bias.size(2) != 1:
            bias = bias.repeat(1, 1, heads // shared, 1)
    key, value = key_value[..., :width], key_value[..., width:]
    if size == 1 or has_fused_kernels(query):
        # On a CPU, one operator in place of four: of a single sentence their number is the cost.
        mask = bias.to(query.dtype).expand(-1, -1, query.size(2), -1)
        out = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
    else:
        scores = torch.matmul(query, key.transpose(2, 3)).add_(bias)
        out = torch.matmul(torch.softmax(scores, dim=3), value)
    if shared != heads:
        out = out.view(size, heads, length, width)
    return out.transpose(1, 2).reshape(size * length, heads * width)


def _scaled_query(attention: MultiHeadAttention) -> tuple[Tensor, Tensor | None]:
    """Weight and bias of the queries over sqrt(E)."""
    query = attention.query
    scale = 1.0 / math.sqrt(attention.head_width)
    return (
        query.weight.detach() * scale,
        None if query.bias is None else query.bias.detach() * scale,
    )
