"""The tokenizers of both sides: one joint model, or one each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mt.atomic import replaced_file
from mt.text.tokenizer import Tokenizer

_JOINT, _SOURCE, _TARGET = "tokenizer.model", "tokenizer.source.model", "tokenizer.target.model"


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
            tokenizer = Tokenizer.load(folder / _JOINT)
            return cls(source=tokenizer, target=tokenizer)
        return cls(source=Tokenizer.load(folder / _SOURCE), target=Tokenizer.load(folder / _TARGET))
