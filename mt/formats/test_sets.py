"""Test sets of the WMT: SGML, a file for each side, and XML with both."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mt.formats.file_reader import FileReader
from mt.formats.options import matching
from mt.formats.pair import INVALID, NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.text import read_lines
from mt.formats.two_files import TwoFiles
from mt.formats.xml import Element, children, elements, local_name, readable, text_of

_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_INNER = re.compile(r"</?[a-zA-Z][^<>]*>")
_INVALID = "\ufdd1"


@dataclass(frozen=True, kw_only=True)
class _Segment:
    key: tuple[str, str]
    """Of its document and itself."""
    text: str
    line: int


class SgmlTestSet(TwoFiles):
    """A source and a reference set. Segments are paired by document and number."""

    @property
    def languages(self) -> tuple[str, str] | None:
        """What the sets declare, else the suffixes of the files."""
        found = _set_attributes(self._target)
        source = found.get("srclang") or _set_attributes(self._source).get("srclang", "")
        target = found.get("trglang") or found.get("tgtlang", "")
        known = source and target and "any" not in (source.lower(), target.lower())
        return (source, target) if known else super().languages

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; of several references each is one."""
        sources, targets = (
            list(_segments(path, keep_invalid=self._options.keep_invalid, hint=self._options.hint))
            for path in (self._source, self._target)
        )
        references: dict[tuple[str, str], list[_Segment]] = {}
        for segment in targets:
            references.setdefault(segment.key, []).append(segment)
        seen = set()
        for segment in sources:
            seen.add(segment.key)
            for reference in references.get(segment.key, []):
                left, right = segment.text, reference.text
                fault = INVALID if _INVALID in left + right else ""
                yield Pair(left, right, shown(self._source), segment.line, fault)
            if segment.key not in references:
                yield Pair(segment.text, "", shown(self._source), segment.line, NO_TARGET)
        for segment in targets:
            if segment.key not in seen:
                yield Pair("", segment.text, shown(self._target), segment.line, NO_SOURCE)


def _text(path: Path, *, keep_invalid: bool, hint: str) -> str:
    lines = read_lines(path, keep_invalid=keep_invalid, hint=hint, is_plain=False)
    return "\n".join(_INVALID if line is None else line for line in lines)


def _set_attributes(path: Path) -> dict[str, str]:
    for line in read_lines(path, keep_invalid=True, is_plain=False):
        tag = _TAG.search(line or "")
        if tag is not None:
            return _attributes(tag[3])
    return {}


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(text)}


def _segments(path: Path, *, keep_invalid: bool, hint: str) -> Iterator[_Segment]:
    text = _text(path, keep_invalid=keep_invalid, hint=hint)
    document, number, start = "", "", -1
    count = 0
    line, begin, place = 1, 1, 0
    for tag in _TAG.finditer(text):
        line += text.count("\n", place, tag.start())
        place = tag.start()
        name, is_end = tag[2].lower(), bool(tag[1])
        if start >= 0:  # a segment ends at its end, or at the next tag
            plain = html.unescape(_INNER.sub(" ", text[start : tag.start()]))
            yield _Segment(key=(document, number), text=" ".join(plain.split()), line=begin)
            start = -1
        if is_end:
            continue
        if name == "doc":
            document, count = _attributes(tag[3]).get("docid", ""), 0
        elif name == "seg":
            count += 1
            number = _attributes(tag[3]).get("id", str(count))
            start, begin = tag.end(), line


class XmlTestSet(FileReader):
    """Documents with a source, and references of one or several translators."""

    @property
    def languages(self) -> tuple[str, str] | None:
        """Those of the first document with both sides."""
        for event, document in self._documents():
            if event == "end":
                found = [
                    _lang(side) for name in ("src", "ref") for side in children(document, name)[:1]
                ]
                if len(found) == 2 and all(found):
                    return found[0], found[1]
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; hypotheses of systems are none."""
        origin = shown(self._path)
        wanted = self._options.languages or self.languages
        for event, document in self._documents():
            if event == "start":
                continue
            sides = [*children(document, "src"), *children(document, "ref")]
            sources, targets = sides[:1], sides[1:]
            if wanted is not None:
                sources, targets = (
                    [s for s in sides if not _lang(s) or matching(want, [_lang(s)])]
                    for want in wanted
                )
            for source in sources[:1]:
                for target in targets or [None]:
                    yield from _paired(source, target, origin)
            if not sources:
                yield Pair("", "", origin, int(document.sourceline or 1), NO_SOURCE)

    def _documents(self) -> Iterator[tuple[str, Element]]:
        return elements(
            self._path,
            root="dataset",
            names=frozenset({"doc"}),
            keep_invalid=self._options.keep_invalid,
        )


def _lang(side: Element) -> str:
    return str(side.get("lang", ""))


def _paired(source: Element, target: Element | None, origin: str) -> Iterator[Pair]:
    translations = {} if target is None else dict(_numbered(target))
    for number, segment in _numbered(source):
        found = translations.pop(number, None)
        left, right, fault = readable(
            text_of(segment, codes=frozenset()),
            "" if found is None else text_of(found, codes=frozenset()),
        )
        missing = NO_TARGET if found is None else ""
        yield Pair(left, right, origin, int(segment.sourceline or 1), missing or fault)
    for segment in translations.values():
        yield Pair(
            "", text_of(segment, codes=frozenset()), origin, int(segment.sourceline or 1), NO_SOURCE
        )


def _numbered(side: Element) -> Iterator[tuple[str, Element]]:
    segments = [each for each in side.iter() if local_name(each) == "seg"]
    for count, segment in enumerate(segments, start=1):
        yield segment.get("id", str(count)), segment
