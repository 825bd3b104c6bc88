"""Lines that are longer than a model is good for: which they are, in parts, and whole again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mt.config import Config, SearchConfig
from mt.search.penalty import length_penalty
from mt.text.segments import Segment, join_translations, split_long
from mt.translation.translation import TranslatedPart, TranslatedText

_T = TypeVar("_T")


def trained_length(config: Config) -> int:
    """Source tokens, the end symbol not counted, to which training went.

    That is `Config.longest_source`, or the length at which training dropped pairs where the model
    folder does not say.
    """
    return config.longest_source or config.corpus.max_length


def longest_good(config: Config, longest: int | None) -> int:
    """Most source tokens, the end symbol not counted, of a segment that a model is good for.

    That is the `trained_length`. A table of learned positions with `longest` rows (None: no table)
    holds the end symbol too.
    """
    trained = trained_length(config)
    return trained if longest is None else max(1, min(trained, longest - 1))


@dataclass(frozen=True, kw_only=True)
class SplitLines:
    """Some lines as the segments that are translated one by one."""

    segments: tuple[tuple[Segment, ...], ...]
    """The segments of each line; one where it is not split."""

    @property
    def texts(self) -> list[str]:
        """What is to be translated: every segment of every line, in order."""
        return [segment.text for of_line in self.segments for segment in of_line]

    def by_line(self, found: Sequence[_T]) -> list[list[_T]]:
        """What was found for each of `texts`, in a list for each line."""
        if len(found) != sum(map(len, self.segments)):
            raise ValueError(f"{len(found)} results for {sum(map(len, self.segments))} segments")
        remaining = iter(found)
        return [[next(remaining) for _ in of_line] for of_line in self.segments]


def split_lines(
    lines: Sequence[str],
    sources: Sequence[Sequence[int]],
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int | None,
    language: str,
    whole: Collection[int] = (),
) -> SplitLines:
    """Split the lines whose `sources` (their token ids) are more than `max_tokens`.

    `whole` are the indices of lines that are not split; None splits none.
    """
    return SplitLines(
        segments=tuple(
            (Segment(text=line),)
            if max_tokens is None or len(source) <= max_tokens or index in whole
            else tuple(
                split_long(
                    line, count_tokens=count_tokens, max_tokens=max_tokens, language=language
                )
            )
            for index, (line, source) in enumerate(zip(lines, sources, strict=True))
        )
    )


def join_hypotheses(
    parts: Sequence[Sequence[TranslatedText]],
    segments: Sequence[Segment],
    *,
    search: SearchConfig,
    target_language: str,
) -> tuple[TranslatedText, ...]:
    """The candidates of a line from those of its segments, best first, each text once.

    The best of all segments together are one, the second of all another, and so on; a segment
    with fewer gives its last again. The score is the sum of the log-probabilities of the
    segments over the length penalty of all their tokens, end symbols included. Where the parts are
    ordered by expected utility, that order stays, and the line as a whole has none.
    """
    if len(parts) == 1:
        return tuple(parts[0])
    joined: dict[str, TranslatedText] = {}
    for rank in range(max(len(part) for part in parts)):
        chosen = [part[min(rank, len(part) - 1)] for part in parts]
        candidate = _joined(chosen, segments, search, target_language)
        text = candidate.text
        if text not in joined or candidate.score > joined[text].score:
            joined[text] = candidate
    if any(each.expected_utility is not None for part in parts for each in part):
        return tuple(joined.values())
    return tuple(sorted(joined.values(), key=lambda each: -each.score))


def join_samples(
    parts: Sequence[Sequence[TranslatedText]],
    segments: Sequence[Segment],
    *,
    search: SearchConfig,
    target_language: str,
) -> tuple[TranslatedText, ...]:
    """The samples of a line from those of its segments, which have as many: each the n-th of all.

    Raises ValueError where a segment has another number of samples.
    """
    if len(parts) == 1:
        return tuple(parts[0])
    return tuple(
        _joined(chosen, segments, search, target_language) for chosen in zip(*parts, strict=True)
    )


def _joined(
    chosen: Sequence[TranslatedText],
    segments: Sequence[Segment],
    search: SearchConfig,
    target_language: str,
) -> TranslatedText:
    """One candidate of a line from one of each of its segments."""
    lengths = [len(each.tokens) + 1 for each in chosen]
    log_probability = sum(
        each.score * length_penalty(search.length_penalty, search.alpha, length)
        for each, length in zip(chosen, lengths, strict=True)
    )
    divisor = length_penalty(search.length_penalty, search.alpha, sum(lengths))
    return TranslatedText(
        text=join_translations(
            [each.text for each in chosen], segments, target_language=target_language
        ),
        score=log_probability / divisor,
        tokens=tuple(token for each in chosen for token in each.tokens),
        hit_limit=any(each.hit_limit for each in chosen),
        parts=tuple(
            TranslatedPart(
                source=segment.text, text=each.text, score=each.score, tokens=each.tokens
            )
            for each, segment in zip(chosen, segments, strict=True)
        ),
    )
