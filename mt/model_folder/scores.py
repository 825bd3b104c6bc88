"""Scores on test sets that a model folder keeps, for its card.

`scores.json` holds one result for each test set and command; each names the weights that it is of
by their digest.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.errors import ModelFolderError
from mt.files import write_text
from mt.files.digests import blake2b, blocks_of_file
from mt.model_folder.folder import WEIGHTS

SCORES = "scores.json"


@dataclass(frozen=True, kw_only=True)
class SetScore:
    """One score of a test set."""

    name: str
    score: float
    signature: str
    mean: float
    """Of bootstrap samples."""
    half_width: float
    """Of the middle 95 % of these."""


@dataclass(frozen=True, kw_only=True)
class SetResult:
    """What a model scored on a test set."""

    source: str
    """Name of the file, as it was typed."""
    references: tuple[str, ...]
    source_digest: str
    """BLAKE2b of the lines, each with its LF, 16 bytes in hexadecimal."""
    reference_digests: tuple[str, ...]
    num_lines: int
    num_seen: int | None
    """Lines of which a side occurs in the training text; None where the model does not know."""
    scores: tuple[SetScore, ...]
    beside: tuple[str, ...]
    """What trivial systems score, a sentence for each."""
    command: str
    date: str
    """YYYY-MM-DD."""
    weights: str
    """Digest of the weights that translated."""

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> SetResult:
        """A result of the file; raises KeyError or TypeError where it is none."""
        lists = {key: tuple(record[key]) for key in ("references", "reference_digests", "beside")}
        scores = tuple(SetScore(**score) for score in record["scores"])
        return cls(**{**record, **lists, "scores": scores})

    @property
    def key(self) -> tuple[object, ...]:
        """Results with the same key are of the same weights, test set and command."""
        return self.weights, self.source_digest, self.reference_digests, self.command


def digest_of_weights(folder: Path) -> str:
    """A hash of the weights that a model folder holds; empty where there are none yet."""
    try:
        return blake2b(blocks_of_file(folder / WEIGHTS))
    except FileNotFoundError:
        return ""


def read_results(folder: Path) -> tuple[SetResult, ...]:
    """The results that a folder keeps, of its weights and of earlier ones.

    Raises ModelFolderError where the file is damaged.
    """
    path = folder / SCORES
    try:
        return tuple(map(SetResult.of_record, json.loads(path.read_text("utf-8"))["results"]))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelFolderError(
            f"{path} cannot be read: {error}", hint="Delete it, and score the model again"
        ) from error


def current_results(folder: Path) -> tuple[SetResult, ...]:
    """The results of the weights that a folder holds now."""
    results = read_results(folder)
    weights = digest_of_weights(folder) if results else ""
    return tuple(result for result in results if result.weights == weights)


def add_result(folder: Path, result: SetResult) -> None:
    """Keep a result; one with the same key gives way to it."""
    results = [each for each in read_results(folder) if each.key != result.key]
    records = [dataclasses.asdict(each) for each in (*results, result)]
    text = json.dumps({"results": records}, ensure_ascii=False, indent=1)
    write_text(folder / SCORES, f"{text}\n")
