"""`mt` itself: the commands, and the one place where errors become messages and exit codes.

Exit codes: 0 done; 1 the data, files or model are at fault; 2 the command line is at fault;
130 interrupted, 143 terminated, 129 hung up. A reader that closes the pipe is no error, and a bug
keeps its traceback.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from mt import __version__
from mt.cli.interruption import ended_by_signals, remove_left, status_of
from mt.cli.streams import ReaderGoneError, standard_streams
from mt.errors import MtError

_GROUPS = {
    "Train": {
        "check": ("check", "Tell what is wrong with a corpus, and write its clean pairs."),
        "train": ("train", "Train a translation model on a parallel corpus."),
        "backtranslate": ("backtranslate", "Make training pairs of text in the target language."),
        "distil": ("distil", "Train a fast student on what a model translates."),
        "average": ("average", "Average the weights of models, or of states of one run."),
    },
    "Use": {
        "translate": ("translate", "Translate standard input or files."),
        "serve": ("serve", "Serve models by HTTP, with a page."),
        "score": ("score", "Score given translations, and align their words."),
    },
    "Measure": {
        "eval": ("evaluate", "Score a model, or a file of translations."),
        "compare": ("compare", "Tell where one system is better than another."),
    },
    "Look": {
        "report": ("report", "Tell all that is known of a model, as a page."),
        "inspect": ("inspect", "Show what a model attends to, as a page."),
        "plot": ("plot", "Draw training curves."),
    },
    "Exchange": {
        "import": ("import_", "Make a model folder of another program's model."),
        "export": ("export", "Write a model for another program."),
    },
}
"""The commands, with their modules and a line of help, in the order in which they are used."""
_COMMANDS = {name: command for group in _GROUPS.values() for name, command in group.items()}

_OTHER_NAMES = {
    "evaluate": "eval",
    "beam-size": "beam",
    "beam_size": "beam",
    "nbest": "n-best",
    "n_best": "n-best",
    "max-len": "max-length",
    "max_length": "max-length",
    "batch_size": "batch-size",
}
"""What other programs call commands and options that mean the same here."""

_KERNELS_KEPT = "64"
_KERNEL_CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""Sizes of the caches in which torch's CPU library keeps a kernel for each shape it has met.

Batches come in hundreds of shapes: the 1,024 kernels that are kept by default more than double the
memory of a training run and slow it by a tenth (docs/log.md). Read once, when torch is loaded.
"""


class _HeldError(Exception):
    """What click would answer in a way of its own: an interruption, a failure of the system."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


@contextmanager
def _held_errors() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, OSError) as error:
        raise _HeldError(error) from error


class _LazyGroup(click.Group):
    """A group that imports a command when it is asked for, and not to list it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed, for commands that write it down."""
        ctx.obj = list(args)
        return super().parse_args(ctx, args)

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        """Read the command line, which may print help."""
        with _held_errors():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with _held_errors():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; raises NoSuchCommand, with the names that are like it."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=_COMMANDS, ctx=ctx
            ) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they are used."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command; its object is called `command`."""
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(f"mt.cli.commands.{_COMMANDS[name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        widest = max(map(len, _COMMANDS))
        for title, group in _GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(widest), text) for name, (_, text) in group.items()]
                formatter.write_dl(rows)


@click.group(
    cls=_LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "token_normalize_func": lambda name: _OTHER_NAMES.get(name, name),
    },
)
@click.version_option(__version__, prog_name="mt", message="%(prog)s %(version)s")
def cli() -> None:
    """Train, run and score neural machine translation.

    \b
    mt train train.de train.en -o checkpoints/de-en
    mt translate -m checkpoints/de-en < in.de > out.en
    mt eval -m checkpoints/de-en test.de test.en
    mt score -m checkpoints/de-en test.de test.en
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    for cache in _KERNEL_CACHES:
        os.environ.setdefault(cache, _KERNELS_KEPT)
    with standard_streams(), ended_by_signals():
        status = _status(lambda: cli.main(args=arguments, prog_name="mt", standalone_mode=False))
        # What is still in a buffer fails now, or nobody learns of it.
        status = _status(sys.stdout.flush) or status
        if os.environ.get("WORLD_SIZE", "1") != "1":
            # Threads of the connections between ranks abort now and then as a process winds up
            # (pytorch/pytorch#190489 tells of it), and a rank that aborts ends the others.
            sys.stderr.flush()
            remove_left()
            os._exit(status)
    sys.exit(status)


def _status(action: Callable[[], object]) -> int:
    """Do something, and turn what comes of it into an exit status."""
    try:
        try:
            status = action()
        except _HeldError as held:
            raise held.error from None
    except MtError as error:
        click.echo(f"mt: error: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        click.echo(f"mt: interrupted{error}", err=True)
        return status_of(error) if isinstance(error, KeyboardInterrupt) else 130
    except ReaderGoneError:
        return 0  # the reader has had enough
    except OSError as error:
        # The system's fault or the user's: a full disk, a folder that may not be written.
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"mt: error: {where}{error.strerror or error}", err=True)
        return 1
    return status if isinstance(status, int) else 0
