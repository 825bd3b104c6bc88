"""Translation files of Qt (.ts): what is not finished is filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.embedded import embedded
from mt.formats.documents.filled import WITHOUT_TEXT, Filled, XmlDocument, is_of
from mt.formats.documents.inline import ISOLATED, Coded, Mark, Stream, coded, text_of, written
from mt.formats.documents.splices import Edit, Part
from mt.formats.documents.unit import DocumentOptions, State, Unit
from mt.formats.documents.xml_tags import escaped, indent_before, with_attribute, with_content
from mt.formats.documents.xml_tree import Element

_OBSOLETE = frozenset({"obsolete", "vanished"})
_VARIANTS = "variants of lengths"
_WITHOUT_FORMS = "plurals without forms to fill"


@dataclass
class _Message:
    source: Element
    coded: Coded
    translation: Element | None
    forms: list[Element] = field(default_factory=list)
    """The plural forms; none for a message without."""


class Qt(XmlDocument):
    """A file of messages. Those that are obsolete stay."""

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__(path, root="TS")
        self._options = options
        root = self._xml.root
        languages = root.get("sourcelanguage"), root.get("language")
        asked = options.source_language, options.target_language
        if not all(map(is_of, languages, asked)):
            found = "-".join(languages)
            raise DataError(f"{self._xml.name} is {found}, and not {'-'.join(asked)}")
        self._places: list[tuple[_Message, int]] = []
        for element in root:
            if element.name == "message":
                self._read(element, "")
            context = element.child("name") if element.name == "context" else None
            for message in element if element.name == "context" else ():
                if message.name == "message":
                    self._read(message, context.text if context is not None else "")

    def _read(self, element: Element, context: str) -> None:
        source, translation = element.child("source"), element.child("translation")
        kind = translation.get("type") if translation is not None else ""
        if kind in _OBSOLETE:
            self._skipped[kind] += 1
            return
        if source is None or not source.text.strip():
            self._skipped[WITHOUT_TEXT] += 1
            return
        if translation is not None and translation.get("variants") == "yes":
            self._skipped[_VARIANTS] += 1
            return
        message = _Message(source, coded(self._stream(source)), translation)
        places = [translation]
        if element.get("numerus") == "yes":
            message.forms = [] if translation is None else list(translation)
            places = list(message.forms)
            if not places:
                self._skipped[_WITHOUT_FORMS] += 1
                return
        name = " ".join(filter(None, [context, element.get("id") or _start_of(source.text)]))
        for index, place in enumerate(places):
            target = coded(self._stream(place)).content if place is not None else ()
            state = State.FILLED
            if not text_of(target).strip():
                state = State.EMPTY
            elif kind == "unfinished":
                state = State.DOUBTFUL
            self._places.append((message, index))
            self._units.append(
                Unit(
                    name=f"{name} [{index}]" if message.forms else name,
                    source=message.coded.content,
                    target=target or None,
                    state=state,
                )
            )

    def _stream(self, element: Element) -> Stream:
        stream: list[str | Mark] = []
        for item in element.items:
            if isinstance(item, str):
                stream += embedded(item, _escaped, newline=self._xml.newline)
            else:
                span = item.start, item.end
                mark = Mark(form=ISOLATED, markup=self._xml.raw(span), parts=(span,))
                stream.append(mark)
        return stream

    def _edits(self) -> Iterator[Edit]:
        by_message: dict[int, tuple[_Message, dict[int, Filled]]] = {}
        for index, filled in sorted(self._filled.items()):
            message, place = self._places[index]
            by_message.setdefault(id(message), (message, {}))[1][place] = filled
        for message, forms in by_message.values():
            yield self._edit(message, forms)
        language = self._options.target_language
        root = self._xml.root
        if language and not root.get("language"):
            tag = with_attribute(self._xml.raw(root.opening), "language", language)
            yield Edit(start=root.start, end=root.inner_start, parts=(tag.encode(),))

    def _edit(self, message: _Message, filled: dict[int, Filled]) -> Edit:
        targets = {
            index: written(message.coded.stream(each.target), _text_parts)
            for index, each in filled.items()
        }
        translation = message.translation
        is_open = any(each.marked for each in filled.values())
        inner: list[Part] = []
        if translation is not None and message.forms:
            place = translation.inner_start
            for index, form in enumerate(message.forms):
                inner.append((place, form.start))
                if index in targets:
                    inner += with_content(self._xml.raw(form.opening), targets[index])
                else:
                    inner.append(form.whole)
                    is_open = is_open or not form.text.strip()
                place = form.end
            inner.append((place, translation.inner_end))
        else:
            inner += targets[0]
        if translation is None:
            indent = indent_before(self._xml, message.source)
            opening = '<translation type="unfinished">' if is_open else "<translation>"
            after = message.source.end
            parts = (indent, *with_content(opening, tuple(inner)))
            return Edit(start=after, end=after, parts=parts)
        opening = self._xml.raw(translation.opening)
        opening = with_attribute(opening, "type", "unfinished" if is_open else None)
        return Edit(
            start=translation.start,
            end=translation.end,
            parts=with_content(opening, tuple(inner)),
        )


def _start_of(text: str) -> str:
    """The beginning of a text, as a name."""
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def _escaped(text: str) -> bytes:
    """Text as Qt's tools write it."""
    return escaped(text).replace('"', "&quot;").replace("'", "&apos;").encode("utf-8")


def _text_parts(text: str) -> tuple[bytes]:
    return (_escaped(text),)
