"""What constraints allow, by their definitions, and search under them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch

from mt.config import LengthPenalty, SearchConfig
from mt.search.constrained.constraints import LONGEST_LOOP
from tests.search.table_model import END, START, sources

Tokens = tuple[int, ...]
SETTINGS: list[dict[str, float]] = [
    {"no_repeat_ngram": 1},
    {"no_repeat_ngram": 2},
    {"no_repeat_ngram": 3},
    {"max_repeats": 1},
    {"max_repeats": 2},
    {"min_length_ratio": 3.0},
    {"no_repeat_ngram": 2, "min_length_ratio": 4.0},
    {"no_repeat_ngram": 1, "max_repeats": 1, "min_length_ratio": 9.0},
]


def repeats_ngram(tokens: Tokens, size: int) -> bool:
    """Whether the last `size` tokens have come before."""
    last = tokens[-size:]
    return len(tokens) >= size and any(
        tokens[i : i + size] == last for i in range(len(tokens) - size)
    )


def loops(tokens: Tokens, most: int) -> bool:
    """Whether `tokens` end in some run of tokens more than `most` times."""
    return any(
        len(tokens) >= period * (most + 1)
        and tokens[-period * (most + 1) :] == tokens[-period:] * (most + 1)
        for period in range(1, LONGEST_LOOP + 1)
    )


def may_end_in(tokens: Tokens, config: SearchConfig) -> bool:
    """Whether the last token may follow the others, by the definitions."""
    if config.no_repeat_ngram and repeats_ngram(tokens, config.no_repeat_ngram):
        return False
    return not (config.max_repeats and loops(tokens, config.max_repeats))


def every_allowed(
    vocabulary: int, limit: int, config: SearchConfig, prefix: Tokens = ()
) -> Iterator[Tokens]:
    """All hypotheses of a source of one token that the constraints allow."""

    def beyond(tokens: Tokens) -> Iterator[Tokens]:
        words = [v for v in range(vocabulary) if v not in (END, START)]
        longer = [(*tokens, word) for word in words if may_end_in((*tokens, word), config)]
        is_at_limit = len(tokens) >= limit
        if len(tokens) >= math.floor(config.min_length_ratio) or is_at_limit or not longer:
            yield tokens
        if not is_at_limit:
            for each in longer:
                yield from beyond(each)

    return beyond(prefix)


def settings_of(
    values: Mapping[str, float] = {},
    *,
    beam: int,
    limit: int,
    n_best: int = 1,
    kind: tuple[LengthPenalty, float] = ("mean", 1.0),
) -> SearchConfig:
    return SearchConfig(
        beam=beam,
        n_best=n_best,
        length_penalty=kind[0],
        alpha=kind[1],
        max_length=limit,
        max_length_ratio=10.0,
        **values,  # type: ignore[arg-type]
    )


def one_token_sources(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sources of one token and an end symbol."""
    source, mask = sources(count)
    return source.repeat(1, 2), mask.repeat(1, 2)
