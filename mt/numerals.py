"""Numbers in text, by value: whether a text and its translation hold different ones.

A number may be written in many ways, and often is not written in digits on both sides. What is
tolerated (docs/data.md has how often references of public test sets are flagged all the same):

- locale forms: 1,000.5 and 1.000,5 and 1 000,5 and 1'000.5; digits of any script; 50 % and 50%;
- scales: 1.5 million and 1,500,000;
- words: 2 and "zwei", where the other side has no number left over, up to 20 and for round numbers;
- dates, times and the like in another order or with other marks: their parts are compared;
- 3 pm and 15 Uhr; 1990s and 90er; Roman numerals.

How often a number comes does not matter. It knows no language.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_SPACES = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?<![\d.,])\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+(?![.,]?\d))?"  # 1 000,5
    "|\\d+(?:[.,'\u2019\u066b\u066c]\\d+)*"
)
_PARTS = re.compile(r"\d+")
_GROUPS = re.compile(r"\d{1,3}(?:\D\d{3})+")  # of thousands
_INDIAN_GROUPS = re.compile(r"\d{1,2}(?:\D\d{2})+\D\d{3}")  # of lakhs and crores
_SCALE = re.compile(
    r"[\s-]?(?:thousand|tausend|tsd|mill?e\b|mil\b|тыс|milli|mili|mió|mio\b|mln|мил|млн|mrd|млрд|"
    r"billi|bili|bn\b|трил|трлн|trilli|hundred|hundert|cent\b|[kmb]\b|"
    r"[百千万萬亿億兆천만억백]|लाख|करोड़|हज़?ार|lakh|crore|هزار|میلیون|میلیارد|ألف|مليون|مليار)",
    re.IGNORECASE,
)
_MYRIADS = re.compile(r"(\d+)\s?[亿億억]\s?(\d[\d,]*)\s?[万萬만]")
_POWERS = tuple(10**k for k in (2, 3, 4, 5, 6, 7, 8, 9, 12))
_DECADE = re.compile(r"(?:er|s|'s|’s|-?[хе]|-?ых|年代)\b|年代")
_AFTERNOON = re.compile(r"(?::\d\d)?\s?p\.?\s?m\b", re.IGNORECASE)
_ROMAN = re.compile(
    r"\b(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b"
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_MONTHS = 12
_LARGEST_WORD = 20
_LONG = 5  # digits from which a zero in front belongs to the number: of a telephone, say


@dataclass(frozen=True, kw_only=True)
class _Number:
    """A number as it stands in a text."""

    text: str
    """Its digits are those of ASCII."""
    values: frozenset[Fraction | str]
    """All that it may mean."""
    has_scale: bool
    """Whether a word such as million stands behind."""
    is_decade: bool
    is_afternoon: bool


def numbers_differ(source: str, target: str) -> bool:
    """Whether one of two texts has a number that the other has not, as far as digits tell."""
    if not _has_digit(source) and not _has_digit(target):
        return False
    source, target = _ascii_digits(source), _ascii_digits(target)
    ours, theirs = _numbers(source), _numbers(target)
    left, right = _missing(ours, theirs, target), _missing(theirs, ours, source)
    if not left and not right:
        return False
    if left and right:
        return not _same_parts(left, right, ours, theirs)
    return not all(map(_may_be_a_word, left or right))


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _ascii_digits(text: str) -> str:
    """`text` with the digits of all scripts as those of ASCII."""
    if text.isascii():
        return text
    text = "".join(
        str(unicodedata.decimal(c)) if not c.isascii() and c.isdecimal() else c for c in text
    )
    return _MYRIADS.sub(_of_myriads, text)


def _of_myriads(match: re.Match[str]) -> str:
    """The digits of 1億2500万, which is one number."""
    large, small = (int(re.sub(r"\D", "", part)) for part in match.groups())
    return str(large * 10**8 + small * 10**4)


def _numbers(text: str) -> list[_Number]:
    return [
        _Number(
            text=match[0],
            values=frozenset(_values(match[0])),
            has_scale=_SCALE.match(text, match.end()) is not None,
            is_decade=_DECADE.match(text, match.end()) is not None
            or text[max(match.start() - 1, 0) : match.start()] in ("'", "’"),
            is_afternoon=_AFTERNOON.match(text, match.end()) is not None,
        )
        for match in _NUMBER.finditer(text)
    ]


def _values(text: str) -> list[Fraction | str]:
    """All that a number may mean: with its marks as those of thousands, or of a decimal fraction.

    One mark before three digits is one of thousands, unless a zero stands before it.
    """
    parts = _PARTS.findall(text)
    if len(parts) == 1:
        is_code = text.startswith("0") and len(text) >= _LONG
        return [text if is_code else Fraction(int(text))]
    marks = re.sub(r"\d", "", text)
    found: list[Fraction | str] = []
    is_grouped = _GROUPS.fullmatch(text) or _INDIAN_GROUPS.fullmatch(text)
    if is_grouped and len(set(marks)) == 1 and parts[0] != "0":
        found.append(Fraction(int("".join(parts))))
    is_fraction = len(parts) == 2 or (len(set(marks[:-1])) == 1 and marks[-1] != marks[0])
    if is_fraction and not found and marks[-1] not in _SPACES:
        whole = int("".join(parts[:-1]))
        found.append(whole + Fraction(int(parts[-1]), 10 ** len(parts[-1])))
    return found or [".".join(parts)]


def _missing(ours: list[_Number], theirs: list[_Number], their_text: str) -> list[_Number]:
    """Our numbers that none of theirs is."""
    values = {value for number in theirs for value in number.values}
    missing = [number for number in ours if not number.values & values]
    if not missing:
        return []
    roman = {Fraction(value) for value in _roman_numerals(their_text)}
    return [
        number
        for number in missing
        if not number.values & roman and not any(_is_same(number, other) for other in theirs)
    ]


def _is_same(one: _Number, other: _Number) -> bool:
    """Whether numbers are the same but for a scale, half a day or the century of a decade."""
    for mine in one.values:
        for theirs in other.values:
            if isinstance(mine, str) or isinstance(theirs, str) or not mine or not theirs:
                continue
            small, large = sorted((mine, theirs))
            if (one.has_scale or other.has_scale) and large / small in _POWERS:
                return True
            if one.has_scale and other.has_scale and large / small == 10:  # 28 億, 2.8 billion
                return True
            if (one.is_afternoon or other.is_afternoon) and large - small == 12:
                return True
            is_year = 1000 <= large < 2100 and small < 100 and large % 100 == small
            if is_year and (one.is_decade or other.is_decade):
                return True
    return False


def _roman_numerals(text: str) -> list[int]:
    found = []
    for match in filter(lambda match: match[0], _ROMAN.finditer(text)):
        values = [_ROMAN_VALUES[letter] for letter in match[0]]
        following = [*values[1:], 0]
        found.append(
            sum(-v if v < after else v for v, after in zip(values, following, strict=True))
        )
    return found


def _same_parts(
    left: list[_Number], right: list[_Number], ours: list[_Number], theirs: list[_Number]
) -> bool:
    """Whether what is left has the same runs of digits: dates, times, spaced telephone numbers."""
    one, other = (
        {int(part) for number in side for part in _PARTS.findall(number.text)}
        for side in (left, right)
    )
    all_of_ours, all_of_theirs = (
        {int(part) for number in side for part in _PARTS.findall(number.text)}
        for side in (ours, theirs)
    )
    is_split = any(len(_PARTS.findall(number.text)) > 1 for number in (*left, *right))
    more, fewer = one - all_of_theirs, other - all_of_ours
    is_date = any(_DATE.fullmatch(number.text) for number in (*left, *right))
    if is_date and len(more | fewer) == 1 and max(more | fewer) <= _MONTHS:
        return True  # the name of a month stands for its number
    if is_split and not more and not fewer:
        return True
    digits = ["".join(_PARTS.findall("".join(n.text for n in side))) for side in (left, right)]
    return len(left) != len(right) and digits[0] == digits[1]


def _may_be_a_word(number: _Number) -> bool:
    """Whether people often write it in letters: small and round numbers, or with a scale."""
    if number.is_decade:
        return True
    for value in number.values:
        if isinstance(value, Fraction) and value.denominator == 1:
            significant = str(value.numerator).rstrip("0")
            if value <= _LARGEST_WORD or len(significant) <= 1:
                return True
    return False
