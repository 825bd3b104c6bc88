"""Tables of a page: headings, rows, and a frame that scrolls where there is no room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mt.reporting.page import escape

_NUMBER = ' class="number"'


def table(
    label: str,
    columns: Sequence[str],
    rows: Iterable[str],
    *,
    texts: Sequence[str] = (),
    kind: str = "",
) -> str:
    """A table, as HTML; `rows` are those of `row`.

    `label` names it for those who do not see it. Columns hold numbers, those of `texts` aside;
    `kind` is a further class of its style.
    """
    head = "".join(
        f'<th scope="col"{"" if column in texts else _NUMBER}>{escape(column)}</th>'
        for column in columns
    )
    return f"""\
<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">
<table class="list {kind}"><thead><tr>{head}</tr></thead>
<tbody>{"".join(rows)}</tbody></table></div>
"""


def row(name: str, numbers: Iterable[str], *, more: str = "", is_number: bool = False) -> str:
    """A row, as HTML: what it is about (HTML), `more` cells (HTML), numbers as text."""
    cells = "".join(f"<td{_NUMBER}>{escape(number)}</td>" for number in numbers)
    return f'<tr><th scope="row" dir="auto"{_NUMBER * is_number}>{name}</th>{more}{cells}</tr>'
