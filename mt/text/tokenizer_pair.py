"""The tokenizers of both sides: one joint model, or one each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mt.atomic import replaced_file
from mt.errors import ModelFolderError
from mt.text.subwords import SubwordTokenizer
from mt.text.symbols import HEADER, SymbolTokenizer
from mt.text.tokenizer import Tokenizer

_JOINT, _SOURCE, _TARGET = "tokenizer.model", "tokenizer.source.model", "tokenizer.target.model"


def read_tokenizer(model: bytes, *, name: str = "tokenizer") -> Tokenizer:
    """The tokenizer of the bytes of a file, whose beginning tells its kind.

    Raises ModelFolderError, with `name`, when they are none.
    """
    if model.startswith(HEADER):
        return SymbolTokenizer.of_model(model, name=name)
    return SubwordTokenizer(model, name=name)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer from a file; raises ModelFolderError when it is none."""
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error
    return read_tokenizer(model, name=str(path))


@dataclass(frozen=True, kw_only=True)
class TokenizerPair:
    """The tokenizers of the source and of the target; the same object where they are joint."""

    source: Tokenizer
    target: Tokenizer

    @property
    def is_joint(self) -> bool:
        """Whether both sides share one tokenizer."""
        return self.source is self.target

    def save(self, folder: Path) -> None:
        """Write `tokenizer.model`, or one file a side."""
        files = (
            {_JOINT: self.source} if self.is_joint else {_SOURCE: self.source, _TARGET: self.target}
        )
        for name, tokenizer in files.items():
            with replaced_file(folder / name) as temporary:
                temporary.write_bytes(tokenizer.model)

    @classmethod
    def load(cls, folder: Path, *, joint: bool) -> TokenizerPair:
        """Read what `save` wrote; raises ModelFolderError when it is not there."""
        if joint:
            tokenizer = load_tokenizer(folder / _JOINT)
            return cls(source=tokenizer, target=tokenizer)
        return cls(source=load_tokenizer(folder / _SOURCE), target=load_tokenizer(folder / _TARGET))
