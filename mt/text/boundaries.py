"""Where words end: between two characters that are not both of one word.

Letters, digits, the marks on them and the underscore make words. In scripts without spaces (Han,
Thai, …) a word may end between any two characters.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from mt.scripts import is_written_without_spaces


@lru_cache(maxsize=1 << 16)
def is_of_word(character: str) -> bool:
    """Whether a character belongs to a word that its neighbours may belong to as well."""
    is_of_any = character == "_" or unicodedata.category(character)[0] in "LMN"
    return is_of_any and not is_written_without_spaces(character)


def ends_word(text: str, offset: int) -> bool:
    """Whether no word goes on from the character before `offset` to the one at it."""
    if not 0 < offset < len(text):
        return True
    return not (is_of_word(text[offset - 1]) and is_of_word(text[offset]))
