"""`mt export`: a model folder in the form of another program."""

from __future__ import annotations

import click

from mt.cli.options import PATH, filled
from mt.tasks.requests import ExportRequest


@click.command("export")
@click.option("-m", "--model", required=True, type=PATH, help="Model folder.")
@click.option("-o", "--output", required=True, type=PATH, help="Folder to make.")
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
@filled(ExportRequest)
def command(request: ExportRequest) -> None:
    """Write a model for another program.

    ctranslate2: a folder for CTranslate2 (pip install ctranslate2), weights, vocabulary and
    tokenizer. CTranslate2 takes and gives pieces; docs/export.md shows how.

    \b
    mt export -m checkpoints/de-en -o checkpoints/de-en-ct2
    """
    from mt.tasks.export import export

    output = export(request)
    click.echo(f"the model for {request.form} is in {output}", err=True)
