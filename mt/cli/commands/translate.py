"""`mt translate`: standard input or files, line by line; documents each into one of its kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mt.cli.document_output import DocumentFlags, document_options, write_documents
from mt.cli.options import (
    NOT_NEGATIVE,
    PATH,
    POSITIVE,
    beam_option,
    decoding_options,
    engine_option,
    filled,
    model_option,
    options,
)
from mt.cli.sampling_options import SamplingFlags, sampling_options
from mt.errors import ConfigError
from mt.tasks.requests import Decoding, DocumentsRequest, TranslateRequest

if TYPE_CHECKING:
    from mt.tasks.translate import Translating
    from mt.translation.translation import Translation

_hypothesis_options = options(
    beam_option,
    click.option("--n-best", type=POSITIVE, help="Lines given for each line read."),
    click.option(
        "--length-penalty",
        type=click.Choice(["none", "mean", "gnmt"]),
        help="What ranks hypotheses.",
    ),
    click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the gnmt penalty."),
    click.option("--max-length", type=POSITIVE, help="Most tokens of a translation."),
    click.option(
        "--min-length-ratio",
        type=click.FloatRange(min=0),
        help="Least tokens of a translation, as a multiple of those of the source.",
    ),
    click.option(
        "--no-repeat-ngram",
        type=NOT_NEGATIVE,
        help="No run of so many tokens comes twice in a translation; 0: any may.",
    ),
    click.option(
        "--max-repeats",
        type=NOT_NEGATIVE,
        help="Most times that a run of up to 16 tokens may come in a row; 0: any number.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Flags:
    """What was typed."""

    request: TranslateRequest
    sampling: SamplingFlags
    files: tuple[Path, ...]
    output: Path | None
    prefix: Path | None
    no_split: bool
    as_json: bool
    alignment: bool
    document: DocumentFlags


@click.command("translate")
@model_option(required=True, says="Model folder.")
@click.argument("files", nargs=-1, type=PATH)
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="Else standard output; packed if it ends in .gz or the like. Of documents a file, or a "
    "folder.",
)
@document_options
@_hypothesis_options
@sampling_options
@click.option(
    "--prefix",
    type=PATH,
    help="Text that each translation begins with, one line for each line read; empty: any.",
)
@click.option(
    "--mbr",
    type=click.Choice(["chrf", "bleu"]),
    help="Of the beam, or of the samples, take what is most like all of them by this score.",
)
@click.option("--no-split", is_flag=True, help="Translate lines whole, however long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each line read.")
@click.option(
    "--alignment",
    is_flag=True,
    help="With --json: tokens, their probabilities, aligned words; long lines stay whole.",
)
@engine_option("auto")
@decoding_options
@filled(_Flags)
def command(flags: _Flags) -> None:
    """Translate standard input, or FILES, one line for each line read, in order.

    FILES that are documents (PO, XLIFF, DOCX, HTML, SRT, …) are translated as such, each into a
    file of its kind: -o FILE, or a folder. With --json their reports are printed.

    An empty line stays empty; where all other translations are empty too, the exit status is 1.
    Only LF ends a line. Nothing but translations goes to standard output;
    with --n-best N each line read gives N lines, best first (empty ones when there are fewer), with
    --sample N as many, in the order in which they were drawn.
    """
    if flags.alignment and not flags.as_json:
        raise click.UsageError("--alignment belongs to --json; mt score --alignment gives lines")
    from mt.formats.text import language_suffix

    decoding = dataclasses.replace(
        flags.request.decoding,
        sampling=flags.sampling.config(flags.request.decoding),
        split=not flags.no_split and not flags.alignment,
        source_language=language_suffix(flags.files[0]) if flags.files else "",
    )
    if kinds := _kinds_of_documents(flags):
        write_documents(_documents(flags, kinds, decoding), as_json=flags.as_json)
        return
    flags.document.require_none()
    from mt.cli.console import notices, stderr_console
    from mt.cli.line_progress import shown_progress
    from mt.cli.source_lines import SourceLines, groups_with_prefixes
    from mt.cli.translation_output import translation_output
    from mt.files import require_writable
    from mt.tasks.translate import Translating

    console = stderr_console()
    if flags.output is not None and str(flags.output) != "-":
        require_writable(flags.output)
    request = dataclasses.replace(
        flags.request,
        decoding=decoding,
        has_prefixes=flags.prefix is not None,
        has_alignment=flags.alignment,
    )
    translating = Translating(request, notices(console.print))
    written = _writer(translating, flags, max(decoding.search.n_best or 1, translating.num_samples))
    lines = SourceLines(flags.files, as_text=flags.document.form == "text")
    groups = lines.groups(max_lines=translating.translator.window, listener=translating.listener)
    with (
        shown_progress(
            console,
            done="lines translated",
            share=lines.share,
            to_file=flags.output is not None and str(flags.output) != "-",
        ) as progress,
        translation_output(flags.output, progress, say=console.print) as out,
    ):
        for group, prefixes in groups_with_prefixes(groups, flags.files, flags.prefix):
            first_line = progress.num_lines + 1
            translations = translating.translate(group, first_line=first_line, prefixes=prefixes)
            out.write(written(translations).encode("utf-8"))
            out.flush()
            progress(len(group))
    translating.report()
    translating.require_results()


def _kinds_of_documents(flags: _Flags) -> list[tuple[Path, str]]:
    """The files that are documents, with what they are."""
    form = flags.document.name
    if form == "text" or not flags.files:
        return []
    from mt.tasks.translate_documents import document_kind

    kinds = ((path, document_kind(path, form)) for path in flags.files)
    return [(path, kind) for path, kind in kinds if kind is not None]


def _documents(
    flags: _Flags, kinds: Sequence[tuple[Path, str]], decoding: Decoding
) -> DocumentsRequest:
    """What is asked for; raises ConfigError for options that are for lines only."""
    if flags.output is None or str(flags.output) == "-":
        path, kind = kinds[0]
        raise ConfigError(
            f"{path} is {kind}: -o says into which file, or folder, it is translated",
            hint="--format text takes its lines as they are",
        )
    if flags.prefix is not None or flags.alignment:
        raise ConfigError("--prefix and --alignment are for lines of text, not for documents")
    return DocumentsRequest(
        files=flags.files,
        output=flags.output,
        model=flags.request.model,
        others=flags.request.others,
        decoding=decoding,
        form=flags.document.name,
        columns=flags.document.columns,
        overwrite=flags.document.overwrite,
        mark=not flags.document.no_mark,
    )


def _writer(
    translating: Translating, flags: _Flags, num_given: int
) -> Callable[[Sequence[Translation]], str]:
    """How translations are written."""
    if not flags.as_json:
        return lambda translations: "".join(_as_lines(each, num_given) for each in translations)
    from mt.cli.json_records import json_writer

    scorer = translating.scorer() if flags.alignment else None
    return json_writer(translating.translator, Path(flags.request.model), scorer=scorer)


def _as_lines(translation: Translation, num: int) -> str:
    texts = [hypothesis.text for hypothesis in translation.hypotheses[:num]]
    texts += [""] * (num - len(texts))
    return "".join(f"{text}\n" for text in texts)
