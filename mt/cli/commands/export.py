"""`mt export`: a model folder in the form of another program."""

from __future__ import annotations

from typing import get_args

import click

from mt.cli.options import PATH, filled
from mt.config import ExportForm
from mt.tasks.requests import ExportRequest


@click.command("export")
@click.option("-m", "--model", required=True, type=PATH, help="Model folder.")
@click.option("-o", "--output", type=PATH, help="Folder to make.")
@click.option(
    "--into-model",
    is_flag=True,
    help="Instead of -o: keep it in the model folder, checked against mt's own search, for "
    "mt translate.",
)
@click.option(
    "--check",
    type=(PATH, PATH),
    metavar="SOURCE REFERENCE",
    help="With --into-model: check it on these files, not on the validation set.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(ExportForm)),
    default="ctranslate2",
    show_default=True,
    help="Program to write for.",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "float16", "bfloat16", "int8"]),
    default="float32",
    show_default=True,
    help="Type in which matrices are stored; --into-model keeps float32 and int8.",
)
@filled(ExportRequest)
def command(request: ExportRequest) -> None:
    """Write a model for another program.

    ctranslate2: a folder for CTranslate2 (pip install 'mt-trainer[ctranslate2]'): weights,
    vocabulary and tokenizer. CTranslate2 takes and gives pieces; docs/export.md shows how. With
    --into-model mt translate searches by it: docs/engine.md.

    huggingface: a folder for MarianMTModel and MarianTokenizer, of a model of that form (mt train
    --preset marian). Where transformers is installed, logits are compared with it.

    marian: an .npz file for Marian with its vocabularies, of a model of that form (docs/export.md),
    which is read back and compared.

    \b
    mt export -m checkpoints/de-en -o checkpoints/de-en-ct2
    mt export -m checkpoints/de-en -o checkpoints/de-en-hf --format huggingface
    mt export -m checkpoints/de-en --into-model --precision int8
    """
    from mt.cli.console import notices, stderr_console
    from mt.tasks.export import export

    output = export(request, notices(stderr_console().print))
    click.echo(f"the model for {request.form} is in {output}", err=True)
