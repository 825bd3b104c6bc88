"""Which word of a text each token spells a part of.

Words are what stands between the spaces of a normalised text, numbered from 0: `text.split(" ")`.
A full stop belongs to the word before it unless a space parts them.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt.text.invisible import is_invisible
from mt.text.normalise import is_separator


def word_of_each_token(spellings: Sequence[bytes]) -> list[int | None]:
    """The number of the word that each token spells a part of.

    `spellings` are the bytes that the tokens add to the text (`Tokenizer.spell`). A token that
    spells parts of several words counts for the first of them, one that spells only a space for
    the word that follows. None: it spells nothing that is left in the text.
    """
    words: list[int | None] = [None] * len(spellings)
    owners = [token for token, spelling in enumerate(spellings) for _ in spelling]
    word, is_inside, offset = -1, False, 0
    # Each broken byte is one character here, and a separator, as the mark of it is in a text.
    for character in b"".join(spellings).decode("utf-8", errors="surrogateescape"):
        size = 1 if "\udc80" <= character <= "\udcff" else len(character.encode("utf-8"))
        if is_separator(character):
            is_inside = False
        elif is_inside or not is_invisible(character):  # no such mark begins a word
            word += not is_inside
            is_inside = True
            for token in owners[offset : offset + size]:
                if words[token] is None:
                    words[token] = word
        offset += size
    return _with_next(words, spellings)


def _with_next(words: Sequence[int | None], spellings: Sequence[bytes]) -> list[int | None]:
    """Let tokens that spell only separators belong to the word that follows them."""
    filled = list(words)
    for token in range(len(filled) - 2, -1, -1):
        if filled[token] is None and spellings[token]:
            filled[token] = filled[token + 1]
    return filled
