"""`mt report`: all that is known of a model, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mt.cli.score_flags import metric_options, sampling_options, scored_model_options


@click.command("report")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, metavar="[SOURCE REFERENCE...]", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="Page to write.",
)
@click.option(
    "--training-only", is_flag=True, help="Translate and score nothing: the course of training."
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Sentences shown of the worst, and of the best.",
)
@metric_options
@sampling_options
@scored_model_options
def command(**flags: Any) -> None:
    """Tell all that is known of MODEL as one HTML page that needs nothing beside it.

    The course of its training, its corpus, and its scores on SOURCE and REFERENCE, or else on the
    validation set that lies in its folder: with intervals, by length, its worst and best sentences,
    and what it attends to in them.

    \b
    mt report checkpoints/de-en test.de test.en -o report.html
    mt report checkpoints/de-en
    """
    files = list(flags["files"])
    if len(files) == 1:
        raise click.UsageError("Missing argument 'REFERENCE...': SOURCE has no score alone.")
    if files and flags["training_only"]:
        raise click.UsageError("--training-only scores nothing: leave SOURCE and REFERENCE out")
    if flags["tokenized"] and flags["tokenize"] not in (None, "none"):
        raise click.UsageError("--tokenized splits nothing: leave --tokenize out")
    from mt.cli.console import stderr_console
    from mt.cli.evaluation import evaluate
    from mt.cli.report_contents import write_report
    from mt.files import require_writable
    from mt.model_folder.folder import DEV, read_config, read_dev_pairs

    model = flags["model"]
    require_writable(flags["output"])
    read_config(model)  # what is no model folder is refused before all else
    unscored = ""
    if flags["training_only"]:
        unscored = "Nothing was scored: --training-only was given."
    elif not files and not read_dev_pairs(model):
        unscored = (
            "Nothing was scored: no test set was given, and the model folder holds no validation "
            "set. Give SOURCE and REFERENCE."
        )
    else:
        flags["files"] = files or [model / name for name in DEV]
    say = stderr_console().print
    flags |= {"others": (), "hyp": (), "source": None, "confidence": True, "paired": None}
    if unscored:
        say(f"mt: {unscored}")
    evaluation = None if unscored else evaluate(flags, say=say)
    write_report(flags["output"], flags, evaluation, is_validation=not files, unscored=unscored)
