"""`mt inspect`: what a model attends to over a pair of texts, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mt.errors import DataError

if TYPE_CHECKING:
    from mt.events import Listener
    from mt.model_folder.folder import LoadedModel
    from mt.reporting.attention import AttendedPair


@click.command("inspect")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--pair", nargs=2, metavar="SOURCE TARGET", help="A text and its translation.")
@click.option("--source", metavar="TEXT", help="A text, with the model's own translation of it.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("attention.html"),
    show_default=True,
    help="Page to write.",
)
@click.option(
    "--png",
    is_flag=True,
    help="Also an image of each kind of attention beside the page (needs matplotlib).",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    default="auto",
    show_default=True,
    help="Where to compute; auto takes a CUDA GPU if there is one, never mps.",
)
def command(
    model: Path,
    pair: tuple[str, str] | None,
    source: str | None,
    output: Path,
    png: bool,
    device: str,
) -> None:
    """Show what each head of MODEL attends to, as one HTML page that needs nothing beside it.

    \b
    mt inspect checkpoints/de-en --pair "Der Hund schläft." "The dog is sleeping."
    mt inspect checkpoints/de-en --source "Der Hund schläft." -o dog.html
    """
    if (pair is None) == (source is None):
        raise click.UsageError("give either --pair SOURCE TARGET or --source TEXT")
    from mt.cli.console import stderr_console
    from mt.events import Event, Notice
    from mt.files import require_writable, write_text
    from mt.model_folder.folder import load_onto
    from mt.reporting.attention import attend_to_pair
    from mt.reporting.attention_page import attention_page

    console = stderr_console()

    def listener(event: Event) -> None:
        # Symbols that the translator does not know are told of by `attend_to_pair`.
        if isinstance(event, Notice):
            console.print(f"mt: warning: {event.text}" if event.is_warning else event.text)

    for text in pair or (source or "",):
        _require_utf8(text)
    if png:
        from mt.reporting.attention_image import require_matplotlib

        require_matplotlib()
    require_writable(output)
    loaded = load_onto(model, device=device, search=None)
    if pair is not None:
        attended = attend_to_pair(loaded, *pair, listener=listener)
    else:
        assert source is not None
        attended = _own_translation(loaded, source, listener)
    name = model.resolve().name
    write_text(output, attention_page(attended, model=name))
    click.echo(f"the page is in {output}", err=True)
    if png:
        from mt.reporting.attention_image import write_images

        for path in write_images(attended, output, model=name, listener=listener):
            click.echo(f"an image is in {path}", err=True)


def _own_translation(loaded: LoadedModel, source: str, listener: Listener) -> AttendedPair:
    from mt.reporting.attention import attend_to_pair
    from mt.translation.options import TranslationOptions
    from mt.translation.translator import Translator

    translator = Translator(
        loaded.model,
        loaded.tokenizers,
        loaded.config,
        options=TranslationOptions(batch_size=1, workers=1, split=False),
        listener=listener,
    )
    (translation,) = translator.translate_window([source])
    best = translation.hypotheses[0]
    return attend_to_pair(loaded, source, best.text, target_tokens=best.tokens, listener=listener)


def _require_utf8(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            "a text on the command line is not UTF-8", hint="Give it in UTF-8"
        ) from None
