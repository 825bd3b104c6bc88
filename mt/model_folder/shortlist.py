"""A shortlist of the target vocabulary: the pieces that a source may be translated with.

For each source piece the table has the target pieces that it is most likely to give; beside them
stand the most frequent ones, which any sentence may hold. It is a file of the model folder, for
engines that search a part of the vocabulary (`mt.exchange.ctranslate2`).

Shapes: C candidates of a sentence.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.files.digests import blake2b
from mt.files.library_paths import library_path
from mt.files.seal import UNSEALED, check_seal, seal
from mt.text.tokenizer import UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair

SHORTLIST = "shortlist.safetensors"
FORMAT_VERSION = 1

_TENSORS = ("first", "pieces", "frequent")
_Ids = NDArray[np.int32]


class Shortlist:
    """Target pieces for each source piece, and those for all."""

    def __init__(self, *, first: _Ids, pieces: _Ids, frequent: _Ids, target_vocab: int) -> None:
        """Give source piece i the target pieces `pieces[first[i] : first[i + 1]]`.

        A source piece without any is unknown. `frequent` are those of every sentence.

        Raises ValueError where `first` is not in order or an id lies beyond the vocabulary.
        """
        if (
            len(first) < 1
            or first[0] != 0
            or first[-1] != len(pieces)
            or (np.diff(first) < 0).any()
        ):
            raise ValueError("the first pieces are not in order")
        for ids in (pieces, frequent):
            if len(ids) and not (ids.min() > UNKNOWN and ids.max() < target_vocab):
                raise ValueError(f"ids must lie between {UNKNOWN + 1} and {target_vocab - 1}")
        self.first, self.pieces, self.frequent = first, pieces, frequent
        self.target_vocab = target_vocab

    @property
    def source_vocab(self) -> int:
        """Source pieces, unknown ones included."""
        return len(self.first) - 1

    @property
    def num_known(self) -> int:
        """Source pieces that have target pieces."""
        return int((np.diff(self.first) > 0).sum())

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

    def likely(self, piece: int) -> _Ids:
        """The target pieces that a source piece is likely to give."""
        return self.pieces[self.first[piece] : self.first[piece + 1]]

    def candidates(self, source: Sequence[int]) -> _Ids:
        """The target pieces (C), in order, of a source without end symbol."""
        return np.unique(np.concatenate([self.frequent, *map(self.likely, set(source))]))

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
            save_file(tensors, library_path(temporary), metadata={"shortlist": json.dumps(about)})
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
            with safe_open(library_path(path), framework="numpy") as file:
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
    models = (tokenizers.source.model, tokenizers.target.model)
    return blake2b(bytes.fromhex(blake2b([model], num_bytes=64)) for model in models)
