"""The scores of `mt eval --card`, for the model card."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from mt.cli.evaluation import Evaluation
from mt.cli.machine import typed_command
from mt.digests import blake2b_of_lines
from mt.errors import ModelFolderError
from mt.evaluation.results import Result
from mt.model_folder.card_file import add_test_scores
from mt.model_folder.scores import (
    SetResult,
    SetScore,
    add_result,
    digest_of_weights,
)


def require_card(folder: Path) -> None:
    """Raise ModelFolderError where scores could not be written into a model folder."""
    if not folder.is_dir():
        return  # reported when it is read
    if not os.access(folder, os.W_OK):
        raise ModelFolderError(
            f"--card cannot write into {folder}: it is read-only for you",
            hint="Leave --card out, or copy the folder",
        )


def add_scores(folder: Path, files: list[Path], evaluation: Evaluation) -> None:
    """Put what the first system, the model of `folder`, scored into its card."""
    sources, references = evaluation.sources, evaluation.references
    assert sources is not None
    scores = map(_score, evaluation.results[: len(evaluation.recipe.metrics)])
    seen = evaluation.record.get("in_training")
    names = [_as_text(file) for file in files]
    add_result(
        folder,
        SetResult(
            source=names[0],
            references=tuple(names[1:]),
            source_digest=blake2b_of_lines(sources),
            reference_digests=tuple(map(blake2b_of_lines, references)),
            num_lines=len(sources),
            num_seen=None if seen is None else seen["sources"] + seen["references"] - seen["both"],
            scores=tuple(scores),
            beside=tuple(map(_in_words, evaluation.record.get("trivial", ()))),
            command=typed_command(),
            date=time.strftime("%Y-%m-%d"),
            weights=digest_of_weights(folder),
        ),
    )
    add_test_scores(folder)


def _score(result: Result) -> SetScore:
    assert result.interval is not None
    return SetScore(
        name=result.score.name,
        score=result.score.score,
        signature=result.score.signature,
        mean=result.interval.mean,
        half_width=result.interval.half_width,
    )


def _in_words(trivial: dict[str, Any]) -> str:
    """What a trivial system scores."""
    scores = ", ".join(f"{each['name']} {each['score']:.2f}" for each in trivial["scores"])
    return f"{trivial['system']}: {scores}"


def _as_text(path: Path) -> str:
    """The name of a file as it was typed; bytes that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")
