"""Which lines of a validation set are translated, and in which order; nothing here translates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SAMPLE = 200
"""Pairs that stand for the set where there is no time for all."""
_FIRST_SHARE = 8  # one of so many lines comes first where minutes are counted
_CHARACTERS_PER_LINE = 200


def fixed_sample(size: int, most: int = SAMPLE) -> list[int]:
    """The lines that stand for a set of so many: every Nth, always the same."""
    count = min(size, most)
    return [number * size // count for number in range(count)]


def lines_scored(sources: Sequence[str], num_pairs: int | None) -> list[int]:
    """The lines of a validation set that scores of so many pairs are of; None stands for all.

    Fewer than the sample are those for which there was time.
    """
    if num_pairs is None:
        return list(range(len(sources)))
    sample = fixed_sample(len(sources))
    if num_pairs >= len(sample):
        return sample
    first, rest = in_turn(sources, sample, is_timed=True)
    return sorted([*first, *rest][:num_pairs])


def in_turn(
    sources: Sequence[str], indices: Sequence[int], *, is_timed: bool
) -> tuple[list[int], list[int]]:
    """Lines in the order in which they are translated, first ones and the rest, long ones first.

    Where time may be short the first ones are a fair share of all.
    """
    first = list(indices[::_FIRST_SHARE]) if is_timed else []
    chosen = set(first)
    rest = [i for i in indices if i not in chosen]
    first.sort(key=lambda i: -len(sources[i]))
    rest.sort(key=lambda i: -len(sources[i]))
    return first, rest


def cut_up(order: Sequence[int], lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Lines that are translated between two questions whether to stop: few where they are long."""
    chunk: list[int] = []
    num_characters = 0
    for index, length in zip(order, lengths, strict=True):
        if chunk and (len(chunk) == size or num_characters + length > size * _CHARACTERS_PER_LINE):
            yield chunk
            chunk, num_characters = [], 0
        chunk.append(index)
        num_characters += length
    if chunk:
        yield chunk
