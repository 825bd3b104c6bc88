"""The whole state of a training run on disk, so that a resumed run is the run itself.

`training/checkpoint-N/` holds `state.safetensors` (weights, their average, the optimizer's
moments, random states) and `progress.json` (how far the run is, and the scores so far). A new
one is complete before the old one goes; no pickle is written or read. A validation changes
`progress.json` and nothing else.

The state before the rate fell does not go, as a run with a longer budget needs it: it is renamed to
`training/before-cooldown-N/`, and stays as long as the states after it are of that cooldown.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mt.errors import ModelFolderError
from mt.files import clean, new_folder, write_text
from mt.files.library_paths import library_path
from mt.files.seal import UNSEALED, check_seal, seal
from mt.model.device import is_out_of_memory, memory_error
from mt.training.best import BestTracker
from mt.training.progress import Cooldown, Progress
from mt.training.sharding import shard_like, whole
from mt.training.weight_average import WeightAverage

FORMAT_VERSION = 1
_STATE = "state.safetensors"
_PROGRESS = "progress.json"
_BEFORE = "before-cooldown-"
_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    RuntimeError,
    MemoryError,
    SafetensorError,
)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The objects whose state a checkpoint holds."""

    model: nn.Module
    average: WeightAverage
    optimizer: torch.optim.Optimizer
    progress: Progress
    tracker: BestTracker
    generators: Sequence[torch.Generator] = ()
    """Those of the workers of this process."""


def random_states(
    device: torch.device, generators: Sequence[torch.Generator] = ()
) -> dict[str, Tensor]:
    """The states of the random generators of this process, those of its workers among them."""
    states = {"cpu": torch.get_rng_state()}
    for i, generator in enumerate(generators):
        states[f"worker-{i}"] = generator.get_state()
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def save_checkpoint(
    folder: Path,
    parts: Parts,
    random: Sequence[dict[str, Tensor]] | None = None,
    *,
    writes: bool = True,
) -> Path:
    """Write the state under `folder` and drop other states; returns its folder.

    `random` are the random states of all ranks; those of this process without it. Of several ranks
    one `writes`; the others are here to give their shards.

    Raises ModelFolderError or OSError, for example when the disk is full; the older states stay.
    """
    if random is None:
        random = [random_states(torch.device("cpu"), parts.generators)]
    path = folder / f"checkpoint-{parts.progress.update}"
    tensors = _tensors(parts, random, keep=writes)
    if not writes:
        return path
    clean(folder)
    with new_folder(path) as temporary:
        try:
            save_file(tensors, library_path(temporary / _STATE), metadata={"sha256": UNSEALED})
        except SafetensorError as error:
            raise ModelFolderError(f"{path} cannot be written: {error}") from error
        seal(temporary / _STATE)
        (temporary / _PROGRESS).write_bytes(_record(parts).encode())
    _drop_others(folder, path, parts.progress.cooldown)
    return path


def _drop_others(folder: Path, path: Path, cooldown: Cooldown | None) -> None:
    """Drop the states under `folder` beside that of `path`, but for the one before its cooldown.

    Those that stand before a cooldown go last: one that has been through it may need them.
    """
    kept = "" if cooldown is None else f"{_BEFORE}{cooldown.update}"
    for other in list_checkpoints(folder):
        if other == path:
            continue
        if cooldown is not None and _update_of(other) == cooldown.update:
            if (folder / kept).exists():  # of a run that went back to it
                _drop(folder / kept)
            os.rename(other, folder / kept)
        else:
            _drop(other)
    for other in folder.glob(f"{_BEFORE}*"):
        if other.name != kept:
            _drop(other)


def _drop(path: Path) -> None:
    """Remove a state at once: half of one that a kill leaves must not be taken for the newest."""
    gone = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    os.rename(path, gone)
    shutil.rmtree(gone)


def save_progress(folder: Path, parts: Parts) -> None:
    """Write the progress of the run into the checkpoint of its last update, whose tensors hold."""
    write_text(folder / f"checkpoint-{parts.progress.update}" / _PROGRESS, _record(parts))


def _record(parts: Parts) -> str:
    record = {
        "format_version": FORMAT_VERSION,
        "progress": dataclasses.asdict(parts.progress),
        "tracker": dataclasses.asdict(parts.tracker),
    }
    return json.dumps(record, indent=1)


def list_checkpoints(folder: Path) -> list[Path]:
    """Complete checkpoints under `folder`, oldest first."""
    found = [p for p in folder.glob("checkpoint-*") if re.fullmatch(r"checkpoint-\d+", p.name)]
    return sorted(found, key=_update_of)


