"""The declared normalisation: the one change that text goes through on its way to tokens.

1. Marks that nobody sees and that say nothing go (`mt.text.invisible`): of direction, of where a
   word may be broken and the like. What a script needs of them stays.
2. Unicode NFC; nothing compatible is folded (½, ™, x², ﬁ and full-width forms stay).
3. White space and control characters, line separators among them, become single spaces, and none
   stands at either end. So do fillers that are as wide as a letter, and the meta symbol U+2581,
   which sentencepiece writes for a space.
4. Lone surrogates and U+FFFD, which are marks of broken text and not text, become spaces too.

Normalising twice changes nothing.
"""

from __future__ import annotations

import re
import unicodedata

from mt.text.invisible import without_invisible

SEPARATORS = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029\u2581\u3164\uffa0\ufffd\ud800-\udfff]+")
"""What becomes a single space, in runs."""


def normalise(text: str) -> str:
    """Return `text` in the declared normalisation; blank text becomes the empty string."""
    return unicodedata.normalize("NFC", SEPARATORS.sub(" ", without_invisible(text))).strip(" ")


def is_separator(character: str) -> bool:
    """Whether a character becomes a space, or part of one."""
    return SEPARATORS.fullmatch(character) is not None


def is_blank(text: str) -> bool:
    """Whether nothing would be left to see: only white space, controls and invisible marks.

    Zero-width and other format characters (category Cf) are nothing to see.
    """
    return all(
        unicodedata.category(character) == "Cf" for character in normalise(text) if character != " "
    )
