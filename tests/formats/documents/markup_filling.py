"""Documents made, filled and written in tests."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from random import Random

from mt.formats.documents import open_document
from mt.formats.documents.unit import Code, CodeForm, Content, Document, DocumentOptions, State
from mt.formats.kind import HEAD, kind_of

EN_DE = DocumentOptions(source_language="en", target_language="de")


def opened(
    folder: Path, name: str, data: bytes | str, options: DocumentOptions = EN_DE
) -> Document:
    """A document of some bytes, by the kind that its name and its bytes show."""
    path = folder / name
    raw = data if isinstance(data, bytes) else data.encode("utf-8")
    path.write_bytes(raw)
    return open_document(path, kind_of(path, raw[:HEAD]), options)


def output(document: Document) -> bytes:
    """What a document writes."""
    file = BytesIO()
    document.write(file)
    return file.getvalue()


def shown(content: Content | None) -> str:
    """A content in one line: text, and codes as <1>, </1>, <1/>, with their text within."""
    forms = {"opening": "<{}>", "closing": "</{}>", "isolated": "<{}/>"}
    return "".join(
        item
        if isinstance(item, str)
        else forms[item.form].format(item.name + (f" {item.text}" if item.text else ""))
        for item in content or ()
    )


def sources(document: Document) -> list[str]:
    """The sources of all units."""
    return [shown(unit.source) for unit in document.units]


def states(document: Document) -> list[State]:
    """The states of all units."""
    return [unit.state for unit in document.units]


def upper(content: Content) -> Content:
    """A content with its text in capitals, and characters that formats escape."""
    return tuple(item if isinstance(item, Code) else item.upper() for item in content)


def filled(
    document: Document,
    change: Callable[[Content], Content] = upper,
    *,
    marked: bool = False,
    only: Callable[[State], bool] = lambda state: state is not State.LOCKED,
) -> bytes:
    """What a document writes when its units are filled with what their sources become."""
    for index, unit in enumerate(document.units):
        if only(unit.state):
            document.fill(index, change(unit.source), marked=marked)
    return output(document)


def zipped(parts: Mapping[str, str | bytes], *, stored: str = "") -> bytes:
    """A zip file of parts."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            method = zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            info = zipfile.ZipInfo(name, date_time=(2020, 2, 3, 4, 5, 6))
            archive.writestr(info, data, compress_type=method)
    return file.getvalue()


def part(data: bytes, name: str) -> bytes:
    """A part of a zip file."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return archive.read(name)


def scrambled(content: Content, random: Random) -> Content:
    """A target with the codes of a source, well nested, and its words, all elsewhere."""
    tree: list[list[tuple[str | Code, ...]]] = [[]]
    for item in content:
        if isinstance(item, str):
            words = item.upper().split()
            tree[-1] += [(f" {word} ",) for word in words]
        elif item.form is CodeForm.OPENING:
            tree.append([(item,)])
        elif item.form is CodeForm.CLOSING:
            opening, *inner = tree.pop()
            random.shuffle(inner)
            tree[-1].append((*opening, *(each for piece in inner for each in piece), item))
        else:
            tree[-1].append((item,))
    random.shuffle(tree[0])
    flat = [each for piece in tree[0] for each in piece]
    return tuple(each if isinstance(each, Code) else each.replace("  ", " ") for each in flat)


def first_difference(document: Document, targets: Mapping[int, Content], again: Document) -> str:
    """Where a document that was read again is not what was put into it; empty: nowhere."""
    if len(again.units) != len(document.units):
        return f"{len(again.units)} units and not {len(document.units)}"
    for index, (before, after) in enumerate(zip(document.units, again.units, strict=True)):
        target = targets.get(index)
        sides: list[tuple[Content | None, Content | None]]
        sides = [(before.source, after.source), (before.target, after.target)]
        if target is not None and after.target is None:  # a format of one language
            sides = [(target, after.source)]
        elif target is not None:
            sides[1] = target, after.target
        for meant, found in sides:
            if plain(meant) != plain(found):
                return f"{before.name}: {plain(meant)!r} is read as {plain(found)!r}"
    return ""


def plain(content: Content | None) -> str:
    """Text and markup without white space, and without codes that are properties of text."""
    pieces = (
        item if isinstance(item, str) else "" if item.is_style else f"[{item.markup}]"
        for item in content or ()
    )
    return "".join("".join(pieces).split())
