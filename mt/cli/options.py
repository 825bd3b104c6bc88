"""How click's parameters become requests, and the options that several commands share."""

from __future__ import annotations

import dataclasses
import functools
import math
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import click

from mt.config import DROPPABLE, Architecture, CorpusConfig, TrainedTokenizer
from mt.config.presets import PRESETS
from mt.config.toml import merged, parse_assignment, read_config_file
from mt.directions import Direction, parse_directions
from mt.tasks.requests import MetricName, Settings

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")
_R = TypeVar("_R")
PATH = click.Path(path_type=Path)
OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)
POSITIVE = click.IntRange(min=1)
NOT_NEGATIVE = click.IntRange(min=0)
_DEVICES = click.Choice(["auto", "cpu", "cuda", "mps"])
_TOKENIZERS = ["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200"]
METRICS: tuple[str, ...] = get_args(MetricName)


def filled(kind: Callable[..., _T]) -> Callable[[Callable[[_T], _R]], Callable[..., _R]]:
    """The parameter of a command is one dataclass, made of click's parameters by their names.

    A field that is a dataclass itself is made in the same way; fields without a parameter keep
    their defaults. Raises TypeError for a parameter that no field has.
    """

    def decorator(body: Callable[[_T], _R]) -> Callable[..., _R]:
        @functools.wraps(body)
        def command(**given: object) -> _R:
            _require_one_standard_input(given)
            made = _made(kind, given)
            if given:
                raise TypeError(f"no field for {', '.join(given)}")
            return body(made)

        return command

    return decorator


def _require_one_standard_input(given: Mapping[str, object]) -> None:
    values = [each for name, value in given.items() if name != "output" for each in _several(value)]
    if sum(str(value) == "-" for value in values) > 1:
        raise click.UsageError("standard input (-) can stand for one file only")


def _several(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _made(kind: Callable[..., _T], given: dict[str, object]) -> _T:
    hints = get_type_hints(kind)
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if dataclasses.is_dataclass(hints[field.name]):
            values[field.name] = _made(hints[field.name], given)
        elif field.name in given:
            values[field.name] = given.pop(field.name)
    return kind(**values)


def options(*several: Callable[[_F], _F]) -> Callable[[_F], _F]:
    """Options as one decorator; they are listed in this order."""

    def decorator(command: _F) -> _F:
        for option in reversed(several):
            command = option(command)
        return command

    return decorator


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
        type=PATH,
        callback=shared,
        help=f"{says} Several, each with -m of its own, work as an ensemble.",
    )


def _languages(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, str] | None:
    """Read `--langs de-en` (or de:en, for codes with a hyphen)."""
    if text is None:
        return None
    for separator in (":", "-"):
        parts = text.split(separator)
        if len(parts) == 2 and all(parts):
            return parts[0], parts[1]
    raise click.UsageError(f"--langs {text!r} is not of the form SOURCE-TARGET, for example de-en")


def _directions(_: click.Context, __: click.Parameter, text: str | None) -> tuple[Direction, ...]:
    """Read `--langs de-en,en-de`."""
    try:
        return () if text is None else parse_directions(text)
    except ValueError as error:
        raise click.UsageError(f"--langs {error}") from None


def _columns(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, str] | None:
    """Read `--columns SOURCE,TARGET`; numbers begin at 1."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1] or "0" in parts:
        raise click.UsageError(f"--columns {text!r} is not of the form SOURCE,TARGET")
    return parts[0], parts[1]


def languages_option(says: str) -> Callable[[_F], _F]:
    """--langs: source and target."""
    return click.option("--langs", "languages", metavar="S-T", callback=_languages, help=says)


_COLUMNS = "Columns or keys of the sides: names or numbers."


def columns_option(says: str) -> Callable[[_F], _F]:
    """--columns: source and target."""
    return click.option("--columns", metavar="S,T", callback=_columns, help=says)


def reading_options(langs_help: str) -> Callable[[_F], _F]:
    """--langs and --columns: how corpora are read."""
    return options(
        languages_option(langs_help),
        columns_option(_COLUMNS),
    )


directions_options = options(
    click.option(
        "--langs",
        "directions",
        metavar="S-T,…",
        callback=_directions,
        help="Languages, for example de-en; else by suffixes. Several directions, with commas "
        "between, are one model: de-en,en-de,sw-en, or de,sw-en.",
    ),
    columns_option(_COLUMNS),
    click.option(
        "--balance",
        type=click.FloatRange(min=1),
        metavar="T",
        help="Of several directions: one with n pairs comes in proportion to n^(1/T). Default: 1, "
        "as they are.",
    ),
)


def _weights(
    _: click.Context, __: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    """Read each `--weight FILE=W`."""
    weights = []
    for text in texts:
        file, equals, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not equals or not file or not 0 <= weight < math.inf:
            raise click.UsageError(
                f"--weight {text!r} is not of the form FILE=W, for example a.tmx=2"
            )
        weights.append((file, weight))
    return tuple(weights)


weight_option = click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="FILE=W",
    callback=_weights,
    help="The pairs of this corpus come W times an epoch.",
)


def _config(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Read `--config`, for `--set` to add to."""
    if path is not None:
        context.meta["mt.settings"] = read_config_file(path)