def state_before_cooldown(folder: Path, progress: Progress) -> Path | None:
    """The state under `folder` before the cooldown of a later one; None where there is none."""
    if progress.cooldown is None:
        return None
    update = progress.cooldown.update
    paths = (folder / f"{name}{update}" for name in ("checkpoint-", _BEFORE))
    return next((path for path in paths if path.exists()), None)


def _update_of(path: Path) -> int:
    return int(path.name.rpartition("-")[2])


def load_checkpoint(folder: Path, parts: Parts, *, rank: int = 0) -> None:
    """Put the newest state under `folder` into `parts`, with the random states of a rank.

    Raises ModelFolderError when there is none, or it is damaged or newer than this mt, and
    DeviceMemoryError when it does not fit in memory.
    """
    clean(folder)
    paths = list_checkpoints(folder)
    if not paths:
        raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
    load_state(paths[-1], parts, rank=rank)


def load_state(path: Path, parts: Parts, *, rank: int = 0) -> None:
    """Put one state into `parts`, as `load_checkpoint` does."""
    try:
        record = json.loads((path / _PROGRESS).read_text("utf-8"))
        check_seal(path / _STATE)
        tensors = load_file(library_path(path / _STATE))
        version = record["format_version"]
        if version > FORMAT_VERSION:
            raise ModelFolderError(
                f"{path} has format version {version}, this mt knows {FORMAT_VERSION}",
                hint="Resume with a newer mt",
            )
        _restore(parts, tensors, record, rank)
    except _UNREADABLE as error:
        if is_out_of_memory(error):
            hint = "Free the device of other programs, or use --device cpu; the state is as it was"
            raise memory_error(f"the state of the run in {path}", error, hint=hint) from error
        raise ModelFolderError(f"{path} is damaged ({type(error).__name__})") from error


def _tensors(parts: Parts, random: Sequence[dict[str, Tensor]], *, keep: bool) -> dict[str, Tensor]:
    """Whole tensors by name, gathered one at a time; none of them unless they are to be kept."""
    tensors = {f"model.{name}": p.detach() for name, p in parts.model.named_parameters()}
    for i, tensor in enumerate(parts.average.tensors()):
        tensors[f"average.{i}"] = tensor
    for i, state in parts.optimizer.state_dict()["state"].items():
        for key, tensor in state.items():
            tensors[f"optimizer.{i}.{key}"] = tensor
    for rank, states in enumerate(random):
        for kind, state in states.items():
            tensors[f"random.{kind}.{rank}"] = state
    kept = {}
    for name, tensor in tensors.items():
        gathered = whole(tensor)
        if keep:  # a file holds each tensor on its own, on no device
            kept[name] = gathered.cpu().contiguous().clone()
    return kept


@torch.no_grad()
def _restore(parts: Parts, tensors: dict[str, Tensor], record: dict[str, Any], rank: int) -> None:
    for name, parameter in parts.model.named_parameters():
        parameter.copy_(shard_like(tensors[f"model.{name}"], parameter))
    for i, tensor in enumerate(parts.average.tensors()):
        tensor.copy_(shard_like(tensors[f"average.{i}"], tensor))
    parameters = [p for group in parts.optimizer.param_groups for p in group["params"]]
    optimizer = parts.optimizer.state_dict()
    optimizer["state"] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            if tensor.dim():  # the count of steps is a number that all have
                tensor = shard_like(tensor, parameters[int(index)])
            # Of its own: the file is mapped, and no open file can be removed on Windows.
            tensor = tensor.clone()
            optimizer["state"].setdefault(int(index), {})[key] = tensor
    parts.optimizer.load_state_dict(optimizer)
    cooldown = record["progress"].get("cooldown")
    known = dataclasses.asdict(Progress())  # an older mt may have known fewer
    for key, value in {**known, **record["progress"]}.items():
        setattr(parts.progress, key, value)
    parts.progress.cooldown = None if cooldown is None else Cooldown(**cooldown)
    parts.tracker.restore(record["tracker"])
    # A rank or a worker that was not there before goes on with the generator that it began with.
    for i, generator in enumerate(parts.generators):
        if f"random.worker-{i}.{rank}" in tensors:
            generator.set_state(tensors[f"random.worker-{i}.{rank}"])
    if f"random.cpu.{rank}" in tensors:
        torch.set_rng_state(tensors[f"random.cpu.{rank}"])
    if torch.cuda.is_available() and f"random.cuda.{rank}" in tensors:
        torch.cuda.set_rng_state(tensors[f"random.cuda.{rank}"])
