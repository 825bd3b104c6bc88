"""The usual case of words, given back to lines that were written in capitals or without any.

A model reads what it was trained on. A line in another case is cut into other tokens, of which it
hardly knows any. Such a line is given the form that each of its words usually has inside sentences
(Lita et al. 2003, "tRuEcasIng"). Lines that are written as usual stay as they are, to the byte; so
are scripts without case, and what is no word of a language (`_LITERAL`).

Three styles are unusual, where few training lines have them:

- "capitals": nine cased letters in ten. One word of four letters, or two words, must be known to be
  written otherwise, or there are four words: "USA" and "BMW AG" stay.
- "capitalised": each word of four letters, and three words in four. Three of those behind the
  first, and half of them, must be known in small letters; only such words are changed.
- "small": no word begins with a capital. There are three words, or one of four letters that is
  known with a capital. Nothing but case is changed.

Capitals lose more than case: "STRASSE" becomes "Straße" where that is known. An unknown word in
capitals is written like the longest known word that it ends in, or else as most rare words are.
What learns the table is `mt.text.truecase_table`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mt.languages import base_code
from mt.text.normalise import normalise
from mt.text.placeholders import USUAL_PLACEHOLDERS, find_placeholders

Style = Literal["capitals", "capitalised", "small"]
"""How a line is written, where that is not as usual."""

Kept = tuple[int, int, str]
"""A part of a text, `text[start:end]`, and what it is replaced by when the text is restored."""

_LITERAL = (
    *USUAL_PLACEHOLDERS,
    re.compile(r"%(?:\(\w+\)|\d+\$)?[-+#0]*[\d.]*[A-Za-z@]+"),  # %S, %(NAME)S
    re.compile(r"&#?\w+;"),
    re.compile(r"(?<!\S)\S*[@\\_#$=|~^]\S*"),  # names in programs, paths, mentions
    re.compile(r"(?<!\S)--?\w[\w-]*"),  # -o, --output
    re.compile(r"(?<!\w)\w+(?:\.\w+)+"),  # example.com, z.B.
    re.compile(r"(?<!\w)\w*\d\w*"),
)
"""Placeholders and other text that is written in only one way."""
_HINT_OF_LITERAL = re.compile(
    r"[<{%&@\\_#$=|~^\d]|://|\w\.\w|(?<!\S)-"
)  # each of them has one of these
_NO_WORDS = re.compile(r"\S{200}")  # data; and the expressions above take quadratic time there

_LETTER = r"[^\W\d_]"
_MARKS = "\u0300-\u036f\u0483-\u0487\u1dc0-\u1dff"  # that combine with cased letters
WORD = re.compile(f"{_LETTER}(?:{_LETTER}|[{_MARKS}])*")
_NEW_SENTENCE = re.compile(r"[.!?…][\"'”’»)\]]*\s+[\"'“„‘«(\[¿¡–—-]*\s*$")

_SHARE_OF_CAPITALS = 0.9
_SHARE_OF_CASED = 0.8  # of letters: a line of Chinese with a name in capitals is as usual
_SHARE_OF_CAPITALISED = 0.75
_MANY_WORDS = 4
_LONG_WORD = 4
_SHORTEST_ENDING = 4
_DOTLESS = {"tr", "az", "crh"}  # where I and ı are one letter, and İ and i


@dataclass(frozen=True, kw_only=True)
class Truecaser:
    """The usual case of words of one language, and how lines are restored to it."""

    language: str
    """Whose capitals and small letters they are; may be empty."""
    forms: tuple[str, ...]
    """Of words that differ only in case, the usual one; frequent ones first."""
    starts_are_capitals: bool
    """Whether sentences begin with a capital."""
    rare_are_capitals: bool
    """Whether most rare words do, as nouns in German."""
    usual: frozenset[Style] = frozenset()
    """Styles that are left as they are, since many training lines have them."""

    def restore(self, text: str, kept: Sequence[Kept] = ()) -> str:
        """`text` normalised and in usual case, or itself where it is written as usual.

        `kept` are no words, but stand there as they say; `text` must be normalised then. The number
        of words stays. What is restored is not changed again.
        """
        if _NO_WORDS.search(text):
            return text
        whole = literal = normalise(text)
        if _HINT_OF_LITERAL.search(whole):
            literal = _masked(whole, find_placeholders(whole, _LITERAL))
        masked = _masked(literal, ((start, end) for start, end, _ in kept))
        words = list(WORD.finditer(masked))
        style = style_of([word[0] for word in words])
        if style is None or style in self.usual or not self._is_sure(style, words):
            return text
        changed = [each for each in kept if whole[each[0] : each[1]] == literal[each[0] : each[1]]]
        end = 0
        for word in words:
            is_start = _starts_sentence(masked[end : word.start()], is_first=end == 0)
            end = word.end()
            changed.append((word.start(), end, self._restored(word[0], style, is_start=is_start)))
        restored = _replaced(whole, sorted(changed))
        return text if restored == whole else restored

    def _is_sure(self, style: Style, words: Sequence[re.Match[str]]) -> bool:
        """Whether the words of a line show that its style is not that of the words themselves."""
        known = [(word[0], self._known(word[0], style)) for word in words]
        if style == "small":
            others = [word for word, form in known if form not in (None, word)]
            return len(words) >= 3 or any(len(word) >= _LONG_WORD for word in others)
        if style == "capitals":
            known = [(word, form) for word, form in known if len(word) > 1]
            others = [word for word, form in known if form is not None and not form.isupper()]
            has_long = any(len(word) >= _LONG_WORD for word in others)
            return len(known) >= _MANY_WORDS or len(others) > 1 or has_long
        behind = [form for word, form in known[1:] if word[0].istitle()]
        num_small = sum(form is not None and form.islower() for form in behind)
        return num_small >= 3 and 2 * num_small >= len(behind)

    def _restored(self, word: str, style: Style, *, is_start: bool) -> str:
        """A word of a line in this style as it is usually written."""
        form = self._known(word, style)
        if style == "small":
            form = form or word
        elif style == "capitalised":
            form = form if form is not None and form.islower() and not is_start else word
        elif any(map(str.islower, word.replace("ß", ""))):  # "iPhone" amid capitals
            form = word
        else:
            form = form or self._guess(word)
        return self._capitalised(form) if is_start and self.starts_are_capitals else form

    def _known(self, word: str, style: Style) -> str | None:
        """The usual form of a word of a line in this style, None of an unknown one."""
        small = lowered(word, self.language)
        if style == "capitals":
            folded = small.casefold()
            return self._by_fold.get(folded) or self._by_fold.get(_dotted(folded))
        return self._by_small.get(small)

    def _guess(self, word: str) -> str:
        """How a word in capitals that is not known may be written."""
        small = lowered(word, self.language)
        for start in range(1, len(small) - _SHORTEST_ENDING + 1):
            ending = self._by_fold.get(small[start:].casefold())
            if ending is not None:
                return small if ending[0].islower() else self._capitalised(small)
        return self._capitalised(small) if self.rare_are_capitals else small

    def _capitalised(self, word: str) -> str:
        first = "İ" if word[0] == "i" and is_dotless(self.language) else word[0].title()
        return first + word[1:] if lowered(first, self.language) == word[0] else word

    @cached_property
    def _by_small(self) -> dict[str, str]:
        return {lowered(form, self.language): form for form in self.forms}

    @cached_property
    def _by_fold(self) -> dict[str, str]:
        """The most frequent form by what is equal in capitals: "strasse" for "Straße".

        Programs that know no Turkish make "ILK" of "ilk": a form is found without dots as well,
        where no other is found with them.
        """
        folded = {small.casefold(): form for small, form in reversed(self._by_small.items())}
        return {_dotted(key): form for key, form in folded.items()} | folded


def style_of(words: Sequence[str]) -> Style | None:
    """The unusual style that the words of a line have, None where there is none."""
    letters = "".join(words).replace("ß", "")  # its capital is hardly used
    num_small = sum(map(str.islower, letters))
    num_capitals = sum(map(str.istitle, letters))  # letters by themselves: ǅ like Ǆ
    num_cased = num_capitals + num_small
    if num_cased == 0 or num_cased < _SHARE_OF_CASED * len(letters):
        return None
    if num_capitals >= _SHARE_OF_CAPITALS * num_cased:
        return "capitals"
    capitalised = [each for each in words if each[0].istitle()]
    if not capitalised:
        return "small"
    num_long = sum(len(each) >= _LONG_WORD for each in words)
    if (
        len(words) >= _MANY_WORDS
        and len(capitalised) >= _SHARE_OF_CAPITALISED * len(words)
        and num_long == sum(len(each) >= _LONG_WORD for each in capitalised)
    ):
        return "capitalised"
    return None


def lowered(word: str, language: str) -> str:
    """The word in the small letters of a language, composed."""
    if is_dotless(language):
        word = word.replace("I", "ı").replace("İ", "i")
    return unicodedata.normalize("NFC", word.lower())


def _dotted(word: str) -> str:
    return word.replace("ı", "i")


def is_dotless(language: str) -> bool:
    """Whether the small letter of I is ı."""
    return base_code(language) in _DOTLESS


def _masked(text: str, spans: Iterator[tuple[int, int]]) -> str:
    """With digits for some parts and spaces for tags, character for character."""
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        mask = " " if text[start] == "<" else "0"
        pieces += [text[end:start], mask * (stop - start)]
        end = stop
    return "".join([*pieces, text[end:]])


def _starts_sentence(before: str, *, is_first: bool) -> bool:
    """Whether a word begins a sentence, by what stands before it, from the last word on."""
    if is_first and not any(map(str.isalnum, before)):
        return True
    return _NEW_SENTENCE.search(before) is not None


def _replaced(text: str, changed: Sequence[Kept]) -> str:
    pieces: list[str] = []
    end = 0
    for start, stop, form in changed:
        pieces += [text[end:start], form]
        end = stop
    return "".join([*pieces, text[end:]])
