"""`mt translate` of documents: what it is asked for, and its report."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from mt.cli.options import columns_option, options
from mt.errors import ConfigError
from mt.tasks.requests import PARAGRAPHS, DocumentsRequest

document_options = options(
    click.option(
        "--format",
        "form",
        metavar="text|SUFFIX",
        help="Take FILES line by line (text), or as documents of this kind (po, docx, …), whatever "
        "their names and first bytes say.",
    ),
    click.option(
        "--paragraphs",
        is_flag=True,
        help="Take FILES as text with hard line ends, each paragraph a unit; -o says where to.",
    ),
    columns_option("Of a table: columns of source and target, names or numbers."),
    click.option(
        "--overwrite", is_flag=True, help="Also fill units of a document that have a target."
    ),
    click.option(
        "--no-mark",
        is_flag=True,
        help="Mark only what a person has to look at, not all that is translated.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class DocumentFlags:
    """What was typed about documents."""

    form: str | None
    paragraphs: bool
    columns: tuple[str, str] | None
    overwrite: bool
    no_mark: bool

    @property
    def name(self) -> str | None:
        """What the files are; raises ConfigError where two things are said."""
        if self.paragraphs and self.form is not None:
            raise ConfigError(f"--paragraphs and --format {self.form} say two things: give one")
        return PARAGRAPHS if self.paragraphs else self.form

    def require_none(self) -> None:
        """Raise ConfigError for what lines have no use for."""
        if self.columns is not None or self.overwrite or self.no_mark:
            raise ConfigError(
                "--columns, --overwrite and --no-mark are for documents, and here are lines of text"
            )


def write_documents(request: DocumentsRequest, *, as_json: bool) -> None:
    """Translate documents, show how far it is, and report."""
    from mt.cli.console import notices, stderr_console
    from mt.cli.line_progress import shown_progress
    from mt.documents.report import report_lines, report_record
    from mt.tasks.translate_documents import DocumentTranslating

    console = stderr_console()
    translating = DocumentTranslating(request, notices(console.print))
    with shown_progress(
        console, done="units done", share=translating.share, to_file=True
    ) as progress:
        for found in translating.results(progress):
            if as_json:
                click.echo(json.dumps(report_record(found), ensure_ascii=False))
            for line in () if as_json else report_lines(found):
                console.print(line)
