"""Subword tokenizers: the only module that imports sentencepiece.

Text in, token ids out, and back without loss (up to `normalise`). Byte fallback spells every
character that the vocabulary lacks, so that no text needs an unknown symbol.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import sentencepiece

from mt.config import SubwordKind
from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.text.normalise import is_blank, normalise
from mt.text.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from mt.text.words import word_of_each_token

_NUM_RESERVED = 4 + 256  # the four above and a piece for each byte
_TRAINING_THREADS = 2  # a constant: sums over threads would make the pieces depend on it
_FEW_TEXTS = 64  # which are encoded sooner than threads are started
_LEAST_COVERAGE = 0.98  # sentencepiece refuses less
_LONGEST_LINE = 4000  # bytes; longer lines are cut for sentencepiece, which would skip them


class SubwordTokenizer(Tokenizer):
    """A trained sentencepiece model with its reserved ids."""

    def __init__(self, model: bytes, *, name: str = "tokenizer") -> None:
        self.model = model
        self._processor = read_sentencepiece(model, name=name)
        ids = self._processor
        found = (ids.pad_id(), ids.bos_id(), ids.eos_id(), ids.unk_id())
        if found != (PAD, START, END, UNKNOWN):
            raise ModelFolderError(f"{name} has other reserved ids than mt's: {found}")
        try:
            pieces = self.pieces(range(self.vocab_size))
            self._bytes = {
                i: int(piece[3:5], 16)
                for i, piece in enumerate(pieces)
                if self._processor.IsByte(i)
            }
        except ValueError as error:  # a piece that is not UTF-8, or no byte
            raise ModelFolderError(f"{name} is damaged: {error}") from error

    @property
    def vocab_size(self) -> int:
        """Number of pieces, reserved ones included (V)."""
        return int(self._processor.GetPieceSize())

    def normalise(self, text: str) -> str:
        """`text` in NFC with single spaces (`mt.text.normalise`)."""
        return normalise(text)

    def is_blank(self, text: str) -> bool:
        """Whether nothing is there to see: only white space, controls and invisible marks."""
        return is_blank(text)

    def encode(self, text: str) -> list[int]:
        """Token ids of `normalise(text)`, without start and end symbols."""
        ids: list[int] = self._processor.EncodeAsIds(normalise(text))
        return ids

    def encode_batch(self, texts: Sequence[str], *, num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts, on all cores unless `num_threads` says how many."""
        if len(texts) < _FEW_TEXTS:
            return [self.encode(text) for text in texts]
        ids: list[list[int]] = self._processor.Encode(
            [normalise(text) for text in texts], num_threads=num_threads
        )
        return ids

    def unknown(self, text: str) -> list[str]:
        """None: bytes spell what the vocabulary lacks."""
        return []

    def parts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the ids that spell it, as inside of a line; every text is spelt."""
        cut = cut_inside(self._processor, texts)
        return [[self._processor.PieceToId(piece) for piece in pieces] for pieces in cut]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of token ids; reserved ids and broken bytes leave nothing behind."""
        return normalise(b"".join(self.spell(ids)).decode("utf-8", errors="replace"))

    def spell(self, ids: Iterable[int]) -> list[bytes]:
        """The bytes of UTF-8 that each token adds to the text, none for a reserved id."""
        return [
            bytes((self._bytes[i],))
            if i in self._bytes
            else self._processor.IdToPiece(int(i)).encode("utf-8")
            if i > UNKNOWN
            else b""
            for i in ids
        ]

    def word_of_each(self, ids: Sequence[int]) -> list[int | None]:
        """The number of the word that each token spells a part of (`mt.text.words`)."""
        return word_of_each_token(self.spell(ids))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces behind token ids, for people to look at."""
        return [self._processor.IdToPiece(int(i)) for i in ids]


def read_sentencepiece(model: bytes, *, name: str) -> Any:
    """The SentencePieceProcessor of a model; ModelFolderError, with `name`, when it is none."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except (RuntimeError, UnicodeDecodeError) as error:  # the latter of its own message
        raise ModelFolderError(f"{name} is not a sentencepiece model") from error
    return processor


def cut_inside(processor: Any, texts: Sequence[str]) -> list[list[str]]:
    """The pieces of each text as inside of a line, where no space is put before it.

    Each is cut behind a character that no piece has, at which every cut parts.
    """
    pieces = (processor.IdToPiece(i) for i in range(processor.GetPieceSize()))
    taken = set().union(*pieces)
    wall = next(char for char in map(chr, range(0xE000, 0xF900)) if char not in taken)  # private
    num_before = len(processor.EncodeAsPieces(wall))
    return [processor.EncodeAsPieces(wall + text)[num_before:] for text in texts]


