"""`mt export`: a model folder in the form of another program."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("export")
@click.option("-m", "--model", required=True, type=click.Path(path_type=Path), help="Model folder.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to make."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["ctranslate2"]),
    default="ctranslate2",
    show_default=True,
    help="Program to write for.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "float16", "bfloat16", "int8"]),
    default="float32",
    show_default=True,
    help="Type in which matrices are stored.",
)
def command(model: Path, output: Path, form: str, precision: str) -> None:
    """Write a model for another program.

    ctranslate2: a folder for CTranslate2 (pip install ctranslate2), weights, vocabulary and
    tokenizer. CTranslate2 takes and gives pieces; docs/export.md shows how.

    \b
    mt export -m checkpoints/de-en -o checkpoints/de-en-ct2
    """
    from mt.cli.new_folder import refuse_existing
    from mt.exchange.ctranslate2 import export_ctranslate2

    refuse_existing(output)
    export_ctranslate2(model, output, stored=precision)  # type: ignore[arg-type]
    click.echo(f"the model for {form} is in {output}", err=True)
