"""The flags of a glossary and of placeholders, and the line that says what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from mt.text.glossary import Glossary
    from mt.translation.translation import Translation

_F = TypeVar("_F", bound=Callable[..., Any])
_SHOWN = 5  # terms that are named on standard error


def term_options(command: _F) -> _F:
    """--glossary and --placeholders."""
    for option in (
        click.option(
            "--placeholders",
            multiple=True,
            metavar="REGEX",
            help="What matches comes out as it is; 'default': format strings, tags, addresses. "
            "May be repeated.",
        ),
        click.option(
            "--glossary",
            type=click.Path(path_type=Path),
            help="File of terms and their translations, tab between; a term alone stays as it is.",
        ),
    ):
        command = option(command)
    return command


def glossary_of(flags: dict[str, Any]) -> Glossary | None:
    """The glossary that the flags ask for, if any."""
    if flags["glossary"] is None and not flags["placeholders"]:
        return None
    from mt.text.glossary import Glossary
    from mt.text.placeholders import parse_placeholders

    patterns = parse_placeholders(flags["placeholders"])
    if flags["glossary"] is None:
        return Glossary(placeholders=patterns)
    return Glossary.read(flags["glossary"], placeholders=patterns)


class TermCounts:
    """Counts the terms that best translations honour."""

    def __init__(self) -> None:
        self._num_lines = 0
        self._num_asked = 0
        self._missed: list[tuple[int, str]] = []

    def add(self, translations: Iterable[Translation]) -> None:
        """Count those of the next lines."""
        for number, each in enumerate(translations, start=self._num_lines + 1):
            self._num_asked += len(each.terms or ())
            best = each.hypotheses[0].terms_missed if each.hypotheses else each.terms or ()
            self._missed += [(number, term.source) for term in best]
            self._num_lines = number

    def __str__(self) -> str:
        """One line: how many of how many are honoured, and where not."""
        asked, num_missed = self._num_asked, len(self._missed)
        if not asked:
            return "terms: no line holds any"
        honoured = asked - num_missed
        text = f"terms: {honoured} of {asked} honoured ({100 * honoured / asked:.1f} %)"
        if not num_missed:
            return text
        shown = ", ".join(f'line {line} "{term}"' for line, term in self._missed[:_SHOWN])
        more = f" and {num_missed - _SHOWN} more" if num_missed > _SHOWN else ""
        return f"{text}, {num_missed} not: {shown}{more}"
