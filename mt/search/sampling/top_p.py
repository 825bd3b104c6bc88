"""Drawing tokens from a model's distributions: temperature, then top-k, then top-p.

    q = softmax(l / T) for log-probabilities l; of it the k most probable tokens; of those the
    smallest set, the most probable first, whose probability reaches p of theirs
    (Fan et al. 2018; Holtzman et al. 2020)

Of tokens of the same probability the one with the smaller id counts as the more probable.

A token is drawn as the one with the largest log q + g, g from the standard Gumbel distribution: a
difference in rounding then matters with a likelihood of its own size, however large the
vocabulary, while a bound in a cumulated distribution is moved by the rounding of all before it. So
that not every token needs a number of its own, a group of tokens is drawn by its mass, and then one
of the group. What is drawn outside top-k or top-p is refused, and drawn anew inside: nothing
is sorted.

Shapes: R rows, V vocabulary, G groups, D tokens of a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.config import SamplingConfig
from mt.search.hypothesis import CLOSE
from mt.search.sampling.philox import gumbels

_ROUNDING = 1e-6  # a set that misses p by no more has reached it
_GROUPED, _WHOLE = 0, 1  # what the numbers are for
_NUMBERS = 1 << 20  # of rows * V that are looked at together: about what a cache holds


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was drawn for R rows."""

    token: Tensor
    """(R)"""
    is_close: Tensor
    """(R) whether log-probabilities moved by half of `CLOSE` could have given another token."""