def _settings(context: click.Context, _: click.Parameter, assignments: tuple[str, ...]) -> Settings:
    """Read each `--set SECTION.KEY=VALUE`, over those of `--config`."""
    file: Mapping[str, Mapping[str, object]] = context.meta.get("mt.settings", {})
    return merged(file, *map(parse_assignment, assignments))


settings_options = options(
    click.option(
        "--config",
        type=PATH,
        is_eager=True,
        expose_value=False,
        callback=_config,
        help="TOML settings.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="SECTION.KEY=VALUE",
        callback=_settings,
        help="One setting.",
    ),
)

run_options = options(
    click.option(
        "--preset", type=click.Choice(list(PRESETS)), help="Model size; else by the corpus."
    ),
    click.option(
        "--architecture",
        type=click.Choice(get_args(Architecture)),
        help="Two stacks (the default), or one that reads the source and goes on with the target.",
    ),
    click.option(
        "--tokenizer",
        type=click.Choice(get_args(TrainedTokenizer)),
        help="Subwords by a unigram model (the default) or byte pairs, or space-separated symbols.",
    ),
    click.option("--vocab-size", type=POSITIVE, help="Pieces; else by the corpus."),
    click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Time budget."),
    click.option("--epochs", type=click.FloatRange(min=0, min_open=True), help="Budget in epochs."),
    click.option("--updates", type=POSITIVE, help="Budget in updates."),
    click.option("--batch-tokens", type=POSITIVE, help="Padded tokens of a batch."),
    click.option(
        "--patience", type=NOT_NEGATIVE, help="Validations without a better score; 0: endless."
    ),
    click.option("--seed", type=NOT_NEGATIVE, help="Same seed, same model (on the CPU)."),
)
"""The shape of a model, and how long it is trained."""


to_option = click.option(
    "--to",
    metavar="CODE",
    default="",
    help="The target language, of a model of several; else its only one.",
)
keep_case_option = click.option(
    "--keep-case",
    is_flag=True,
    help="Read lines in capitals, or without any, as they are written; else they are read in the "
    "usual case of their words.",
)
device_option = click.option(
    "--device",
    type=_DEVICES,
    default="auto",
    show_default=True,
    help="Where to compute; auto takes a CUDA GPU if there is one, never mps.",
)


def device_options(
    precisions: tuple[str, ...] = ("auto", "float32", "bfloat16"),
    precision_help: str = "Type of matrix products.",
) -> Callable[[_F], _F]:
    """--device, --precision and --threads."""
    return options(
        device_option,
        click.option(
            "--precision",
            type=click.Choice(precisions),
            default="auto",
            show_default=True,
            help=precision_help,
        ),
        click.option("--threads", type=POSITIVE, help="CPU threads of torch."),
    )


def _device_count(_: click.Context, __: click.Parameter, text: str) -> int | None:
    """Read `--devices`: a number from 1 on, or `all`, which becomes None."""
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 on nor all")
    return int(text)


def engine_option(default: str) -> Callable[[_F], _F]:
    """--engine: what searches."""
    return click.option(
        "--engine",
        type=click.Choice(["auto", "mt", "ctranslate2"]),
        default=default,
        show_default=True,
        help="What searches. auto takes CTranslate2 where the model folder keeps a checked "
        "conversion and nothing needs mt's own search; ctranslate2 makes it where it is not there.",
    )


