"""Which characters are of scripts without spaces between words, by the scripts of Unicode."""

from __future__ import annotations

import sys

import regex

from mt.scripts import is_written_without_spaces

BY_UNICODE = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
    r"\p{Javanese}\p{Balinese}\p{Tai_Tham}\p{New_Tai_Lue}\p{Tai_Le}\p{Yi}]"
)
ASSIGNED_LETTER = regex.compile(r"[\p{L}\p{M}\p{N}]")
SHARED = "\ua9cf\U00016fe4"  # a letter of Javanese and Buginese; a mark of Khitan among Han


def test_the_ranges_hold_the_letters_of_scripts_without_spaces_and_no_others() -> None:
    wrong = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if ASSIGNED_LETTER.match(character := chr(code))
        and character not in SHARED
        and is_written_without_spaces(character) != bool(BY_UNICODE.match(character))
    ]
    assert not wrong
