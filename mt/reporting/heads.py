"""What the heads of attention look like: how wide they look, and where.

A head is named by where its weights lie on average, as Clark et al. 2019 ("What Does BERT Look
At?") do: half of the weight and more on the previous token makes a previous-token head.

Shapes: L layers, H heads, T query positions, S key positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Kind = Literal["cross", "encoder", "decoder", "stream"]
"""Whose attention: the decoder's to the source, the self-attention of a side, or that of both sides
as one stream, in a decoder-only model."""

Pattern = Literal[
    "previous-token", "next-token", "diagonal", "end-of-sentence", "start-of-sentence"
]

PATTERNS: dict[Kind, tuple[Pattern, ...]] = {
    "cross": ("diagonal", "end-of-sentence"),
    "encoder": ("previous-token", "next-token", "diagonal", "end-of-sentence"),
    "decoder": ("previous-token", "diagonal", "start-of-sentence"),
    "stream": ("previous-token", "diagonal", "start-of-sentence"),
}
"""What is looked for in each kind. The decoder sees no later token and is fed no end symbol: where
an encoder head rests on the end, one of the decoder rests on the start; one of a stream on its
first token."""

LEAST_WEIGHT = 0.5
"""A head is named when so much of its weight, the mean over queries, lies on the pattern …"""
LEAST_GAIN = 2.0
"""… and it is so many times what equal weights on all visible keys would put there …"""
LEAST_QUERIES = 3
"""… over so many queries at least: two positions make no pattern."""


@dataclass(frozen=True, kw_only=True)
class HeadProfile:
    """What one head does over one pair of texts."""

    layer: int
    """Counted from 0."""
    head: int
    """Counted from 0."""
    entropy: float
    """Nats, the mean over queries of -sum_s a_s ln a_s: 0 looks at one key, ln n at n alike."""
    spread: float
    """The entropy as a share of that of equal weights on all visible keys, between 0 and 1."""
    weights: dict[Pattern, float]
    """The weight on each pattern of the kind, the mean over queries; 0 where no query counts."""
    names: tuple[Pattern, ...]
    """The patterns that the head looks like, the heaviest first; none for most heads."""


def entropy(weights: Tensor) -> Tensor:
    """-sum_s a_s ln a_s in nats, with 0 ln 0 = 0: (…, T, S) -> (…, T)."""
    out: Tensor = torch.special.entr(weights).sum(dim=-1)
    return out


def visible_keys(kind: Kind, num_queries: int, num_keys: int, *, num_prefix: int = 0) -> Tensor:
    """Which keys a query may attend to: (T, S) of bool.

    In the decoder and in a stream those up to itself, and the first `num_prefix` of all.
    """
    visible = torch.ones(num_queries, num_keys, dtype=torch.bool)
    if kind in ("cross", "encoder"):
        return visible
    return visible.tril() | (torch.arange(num_keys) < num_prefix)


def pattern_cells(kind: Kind, pattern: Pattern, num_queries: int, num_keys: int) -> Tensor:
    """The cells of a pattern: (T, S) of bool; a query without a cell does not count.

    With t the query and s the key, from 0: previous-token is s = t - 1, next-token s = t + 1. The
    diagonal of self-attention is s = t, but for a query that sees nothing else; that of
    cross-attention is |s - t (S - 1) / (T - 1)| <= 1. end-of-sentence is s = S - 1, asked of all
    tokens but the end symbol itself; start-of-sentence is s = 0, of all but the start symbol.
    Raises ValueError for a pattern that is not of this kind.
    """
    if pattern not in PATTERNS[kind]:
        raise ValueError(f"no {pattern} heads are looked for in {kind} attention")
    query = torch.arange(num_queries)[:, None]
    key = torch.arange(num_keys)[None, :]
    if pattern == "previous-token":
        return key == query - 1
    if pattern == "next-token":
        return key == query + 1
    if pattern == "start-of-sentence":
        return (key == 0) & (query > 0)
    if pattern == "end-of-sentence":
        is_asked = query < num_queries - 1 if kind == "encoder" else query >= 0
        return (key == num_keys - 1) & is_asked
    if kind == "cross":
        slope = (num_keys - 1) / max(num_queries - 1, 1)
        return (key - query * slope).abs() <= 1.0
    return (key == query) & (visible_keys(kind, num_queries, num_keys).sum(1, keepdim=True) > 1)


def profile_heads(kind: Kind, weights: Tensor, *, num_prefix: int = 0) -> list[list[HeadProfile]]:
    """The profile of each head of each layer, from weights (L, H, T, S) whose rows sum to 1.

    All queries of a stream see its first `num_prefix` keys.
    """
    weights = weights.double()
    _, _, num_queries, num_keys = weights.shape
    visible = visible_keys(kind, num_queries, num_keys, num_prefix=num_prefix)
    widest = visible.sum(dim=1).double().log()  # (T)
    mean_entropy = entropy(weights).mean(dim=-1)  # (L, H)
    most = float(widest.mean())
    masses: dict[Pattern, Tensor] = {}
    least: dict[Pattern, float] = {}
    for pattern in PATTERNS[kind]:
        cells = pattern_cells(kind, pattern, num_queries, num_keys)
        counted = cells.any(dim=1)
        by_query = (weights * cells).sum(dim=-1)[..., counted]  # (L, H, counted)
        masses[pattern] = by_query.mean(dim=-1) if counted.any() else by_query.sum(dim=-1)
        by_chance = ((cells & visible).sum(dim=1) / visible.sum(dim=1))[counted]
        enough = int(counted.sum()) >= LEAST_QUERIES
        chance = float(by_chance.mean()) if enough else float("inf")
        least[pattern] = max(LEAST_WEIGHT, LEAST_GAIN * chance)

    def profile(layer: int, head: int) -> HeadProfile:
        of_head = {pattern: float(mass[layer, head]) for pattern, mass in masses.items()}
        named = [pattern for pattern, weight in of_head.items() if weight >= least[pattern]]
        value = float(mean_entropy[layer, head])
        return HeadProfile(
            layer=layer,
            head=head,
            entropy=value,
            spread=value / most if most else 0.0,
            weights=of_head,
            names=tuple(sorted(named, key=lambda pattern: -of_head[pattern])),
        )

    return [
        [profile(layer, head) for head in range(weights.size(1))] for layer in range(len(weights))
    ]
