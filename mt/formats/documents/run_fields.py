"""Fields of Word: what makes one up is spread over runs, and becomes one code or a pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mt.formats.documents.inline import CLOSING, OPENING, Mark
from mt.formats.documents.run_forms import Atom, RunText
from mt.formats.documents.splices import Part
from mt.formats.documents.xml_tree import Element
from mt.formats.xml import attribute

_DEEPEST_LINK = 8


def field_key(item: Element) -> str:
    """What `joined_fields` has to know of a piece of a run."""
    if item.name == "fldChar":
        return f"field {attribute(item, 'fldCharType')}"
    return f"field code {item.text}" if item.name == "instrText" else ""


def joined_fields(atoms: list[Atom], depth: int = 0) -> Iterator[Atom]:
    """Atoms in which what makes up a field is one code, or a pair around the text of a link."""
    ends = _ends(atoms)
    index = 0
    while index < len(atoms):
        atom = atoms[index]
        last = ends.get(index)
        if last is None or not isinstance(atom, Mark):
            yield replace(atom, key="") if isinstance(atom, Mark) and _is_field(atom) else atom
            index += 1
            continue
        within = atoms[index : last + 1]
        index = last + 1
        middle = next((i for i, each in enumerate(within) if _is_field(each, "separate")), None)
        code = "".join(
            each.key.removeprefix("field code ")
            for each in within[:middle]
            if isinstance(each, Mark) and _is_field(each, "code")
        ).strip()
        if middle is None or code.split()[:1] != ["HYPERLINK"] or depth >= _DEEPEST_LINK:
            shown = within[middle + 1 :] if middle is not None else []
            text = "".join(each.text for each in shown if isinstance(each, RunText))
            yield replace(atom, parts=_all_parts(within), markup=code, text=text, key="")
            continue
        opening = _all_parts(within[: middle + 1])
        key = f"link {atom.parts[0]!r}"
        yield replace(atom, form=OPENING, parts=opening, markup=code, key=key, is_element=True)
        yield from joined_fields(within[middle + 1 : -1], depth + 1)
        closing = _all_parts(within[-1:])
        yield replace(atom, form=CLOSING, parts=closing, markup=code, key=key, is_element=True)


def _ends(atoms: list[Atom]) -> dict[int, int]:
    """For the beginnings of fields their ends, where no element is open at one of them only."""
    ends: dict[int, int] = {}
    opened: list[tuple[int, int]] = []
    level = 0
    for index, atom in enumerate(atoms):
        if not isinstance(atom, Mark):
            continue
        if atom.is_element:
            level += 1 if atom.form is OPENING else -1
            while opened and opened[-1][1] > level:
                opened.pop()
        elif _is_field(atom, "begin"):
            opened.append((index, level))
        elif _is_field(atom, "end") and opened and opened[-1][1] == level:
            ends[opened.pop()[0]] = index
    return ends


def _is_field(atom: Atom, kind: str = "") -> bool:
    return isinstance(atom, Mark) and atom.key.startswith(f"field {kind}")


def _all_parts(atoms: Iterable[Atom]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for atom in atoms:
        parts += atom.form.text_parts(atom.text) if isinstance(atom, RunText) else atom.parts
    return tuple(parts)
