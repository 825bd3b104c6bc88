"""A conversion that is kept in a model folder, with the proof that it says the same.

`engine/ctranslate2-<precision>` holds what CTranslate2 reads and `engine.json`: of which weights it
was made and by which version, a digest of each file, and what its check found. A conversion that
failed its check is only that record. Nothing here needs torch.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mt.errors import ModelFolderError
from mt.exchange.ctranslate2 import library_version
from mt.files import write_text
from mt.files.digests import blocks_of_file, sha256
from mt.files.seal import read_seal
from mt.model_folder.files import weights_of

FOLDER, RECORD = "engine", "engine.json"
FORMAT_VERSION = 1
EnginePrecision = Literal["float32", "int8"]
"""What a model folder can keep: the others are for exports only."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What comparing the engine with mt's own search found."""

    text: str
    """Which lines: "1014 lines of the validation set" for example."""
    num_lines: int
    num_tied: int
    """Lines whose greedy translations differ by a tie."""
    own_bleu: float
    """Of mt's own search in float32, with a beam of 5."""
    engine_bleu: float
    signature: str
    failure: str | None = None
    """Why the engine is not to be used, as a clause."""

    def __str__(self) -> str:
        """One line."""
        if self.failure is not None:
            return f"{self.failure} ({self.text})"
        tied = f", {self.num_tied} greedy ties" if self.num_tied else ""
        return f"BLEU {self.engine_bleu:.2f}, mt's own {self.own_bleu:.2f} ({self.text}{tied})"


@dataclass(frozen=True, kw_only=True)
class KeptConversion:
    """A conversion in a model folder."""

    folder: Path
    weights: str
    """SHA-256 that names the weights."""
    precision: EnginePrecision
    library: str
    """Version of CTranslate2."""
    files: Mapping[str, str]
    """SHA-256 of each file, by name."""
    check: Check

    @property
    def is_good(self) -> bool:
        """Whether its check was passed."""
        return self.check.failure is None

    def save(self) -> None:
        """Write the record."""
        record = {"format_version": FORMAT_VERSION, **dataclasses.asdict(self)}
        del record["folder"]
        write_text(self.folder / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def fault(self, model: Path) -> str | None:
        """Why it cannot be used with the weights of `model` and this library, as a clause.

        Raises ConfigError where the library cannot be loaded.
        """
        if self.weights != name_of_weights(model):
            return "was made of other weights"
        if self.library != (version := library_version()):
            return f"was made by CTranslate2 {self.library}, and {version} is installed"
        for name, digest in self.files.items():
            path = self.folder / name
            try:
                if sha256(blocks_of_file(path)) != digest:
                    return f"is damaged: {name} is not what was written (SHA-256 differs)"
            except OSError as error:
                return f"is damaged: {name} cannot be read ({error.strerror})"
        return None


def folder_of(model: Path, precision: EnginePrecision) -> Path:
    """Where a model folder keeps its conversion."""
    return model / FOLDER / f"ctranslate2-{precision}"


def has_any(model: Path) -> bool:
    """Whether a model folder keeps a conversion."""
    return any((model / FOLDER).glob(f"*/{RECORD}"))


def read_kept(model: Path, precision: EnginePrecision) -> KeptConversion | None:
    """The conversion that a model folder keeps, as its record tells it; None where there is none.

    Raises ModelFolderError for a record that cannot be read.
    """
    folder = folder_of(model, precision)
    path = folder / RECORD
    try:
        record = json.loads(path.read_text("utf-8"))
        if record["format_version"] > FORMAT_VERSION:
            raise ValueError("it is of a newer mt")
        return KeptConversion(
            folder=folder,
            weights=str(record["weights"]),
            precision=precision,
            library=str(record["library"]),
            files={str(name): str(digest) for name, digest in record["files"].items()},
            check=Check(**record["check"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFolderError(f"{path} is damaged: {error}") from error


def name_of_weights(model: Path) -> str:
    """The SHA-256 that names the weights in a model folder: their seal, or that of an old file.

    The seal stands in the head of the file, so that large weights need not be read.
    """
    path = weights_of(model)
    return read_seal(path) or sha256(blocks_of_file(path))


def digests_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in `folder`, by name."""
    return {path.name: sha256(blocks_of_file(path)) for path in sorted(folder.iterdir())}
