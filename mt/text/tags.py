"""Reserved tags before the source: the language that it is to become, and how it was made.

A tag is a symbol of the vocabulary that no text can write. People are shown `<to sw>`, which no
piece is called, since none holds a space.

Johnson et al. 2017 (Google's multilingual system); of synthetic sources, Caswell et al. 2019.

The file is a line that names the form, a line of JSON, {"tags": […]}, and the tokenizer below as it
is, whose ids those of the tags follow.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence

from mt.errors import ModelFolderError
from mt.text.tokenizer import Tokenizer

HEADER = b"mt tags 1\n"
SYNTHETIC = "<synthetic source>"
"""The tag of a source that a model made."""
_TO = "<to "


def tag_of(language: str) -> str:
    """The tag of a target language."""
    return f"{_TO}{language}>"


class TaggedTokenizer(Tokenizer):
    """A tokenizer with tags, none of which stands before a text unless `with_tags` says so."""

    def __init__(self, base: Tokenizer, tags: Sequence[str], *, name: str = "tokenizer") -> None:
        """Raises ModelFolderError, with `name`, for tags that cannot be told apart."""
        if len(set(tags)) != len(tags) or not all(" " in tag for tag in tags):
            raise ModelFolderError(f"{name} has tags that are none, or two of one name: {tags}")
        self.base = base
        self.tags = tuple(tags)
        self._first = base.vocab_size
        self._lead: tuple[int, ...] = ()
        line = json.dumps({"tags": list(tags)}, ensure_ascii=False).encode("utf-8")
        self.model = HEADER + line + b"\n" + base.model

    @staticmethod
    def parts_of(model: bytes, *, name: str) -> tuple[list[str], bytes]:
        """The tags and the tokenizer below in a file; raises ModelFolderError when it is none."""
        line, _, base = model.removeprefix(HEADER).partition(b"\n")
        try:
            tags = json.loads(line)["tags"]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelFolderError(f"{name} is damaged: {error}") from error
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ModelFolderError(f"{name} is damaged: a tag is no text")
        return tags, base

    @property
    def vocab_size(self) -> int:
        """Number of pieces, reserved ones and tags included (V)."""
        return self._first + len(self.tags)

    @property
    def reserved(self) -> tuple[int, ...]:
        """Those of the tokenizer below, and the tags."""
        return (*self.base.reserved, *range(self._first, self.vocab_size))

    @property
    def targets(self) -> tuple[str, ...]:
        """The languages that there are tags of."""
        return tuple(tag[len(_TO) : -1] for tag in self.tags if tag.startswith(_TO))

    @property
    def is_aimed(self) -> bool:
        """Whether tags stand before every text."""
        return bool(self._lead)

    def towards(self, language: str) -> TaggedTokenizer:
        """The same tokenizer, which puts the tag of one of `targets` before every text."""
        return self.with_tags([tag_of(language)])

    def with_tags(self, tags: Sequence[str]) -> TaggedTokenizer:
        """The same tokenizer, which puts tags before every text that is not blank."""
        aimed = copy.copy(self)
        aimed._lead = self.tag_ids(tags)
        return aimed

    def tag_ids(self, tags: Iterable[str]) -> tuple[int, ...]:
        """The ids of tags; raises ValueError for one that it has not."""
        ids = {tag: self._first + number for number, tag in enumerate(self.tags)}
        tags = list(tags)
        super().tag_ids(tag for tag in tags if tag not in ids)
        return tuple(ids[tag] for tag in tags)

    def normalise(self, text: str) -> str:
        """As the tokenizer below does."""
        return self.base.normalise(text)

    def is_blank(self, text: str) -> bool:
        """As for the tokenizer below."""
        return self.base.is_blank(text)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, after the tags; none of a text that has none."""
        return self._led(self.base.encode(text))

    def encode_batch(self, texts: Sequence[str], *, num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts, on all cores unless `num_threads` says how many."""
        return list(map(self._led, self.base.encode_batch(texts, num_threads=num_threads)))

    def unknown(self, text: str) -> list[str]:
        """The parts of `text` that the tokenizer below does not know."""
        return self.base.unknown(text)

    def parts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the ids that spell it, as inside of a line."""
        return self.base.parts(texts)

    def decode(self, ids: Iterable[int]) -> str:
        """Text of token ids; tags leave nothing behind."""
        return self.base.decode(i for i in ids if i < self._first)

    def spell(self, ids: Iterable[int]) -> list[bytes]:
        """The bytes of UTF-8 that each token adds to the text, none for a tag."""
        ids = list(ids)
        spelled = iter(self.base.spell(i for i in ids if i < self._first))
        return [next(spelled) if i < self._first else b"" for i in ids]

    def word_of_each(self, ids: Sequence[int]) -> list[int | None]:
        """The number of the word that each token spells a part of; None for a tag."""
        words = iter(self.base.word_of_each([i for i in ids if i < self._first]))
        return [next(words) if i < self._first else None for i in ids]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces behind token ids, for people to look at; of a tag `<to sw>`."""
        ids = list(ids)
        named = iter(self.base.pieces(i for i in ids if i < self._first))
        return [next(named) if i < self._first else self.tags[i - self._first] for i in ids]

    def _led(self, ids: list[int]) -> list[int]:
        return [*self._lead, *ids] if ids else ids
