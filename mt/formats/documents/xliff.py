"""XLIFF 1.x and 2.x as documents: targets are filled, and stand where the format wants them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.formats.documents.filled import (
    OTHER_LANGUAGES,
    WITHOUT_TEXT,
    Filled,
    XmlDocument,
    is_of,
)
from mt.formats.documents.inline import text_of
from mt.formats.documents.splices import Edit
from mt.formats.documents.unit import DocumentOptions, Unit
from mt.formats.documents.xliff_1 import TransUnit
from mt.formats.documents.xliff_2 import Segment2, kept_codes, most_characters
from mt.formats.documents.xliff_segment import Holder
from mt.formats.documents.xml_inline import InlineReader
from mt.formats.documents.xml_tags import with_attribute
from mt.formats.documents.xml_tree import Element
from mt.formats.xml import attribute

_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_BINARY = "binary units"


@dataclass(frozen=True, kw_only=True)
class _Scope:
    """What an element says of all that is in it."""

    keeps_spaces: bool = False
    is_locked: bool = False

    def within(self, element: Element) -> _Scope:
        space, translate = element.get(_SPACE), attribute(element, "translate")
        return _Scope(
            keeps_spaces=space == "preserve" if space else self.keeps_spaces,
            is_locked=translate == "no" if translate else self.is_locked,
        )


class Xliff(XmlDocument):
    """A document of translation units; files in it of other languages than asked for stay."""

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__(path, root="xliff")
        self._options = options
        self._holders: list[tuple[Holder, int, Element]] = []
        """For each unit its holder, its index there and the element that names the language."""
        self._reader = InlineReader(self._xml, self._skipped)
        root = self._xml.root
        self._counts_characters = any(
            "codepoints" in attribute(each, "generalProfile")
            for file in root
            for each in file
            if each.name == "profiles"
        )
        found: list[str] = []
        for file in [child for child in root if child.name == "file"]:
            scope = _Scope().within(root).within(file)
            if file.child("body") is not None or not root.get("srcLang"):
                source, target = file.get("source-language"), file.get("target-language")
                declarer = file
            else:
                source, target, declarer = root.get("srcLang"), root.get("trgLang"), root
            if is_of(source, options.source_language) and is_of(target, options.target_language):
                self._read(file, scope, declarer, "")
            else:
                found.append(f"{source}-{target}")
                self._skipped[OTHER_LANGUAGES] += sum(
                    each.name in ("trans-unit", "segment") for each in file.iter()
                )
        if found and not self._units:
            asked = f"{options.source_language}-{options.target_language}"
            raise DataError(f"{self._xml.name} is {found[0]}, and not {asked}")

    def _read(self, element: Element, scope: _Scope, declarer: Element, unit: str) -> None:
        kept: dict[str, str] = {}
        most = None
        if element.name == "unit":
            kept = kept_codes(element)
            most = most_characters(element) if self._counts_characters else None
        for number, child in enumerate(element, 1):
            inner = scope.within(child)
            if child.name == "trans-unit":
                holder: Holder = TransUnit(
                    self._xml,
                    child,
                    self._reader,
                    keeps_spaces=inner.keeps_spaces,
                    is_locked=inner.is_locked,
                )
                self._add(holder, declarer)
            elif child.name == "segment":
                holder = Segment2(
                    self._xml,
                    child,
                    self._reader,
                    name=f"{unit} {child.get('id') or number}".strip(),
                    scope=(inner.keeps_spaces, inner.is_locked),
                    kept=kept,
                    most_characters=most,
                )
                self._add(holder, declarer)
            elif child.name == "unit":
                self._read(child, inner, declarer, child.get("id"))
            elif child.name in ("body", "group"):
                self._read(child, inner, declarer, "")
            elif child.name == "bin-unit":
                self._skipped[_BINARY] += 1

    def _add(self, holder: Holder, declarer: Element) -> None:
        for index, segment in enumerate(holder.segments):
            if not text_of(segment.source.content).strip():
                self._skipped[WITHOUT_TEXT] += 1
                continue
            self._holders.append((holder, index, declarer))
            self._units.append(
                Unit(
                    name=segment.name,
                    source=segment.source.content,
                    target=segment.target,
                    state=segment.state,
                    most_characters=segment.most_characters,
                )
            )

    def _edits(self) -> Iterable[Edit]:
        by_holder: dict[int, tuple[Holder, dict[int, Filled]]] = {}
        declarers: dict[int, Element] = {}
        for index, filled in sorted(self._filled.items()):
            holder, segment, declarer = self._holders[index]
            by_holder.setdefault(id(holder), (holder, {}))[1][segment] = filled
            declarers[id(declarer)] = declarer
        for holder, segments in by_holder.values():
            yield from holder.edits(segments, self._options.target_language)
        for declarer in declarers.values():
            name = "trgLang" if declarer is self._xml.root else "target-language"
            if self._options.target_language and not declarer.get(name):
                tag = with_attribute(
                    self._xml.raw(declarer.opening), name, self._options.target_language
                )
                start, end = declarer.opening
                yield Edit(start=start, end=end, parts=(tag.encode(),))