beam_option = click.option("--beam", type=POSITIVE, help="Hypotheses searched; 1 is greedy.")
_term_options = options(
    click.option(
        "--glossary",
        type=PATH,
        help="File of terms and their translations, tab between; a term without one is not "
        "translated.",
    ),
    click.option(
        "--placeholders",
        multiple=True,
        metavar="REGEX",
        help="What matches comes out unchanged; 'default': format strings, tags, addresses. May be "
        "repeated.",
    ),
)
decoding_machine_options = options(
    to_option,
    device_options(
        ("auto", "float32", "bfloat16", "int8"),
        "Type of matrix products: float32 unless named. bfloat16 and int8 (CPU) are faster, and "
        "there the batch can change a translation.",
    ),
    click.option(
        "--devices",
        metavar="N|all",
        callback=_device_count,
        default="1",
        show_default=True,
        help="CUDA devices that share the work, each with a copy of the model.",
    ),
    click.option(
        "--workers",
        type=POSITIVE,
        help="Worker processes on the CPU (threads where it is not Linux), each with a share of "
        "--threads; without --threads, one thread each. Default: as many as --threads.",
    ),
    click.option(
        "--batch-size",
        type=POSITIVE,
        help="Sentences a worker translates at once; it changes speed and memory only. Without it "
        "what is fast: on the CPU 64 with a beam of 5, 128 with one of 1.",
    ),
    keep_case_option,
)
decoding_options = options(_term_options, decoding_machine_options)


def _metric_names(
    _: click.Context, __: click.Parameter, text: str | None
) -> tuple[str, ...] | None:
    """Read `--metrics`: names with commas between."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    for name in names:
        if name not in METRICS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(METRICS)}")
    return names


def scoring_options(*, chooses_metrics: bool = True) -> Callable[[_F], _F]:
    """What is counted, and how text is cut for it."""
    more = (
        click.option(
            "--metrics",
            callback=_metric_names,
            help=f"What is counted, of {', '.join(METRICS)}; else all but ser, and of symbols "
            "bleu,chrf,exact,ser.",
        ),
        click.option(
            "--tokenized",
            is_flag=True,
            help="Both sides are tokenised already, and BLEU splits nothing.",
        ),
        click.option(
            "--symbols",
            is_flag=True,
            help="Score symbols; of a model of symbols that is the default.",
        ),
    )
    return options(
        *(more if chooses_metrics else ()),
        click.option(
            "--tokenize",
            type=click.Choice(_TOKENIZERS),
            help="sacreBLEU tokenizer of BLEU; else by the target language, or 13a.",
        ),
        click.option(
            "--target-language",
            "--tgt-lang",
            metavar="CODE",
            help="What the translations are in; else what the model or the name of REFERENCE says.",
        ),
        click.option(
            "--lowercase", is_flag=True, help="Compare without case; the signatures show it."
        ),
    )


resampling_options = options(
    click.option(
        "--resamples",
        type=click.IntRange(min=100),
        help="Samples drawn; else 1,000, of approximate randomisation 10,000.",
    ),
    click.option("--seed", type=NOT_NEGATIVE, default=12345, show_default=True),
)
trivial_option = click.option(
    "--trivial/--no-trivial",
    default=True,
    show_default=True,
    help="Also score copying the source and the nearest training pair, and count test lines that "
    "the model was trained on.",
)


def typed_command() -> str:
    """The command line as it was typed, quoted for a shell; bytes that are no text are escaped."""
    context = click.get_current_context(silent=True)
    typed = None if context is None else context.find_root().obj
    command = shlex.join(["mt", *map(str, typed or ())])
    return command.encode("utf-8", "backslashreplace").decode("utf-8")


drop_options = options(
    click.option(
        "--drop",
        multiple=True,
        type=click.Choice(DROPPABLE),
        metavar="FINDING",
        help="Leave pairs out for which mt check has this finding (docs/data.md).",
    ),
    click.option(
        "--keep",
        multiple=True,
        type=click.Choice(DROPPABLE),
        metavar="FINDING",
        help=f"Do not leave them out. Left out by default: {', '.join(CorpusConfig().drop)}.",
    ),
)
