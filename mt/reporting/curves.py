"""The course of training, read from `metrics.jsonl` of a model folder; nothing here draws it.

Series have the names of `mt train --tensorboard`: `train/loss`, `train/learning_rate`,
`train/gradient_norm`, and of each score of the validation set `dev/NAME`, of one corpus of it
`dev/NAME/CORPUS`, of a further validation set `also/NAME/SET`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.errors import ModelFolderError
from mt.model_folder.folder import METRICS

_OF_BATCH = {
    "train/loss": "loss",
    "train/learning_rate": "rate",
    "train/gradient_norm": "gradient_norm",
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """A value at a time of training."""

    update: int
    epoch: float
    minutes: float
    """Of training, earlier runs and validations included."""
    value: float


@dataclass(frozen=True, kw_only=True)
class Curves:
    """What a model folder says of its training."""

    name: str
    """What the folder is called."""
    series: Mapping[str, tuple[Point, ...]]
    """By name, in order of updates. A value that was no number is left out."""
    signatures: Mapping[str, str]
    """sacreBLEU's signature of each score that has one, without `dev/`: `BLEU`, `chrF2`."""
    best_update: int | None
    """The update whose weights are the model; None before the first validation.

    It is None, too, where they are of a shorter run, whose curves are gone.
    """
    resumed_after: tuple[int, ...]
    """The updates after which the run was resumed."""
    num_skipped: int
    """Updates that were skipped, since their gradient was not finite."""
    reason: str | None
    """Why the training ended; None where it goes on, or was killed."""

    def points(self, name: str) -> tuple[Point, ...]:
        """A series by name; empty where there is none."""
        return self.series.get(name, ())

    @property
    def dev_names(self) -> tuple[str, ...]:
        """Names of the scores of the whole validation set, without `dev/`: loss, BLEU, chrF2."""
        names = (name.split("/") for name in self.series)
        return tuple(parts[1] for parts in names if parts[0] == "dev" and len(parts) == 2)


def read_curves(folder: Path) -> Curves:
    """Read the course of training of a model folder.

    What a kill left of a last line is passed over. Raises ModelFolderError where there is no such
    folder or file, as in a model that was averaged, and for a line that is no record, with its
    number.
    """
    path = folder / METRICS
    if not folder.is_dir():
        raise ModelFolderError(f"{folder} is not a model folder: no such folder")
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise ModelFolderError(
            f"{folder} holds no {METRICS}, so nothing is known of its training",
            hint="Averaged models have none: name the models that were averaged",
        ) from None
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error
    builder = _CurvesBuilder()
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            if number < len(lines):
                raise _damaged(path, number, line) from None
            break  # what a kill left half written, or nothing after the last line
        try:
            builder.add(record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged(path, number, line) from error
    return builder.curves(folder.resolve().name)


def _damaged(path: Path, number: int, line: bytes) -> ModelFolderError:
    shown = line[:60].decode("utf-8", errors="replace")
    return ModelFolderError(f"{path}:{number} is not a record of training: {shown}")


def averaged(points: Sequence[Point], *, most: int) -> tuple[Point, ...]:
    """At most `most` points, each the mean of as many neighbours, for a smooth and small curve.

    No more than `most` points stay as they are. The last group may be smaller.
    """
    size = -(-len(points) // most)
    groups = (points[start : start + size] for start in range(0, len(points), max(size, 1)))
    return tuple(_mean(group) for group in groups)


def smoothed(points: Sequence[Point], *, half_width: int) -> tuple[Point, ...]:
    """Each value becomes the mean of itself and of `half_width` points before and after it.

    Near an end as many are taken on both sides as there are, so that no slope shifts the curve.
    """
    sums = [0.0, *itertools.accumulate(point.value for point in points)]
    found = []
    for index, point in enumerate(points):
        reach = min(half_width, index, len(points) - 1 - index)
        start, end = index - reach, index + reach + 1
        value = (sums[end] - sums[start]) / (end - start)
        found.append(dataclasses.replace(point, value=value))
    return tuple(found)


def _mean(group: Sequence[Point]) -> Point:
    num = len(group)
    return Point(
        update=round(sum(each.update for each in group) / num),
        epoch=sum(each.epoch for each in group) / num,
        minutes=sum(each.minutes for each in group) / num,
        value=sum(each.value for each in group) / num,
    )


class _CurvesBuilder:
    """Gathers the records of a file, in their order."""

    def __init__(self) -> None:
        self._series: defaultdict[str, list[Point]] = defaultdict(list)
        self._signatures: dict[str, str] = {}
        self._best_update: int | None = None
        self._resumed_after: list[int] = []
        self._num_skipped = 0
        self._reason: str | None = None

    def add(self, record: dict[str, Any]) -> None:
        """Take in one record; kinds that are not known say nothing of a curve."""
        match record["event"]:
            case "TrainingStarted":
                if record["first_update"] > 1:
                    self._resumed_after.append(record["first_update"] - 1)
                self._reason = None
            case "BatchDone":
                self._num_skipped += record["skipped"]
                for name, key in _OF_BATCH.items():
                    self._add(name, record, record[key])
            case "Validated":
                is_sample = record.get("num_pairs") is not None  # its scores compare with no others
                for name, value in record["scores"].items():
                    if name == "loss" or not is_sample:
                        self._add(f"dev/{name}", record, value)
                for kind, key in (("dev", "by_origin"), ("also", "also")):
                    for corpus, scores in record.get(key, {}).items():
                        for name, value in scores.items():
                            self._add(f"{kind}/{name}/{corpus}", record, value)
                self._signatures |= record["signatures"]
                if record["is_best"]:
                    self._best_update = record["update"]
            case "WeightsHeld":
                self._best_update = None
            case "TrainingEnded":
                self._reason = record["reason"]

    def _add(self, name: str, record: dict[str, Any], value: float | None) -> None:
        if value is None or not math.isfinite(value):
            return
        point = Point(
            update=int(record["update"]),
            epoch=float(record["epoch"]),
            minutes=float(record["seconds"]) / 60,
            value=float(value),
        )
        self._series[name].append(point)

    def curves(self, name: str) -> Curves:
        """What was gathered."""
        return Curves(
            name=name,
            series={key: tuple(points) for key, points in self._series.items()},
            signatures=self._signatures,
            best_update=self._best_update,
            resumed_after=tuple(self._resumed_after),
            num_skipped=self._num_skipped,
            reason=self._reason,
        )
