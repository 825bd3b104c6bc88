"""`mt train`: from a corpus to a model folder."""

from __future__ import annotations

import dataclasses
from typing import get_args

import click

from mt.cli.options import (
    PATH,
    device_options,
    directions_options,
    drop_options,
    filled,
    run_options,
    settings_options,
    typed_command,
    weight_option,
)
from mt.config import ExportForm
from mt.tasks.requests import TrainRequest

_STOPPING = "mt: stopping, and saving what was trained (once more: end at once)"


@click.command("train")
@click.argument("corpus", nargs=-1)
@click.option("-o", "--output", type=PATH, help="Model folder to make.")
@click.option(
    "--dev", multiple=True, help="Validation set: two --dev, or one of both sides; else held out."
)
@click.option(
    "--also-dev",
    multiple=True,
    help="With --from: also score this set, given as --dev is, at each validation, from before "
    "the first update on; it decides nothing.",
)
@click.option(
    "--against", multiple=True, help="Test set whose lines are kept out of training, like --dev's."
)
@weight_option
@drop_options
@directions_options
@click.option(
    "--synthetic",
    multiple=True,
    metavar="FILE",
    help="A further corpus, of mt backtranslate: a tag tells the model that its sources were made.",
)
@run_options
@click.option(
    "--for",
    "export_form",
    type=click.Choice(get_args(ExportForm)),
    help="Refuse what mt export cannot write for this program.",
)
@click.option("--resume", type=PATH, help="Continue the run of this model folder.")
@click.option("--from", "start", type=PATH, help="Fine-tune this trained model.")
@click.option(
    "--new-tokenizer",
    is_flag=True,
    help="With --from: train a tokenizer for CORPUS, whose pieces start from those of that model.",
)
@click.option(
    "--rejected",
    type=PATH,
    help="Write the pairs left out: reason, location, source, target, tab-separated.",
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
@settings_options
@device_options()
@filled(TrainRequest)
def command(request: TrainRequest) -> int:
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
    mt train a.de a.en b.sw b.en --langs de-en,en-de,sw-en -o checkpoints/three
    mt train a.en a.lug --from checkpoints/en-de --new-tokenizer -o checkpoints/en-lug
    """
    if request.resume is None and not request.corpus:
        raise click.UsageError("Missing argument 'CORPUS...'.")
    if request.resume is None and request.output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    from mt.cli.console import TrainingConsole, stderr_console
    from mt.cli.signals import StopSignal
    from mt.tasks.train import train

    request = dataclasses.replace(request, command=typed_command())
    with TrainingConsole(stderr_console(), folder=request.resume or request.output) as console:
        return train(request, console, stop=StopSignal(_STOPPING)).exit_status