def draw_tokens(
    log_probability: Tensor, rows: Tensor, keys: Tensor, counters: Tensor, config: SamplingConfig
) -> Drawn:
    """Draw a token by each of `rows` (R) of log_probability (N, V), -inf where there is none.

    What is drawn follows from the row, its key (R, 2) and its counter (R, 2), words of 32 bits. A
    row of nothing but -inf gives any token.
    """
    at_a_time = max(_NUMBERS // log_probability.size(1), 1)
    chunks = zip(*(torch.split(each, at_a_time) for each in (rows, keys, counters)), strict=True)
    parts = [_draw(log_probability[some], key, counter, config) for some, key, counter in chunks]
    return Drawn(
        token=torch.cat([part.token for part in parts]),
        is_close=torch.cat([part.is_close for part in parts]),
    )


def _draw(log_probability: Tensor, keys: Tensor, counters: Tensor, config: SamplingConfig) -> Drawn:
    """Draw a token by each row of log_probability (R, V)."""
    if config.temperature != 1.0:
        log_probability = log_probability / config.temperature
    q = torch.softmax(log_probability, dim=1)
    drawn = _draw_by_groups(q, keys, counters, config)
    if config.top_k is None and config.top_p == 1.0:
        return drawn
    own = q.gather(1, drawn.token[:, None])[:, 0]
    (left,) = (own <= _surely_inside(config)).nonzero(as_tuple=True)
    verdict = _verdict(q[left], drawn.token[left], config)
    drawn.is_close[left] |= verdict.is_close
    left = left[verdict.is_outside]
    if len(left):
        anew = _draw_inside(q[left], keys[left], counters[left], config)
        drawn.token[left] = anew.token
        drawn.is_close[left] |= anew.is_close
    return drawn


def _draw_by_groups(q: Tensor, keys: Tensor, counters: Tensor, config: SamplingConfig) -> Drawn:
    """Draw by probabilities q (R, V) a group by its mass, and of the group a token."""
    size, vocabulary = q.shape
    groups = math.isqrt(vocabulary)
    depth = vocabulary // groups
    noise = gumbels(keys, _purposed(counters, _GROUPED), groups + depth + 1)
    # Group g holds the tokens g, g + G, g + 2 G, …
    mass = q[:, : depth * groups].view(size, depth, groups).sum(dim=1)
    over = vocabulary - depth * groups
    mass[:, :over] += q[:, depth * groups :]
    group, is_close = _largest(mass.log_().add_(noise[:, :groups]), config)
    tokens = group[:, None] + torch.arange(depth + 1, device=q.device) * groups  # (R, D)
    weights = q.gather(1, tokens.clamp(max=vocabulary - 1)).masked_fill_(tokens >= vocabulary, 0.0)
    offset, is_close_too = _largest(weights.log_().add_(noise[:, groups:]), config)
    return Drawn(token=group + offset * groups, is_close=is_close | is_close_too)


def _draw_inside(q: Tensor, keys: Tensor, counters: Tensor, config: SamplingConfig) -> Drawn:
    """Draw by probabilities q (R, V) a token inside top-k and top-p, with a number for each."""
    score = q.log().add_(gumbels(keys, _purposed(counters, _WHOLE), q.size(1)))
    token, is_close = _largest(score, config)
    left = torch.arange(len(q), device=q.device)
    while True:
        verdict = _verdict(q, token[left], config)
        is_close[left] |= verdict.is_close
        again = verdict.is_outside
        if not again.any():
            return Drawn(token=token, is_close=is_close)
        # Nothing that is less probable than a token outside is inside.
        q, left = q[again], left[again]
        score = score[again].masked_fill_(~_before(q, token[left]), -math.inf)
        token[left], is_close_too = _largest(score, config)
        is_close[left] |= is_close_too


def _largest(score: Tensor, config: SamplingConfig) -> tuple[Tensor, Tensor]:
    """The index of the largest of each row of score (R, M), and whether another is close."""
    if score.size(1) == 1:
        return score.new_zeros(len(score), dtype=torch.long), score.new_zeros(
            len(score), dtype=torch.bool
        )
    best, index = score.topk(2, dim=1)
    return index[:, 0], best[:, 0] - best[:, 1] < CLOSE / config.temperature


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    """Of the tokens of R rows, whether they are inside top-k and top-p."""

    is_outside: Tensor
    """(R)"""
    is_close: Tensor
    """(R)"""


def _surely_inside(config: SamplingConfig) -> float:
    """A probability above which a token is inside.

    There are less than 1 / q tokens of probability q and more; the mass before the token is 1 - q
    at most, and that of the k most probable is 1 at most.
    """
    by_number = 0.0 if config.top_k is None else 1 / (config.top_k + 1)
    return max(by_number, 1 - config.top_p) + _slack(config) + _near(config)


def _near(config: SamplingConfig) -> float:
    """A quotient of two probabilities changes by a factor of 1 + this at most by such a move."""
    return math.expm1(CLOSE / config.temperature) + _ROUNDING


def _slack(config: SamplingConfig) -> float:
    """A mass of p changes by this at most: its odds p / (1 - p) do as a quotient does."""
    return config.top_p * (1 - config.top_p) * _near(config) + 2 * _ROUNDING


def _verdict(q: Tensor, token: Tensor, config: SamplingConfig) -> _Verdict:
    """Whether token (R) are inside top-k and top-p of the probabilities q (R, V)."""
    slack, near = _slack(config), _near(config)
    own = q.gather(1, token[:, None])
    # Tokens that are about as probable may be before it or behind.
    surely_before = q > own * (1 + near)
    perhaps_before = (q >= own / (1 + near)).scatter_(1, token[:, None], value=False)
    bound = _mass_bound(q, config)

    def is_outside(before: Tensor, more: float) -> Tensor:
        result = before.new_zeros(len(before))
        if config.top_k is not None:
            result |= before.sum(dim=1) >= config.top_k
        if bound is not None:
            result |= torch.where(before, q, 0.0).sum(dim=1) + more >= bound
        return result

    return _Verdict(
        is_outside=is_outside(_before(q, token), 0.0),
        is_close=is_outside(perhaps_before, slack) & ~is_outside(surely_before, -slack),
    )


def _mass_bound(q: Tensor, config: SamplingConfig) -> Tensor | float | None:
    """The mass before a token from which on it is outside top-p of q (R, V)."""
    if config.top_p == 1.0:
        return None
    p = max(config.top_p - _ROUNDING, config.top_p / 2)
    if config.top_k is None or config.top_k >= q.size(1):
        return p
    return p * q.topk(config.top_k, dim=1, sorted=False).values.sum(dim=1)


def _before(q: Tensor, token: Tensor) -> Tensor:
    """(R, V) the tokens that are more probable by q (R, V) than token (R)."""
    own = q.gather(1, token[:, None])
    ids = torch.arange(q.size(1), device=q.device)
    return (q > own) | ((q == own) & (ids < token[:, None]))


def _purposed(counters: Tensor, purpose: int) -> Tensor:
    """Counters (R, 3) of those (R, 2), for other numbers for each purpose."""
    return torch.nn.functional.pad(counters, (0, 1), value=purpose)
