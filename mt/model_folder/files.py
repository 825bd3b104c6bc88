"""The files of a model folder, and those that can be read without torch.

config.toml          settings and format version
tokenizer.model      or tokenizer.source.model and tokenizer.target.model
truecase.txt         the usual case of source words
model.safetensors    the best weights so far
metrics.jsonl        what happened during training
average.json         what the weights are the mean of, if `mt average` made them
imported.json        where they come from, if `mt import` made them
README.md            the model card
scores.json          scores of test sets, if `mt eval --card` was run
dev.source, .target  the validation set
dev.directions       the direction of each of its lines, of a model of several languages
seen-lines.safetensors  keys of the lines that it was trained on
engine/              conversions for other engines, each with its check, if they were made
training/            what resuming needs; may be deleted afterwards
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from mt import __version__
from mt.config import Config
from mt.config.toml import from_toml, to_toml
from mt.directions import Direction
from mt.errors import ConfigError, ModelFolderError
from mt.files import write_text
from mt.files.lines import split_lines
from mt.model_folder.belonging import require_own_tokenizers
from mt.text.tokenizer_pair import TokenizerPair

FORMAT_VERSION = 2
DEV = ("dev.source", "dev.target")
DEV_DIRECTIONS = "dev.directions"
CONFIG, WEIGHTS, METRICS, CARD, TRAINING = (
    "config.toml",
    "model.safetensors",
    "metrics.jsonl",
    "README.md",
    "training",
)
WEIGHTS_HELD = "WeightsHeld"
"""In METRICS, the validation of weights that stay the model of a run which has gone back."""


def write_config(folder: Path, config: Config) -> None:
    """Write `config.toml`."""
    extra: dict[str, str | int] = {
        "format_version": FORMAT_VERSION,
        "mt_version": __version__,
    }
    write_text(folder / CONFIG, to_toml(config, extra=extra))


def read_config(folder: Path) -> Config:
    """Read `config.toml`; settings that an older mt did not know take their defaults.

    Raises ModelFolderError when the folder is no model folder, or of a newer format.
    """
    if not folder.is_dir():
        raise ModelFolderError(f"{folder} is not a model folder: no such folder")
    path = folder / CONFIG
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ModelFolderError(f"{folder} is not a model folder: it has no {CONFIG}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error
    version = _format_version(text)
    if version is not None and version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{folder} has format version {version}, this mt ({__version__}) knows up to "
            f"{FORMAT_VERSION}",
            hint="Install a newer mt",
        )
    try:
        values, _ = from_toml(text, name=str(path))
        return Config().with_values(values)
    except ConfigError as error:
        raise ModelFolderError(error.message, hint=error.hint) from error


def read_dev_pairs(
    folder: Path, names: Sequence[str] = DEV, *, target: str = ""
) -> list[tuple[str, str]]:
    """The validation set of a model folder; none where its files are not there.

    `names` are those of its files. Of several directions those into `target` are given; without
    it, all.

    Raises ModelFolderError where they cannot be read or have unequal numbers of lines.
    """
    sides = []
    for name in names:
        path = folder / name
        try:
            sides.append([line.decode("utf-8") for line in split_lines([path.read_bytes()])])
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise ModelFolderError(f"{path} cannot be read: {error}") from error
    sources, targets = sides
    if len(sources) != len(targets):
        raise ModelFolderError(
            f"{folder} is damaged: {names[0]} has {len(sources)} lines, {names[1]} has "
            f"{len(targets)}"
        )
    pairs = list(zip(sources, targets, strict=True))
    if not target or names != DEV or not (folder / DEV_DIRECTIONS).exists():
        return pairs
    directions = read_dev_directions(folder)
    if len(directions) != len(pairs):
        raise ModelFolderError(
            f"{folder} is damaged: {DEV_DIRECTIONS} has {len(directions)} lines, {names[0]} has "
            f"{len(pairs)}"
        )
    return [pair for pair, each in zip(pairs, directions, strict=True) if each.target == target]


def read_dev_directions(folder: Path) -> list[Direction]:
    """The direction of each line of the validation set of a model of several languages.

    Raises ModelFolderError where they cannot be read.
    """
    path = folder / DEV_DIRECTIONS
    try:
        return list(map(Direction.parse, path.read_text("utf-8").splitlines()))
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path} is missing or damaged: {error}") from error


def _format_version(text: str) -> int | None:
    """The format version, read before anything else: later formats may not parse."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "format_version" and value.strip().isdigit():
            return int(value)
    return None


def load_tokenizers(folder: Path, config: Config) -> TokenizerPair:
    """Read the tokenizers of a model folder.

    Raises ModelFolderError where one is missing, or not the one that its weights know.
    """
    tokenizers = TokenizerPair.load(folder, joint=config.tokenizer.joint)
    require_own_tokenizers(folder / WEIGHTS, tokenizers)
    return tokenizers


def weights_of(folder: Path) -> Path:
    """The file with the weights; raises ModelFolderError when there is none yet."""
    path = folder / WEIGHTS
    if not path.exists():
        raise ModelFolderError(
            f"{folder} holds no weights yet: its training did not reach a validation",
            hint=f"Go on with: mt train --resume {shlex.quote(str(folder))}",
        )
    return path
