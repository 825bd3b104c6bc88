"""Scores on test sets that a model folder keeps, and the part of its card that shows them.

`scores.json` holds one result for each test set and command; each names the weights that it is of
by their digest, and the card shows those of the weights that the folder holds now.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.digests import blake2b, blocks_of_file
from mt.errors import ModelFolderError
from mt.files import write_text
from mt.model_folder.folder import WEIGHTS

SCORES = "scores.json"
BEGIN, END = "<!-- test scores -->", "<!-- end of test scores -->"
_NONE_YET = "No test set yet: `mt eval -m THIS_FOLDER SOURCE REFERENCE --card` adds one here."


@dataclass(frozen=True, kw_only=True)
class CardScore:
    """One score of a test set."""

    name: str
    score: float
    signature: str
    mean: float
    """Of bootstrap samples."""
    half_width: float
    """Of the middle 95 % of these."""


@dataclass(frozen=True, kw_only=True)
class ResultOnSet:
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
    scores: tuple[CardScore, ...]
    beside: tuple[str, ...]
    """What trivial systems score, a sentence for each."""
    command: str
    date: str
    """YYYY-MM-DD."""
    weights: str
    """Digest of the weights that translated."""


def digest_of_weights(folder: Path) -> str:
    """A hash of the weights that a model folder holds; empty where there are none yet."""
    try:
        return blake2b(blocks_of_file(folder / WEIGHTS))
    except FileNotFoundError:
        return ""


def read_results(folder: Path) -> tuple[ResultOnSet, ...]:
    """The results that a folder keeps, of its weights and of earlier ones.

    Raises ModelFolderError where the file is damaged.
    """
    path = folder / SCORES
    try:
        records = json.loads(path.read_text("utf-8"))["results"]
        return tuple(_result(record) for record in records)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelFolderError(
            f"{path} cannot be read: {error}", hint="Delete it, and score the model again"
        ) from error


def _result(record: dict[str, Any]) -> ResultOnSet:
    scores = tuple(CardScore(**score) for score in record["scores"])
    lists = {name: tuple(record[name]) for name in ("references", "reference_digests", "beside")}
    return ResultOnSet(**{**record, **lists, "scores": scores})


def current_results(folder: Path) -> tuple[ResultOnSet, ...]:
    """The results of the weights that a folder holds now."""
    results = read_results(folder)
    weights = digest_of_weights(folder) if results else ""
    return tuple(result for result in results if result.weights == weights)


def add_result(folder: Path, result: ResultOnSet) -> None:
    """Keep a result; one of the same weights, test set and command gives way to it."""
    kept = [each for each in read_results(folder) if _key(each) != _key(result)]
    records = [dataclasses.asdict(each) for each in (*kept, result)]
    text = json.dumps({"results": records}, ensure_ascii=False, indent=1)
    write_text(folder / SCORES, f"{text}\n")


def _key(result: ResultOnSet) -> tuple[object, ...]:
    return result.weights, result.source_digest, result.reference_digests, result.command


def results_part(results: Sequence[ResultOnSet]) -> str:
    """The part of a card that shows results, as Markdown, with the comments around it."""
    parts = [BEGIN, *([] if results else [_NONE_YET])]
    for result in results:
        parts += ["", *_lines_of(result)]
    return "\n".join([*parts, "", END])


def _lines_of(result: ResultOnSet) -> list[str]:
    files = zip(
        (result.source, *result.references),
        (result.source_digest, *result.reference_digests),
        strict=True,
    )
    told = ", ".join(f"`{name}` (BLAKE2b {digest})" for name, digest in files)
    lines = [
        f"### {' → '.join((result.source, *result.references))}",
        "",
        f"{result.num_lines:,} lines: {told}; scored on {result.date} by",
        "",
        "```sh",
        result.command,
        "```",
        "",
        "| | score | 95 % interval |",
        "|---|---|---|",
    ]
    for each in result.scores:
        value = f"{each.score:.2f} ({code(each.signature)})"
        lines.append(f"| {each.name} | {value} | {each.mean:.2f} ± {each.half_width:.2f} |")
    if result.beside:
        lines += ["", f"Beside it, {'; '.join(result.beside)}."]
    if result.num_seen:
        lines += [
            "",
            f"{result.num_seen:,} of these lines occur in the training text, so that the scores "
            "flatter the model.",
        ]
    return lines


def with_test_scores(card: str, results: Sequence[ResultOnSet], *, before: str) -> str:
    """A card with its part on test sets anew; without one, it comes before the line `before`."""
    part = results_part(results)
    start, begin, rest = card.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        return f"{start}{part}{after}"
    start, line, after = card.partition(before)
    return f"{start.rstrip()}\n\n## Scores\n\n{part}\n" + (f"\n{line}{after}" if line else "")


def cell(text: str) -> str:
    """Text that stands in a table of Markdown."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text that stands in a table of Markdown as code; a bar would end the cell even there."""
    return f"`{cell(text)}`"
