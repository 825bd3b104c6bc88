"""`mt train`: from a corpus to a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from mt.cli.options import (
    device_options,
    from_assignments,
    from_flags,
    merge,
    parse_columns,
    parse_languages,
    parse_weight,
)
from mt.config import DROPPABLE, Architecture, CorpusConfig, TokenizerKind
from mt.presets import PRESETS

if TYPE_CHECKING:
    from mt.cli.corpus_setup import CorpusArguments
    from mt.cli.training_run import Place
    from mt.config_file import Values


@click.command("train")
@click.argument("corpus", nargs=-1)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Model folder to make.")
@click.option(
    "--dev", multiple=True, help="Validation set: two --dev, or one of both sides; else held out."
)
@click.option(
    "--against", multiple=True, help="Test set whose lines are kept out of training, like --dev's."
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="FILE=W",
    help="The pairs of this corpus come W times an epoch.",
)
@click.option(
    "--drop",
    multiple=True,
    type=click.Choice(DROPPABLE),
    metavar="FINDING",
    help="Leave pairs out for which mt check has this finding (docs/data.md).",
)
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice(DROPPABLE),
    metavar="FINDING",
    help=f"Do not leave them out. Left out by default: {', '.join(CorpusConfig().drop)}.",
)
@click.option("--langs", metavar="S-T", help="Languages, for example de-en; else by suffixes.")
@click.option("--columns", metavar="S,T", help="Columns or keys of the sides: names or numbers.")
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Model size; else by the corpus.")
@click.option(
    "--architecture",
    type=click.Choice(get_args(Architecture)),
    help="Two stacks (the default), or one that reads the source and goes on with the target.",
)
@click.option(
    "--tokenizer",
    type=click.Choice(get_args(TokenizerKind)),
    help="Subwords by a unigram model (the default) or byte pairs, or space-separated symbols.",
)
@click.option("--vocab-size", type=click.IntRange(min=1), help="Pieces; else by the corpus.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Time budget.")
@click.option("--epochs", type=click.FloatRange(min=0, min_open=True), help="Budget in epochs.")
@click.option("--updates", type=click.IntRange(min=1), help="Budget in updates.")
@click.option("--batch-tokens", type=click.IntRange(min=1), help="Padded tokens of a batch.")
@click.option(
    "--patience", type=click.IntRange(min=0), help="Validations without a better score; 0: endless."
)
@click.option("--seed", type=click.IntRange(min=0), help="Same seed, same model (on the CPU).")
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with this model folder.")
@click.option(
    "--from", "start", type=click.Path(path_type=Path), help="Fine-tune this trained model."
)
@click.option(
    "--rejected",
    type=click.Path(path_type=Path),
    help="Write the pairs left out: reason, place, source, target, tab-separated.",
)
@click.option(
    "--tensorboard", is_flag=True, help="Write event files into the folder tensorboard of -o."
)
@click.option(
    "--compile",
    "compiled",
    is_flag=True,
    help="Compile the layers for training: a minute at the start, for GPUs.",
)
@click.option(
    "--shard",
    is_flag=True,
    help="Shard the weights over the processes of torchrun, for models that do not fit on one.",
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="TOML settings.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="One setting.")
@device_options
def command(**flags: Any) -> int:
    """Train a translation model on CORPUS.

    CORPUS is two aligned text files, source first, or a file of both sides (.tsv .csv .jsonl .tmx
    .po .xliff .parquet), or hf:NAME[:CONFIG][@SPLIT]; any mixture of them. Each may be compressed
    (.gz .xz .zst .bz2). Without --preset and --vocab-size both follow from the number of pairs;
    without --dev a validation set is held out. Training ends by --minutes, --epochs or --updates,
    or when the validation score stops rising.

    \b
    mt train train.de train.en -o checkpoints/de-en
    mt train memory.tmx more.de more.en --langs de-en -o checkpoints/de-en
    mt train train.de.gz train.en.gz --dev dev.de --dev dev.en -o checkpoints/de-en --minutes 30
    mt train --resume checkpoints/de-en --minutes 60
    mt train memory.tmx --from checkpoints/de-en -o checkpoints/de-en-memory
    """
    if flags["resume"] is not None:
        _refuse_changes(flags)
    elif not flags["corpus"]:
        raise click.UsageError("Missing argument 'CORPUS...'.")
    elif flags["output"] is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    from mt.cli.training_run import resume_training, start_training

    place = _place(flags)
    if flags["resume"] is not None:
        return resume_training(_training_values(flags), place)
    return start_training(_arguments(flags), place)


def _refuse_changes(flags: dict[str, Any]) -> None:
    """Raise UsageError for a flag that a resumed run cannot take."""
    fixed = (
        *("corpus", "output", "dev", "against", "weights", "drop", "keep", "langs", "columns"),
        *(
            "preset",
            "architecture",
            "tokenizer",
            "vocab_size",
            "config_file",
            "settings",
            "rejected",
            "start",
        ),
        *("batch_tokens", "seed"),
    )
    given = [name for name in fixed if flags[name]]
    if given:
        names = {"settings": "set", "config_file": "config", "weights": "weight", "start": "from"}
        option = "--" + names.get(given[0], given[0]).replace("_", "-")
        raise click.UsageError(
            f"{'CORPUS' if given[0] == 'corpus' else option} cannot change when a run is resumed: "
            "--resume takes the budget (--minutes, --epochs, --updates, --patience) and the "
            "machine alone"
        )


def _training_values(flags: dict[str, Any]) -> Values:
    """The settings of training that have flags of their own."""
    return from_flags(
        "training",
        batch_tokens=flags["batch_tokens"],
        max_minutes=flags["minutes"],
        max_epochs=flags["epochs"],
        max_updates=flags["updates"],
        patience=flags["patience"],
        seed=flags["seed"],
    )


def _place(flags: dict[str, Any]) -> Place:
    """Where the run happens."""
    from mt.cli.training_run import Machine, Place
    from mt.training.distributed import Ranks

    ranks = Ranks.of_environment()
    if flags["shard"] and ranks.size == 1:
        raise click.UsageError(
            "--shard spreads the weights over several processes, but this one is alone: start "
            "with torchrun --nproc-per-node N -m mt train … --shard"
        )
    machine = Machine(
        device=flags["device"],
        precision=flags["precision"],
        threads=flags["threads"],
        compiled=flags["compiled"],
        shard=flags["shard"],
    )
    return Place(
        folder=flags["resume"] or flags["output"],
        machine=machine,
        ranks=ranks,
        tensorboard=flags["tensorboard"],
    )


def _arguments(flags: dict[str, Any]) -> CorpusArguments:
    """What a new run is made from."""
    from mt.cli.corpus_setup import CorpusArguments
    from mt.cli.fine_tuning import load_start
    from mt.config_file import read_config_file

    file = flags["config_file"]
    overrides = merge(
        {} if file is None else read_config_file(file),
        from_assignments(flags["settings"]),
        from_flags("model", architecture=flags["architecture"]),
        from_flags("tokenizer", kind=flags["tokenizer"], vocab_size=flags["vocab_size"]),
        _training_values(flags),
    )
    if flags["drop"] or flags["keep"]:
        before = overrides.get("corpus", {}).get("drop", CorpusConfig().drop)
        dropped = dict.fromkeys((*before, *flags["drop"]))
        left = tuple(name for name in dropped if name not in flags["keep"])
        overrides = merge(overrides, {"corpus": {"drop": left}})
    start = None
    if flags["start"] is not None:
        start = load_start(
            flags["start"], flags["output"], preset_name=flags["preset"], overrides=overrides
        )
    return CorpusArguments(
        corpus=flags["corpus"],
        dev=flags["dev"],
        against=flags["against"],
        languages=parse_languages(flags["langs"]),
        columns=parse_columns(flags["columns"]),
        weights=[parse_weight(text) for text in flags["weights"]],
        rejected=flags["rejected"],
        preset_name=flags["preset"],
        overrides=overrides,
        start=start,
    )
