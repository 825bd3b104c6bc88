"""`mt inspect`: what a model attends to over a pair of texts, as a page to look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from mt.cli.options import OUTPUT_FILE, PATH, device_option, filled, to_option
from mt.tasks.requests import InspectRequest


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    model: Path
    pair: tuple[str, str] | None
    source: str | None
    output: Path
    png: bool
    to: str
    device: str


@click.command("inspect")
@click.argument("model", type=PATH)
@click.option("--pair", nargs=2, metavar="SOURCE TARGET", help="A text and its translation.")
@click.option("--source", metavar="TEXT", help="A text, with the model's own translation of it.")
@click.option(
    "-o",
    "--output",
    type=OUTPUT_FILE,
    default=Path("attention.html"),
    show_default=True,
    help="Page to write.",
)
@click.option(
    "--png",
    is_flag=True,
    help="Also an image of each kind of attention beside the page (needs matplotlib).",
)
@to_option
@device_option
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Show what each head of MODEL attends to, as one HTML page that needs nothing beside it.

    \b
    mt inspect checkpoints/de-en --pair "Der Hund schläft." "The dog is sleeping."
    mt inspect checkpoints/de-en --source "Der Hund schläft." -o dog.html
    """
    if flags.pair is not None and flags.source is None:
        source, target = flags.pair
    elif flags.source is not None and flags.pair is None:
        source, target = flags.source, None
    else:
        raise click.UsageError("give either --pair SOURCE TARGET or --source TEXT")
    from mt.cli.console import notices, stderr_console
    from mt.tasks.inspect import inspect

    request = InspectRequest(
        model=flags.model,
        source=source,
        target=target,
        output=flags.output,
        to=flags.to,
        png=flags.png,
        device=flags.device,
    )
    page, *images = inspect(request, notices(stderr_console().print))
    click.echo(f"the page is in {page}", err=True)
    for path in images:
        click.echo(f"an image is in {path}", err=True)
