"""Weights of several validations, kept for `mt average`.

`training/weights-UPDATE.safetensors` holds the averaged weights at a validation, by the names of
`model.safetensors`, and its score as metadata: a file is whole by itself, and there is no index
that could contradict it. The `count` best by the metric and the last `count` stay.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from mt.config import MetricName
from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.files.library_paths import library_path
from mt.files.seal import UNSEALED, seal
from mt.training.best import SMALLER_IS_BETTER

_KEY = "validated"  # one key of metadata only: several are written in a random order


@dataclass(frozen=True, kw_only=True)
class KeptWeights:
    """A file with the weights of one validation."""

    path: Path
    update: int
    metric: MetricName
    score: float
    """By the metric of training; it may be NaN."""

    @property
    def badness(self) -> tuple[float, int]:
        """Smaller for better scores, infinite for NaN; of equal scores the earlier is better."""
        if math.isnan(self.score):
            return math.inf, self.update
        return (self.score if self.metric in SMALLER_IS_BETTER else -self.score), self.update


@dataclass(frozen=True, kw_only=True)
class WeightKeeper:
    """Keeps the weights of the best and the last validations of a run."""

    folder: Path
    """The training folder."""
    count: int
    """How many best and how many last ones; 0 keeps none."""
    metric: MetricName

    def keep(self, model: nn.Module, *, update: int, score: float) -> None:
        """Keep the weights that `model` holds, and drop those that are no longer wanted.

        What goes, goes first, so that there are never more than 2 * count files. A kill between
        leaves files that are whole.
        """
        if not self.count:
            return
        path = self.folder / f"weights-{update}.safetensors"
        new = KeptWeights(path=path, update=update, metric=self.metric, score=score)
        found = [each for each in list_kept(self.folder) if each.update != update]
        wanted = retained([*found, new], count=self.count)
        for each in found:
            if each not in wanted:
                each.path.unlink()
        tensors = {name: p.detach().cpu().contiguous() for name, p in model.named_parameters()}
        record = {"update": update, "metric": self.metric, "score": score, "sha256": UNSEALED}
        self.folder.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as temporary:
            save_file(tensors, library_path(temporary), metadata={_KEY: json.dumps(record)})
            seal(temporary)

    def drop_after(self, update: int) -> None:
        """Drop what a run kept beyond `update`, from where it is resumed: it will come again."""
        for path in self.folder.glob("weights-*.safetensors"):
            if _update_of(path) > update:
                path.unlink()


def retained(kept: Sequence[KeptWeights], *, count: int) -> list[KeptWeights]:
    """The `count` best and the `count` last, each once, by update."""
    chosen = {each.update for each in [*best_of(kept, count), *last_of(kept, count)]}
    return sorted((each for each in kept if each.update in chosen), key=lambda each: each.update)


def best_of(kept: Sequence[KeptWeights], count: int) -> list[KeptWeights]:
    """The `count` best, best first."""
    return sorted(kept, key=lambda each: each.badness)[:count]


def last_of(kept: Sequence[KeptWeights], count: int) -> list[KeptWeights]:
    """The `count` last, oldest first."""
    return sorted(kept, key=lambda each: each.update)[-count:]


def list_kept(folder: Path) -> list[KeptWeights]:
    """The kept weights in a training folder, oldest first.

    Raises ModelFolderError, naming the file, when one is damaged.
    """
    paths = folder.glob("weights-*.safetensors")
    return sorted((_read(path) for path in paths), key=lambda each: each.update)


def _read(path: Path) -> KeptWeights:
    try:
        with safe_open(
            library_path(path), framework="pt"
        ) as file:  # reads only the head of the file
            record = json.loads(file.metadata()[_KEY])
        record.pop("sha256", None)
        return KeptWeights(path=path, **record)
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise ModelFolderError(f"{path} is damaged ({type(error).__name__})") from error


def _update_of(path: Path) -> int:
    number = path.stem.rpartition("-")[2]
    return int(number) if number.isdigit() else 0
