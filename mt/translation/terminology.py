"""Lines that ask for terms: searched as ever first, and again for what the result lacks.

A translation that has its terms by itself stays what it is without a glossary. Only the lines
whose best translation lacks one are searched once more, for hypotheses that hold them all
(`mt.search.constrained.beam_allocation`), with a wider beam: the banks share it. Whether a term is
honoured is decided only by the text.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from functools import cached_property

from mt.events import Listener, Notice
from mt.search.constrained.phrases import Phrase, WordEdges
from mt.search.hypothesis import SearchResult
from mt.search.penalty import length_limit
from mt.text.boundaries import is_of_word
from mt.text.glossary import Asked, Glossary
from mt.text.terms import capitalised
from mt.text.tokenizer import UNKNOWN, Tokenizer
from mt.translation.searching import Searcher
from mt.translation.source import Source

_LEAST_BEAM = 10  # slots of a search for phrases; and at least twice the usual ones
_SPACE = "\u2581".encode()
# What may stand before a word without a space, in one script or another.
_OPENERS = ("(", '"', "“", "„", "«", "「", "（", "，", "。", "-", "/", "'")


class Terminology:
    """Brings the terms that lines ask for into their translations, as far as a search can."""

    def __init__(
        self,
        glossary: Glossary,
        tokenizer: Tokenizer,
        searcher: Searcher,
        *,
        all_candidates: bool,
        listener: Listener,
    ) -> None:
        """For translations written by `tokenizer` and found by `searcher`.

        With `all_candidates` every hypothesis of a line must honour its terms, because any of them
        may be chosen; else only the best decides whether it is searched again.
        """
        self._glossary = glossary
        self._tokenizer = tokenizer
        self._usual = searcher
        config = dataclasses.replace(
            searcher.config, beam=max(2 * searcher.config.beam, _LEAST_BEAM)
        )
        self._for_phrases = dataclasses.replace(searcher, config=config)
        self._all_candidates = all_candidates
        self._listener = listener
        self._of_terms: dict[tuple[str, ...], tuple[tuple[int, ...], ...]] = {}

    def giving(self, n_best: int) -> Terminology:
        """The same search, by the same weights, with so many hypotheses of its beam."""
        return Terminology(
            self._glossary,
            self._tokenizer,
            self._usual.giving(n_best),
            all_candidates=self._all_candidates,
            listener=self._listener,
        )

    def search(self, sources: Sequence[Source]) -> list[SearchResult]:
        """Search `sources` for translations with their terms.

        Of both searches, the one with fewer terms missing counts; the usual one if they are even,
        or if the other came to the length bound without all terms.
        """
        results = self._usual.search(sources)
        asked = [self._glossary.asked(source.text, source.protected) for source in sources]
        again = {
            i: demands
            for i, result in enumerate(results)
            if self._num_missed(asked[i], result)
            and (demands := self._demanding(sources[i], asked[i])) is not None
        }
        if again:
            for i, found in zip(again, self._for_phrases.search(list(again.values())), strict=True):
                num_missed = self._num_missed(asked[i], found)
                is_cut = num_missed > 0 and found.hypotheses[0].hit_limit
                if not is_cut and num_missed < self._num_missed(asked[i], results[i]):
                    results[i] = found
        return results

    def _num_missed(self, asked: Sequence[Asked], result: SearchResult) -> int:
        """The most terms that are missing in a hypothesis that may be chosen."""
        hypotheses = result.hypotheses if self._all_candidates else result.hypotheses[:1]
        return max(
            len(self._glossary.missed(asked, self._tokenizer.decode(each.tokens))) if asked else 0
            for each in hypotheses
        )

    def _demanding(self, source: Source, asked: Sequence[Asked]) -> Source | None:
        """The source with phrases for its terms, or None if no translation could hold them."""
        phrases = []
        for each in asked:
            alternatives = self._written(each)
            if alternatives:
                phrase = Phrase(
                    alternatives=alternatives,
                    edges=self._edges,
                    times=each.times,
                    is_exact=each.is_placeholder,
                    is_word=each.is_placeholder and not each.is_joined,
                )
                phrases.append(phrase)
            else:
                wanted = " or ".join(f'"{target}"' for target in each.targets)
                self._warn(f"line {source.line}: the tokenizer of this model cannot write {wanted}")
        needed = sum(phrase.length for phrase in phrases)
        limit = length_limit(self._usual.config, len(source))
        if needed > limit:
            self._warn(
                f"line {source.line}: its terms take {needed} tokens, more than the {limit} that "
                "its translation may have; it is translated without them"
            )
            return None
        if not phrases:
            return None
        demands = dataclasses.replace(source.demands, phrases=tuple(phrases))
        return dataclasses.replace(source, demands=demands)

    def _warn(self, text: str) -> None:
        self._listener(Notice(text=text, is_warning=True))

    def _written(self, asked: Asked) -> tuple[tuple[int, ...], ...]:
        """The token sequences that write what is asked for, none if there are none."""
        if asked.is_placeholder:
            return self._spellings(asked.targets)
        if asked.targets not in self._of_terms:
            forms = (*asked.targets, *map(capitalised, asked.targets))
            self._of_terms[asked.targets] = self._spellings(forms)
        return self._of_terms[asked.targets]

    def _spellings(self, forms: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """How the tokenizer writes words behind a space, and behind what opens a word without."""
        encode, decode = self._tokenizer.encode, self._tokenizer.decode
        found: dict[tuple[int, ...], None] = {}
        for form in forms:
            spellings = [encode(form)]
            for opener in _OPENERS:
                ids = encode(opener + form)
                behind = _behind(self._tokenizer.spell(ids), _SPACE + opener.encode())
                spellings += [] if behind is None else [ids[behind:]]
            found |= {
                tuple(ids): None for ids in spellings if min(ids) > UNKNOWN and decode(ids) == form
            }
        return tuple(found)

    @cached_property
    def _edges(self) -> WordEdges:
        """Where words end between tokens of the target."""
        spellings = self._tokenizer.spell(range(self._tokenizer.vocab_size))
        texts = [_whole(spelling) for spelling in spellings]
        return WordEdges(
            begins_inside=bytes(text is None or is_of_word(text[:1] or " ") for text in texts),
            begins_apart=bytes(spelling.startswith(_SPACE) for spelling in spellings),
            ends_inside=bytes(text is None or is_of_word(text[-1:] or " ") for text in texts),
        )


def _behind(spellings: Sequence[bytes], start: bytes) -> int | None:
    """How many tokens spell `start`, with more behind them; None where none ends there."""
    ends = list(itertools.accumulate(map(len, spellings)))
    if len(start) not in ends[:-1] or not b"".join(spellings).startswith(start):
        return None
    return ends.index(len(start)) + 1


def _whole(spelling: bytes) -> str | None:
    """The text of a token, or None of a part of a character, which counts as part of a word."""
    try:
        return spelling.decode("utf-8")
    except UnicodeDecodeError:
        return None
