"""Which lines a model was trained on: keys of its training text, kept in its folder.

8 bytes a different line and side: no text, but enough to say of a test line whether it was there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from mt.corpus.keys import KeyArray, key_of
from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.files.library_paths import library_path
from mt.files.seal import UNSEALED, check_seal, seal

FILE = "seen-lines.safetensors"
_ABOUT = "seen"  # one key of metadata only: several are written in a random order
_WHOLE_0_1 = "whole"  # the key of mt 0.1


@dataclass(frozen=True, kw_only=True)
class SeenLines:
    """The keys of the different sources and targets of training, in order."""

    source: KeyArray
    target: KeyArray
    is_whole: bool = True
    """False where the model was trained on other text before, of which nothing is known."""

    @classmethod
    def of(cls, source: KeyArray, target: KeyArray) -> SeenLines:
        """What the pairs with these keys hold."""
        return cls(source=np.unique(source), target=np.unique(target))

    @classmethod
    def union(cls, several: Iterable[SeenLines | None]) -> SeenLines:
        """What was seen together; None stands for a model of which nothing is known."""
        there = list(several)
        known = [each for each in there if each is not None]
        return cls(
            source=_merged([each.source for each in known]),
            target=_merged([each.target for each in known]),
            is_whole=len(known) == len(there) and all(each.is_whole for each in known),
        )

    def save(self, path: Path) -> None:
        """Write the file."""
        with replaced_file(path) as temporary:
            save_file(
                {"source": self.source, "target": self.target},
                library_path(temporary),
                metadata={_ABOUT: json.dumps({"is_whole": self.is_whole, "sha256": UNSEALED})},
            )
            seal(temporary)

    @classmethod
    def load(cls, path: Path) -> SeenLines | None:
        """Read what `save` wrote; None where there is no such file.

        Raises ModelFolderError where it is damaged.
        """
        if not path.exists():
            return None
        try:
            check_seal(path)
            with safe_open(library_path(path), framework="numpy") as file:
                is_whole = _is_whole(file.metadata() or {})
                source, target = (file.get_tensor(side) for side in ("source", "target"))
        except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
            raise ModelFolderError(f"{path} is damaged: {error}") from error
        return cls(source=source, target=target, is_whole=is_whole)

    def holds(
        self, side: str, lines: Sequence[str], normalise: Callable[[str], str]
    ) -> NDArray[np.bool_]:
        """Whether each line was a source (or, by `side`, a target) of training; blank ones never.

        Lines are the same where they are the same in the declared normalisation.
        """
        texts = [normalise(line) for line in lines]
        keys = np.array([key_of(text) for text in texts], dtype=np.uint64)
        seen: NDArray[np.bool_] = np.isin(keys, self.source if side == "source" else self.target)
        return seen & np.array([bool(text) for text in texts], dtype=np.bool_)


def _is_whole(metadata: dict[str, str]) -> bool:
    if _WHOLE_0_1 in metadata:
        return metadata[_WHOLE_0_1] == "yes"
    return json.loads(metadata[_ABOUT])["is_whole"] is True


def _merged(keys: list[KeyArray]) -> KeyArray:
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *keys]))
