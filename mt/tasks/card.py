"""The scores of `mt eval --card`, for the model card."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mt.errors import ModelFolderError
from mt.evaluation.results import Result
from mt.files.digests import blake2b_of_lines
from mt.model_folder.card_file import add_test_scores
from mt.model_folder.scores import (
    SetResult,
    SetScore,
    add_result,
    digest_of_weights,
)
from mt.tasks.evaluate import Evaluation
from mt.tasks.requests import EvaluateRequest, StrPath


def require_card(folder: Path) -> None:
    """Raise ModelFolderError where scores could not be written into a model folder."""
    if not folder.is_dir():
        return  # reported when it is read
    if not os.access(folder, os.W_OK):
        raise ModelFolderError(
            f"--card cannot write into {folder}: it is read-only for you",
            hint="Leave --card out, or copy the folder",
        )


def add_scores(request: EvaluateRequest, evaluation: Evaluation, *, command: str) -> None:
    """Put what the first system, the model of `request`, scored into its card."""
    sources, references = evaluation.sources, evaluation.references
    assert sources is not None and request.model is not None and request.source is not None
    folder = Path(request.model)
    scores = map(_score, evaluation.results[: len(evaluation.recipe.metrics)])
    seen = evaluation.overlap
    add_result(
        folder,
        SetResult(
            source=_as_text(request.source),
            references=tuple(map(_as_text, request.references)),
            source_digest=blake2b_of_lines(sources),
            reference_digests=tuple(map(blake2b_of_lines, references)),
            num_lines=len(sources),
            num_seen=None if seen is None else seen.num_either,
            scores=tuple(scores),
            beside=tuple(map(str, evaluation.trivial or ())),
            command=command,
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


def _as_text(path: StrPath) -> str:
    """The name of a file as it was typed; bytes that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")