def byte_pieces(processor: Any) -> dict[str, bytes]:
    """The pieces of a SentencePieceProcessor that stand for a byte, if it has any."""
    names = (processor.IdToPiece(i) for i in range(processor.GetPieceSize()) if processor.IsByte(i))
    return {name: bytes((int(name[3:5], 16),)) for name in names}


def sentencepiece_table(model: bytes, *, name: str) -> tuple[list[str], int, int]:
    """The pieces of a sentencepiece model in order, and the ids of end and unknown symbol.

    Raises ModelFolderError, with `name`, when it is none or has no end symbol.
    """
    processor = read_sentencepiece(model, name=name)
    if processor.eos_id() < 0:
        raise ModelFolderError(f"{name} has no symbol for the end of a sentence")
    pieces = [processor.IdToPiece(i) for i in range(processor.GetPieceSize())]
    return pieces, processor.eos_id(), processor.unk_id()


def recipe() -> str:
    """What the pieces and ids follow from, beside the text and the settings."""
    return f"sentencepiece {sentencepiece.__version__}, Unicode {unicodedata.unidata_version}"


def train_subwords(
    texts: Iterable[str],
    *,
    kind: SubwordKind,
    vocab_size: int,
    listener: Listener = ignore,
    name: str = "tokenizer",
) -> SubwordTokenizer:
    """Train a tokenizer of at most `vocab_size` pieces on `texts`.

    The same texts give the same pieces. Where they are too few for the size asked, it is
    reduced, and a Notice says to what.

    Raises ConfigError when `vocab_size` is too small for the alphabet, DataError when there is
    no text.
    """
    lines = [line for text in texts if (line := normalise(text))]
    if not lines:
        raise DataError(f"there is no text to train the {name} on")
    alphabet = _alphabet(lines)
    smallest = _NUM_RESERVED + 1 + _num_covering(alphabet, _LEAST_COVERAGE)
    if vocab_size < smallest:
        raise ConfigError(
            f"a vocabulary of {vocab_size} pieces is too small for the {name}",
            hint=f"Reserved symbols, bytes and the letters of this corpus need at least {smallest}",
        )
    coverage = _coverage(alphabet, room=vocab_size - _NUM_RESERVED - 1)
    pieces = [piece for line in lines for piece in _cut(line)]
    size = vocab_size
    while True:
        try:
            model = _train(pieces, kind=kind, vocab_size=size, coverage=coverage)
        except RuntimeError as error:
            limit = re.search(r"value <= (\d+)", str(error))
            if limit is None or int(limit[1]) >= size:
                raise DataError(f"sentencepiece cannot train the {name}: {error}") from error
            size = int(limit[1])
            continue
        tokenizer = SubwordTokenizer(model, name=name)
        if tokenizer.vocab_size < vocab_size:
            text = (
                f"vocabulary of the {name} reduced from {vocab_size} to {tokenizer.vocab_size}: "
                "the corpus has no more pieces to offer"
            )
            listener(Notice(text=text, is_warning=True))
        return tokenizer


def _train(lines: list[str], *, kind: SubwordKind, vocab_size: int, coverage: float) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type=kind,
        vocab_size=vocab_size,
        character_coverage=coverage,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        pad_id=PAD,
        bos_id=START,
        eos_id=END,
        unk_id=UNKNOWN,
        max_sentence_length=16 * _LONGEST_LINE,
        num_threads=_TRAINING_THREADS,
        minloglevel=3,
    )
    return model.getvalue()


def _alphabet(lines: Iterable[str]) -> Counter[str]:
    """Characters with their counts; the space is the meta symbol, which is always covered."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(line)
    del counts[" "]
    return counts


def _num_covering(alphabet: Counter[str], share: float) -> int:
    """How many of the most frequent characters make up `share` of the running text."""
    wanted = share * sum(alphabet.values())
    covered = 0
    for num, (_, count) in enumerate(alphabet.most_common()):
        if covered >= wanted:
            return num
        covered += count
    return len(alphabet)


def _coverage(alphabet: Counter[str], *, room: int) -> float:
    """The share of running characters that get a piece of their own; bytes spell the others.

    All of them where they fill at most half of the `room`; of a larger alphabet (Chinese, say)
    the most frequent ones that fit in that half, but never less than sentencepiece's least.
    """
    if len(alphabet) <= room // 2:
        return 1.0
    kept = sum(count for _, count in alphabet.most_common(room // 2))
    return max(_LEAST_COVERAGE, kept / sum(alphabet.values()))


def _cut(line: str) -> list[str]:
    """Cut a very long line into parts that sentencepiece does not skip, at spaces if it can."""
    if len(line) * 4 <= _LONGEST_LINE or len(line.encode("utf-8")) <= _LONGEST_LINE:
        return [line]
    parts = re.findall(rf".{{1,{_LONGEST_LINE // 4}}}(?: |$)|.{{1,{_LONGEST_LINE // 4}}}", line)
    return [part.strip(" ") for part in parts if part.strip(" ")]
