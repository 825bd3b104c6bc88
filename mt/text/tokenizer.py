"""What every tokenizer promises: text in, token ids out, and back.

`mt.text.subwords` cuts text into pieces that are learnt, `mt.text.symbols` takes symbols that stand
between spaces as they are, `mt.text.imported` cuts as the model of another program wants it, and
`mt.text.tags` has symbols of its own that stand before the text.
`mt.text.tokenizer_pair` knows which of them a file holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

PAD, START, END, UNKNOWN = 0, 1, 2, 3
RESERVED = ("<pad>", "<s>", "</s>", "<unk>")
"""What people are shown of the four ids above; no text stands for them."""


class Tokenizer(ABC):
    """A vocabulary with its reserved ids, and how text is cut into it."""

    model: bytes
    """All of it, as a file holds it; tokenizers of equal bytes are the same."""

    @property
    @abstractmethod
    def vocab_size(self) -> int:
        """Number of tokens, reserved ones included (V)."""

    @property
    def reserved(self) -> tuple[int, ...]:
        """The ids, beside END, that no translation may hold."""
        return (PAD, START, UNKNOWN)

    @property
    def targets(self) -> tuple[str, ...]:
        """Codes of the languages that a source may be translated into, where a tag says which."""
        return ()

    @property
    def is_aimed(self) -> bool:
        """Whether it is settled which tag stands before a text that names none."""
        return False

    def towards(self, language: str) -> Tokenizer:
        """The same tokenizer, which puts the tag of one of `targets` before every text."""
        raise ValueError(f"this tokenizer has no tag of {language}")

    def tag_ids(self, tags: Iterable[str]) -> tuple[int, ...]:
        """The ids of reserved tags (`mt.text.tags`); raises ValueError for one that it has not."""
        for tag in tags:
            raise ValueError(f"this tokenizer has no tag {tag}")
        return ()

    @abstractmethod
    def normalise(self, text: str) -> str:
        """What is left of `text` when it is encoded and decoded, if no token of it is unknown."""

    @abstractmethod
    def is_blank(self, text: str) -> bool:
        """Whether `text` holds nothing to translate."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without start and end symbols."""

    @abstractmethod
    def encode_batch(self, texts: Sequence[str], *, num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts, on all cores unless `num_threads` says how many."""

    @abstractmethod
    def unknown(self, text: str) -> list[str]:
        """The parts of `text` for which there is no token, in order: those with the id UNKNOWN."""

    @abstractmethod
    def parts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the ids that spell it, without `normalise`, as inside of a line.

        A space is written as U+2581. What no token spells is left out.
        """

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Text of token ids; reserved ids leave nothing behind."""

    @abstractmethod
    def spell(self, ids: Iterable[int]) -> list[bytes]:
        """The bytes of UTF-8 that each token adds to the text, none for a reserved id.

        A space is written as U+2581, as sentencepiece does.
        """

    @abstractmethod
    def word_of_each(self, ids: Sequence[int]) -> list[int | None]:
        """The number, from 0, of the word that each token spells a part of; None: of none."""

    @abstractmethod
    def pieces(self, ids: Iterable[int]) -> list[str]:
        """What stands behind token ids, for people to look at."""
