"""The tokenizers of both sides: one joint model, or one each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ModelFolderError
from mt.files import write_bytes
from mt.files.digests import blocks_of_file, sha256
from mt.text.imported import HEADER as IMPORTED
from mt.text.imported import ImportedTokenizer
from mt.text.subwords import SubwordTokenizer
from mt.text.symbols import HEADER, SymbolTokenizer
from mt.text.tags import HEADER as TAGGED
from mt.text.tags import TaggedTokenizer
from mt.text.tokenizer import Tokenizer
from mt.text.truecase import Kept, Truecaser
from mt.text.truecase_table import load_truecaser, save_truecaser

_JOINT, _SOURCE, _TARGET = "tokenizer.model", "tokenizer.source.model", "tokenizer.target.model"
FILES = (_JOINT, _SOURCE, _TARGET)
"""What a pair may be saved as: only the first, or the other two."""


def read_tokenizer(model: bytes, *, name: str = "tokenizer") -> Tokenizer:
    """The tokenizer of the bytes of a file, whose first bytes give its kind.

    Raises ModelFolderError, with `name`, when they are none.
    """
    if model.startswith(TAGGED):
        tags, base = TaggedTokenizer.parts_of(model, name=name)
        return TaggedTokenizer(read_tokenizer(base, name=name), tags, name=name)
    if model.startswith(HEADER):
        return SymbolTokenizer.of_model(model, name=name)
    if model.startswith(IMPORTED):
        return ImportedTokenizer.of_model(model, name=name)
    return SubwordTokenizer(model, name=name)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer from a file; raises ModelFolderError when it is none."""
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error
    return read_tokenizer(model, name=str(path))


def tokenizer_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each tokenizer file in `folder`, by its name."""
    there = (name for name in FILES if (folder / name).is_file())
    return {name: sha256(blocks_of_file(folder / name)) for name in there}


@dataclass(frozen=True, kw_only=True)
class TokenizerPair:
    """The tokenizers of the source and of the target; the same object where they are joint."""

    source: Tokenizer
    target: Tokenizer
    truecaser: Truecaser | None = None
    """What gives source lines their usual case; None leaves them as they are."""

    @property
    def is_joint(self) -> bool:
        """Whether both sides share one tokenizer, whatever tags it puts before a source."""
        return self.source.model is self.target.model

    def towards(self, language: str) -> TokenizerPair:
        """The same pair for sources that become `language` (`Tokenizer.towards`)."""
        return dataclasses.replace(self, source=self.source.towards(language))

    def in_usual_case(self, source: str, kept: Sequence[Kept] = ()) -> str:
        """A source line as the model is to read it (`mt.text.truecase.Truecaser.restore`)."""
        return source if self.truecaser is None else self.truecaser.restore(source, kept)

    @property
    def files(self) -> dict[str, Tokenizer]:
        """The tokenizers by the names of their files: one joint, or one a side."""
        if self.is_joint:
            return {_JOINT: self.source}
        return {_SOURCE: self.source, _TARGET: self.target}

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file, as `sha256sum` gives it."""
        return {name: sha256([tokenizer.model]) for name, tokenizer in self.files.items()}

    def save(self, folder: Path) -> None:
        """Write `tokenizer.model`, or one file a side; and `truecase.txt`."""
        for name, tokenizer in self.files.items():
            write_bytes(folder / name, tokenizer.model)
        if self.truecaser is not None:
            save_truecaser(self.truecaser, folder)

    @classmethod
    def load(cls, folder: Path, *, joint: bool) -> TokenizerPair:
        """Read what `save` wrote; raises ModelFolderError when it is not there."""
        names = (_JOINT,) if joint else (_SOURCE, _TARGET)
        loaded = [load_tokenizer(folder / name) for name in names]
        return cls(source=loaded[0], target=loaded[-1], truecaser=load_truecaser(folder))
