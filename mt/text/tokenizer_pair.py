"""The tokenizers of both sides: one joint model, or one each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.atomic import replaced_file
from mt.errors import ModelFolderError
from mt.text.subwords import SubwordTokenizer
from mt.text.symbols import HEADER, SymbolTokenizer
from mt.text.tokenizer import Tokenizer
from mt.text.truecase import Kept, Truecaser
from mt.text.truecase_table import load_truecaser, save_truecaser

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
    truecaser: Truecaser | None = None
    """What gives source lines their usual case; None leaves them as they are."""

    @property
    def is_joint(self) -> bool:
        """Whether both sides share one tokenizer."""
        return self.source is self.target

    def in_usual_case(self, source: str, kept: Sequence[Kept] = ()) -> str:
        """A source line as the model is to read it (`mt.text.truecase.Truecaser.restore`)."""
        return source if self.truecaser is None else self.truecaser.restore(source, kept)

    def save(self, folder: Path) -> None:
        """Write `tokenizer.model`, or one file a side; and `truecase.txt`."""
        files = (
            {_JOINT: self.source} if self.is_joint else {_SOURCE: self.source, _TARGET: self.target}
        )
        for name, tokenizer in files.items():
            with replaced_file(folder / name) as temporary:
                temporary.write_bytes(tokenizer.model)
        if self.truecaser is not None:
            save_truecaser(self.truecaser, folder)

    @classmethod
    def load(cls, folder: Path, *, joint: bool) -> TokenizerPair:
        """Read what `save` wrote; raises ModelFolderError when it is not there."""
        names = (_JOINT,) if joint else (_SOURCE, _TARGET)
        loaded = [load_tokenizer(folder / name) for name in names]
        return cls(source=loaded[0], target=loaded[-1], truecaser=load_truecaser(folder))
