"""Paragraphs of Office documents: text in runs, whose properties become codes.

Runs of equal properties are one text. The properties that most of a paragraph has stand for
themselves; text of others is between a pair of codes. What is no text is an isolated code, written
in a run of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from mt.formats.documents.inline import CLOSING, ISOLATED, OPENING, Coded, Mark, Stream, coded
from mt.formats.documents.splices import Part, Span
from mt.formats.documents.unit import CodeForm, Content
from mt.formats.documents.xml_tree import Aside, Element, XmlFile, escaped, name_of

_CONTAINERS = frozenset(
    {"hyperlink", "ins", "moveTo", "smartTag", "customXml", "sdt", "dir", "bdo"}
)
_DROPPED = frozenset({"proofErr", "lastRenderedPageBreak"})
"""What Word notes of spelling and pages: it is made anew."""

_PROPERTIES = frozenset({"pPr", "rPr", "endParaRPr", "rPh", "phoneticPr"})
_BREAKS = frozenset({"tab", "ptab", "br", "cr"})
_DEEPEST_LINK = 8
_HYPHENS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_HYPHEN = re.compile("([\u2011\u00ad])")
_HYPHEN_NAMES = {hyphen: name for name, hyphen in _HYPHENS.items()}
_RANGE = re.compile(r"(\w+)(Start|End)")
_OF_CHECKING = frozenset({"lang", "altLang", "dirty", "err", "smtClean", "noProof", "bmk"})
"""Properties of a run that do not show."""


@dataclass(frozen=True, kw_only=True)
class RunForm:
    """The properties of a run, and the run that they are taken from."""

    key: bytes
    opening: Span
    properties: Span | None
    closing: Span
    text_tag: str
    namespace: str

    def parts(self, inner: Iterable[Part]) -> Iterator[Part]:
        """A run that holds something."""
        yield self.opening
        if self.properties is not None:
            yield self.properties
        yield from inner
        yield self.closing

    def marked_parts(self, markup: Iterable[Part]) -> Iterator[Part]:
        """A run that holds a piece of markup as its text."""
        tag = self.text_tag
        inner = (f"<{tag}{self._space}>".encode(), *markup, f"</{tag}>".encode())
        return self.parts(inner)

    @property
    def _space(self) -> str:
        return "" if "drawingml" in self.namespace else ' xml:space="preserve"'

    def text_parts(self, text: str) -> Iterator[Part]:
        """A run that holds a text."""
        tag = self.text_tag
        is_word = "wordprocessingml" in self.namespace
        pieces = _HYPHEN.split(text) if is_word else [text]
        inner: list[Part] = []
        for piece in filter(None, pieces):
            if is_word and piece in _HYPHEN_NAMES:
                inner.append(f"<{tag.removesuffix('t')}{_HYPHEN_NAMES[piece]}/>".encode())
            else:
                inner.append(f"<{tag}{self._space}>{escaped(piece)}</{tag}>".encode())
        return self.parts(inner)


@dataclass(frozen=True, kw_only=True)
class _Text:
    text: str
    form: RunForm


_Atom = _Text | Mark


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
        atoms = list(_joined(list(self._walk(self.element))))
        first = next((atom.form for atom in atoms if isinstance(atom, _Text)), None)
        self._base = _base_of(atoms) or first
        self.source: Coded = coded(list(self._stream(atoms)), trims_codes=True)

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

    def _walk(self, container: Element) -> Iterator[_Atom]:
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

    def _container(self, element: Element) -> Iterator[_Atom]:
        content = element.child("sdtContent") if element.name == "sdt" else element
        if content is None:
            yield self._isolated(element.whole)
            return
        key = f"within {element.start}"
        opening, closing = (element.start, content.inner_start), (content.inner_end, element.end)
        yield self._mark(OPENING, (opening,), key=key, is_element=True)
        yield from self._walk(content)
        yield self._mark(CLOSING, (closing,), key=key, is_element=True)

    def _run(self, run: Element) -> Iterator[_Atom]:
        form = self._form(run)
        for item in run.items:
            if isinstance(item, Aside):
                yield self._isolated((item.start, item.end))
            elif isinstance(item, str) or item.name in _PROPERTIES | _DROPPED:
                continue
            elif item.name == "t":
                yield from self._text(item, form)
            elif item.name in _HYPHENS:
                yield _Text(text=_HYPHENS[item.name], form=form)
            else:
                parts = tuple(form.parts([item.whole]))
                yield self._mark(
                    ISOLATED,
                    parts,
                    markup=self.xml.raw(item.opening),
                    is_break=item.name in _BREAKS,
                    key=_field_key(item),
                )

    def _text(self, element: Element, form: RunForm) -> Iterator[_Atom]:
        for piece in self.split(element.text):
            if isinstance(piece, str):
                yield _Text(text=piece, form=form)
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
            markup = self.xml.raw((parts[0][0], min(parts[0][1], parts[0][0] + 200)))
        return Mark(
            form=form,
            markup=markup,
            parts=parts,
            key=key,
            text=text,
            is_break=is_break,
            is_element=is_element,
        )

    def _stream(self, atoms: list[_Atom]) -> Iterator[str | Mark]:
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
            is_base = atom.form.key == base_now.key
            if current is not None and atom.form.key == current.key:
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
        return Mark(form=form, markup=markup, parts=(), key=key, is_element=True)


def _base_of(atoms: list[_Atom], start: int = 0) -> RunForm | None:
    """The properties that most of a text has, up to the end of what it stands in."""
    lengths: Counter[bytes] = Counter()
    forms: dict[bytes, RunForm] = {}
    depth = 0
    for index in range(start, len(atoms)):
        atom = atoms[index]
        if isinstance(atom, _Text):
            if depth == 0:
                lengths[atom.form.key] += len(atom.text.strip())
                forms.setdefault(atom.form.key, atom.form)
        elif atom.is_element:
            depth += 1 if atom.form is OPENING else -1
            if depth < 0:
                break
    return forms[lengths.most_common(1)[0][0]] if lengths else None


def _field_key(item: Element) -> str:
    """What `_Fields` has to know of a piece of a run."""
    if item.name == "fldChar":
        return (
            f"field {next((v for k, v in item.attrib.items() if k.endswith('}fldCharType')), '')}"
        )
    return f"field code {item.text}" if item.name == "instrText" else ""


def _joined(atoms: list[_Atom], depth: int = 0) -> Iterator[_Atom]:
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
            text = "".join(each.text for each in shown if isinstance(each, _Text))
            yield replace(atom, parts=_all_parts(within), markup=code, text=text, key="")
            continue
        opening = _all_parts(within[: middle + 1])
        key = f"link {index}-{depth}"
        yield replace(atom, form=OPENING, parts=opening, markup=code, key=key, is_element=True)
        yield from _joined(within[middle + 1 : -1], depth + 1)
        closing = _all_parts(within[-1:])
        yield replace(atom, form=CLOSING, parts=closing, markup=code, key=key, is_element=True)


def _ends(atoms: list[_Atom]) -> dict[int, int]:
    """For the beginnings of fields their ends, where no element begins or ends between only."""
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


def _is_field(atom: _Atom, kind: str = "") -> bool:
    return isinstance(atom, Mark) and atom.key.startswith(f"field {kind}")


def _all_parts(atoms: Iterable[_Atom]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for atom in atoms:
        parts += atom.form.text_parts(atom.text) if isinstance(atom, _Text) else atom.parts
    return tuple(parts)


def _text_of(element: Element) -> str:
    return "".join(each.text for each in element.iter() if each.name == "t")
