"""What the tests of documents share: a file is read, filled and written."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from mt.formats.documents import open_document
from mt.formats.documents.unit import Code, Content, Document, DocumentOptions
from mt.formats.kind import kind_of

Change = Callable[[Content], Content]


def opened(
    path: Path,
    data: bytes,
    *,
    source: str = "en",
    target: str = "de",
    columns: tuple[str, str] | None = None,
) -> Document:
    path.write_bytes(data)
    options = DocumentOptions(source_language=source, target_language=target, columns=columns)
    return open_document(path, kind_of(path, data), options)


def written(document: Document) -> bytes:
    file = io.BytesIO()
    document.write(file)
    return file.getvalue()


def upper(content: Content) -> Content:
    return tuple(p.upper() if isinstance(p, str) else p for p in content)


def fill_all(document: Document, change: Change = upper, *, marked: bool = False) -> bytes:
    for index, unit in enumerate(document.units):
        document.fill(index, change(unit.source), marked=marked)
    return written(document)


def shown(content: Content) -> str:
    """Content with the markup of its codes in brackets."""
    return "".join(p if isinstance(p, str) else f"⟦{p.markup}⟧" for p in content)


def forms(content: Content) -> list[str]:
    return [p.form for p in content if isinstance(p, Code)]


def sources(document: Document) -> list[str]:
    return [shown(unit.source) for unit in document.units]
