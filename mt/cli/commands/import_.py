"""`mt import`: a model folder of another program's model."""

from __future__ import annotations

import dataclasses

import click

from mt.cli.options import PATH, filled, languages_option, typed_command
from mt.tasks.requests import ImportRequest


@click.command("import")
@click.argument("source", type=PATH)
@click.option("-o", "--output", required=True, type=PATH, help="Model folder to make.")
@click.option(
    "--vocab",
    "vocabularies",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Vocabulary of Marian (.spm, .yml, .json), that of the source first if there are two; "
    "else those that decoder.yml names.",
)
@click.option(
    "--spm",
    multiple=True,
    type=PATH,
    metavar="FILE",
    help="Sentencepiece model beside a vocabulary that is a table, that of the source first; else "
    "source.spm and target.spm.",
)
@click.option(
    "--prefix",
    default="",
    metavar="CODE",
    help="Of models with several target languages: the one of lines that begin with none, as "
    "'>>deu<<'.",
)
@languages_option("Languages of the model; else those that it names.")
@filled(ImportRequest)
def command(request: ImportRequest) -> None:
    """Make a model folder of another program's model.

    SOURCE is a folder of Hugging Face's MarianMTModel (OPUS-MT), or the .npz file of Marian, or a
    folder with one. What mt has no form for is refused. Where transformers is installed, logits are
    compared with it. docs/import.md tells more.

    \b
    mt import opus-mt-de-en -o checkpoints/opus-de-en
    mt translate -m checkpoints/opus-de-en < in.de > out.en
    """
    from mt.cli.console import notices, stderr_console
    from mt.tasks.import_model import import_model

    request = dataclasses.replace(request, command=typed_command())
    result = import_model(request, notices(stderr_console().print))
    click.echo(f"the model is in {result.folder}", err=True)
