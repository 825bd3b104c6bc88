"""From lines to the sources that are searched: in usual case, as tokens, the long ones in parts.

What is conspicuous about a line is reported here, before any model sees it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mt.events import LineSplit, LineTooLong, Listener, Notice, UnknownSymbols
from mt.search.sentence import NO_DEMANDS, Demands
from mt.text.glossary import Glossary
from mt.text.tokenizer import UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.bounds import MOST_TOKENS, Bounds
from mt.translation.long_lines import SplitLines, split_lines
from mt.translation.prefixes import prefix_demands
from mt.translation.source import Source
from mt.translation.usual_case import in_usual_case


@dataclass(frozen=True, kw_only=True)
class SourceLines:
    """Some lines as what is searched."""

    texts: Sequence[str]
    """The lines as they are read: in usual case."""
    split: SplitLines
    too_long: Mapping[int, int]
    """How many tokens the lines have that are too long to be translated, by index."""
    parts: Sequence[Source]
    """What is translated by itself, in order: lines as they are, and the segments of others."""


@dataclass(frozen=True, kw_only=True)
class SourceReader:
    """Reads lines for the models that translate them together."""

    tokenizers: TokenizerPair
    bounds: Bounds
    max_tokens: int | None
    """Tokens of a line beyond which it is split; None splits none."""
    language: str
    """That of the lines; empty where it is not known."""
    glossary: Glossary | None
    is_sampled: bool
    """Whether each part needs random numbers of its own."""
    listener: Listener

    def read(
        self,
        lines: Sequence[str],
        *,
        first_line: int,
        prefixes: Sequence[str] | None,
        protected: Sequence[tuple[str, ...]] | None = None,
    ) -> SourceLines:
        """Read lines; warnings and random numbers count from `first_line`.

        `protected` are the texts of each line that stay as they are, where there is a glossary.

        A line with a prefix is not split. Raises what `Translator.translate_window` does.
        """
        protected = protected or [()] * len(lines)
        texts = in_usual_case(
            lines,
            self.tokenizers,
            glossary=self.glossary,
            protected=protected,
            first_line=first_line,
            listener=self.listener,
        )
        sources = self._encode(texts)
        self._report_unknown(texts, sources, first_line)
        demands = [NO_DEMANDS] * len(lines)
        if prefixes is not None:
            demands = prefix_demands(
                prefixes,
                sources,
                self.tokenizers.target,
                first_line=first_line,
                longest=self.bounds.longest,
                warn=lambda text: self.listener(Notice(text=text, is_warning=True)),
            )
        split = split_lines(
            texts,
            sources,
            count_tokens=lambda text: len(self.tokenizers.source.encode(text)),
            max_tokens=self.max_tokens,
            language=self.language,
            whole=[i for i, of_line in enumerate(demands) if of_line.prefix],
        )
        too_long = {
            i: longest
            for i, (source, of_line) in enumerate(zip(sources, demands, strict=True))
            if (longest := _too_long(source, of_line, len(split.segments[i])))
        }
        for i, longest in too_long.items():
            self.listener(
                LineTooLong(line=first_line + i, num_tokens=longest, max_tokens=MOST_TOKENS)
            )
            sources[i], demands[i] = [], NO_DEMANDS  # it never meets the model
        parts = [
            dataclasses.replace(part, protected=protected[part.line - first_line])
            for part in self._parts(split, sources, demands, first_line)
        ]
        return SourceLines(texts=texts, split=split, too_long=too_long, parts=parts)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids; a blank text, invisible marks included, has none and never meets the model."""
        tokenizer = self.tokenizers.source
        return tokenizer.encode_batch(["" if tokenizer.is_blank(text) else text for text in texts])

    def _report_unknown(
        self, texts: Sequence[str], sources: Sequence[Sequence[int]], first_line: int
    ) -> None:
        for number, (text, source) in enumerate(zip(texts, sources, strict=True), first_line):
            if UNKNOWN in source:
                unknown = tuple(self.tokenizers.source.unknown(text))
                self.listener(UnknownSymbols(line=number, symbols=unknown))

    def _parts(
        self,
        split: SplitLines,
        sources: Sequence[Sequence[int]],
        demands: Sequence[Demands],
        first_line: int,
    ) -> list[Source]:
        parts: list[Source] = []
        for number, (segments, source, of_line) in enumerate(
            zip(split.segments, sources, demands, strict=True), start=first_line
        ):
            texts = [segment.text for segment in segments]
            encoded = [source] if len(texts) == 1 else self._encode(texts)
            if len(texts) > 1:
                assert self.max_tokens is not None
                self.listener(
                    LineSplit(
                        line=number,
                        num_tokens=len(source),
                        max_tokens=self.max_tokens,
                        num_parts=len(texts),
                    )
                )
            for index, (text, tokens) in enumerate(zip(texts, encoded, strict=True)):
                self.bounds.check_length(len(tokens), number, self.listener)
                if self.is_sampled:
                    of_line = dataclasses.replace(of_line, random_stream=(number, index))
                parts.append(Source(tokens=tokens, text=text, line=number, demands=of_line))
        return parts


def _too_long(source: Sequence[int], demands: Demands, num_parts: int) -> int:
    """The tokens of a side that is too long to be computed together, or 0."""
    longest = max(len(source) if num_parts == 1 else 0, len(demands.prefix))
    return longest if longest > MOST_TOKENS else 0
