"""Paragraphs of Office documents: text in runs, whose properties become codes.

Runs of equal properties are one text. The properties that most of a paragraph has stand for
themselves; text of others is between a pair of codes. What is no text is an isolated code, written
in a run of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from mt.formats.documents.inline import CLOSING, ISOLATED, OPENING, Coded, Mark, Stream, coded
from mt.formats.documents.run_fields import field_key, joined_fields
from mt.formats.documents.run_forms import HYPHENS, Atom, RunForm, RunText
from mt.formats.documents.splices import Part, Span
from mt.formats.documents.unit import CodeForm, Content
from mt.formats.documents.xml_tags import name_of, tag_at
from mt.formats.documents.xml_tree import Aside, Element, XmlFile

_CONTAINERS = frozenset(
    {"hyperlink", "ins", "moveTo", "smartTag", "customXml", "sdt", "dir", "bdo"}
)
_DROPPED = frozenset({"proofErr", "lastRenderedPageBreak"})
"""What Word notes of spelling and pages: it is made anew."""

_PROPERTIES = frozenset({"pPr", "rPr", "endParaRPr", "rPh", "phoneticPr"})
_BREAKS = frozenset({"tab", "ptab", "br", "cr"})
_RANGE = re.compile(r"(\w+)(Start|End)")
_OF_CHECKING = frozenset({"lang", "altLang", "dirty", "err", "smtClean", "noProof", "bmk"})
"""Properties of a run that do not show."""


@dataclass
class Paragraph:
    """A paragraph (or the text of a cell) whose text can be replaced."""

    xml: XmlFile
    element: Element
    split: Callable[[str], Stream]
    """Gives the marks that stand in a text of a run."""
    _forms: dict[str, RunForm | None] = field(default_factory=dict)
    """Which properties text has from an opening mark on, by its key."""

    def __post_init__(self) -> None:
        atoms = list(joined_fields(list(self._walk(self.element))))
        first = next((atom.form for atom in atoms if isinstance(atom, RunText)), None)
        self._base = _base_of(atoms) or first
        self.source: Coded = coded(list(self._stream(atoms)))

    @property
    def span(self) -> Span:
        """What a target takes the place of."""
        start, end = self.element.inner
        for child in self.element:
            if child.name == "pPr":
                start = child.end
            elif child.name in ("endParaRPr", "rPh", "phoneticPr"):
                end = min(end, child.start)
        return start, end

    def parts(self, target: Content) -> Iterator[Part]:
        """What is written for a target."""
        forms = [self._base]
        for item in self.source.stream(target):
            form = forms[-1]
            if isinstance(item, str):
                assert form is not None
                yield from form.text_parts(item)
                continue
            yield from item.parts
            if item.key in self._forms and item.form is OPENING:
                forms.append(self._forms[item.key] or form)
            elif item.key in self._forms and item.form is CLOSING:
                forms.pop()

    def _walk(self, container: Element) -> Iterator[Atom]:
        for item in container.items:
            if isinstance(item, Aside):
                yield self._isolated((item.start, item.end))
            elif isinstance(item, str) or item.name in _PROPERTIES | _DROPPED:
                continue
            elif item.name == "r":
                yield from self._run(item)
            elif item.name == "t":
                yield from self._text(item, self._bare_form(item))
            elif item.name in _CONTAINERS and item.inner_start < item.inner_end:
                yield from self._container(item)
            elif item.name == "fldSimple" or item.name == "fld":
                yield self._isolated(item.whole, text=_text_of(item))
            elif (found := _RANGE.fullmatch(item.name)) is not None:
                number = next((v for k, v in item.attrib.items() if k.endswith("}id")), "")
                form = OPENING if found[2] == "Start" else CLOSING
                yield self._mark(form, (item.whole,), key=f"{found[1]} {number}")
            else:
                yield self._isolated(item.whole, is_break=item.name in _BREAKS)

    def _container(self, element: Element) -> Iterator[Atom]:
        content = element.child("sdtContent") if element.name == "sdt" else element
        if content is None:
            yield self._isolated(element.whole)
            return
        key = f"within {element.start}"
        opening, closing = (element.start, content.inner_start), (content.inner_end, element.end)
        yield self._mark(OPENING, (opening,), key=key, is_element=True)
        yield from self._walk(content)
        yield self._mark(CLOSING, (closing,), key=key, is_element=True)

    def _run(self, run: Element) -> Iterator[Atom]:
        form = self._form(run)
        for item in run.items:
            if isinstance(item, Aside):
                yield self._isolated((item.start, item.end))
            elif isinstance(item, str) or item.name in _PROPERTIES | _DROPPED:
                continue
            elif item.name == "t":
                yield from self._text(item, form)
            elif item.name in HYPHENS:
                yield RunText(text=HYPHENS[item.name], form=form)
            else:
                parts = tuple(form.parts([item.whole]))
                yield self._mark(
                    ISOLATED,
                    parts,
                    markup=self.xml.raw(item.opening),
                    is_break=item.name in _BREAKS,
                    key=field_key(item),
                )

    def _text(self, element: Element, form: RunForm) -> Iterator[Atom]:
        for piece in self.split(element.text):
            if isinstance(piece, str):
                yield RunText(text=piece, form=form)
            else:
                yield replace(piece, parts=tuple(form.marked_parts(piece.parts)))

    def _bare_form(self, text: Element) -> RunForm:
        """The form of a text that stands in no run."""
        return RunForm(
            key=b"",
            opening=(text.start, text.start),
            properties=None,
            closing=(text.end, text.end),
            text_tag=name_of(self.xml.raw(text.opening)),
            namespace=text.tag.partition("}")[0],
        )

    def _form(self, run: Element) -> RunForm:
        properties = run.child("rPr")
        prefix, colon, _ = name_of(self.xml.raw(run.opening)).rpartition(":")
        key = b""
        if properties is not None:
            attributes = {
                key: value
                for key, value in properties.attrib.items()
                if key not in _OF_CHECKING and value
            }
            children = b"".join(
                self.xml.data[child.start : child.end]
                for child in properties
                if child.name not in _OF_CHECKING
            )
            key = (repr(sorted(attributes.items())) if attributes else "").encode() + children
        return RunForm(
            key=key,
            opening=run.opening,
            properties=properties.whole if properties is not None else None,
            closing=run.closing,
            text_tag=f"{prefix}{colon}t",
            namespace=run.tag.partition("}")[0],
        )

    def _isolated(self, span: Span, *, text: str = "", is_break: bool = False) -> Mark:
        return self._mark(ISOLATED, (span,), text=text, is_break=is_break)

    def _mark(
        self,
        form: CodeForm,
        parts: tuple[Part, ...],
        *,
        key: str = "",
        markup: str = "",
        text: str = "",
        is_break: bool = False,
        is_element: bool = False,
    ) -> Mark:
        if not markup and isinstance(parts[0], tuple):
            markup = tag_at(self.xml, parts[0])
        return Mark(
            form=form,
            markup=markup,
            parts=parts,
            key=key,
            text=text,
            is_break=is_break,
            is_element=is_element,
        )

    def _stream(self, atoms: list[Atom]) -> Iterator[str | Mark]:
        """Text and marks, with pairs around text whose properties are not those around it."""
        bases = [self._base]
        current: RunForm | None = None
        waiting: list[Mark] = []
        for index, atom in enumerate(atoms):
            if isinstance(atom, Mark):
                if not atom.is_element:
                    waiting.append(atom)
                    continue
                yield from self._closed(current, waiting)
                current = None
                if atom.form is OPENING:
                    base = _base_of(atoms, index + 1)
                    self._forms[atom.key] = base
                    bases.append(base or bases[-1])
                else:
                    bases.pop()
                yield atom
                continue
            base_now = bases[-1]
            assert base_now is not None
            key = atom.form.key
            if not atom.text.strip() and not atom.form.shows_spaces:
                key = current.key if current is not None else base_now.key
            is_base = key == base_now.key
            if current is not None and key == current.key:
                yield from waiting
            else:
                yield from self._closed(current, waiting)
                current = None if is_base else atom.form
                if current is not None:
                    yield self._format(OPENING, current)
            waiting = []
            yield atom.text
        yield from self._closed(current, waiting)

    def _closed(self, current: RunForm | None, waiting: list[Mark]) -> Iterator[Mark]:
        if current is not None:
            yield self._format(CLOSING, current)
        yield from waiting
        waiting.clear()

    def _format(self, form: CodeForm, run: RunForm) -> Mark:
        key = f"format {run.opening[0]}"
        self._forms[key] = run
        markup = self.xml.raw(run.properties) if run.properties is not None else "<r>"
        return Mark(form=form, markup=markup, parts=(), key=key, is_style=True, is_element=True)


def _base_of(atoms: list[Atom], start: int = 0) -> RunForm | None:
    """The properties that most of a text has, up to the end of what it stands in."""
    lengths: Counter[bytes] = Counter()
    forms: dict[bytes, RunForm] = {}
    depth = 0
    for index in range(start, len(atoms)):
        atom = atoms[index]
        if isinstance(atom, RunText):
            if depth == 0:
                lengths[atom.form.key] += len(atom.text.strip())
                forms.setdefault(atom.form.key, atom.form)
        elif atom.is_element:
            depth += 1 if atom.form is OPENING else -1
            if depth < 0:
                break
    return forms[lengths.most_common(1)[0][0]] if lengths else None


def _text_of(element: Element) -> str:
    return "".join(each.text for each in element.iter() if each.name == "t")
