"""A shortlist of the target vocabulary: for each source, the pieces that it may be translated with.

Of each source piece the table knows the target pieces that it is most likely to give; beside them
stand the most frequent ones, which any sentence may hold. Neither who learnt the table nor how it
is searched with matters here.

Shapes: V target vocabulary, C candidates of a sentence.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.seal import UNSEALED, check_seal, seal
from mt.text.tokenizer import END, START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair

SHORTLIST = "shortlist.safetensors"
FORMAT_VERSION = 1
END_AT, START_AT = 0, 1
"""Places of the symbols in a list of candidates."""

_TENSORS = ("first", "pieces", "frequent")
_REMEMBERED = 4096  # lists: those of a window are asked for twice
_Ids = NDArray[np.int32]


class Shortlist:
    """Target pieces for each source piece, and those for all."""

    def __init__(self, *, first: _Ids, pieces: _Ids, frequent: _Ids, target_vocab: int) -> None:
        """Give source piece i the target pieces `pieces[first[i] : first[i + 1]]`.

        A source piece without any is unknown. `frequent` are those of every sentence.

        Raises ValueError where the places do not fit or an id lies beyond the vocabulary.
        """
        if (
            len(first) < 1
            or first[0] != 0
            or first[-1] != len(pieces)
            or (np.diff(first) < 0).any()
        ):
            raise ValueError("the places of the pieces are not in order")
        for ids in (pieces, frequent):
            if len(ids) and not (ids.min() > UNKNOWN and ids.max() < target_vocab):
                raise ValueError(f"ids must lie between {UNKNOWN + 1} and {target_vocab - 1}")
        self.first, self.pieces, self.frequent = first, pieces, frequent
        self.target_vocab = target_vocab
        self._of_all = np.zeros(target_vocab, dtype=np.bool_)
        self._of_all[frequent] = True
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._candidates)

    @property
    def source_vocab(self) -> int:
        """Source pieces, unknown ones included."""
        return len(self.first) - 1

    @property
    def num_known(self) -> int:
        """Source pieces that have target pieces."""
        return int((np.diff(self.first) > 0).sum())

    def knows(self, source: Sequence[int]) -> bool:
        """Whether every token of a source has target pieces."""
        tokens = np.asarray(source, dtype=np.int64)
        return bool((self.first[tokens + 1] > self.first[tokens]).all())

    @classmethod
    def of(
        cls, *, first: _Ids, pieces: _Ids, frequent: _Ids, tokenizers: TokenizerPair
    ) -> Shortlist:
        """Of what the constructor takes, with one piece more for each known source piece: itself.

        Names and numbers are copied. A piece that the target does not have is left out.
        """
        symbols = range(UNKNOWN + 1)
        ids = {piece: i for i, piece in enumerate(_pieces(tokenizers.target)) if i not in symbols}
        copies = [ids.get(piece) for piece in _pieces(tokenizers.source)]
        lists = np.split(pieces, first[1:-1])
        for i, copy in enumerate(copies):
            if len(lists[i]) and copy is not None and copy not in lists[i]:
                lists[i] = np.append(lists[i], np.int32(copy))
        sizes = np.array([len(each) for each in lists])
        return cls(
            first=np.concatenate(([0], sizes.cumsum())).astype(np.int32),
            pieces=np.concatenate(lists).astype(np.int32),
            frequent=frequent,
            target_vocab=tokenizers.target.vocab_size,
        )

    def candidates(self, source: Sequence[int]) -> _Ids:
        """The candidates (C) of a source without end symbol: the end, the start, and ids in order.

        The start symbol, which no translation holds, has its place for being fed.
        """
        return self._remembered(tuple(source))

    def _candidates(self, source: tuple[int, ...]) -> _Ids:
        is_candidate = self._of_all.copy()
        for token in set(source):
            is_candidate[self.pieces[self.first[token] : self.first[token + 1]]] = True
        ids = np.flatnonzero(is_candidate)
        found: _Ids = np.concatenate(((END, START), ids)).astype(np.int32)
        return found

    def save(self, folder: Path, tokenizers: TokenizerPair) -> None:
        """Write it into a model folder with these tokenizers."""
        about = {
            "format_version": FORMAT_VERSION,
            "target_vocab": self.target_vocab,
            "tokenizers": _digest(tokenizers),
            "sha256": UNSEALED,
        }
        tensors = {name: np.ascontiguousarray(getattr(self, name)) for name in _TENSORS}
        with replaced_file(folder / SHORTLIST) as temporary:
            # One key of metadata only: several are written in a random order.
            save_file(tensors, temporary, metadata={"shortlist": json.dumps(about)})
            seal(temporary)

    @classmethod
    def load(cls, folder: Path, tokenizers: TokenizerPair) -> Shortlist:
        """Read what `save` wrote.

        Raises ModelFolderError, naming the file, where it is missing, damaged, of a newer format,
        or made for other tokenizers.
        """
        path = folder / SHORTLIST
        remedy = f"Make it with: mt shortlist -m {shlex.quote(str(folder))}"
        if not path.exists():
            raise ModelFolderError(f"{folder} has no {SHORTLIST}", hint=remedy)
        try:
            check_seal(path)
            with safe_open(path, framework="numpy") as file:
                about = json.loads((file.metadata() or {})["shortlist"])
                version, vocabulary = int(about["format_version"]), int(about["target_vocab"])
                if version > FORMAT_VERSION:
                    raise ModelFolderError(
                        f"{path} has format version {version}, this mt knows up to "
                        f"{FORMAT_VERSION}",
                        hint="Install a newer mt",
                    )
                if about["tokenizers"] != _digest(tokenizers):
                    raise ModelFolderError(f"{path} was made for other tokenizers", hint=remedy)
                first, pieces, frequent = (_ids(file.get_tensor(name)) for name in _TENSORS)
            found = cls(first=first, pieces=pieces, frequent=frequent, target_vocab=vocabulary)
            if found.source_vocab != tokenizers.source.vocab_size:
                raise ValueError("another number of source pieces")
            if vocabulary != tokenizers.target.vocab_size:
                raise ValueError("another number of target pieces")
        except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
            raise ModelFolderError(
                f"{path} is no shortlist, or is damaged: {error}", hint=remedy
            ) from error
        return found


def _pieces(tokenizer: Tokenizer) -> list[str]:
    return tokenizer.pieces(range(tokenizer.vocab_size))


def _ids(values: NDArray[np.generic]) -> _Ids:
    if values.dtype != np.int32 or values.ndim != 1:
        raise ValueError("its tensors are not lists of 32-bit integers")
    return values.astype(np.int32)


def _digest(tokenizers: TokenizerPair) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for tokenizer in (tokenizers.source, tokenizers.target):
        digest.update(hashlib.blake2b(tokenizer.model).digest())
    return digest.hexdigest()
