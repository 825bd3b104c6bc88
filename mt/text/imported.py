"""The tokenizer of an imported model: sentencepiece cuts, and a table of its own gives the ids.

Models of Marian have one table of pieces for both languages and a sentencepiece model for each, so
that ids are not those of sentencepiece. A piece that the table lacks is unknown.

Models with several target languages want the code of one before the source, as `>>deu<<`: it is
looked up whole. `prefix` is the code for lines that begin with none. A code spells nothing.

The file is a line that names the form, a line of JSON, {"pieces": […], "prefix": "…"}, and the
sentencepiece model as it is. Pieces stand in the order of their ids, after the reserved ones.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence

from mt.errors import ModelFolderError
from mt.events import Listener, Notice
from mt.text.normalise import is_blank, normalise
from mt.text.subwords import byte_pieces, cut_inside, read_sentencepiece
from mt.text.tokenizer import RESERVED, UNKNOWN, Tokenizer
from mt.text.words import word_of_each_token

HEADER = b"mt pieces 1\n"
_SPACE = "\u2581"


class ImportedTokenizer(Tokenizer):
    """A sentencepiece model whose pieces have the ids of a table."""

    def __init__(
        self,
        pieces: Sequence[str],
        sentencepiece: bytes,
        *,
        prefix: str = "",
        name: str = "tokenizer",
    ) -> None:
        """`pieces` have the ids from 4 on; ModelFolderError, with `name`, for what cannot be."""
        self.sentencepiece = sentencepiece
        """The sentencepiece model, as its file holds it."""
        self.prefix = prefix
        self._processor = read_sentencepiece(sentencepiece, name=name)
        self._pieces = (*RESERVED, *pieces)
        self._ids = {piece: i for i, piece in enumerate(self._pieces) if i >= len(RESERVED)}
        if len(self._ids) != len(pieces) or not self._ids.keys().isdisjoint(RESERVED):
            raise ModelFolderError(f"{name} has two pieces of one name")
        self.codes = frozenset(piece for piece in pieces if is_code(piece))
        """The languages that a source may be translated to, as `>>deu<<`."""
        if prefix and prefix not in self.codes:
            known = f"only {', '.join(sorted(self.codes))}" if self.codes else "nor any other"
            raise ModelFolderError(f"{name} has no language {prefix} ({known})")
        self._bytes = byte_pieces(self._processor)
        head = {"pieces": list(pieces), "prefix": prefix}
        line = json.dumps(head, ensure_ascii=False).encode("utf-8", errors="surrogatepass")
        self.model = HEADER + line + b"\n" + sentencepiece

    @classmethod
    def of_model(cls, model: bytes, *, name: str = "tokenizer") -> ImportedTokenizer:
        """Read a tokenizer from its bytes; raises ModelFolderError when they are none."""
        line, _, sentencepiece = model.removeprefix(HEADER).partition(b"\n")
        try:
            head = json.loads(line)
            pieces, prefix = list(head["pieces"]), str(head["prefix"])
        except (ValueError, TypeError, KeyError) as error:
            raise ModelFolderError(f"{name} is damaged: {error}") from error
        if not all(isinstance(piece, str) for piece in pieces):
            raise ModelFolderError(f"{name} is damaged: a piece is no text")
        return cls(pieces, sentencepiece, prefix=prefix, name=name)

    @property
    def vocab_size(self) -> int:
        """Number of pieces, reserved ones included (V)."""
        return len(self._pieces)

    @property
    def targets(self) -> tuple[str, ...]:
        """The languages of `codes`, in the order of the table."""
        return tuple(piece[2:-2] for piece in self._ids if piece in self.codes)

    @property
    def is_aimed(self) -> bool:
        """Whether there is a code for lines that begin with none."""
        return bool(self.prefix)

    def towards(self, language: str) -> ImportedTokenizer:
        """The same tokenizer with another code for lines that begin with none."""
        aimed = copy.copy(self)
        aimed.prefix = f">>{language}<<"
        return aimed

    def normalise(self, text: str) -> str:
        """What sentencepiece leaves of `text`, which its model may rule, with single spaces."""
        _, text = self._split(text)
        return _text_of(self._spelled(piece) for piece in self._processor.EncodeAsPieces(text))

    def is_blank(self, text: str) -> bool:
        """Whether nothing is there to see beside a language."""
        return is_blank(self._split(text)[1])

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, after that of its language; none of a blank text."""
        return self.encode_batch([text], num_threads=1)[0]

    def encode_batch(self, texts: Sequence[str], *, num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts, on all cores unless `num_threads` says how many."""
        split = [self._split(text) for text in texts]
        cut: list[list[str]] = self._processor.Encode(
            [text for _, text in split], out_type=str, num_threads=num_threads
        )
        ids = self._ids
        return [
            [ids.get(piece, UNKNOWN) for piece in (*code, *pieces)] if pieces else []
            for (code, _), pieces in zip(split, cut, strict=True)
        ]

    def unknown(self, text: str) -> list[str]:
        """The pieces of `text`, and its language, that the table lacks."""
        code, text = self._split(text)
        pieces = (*code, *self._processor.EncodeAsPieces(text))
        return [piece.strip(_SPACE) for piece in pieces if piece not in self._ids]

    def parts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the ids that spell it, as inside of a line; unknown pieces are left out."""
        cut = cut_inside(self._processor, texts)
        return [[self._ids[piece] for piece in pieces if piece in self._ids] for pieces in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of token ids; reserved ids, languages and broken bytes leave nothing behind."""
        return _text_of(self.spell(ids))

    def spell(self, ids: Iterable[int]) -> list[bytes]:
        """The bytes of UTF-8 that each token adds to the text, none for reserved ids and codes."""
        return [self._spelled(self._pieces[i]) if i > UNKNOWN else b"" for i in ids]

    def word_of_each(self, ids: Sequence[int]) -> list[int | None]:
        """The number of the word that each token spells a part of; unknown ones are letters."""
        ids = list(ids)
        spelled = self.spell(ids)
        return word_of_each_token(
            [b"?" if i == UNKNOWN else each for i, each in zip(ids, spelled, strict=True)]
        )

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces behind token ids, for people to look at."""
        return [self._pieces[i] for i in ids]

    def _split(self, text: str) -> tuple[list[str], str]:
        """The language that `text` begins with or the one for all lines, if any; and the rest."""
        text = normalise(text)
        if not self.codes:
            return [], text
        end = text.find("<<") + 2 if text.startswith(">>") else 0
        if end > 2:
            return [text[:end]], text[end:].lstrip(" ")
        return [self.prefix] * bool(self.prefix), text

    def _spelled(self, piece: str) -> bytes:
        if piece in self._bytes:
            return self._bytes[piece]
        return b"" if piece in self.codes else piece.encode("utf-8", errors="replace")


def is_code(piece: str) -> bool:
    """Whether a piece is a target language, as `>>deu<<`."""
    return len(piece) > 4 and piece.startswith(">>") and piece.endswith("<<")


def sentencepiece_of(tokenizer: Tokenizer) -> bytes:
    """The sentencepiece model by which a tokenizer of subwords cuts text."""
    return tokenizer.sentencepiece if isinstance(tokenizer, ImportedTokenizer) else tokenizer.model


def warn_of_prefix(tokenizer: Tokenizer, listener: Listener) -> None:
    """Warn of a language before all lines, which another program does not put there."""
    prefix = tokenizer.prefix if isinstance(tokenizer, ImportedTokenizer) else ""
    if prefix:
        text = f"{prefix} is not put before lines there: write it before each of them"
        listener(Notice(text=text, is_warning=True))


def _text_of(spelled: Iterable[bytes]) -> str:
    return normalise(b"".join(spelled).decode("utf-8", errors="replace"))
