"""`mt serve`: models behind the HTTP APIs of LibreTranslate and DeepL."""

from __future__ import annotations

from dataclasses import dataclass

import click

from mt.cli.options import (
    NOT_NEGATIVE,
    PATH,
    POSITIVE,
    beam_option,
    device_option,
    engine_option,
    filled,
    keep_case_option,
    options,
)
from mt.serving.request import ServeRequest

_limits = options(
    click.option("--max-body", "body_bytes", type=POSITIVE, default=262_144, show_default=True,
        help="Bytes of a request."),
    click.option("--max-texts", "texts", type=POSITIVE, default=100, show_default=True,
        help="Texts of a request."),
    click.option("--max-characters", "text_characters", type=POSITIVE, default=10_000,
        show_default=True, help="Characters of a text."),
    click.option("--max-alternatives", "alternatives", type=NOT_NEGATIVE, default=4,
        show_default=True, help="Further translations of a text."),
    click.option("--requests-a-minute", type=NOT_NEGATIVE, default=600, show_default=True,
        help="Requests of one address; 0: any number."),
    click.option("--max-waiting", "waiting_characters", type=POSITIVE, default=500_000,
        show_default=True, help="Characters that wait; beyond them the answer is 429."),
    click.option("--cache", "cache_characters", type=NOT_NEGATIVE, default=4_000_000,
        show_default=True, help="Characters of lines that are remembered; 0: none."),
    click.option("--max-glossaries", "glossaries", type=NOT_NEGATIVE, default=100,
        show_default=True, help="Glossaries of a key."),
)  # fmt: skip
_access = options(
    click.option("--keys", "keys_file", type=PATH,
        help="File of keys, one a line; else the variable MT_SERVE_KEYS, spaces between."),
    click.option("--cors-origin", "origins", multiple=True, metavar="ORIGIN",
        help="A web page that may ask, such as https://example.org. May be repeated."),
    click.option("--allow-host", "hosts", multiple=True, metavar="NAME",
        help="A name that requests may give the server on the loopback interface."),
    click.option("--proxy", metavar="ADDRESS", help="A proxy whose X-Forwarded-For is believed."),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: ServeRequest


@click.command("serve")
@click.option(
    "-m",
    "--model",
    "models",
    required=True,
    multiple=True,
    type=PATH,
    help="Model folder; may be repeated, each for a pair of languages of its own.",
)
@click.option("--pivot", metavar="CODE", help="Translate by this language what no model does.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port; 0: a free one.",
)
@_access
@_limits
@beam_option
@engine_option("auto")
@device_option
@click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bfloat16", "int8"]),
    default="auto",
    show_default=True,
    help="Type of matrix products.",
)
@click.option("--workers", type=POSITIVE, help="Threads that translate; else one a core.")
@click.option("--batch-size", type=POSITIVE, help="Lines that a worker translates at once.")
@keep_case_option
@click.option(
    "--grace",
    "grace_seconds",
    type=POSITIVE,
    default=30,
    show_default=True,
    help="Seconds for requests that have begun when the server is told to end.",
)
@click.option(
    "--log",
    "log_form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the log on standard error.",
)
@filled(_Flags)
def command(flags: _Flags) -> int:  # fmt: skip
    """Serve models by the HTTP APIs of LibreTranslate and DeepL, with a page at /.

    It listens at the loopback interface unless told otherwise, writes nothing of what it is sent
    anywhere, and ends with SIGTERM or Ctrl-C when it has answered what it has begun
    (docs/serving.md).
    """
    from mt.cli.console import notices, stderr_console
    from mt.serving.installed import require_installed

    require_installed()
    from mt.serving.server import serve

    return serve(flags.request, notices(stderr_console().print))
