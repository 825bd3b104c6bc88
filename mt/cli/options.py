"""Options that several commands share, and how flags become settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mt.config_file import Values, parse_assignment

_F = TypeVar("_F", bound=Callable[..., Any])


def device_options(command: _F) -> _F:
    """--device, --precision and --threads of training."""
    return _device_options(command, ["auto", "float32", "bfloat16"], "Type of matrix products.")


def model_option(*, required: bool, says: str) -> Callable[[_F], _F]:
    """-m, once or more: `model` is the first folder or None, `others` are those after it."""

    def shared(
        context: click.Context, _: click.Parameter, folders: tuple[Path, ...]
    ) -> Path | None:
        context.params["others"] = folders[1:]
        return folders[0] if folders else None

    return click.option(
        "-m",
        "--model",
        required=required,
        multiple=True,
        type=click.Path(path_type=Path),
        callback=shared,
        help=f"{says} Several, each with -m of its own, work as an ensemble.",
    )


def keep_case_option(command: _F) -> _F:
    """--keep-case."""
    return click.option(
        "--keep-case",
        is_flag=True,
        help="Read lines in capitals, or without any, as they are written; else they are read in "
        "the usual case of their words.",
    )(command)


def _device_count(_: click.Context, __: click.Parameter, text: str) -> int | None:
    """Read `--devices`: a number from 1 on, or `all`, which becomes None."""
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 on nor all")
    return int(text)


def search_options(command: _F) -> _F:
    """What `mt translate` and `mt eval` share: where and how fast to compute, and --keep-case."""
    command = keep_case_option(command)
    command = click.option(
        "--batch-size",
        type=click.IntRange(min=1),
        help="Sentences a worker translates at once; it changes speed and memory alone. Without it "
        "what is fast: on the CPU 64 with a beam of 5, 128 with one of 1.",
    )(command)
    command = click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Worker processes on the CPU (threads where it is not Linux), each with a share of "
        "--threads; without --threads, one thread each. Default: as many as --threads.",
    )(command)
    command = click.option(
        "--devices",
        metavar="N|all",
        callback=_device_count,
        default="1",
        show_default=True,
        help="CUDA devices that share the work, each with a copy of the model.",
    )(command)
    return _device_options(
        command,
        ["auto", "float32", "bfloat16", "int8"],
        "Type of matrix products: float32 unless named. bfloat16 and int8 (CPU) are faster, and "
        "there the batch can change a translation.",
    )


def _device_options(command: _F, precisions: list[str], precision_help: str) -> _F:
    for option in (
        click.option("--threads", type=click.IntRange(min=1), help="CPU threads of torch."),
        click.option(
            "--precision",
            type=click.Choice(precisions),
            default="auto",
            show_default=True,
            help=precision_help,
        ),
        click.option(
            "--device",
            type=click.Choice(["auto", "cpu", "cuda", "mps"]),
            default="auto",
            show_default=True,
            help="Where to compute; auto takes a CUDA GPU if there is one, never mps.",
        ),
    ):
        command = option(command)
    return command


def parse_languages(text: str | None) -> tuple[str, str] | None:
    """Read `--langs de-en` (or de:en, for codes with a hyphen)."""
    if text is None:
        return None
    for separator in (":", "-"):
        parts = text.split(separator)
        if len(parts) == 2 and all(parts):
            return parts[0], parts[1]
    raise click.UsageError(f"--langs {text!r} is not of the form SOURCE-TARGET, for example de-en")


def parse_columns(text: str | None) -> tuple[str, str] | None:
    """Read `--columns SOURCE,TARGET`; numbers begin at 1."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1] or "0" in parts:
        raise click.UsageError(f"--columns {text!r} is not of the form SOURCE,TARGET")
    return parts[0], parts[1]


def parse_weight(text: str) -> tuple[str, float]:
    """Read `--weight FILE=W`."""
    file, equals, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not equals or not file or not 0 <= weight < math.inf:
        raise click.UsageError(f"--weight {text!r} is not of the form FILE=W, for example a.tmx=2")
    return file, weight


def merge(*layers: Values) -> Values:
    """Settings of all layers; later ones win."""
    merged: Values = {}
    for layer in layers:
        for section, keys in layer.items():
            merged.setdefault(section, {}).update(keys)
    return merged


def from_flags(section: str, **flags: object) -> Values:
    """Settings of one section from flags; those that were not given (None) are left out."""
    return {section: {key: value for key, value in flags.items() if value is not None}}


def from_assignments(texts: tuple[str, ...]) -> Values:
    """Settings from repeated `--set section.key=value`."""
    return merge(*(parse_assignment(text) for text in texts))
