"""TMX 1.1 to 1.4b, the exchange format of translation memories."""

from __future__ import annotations

from collections.abc import Iterator

from mt.errors import DataError
from mt.formats.file_reader import FileReader
from mt.formats.options import matching
from mt.formats.pair import NO_SOURCE, NO_TARGET, Pair
from mt.formats.xml import Element, children, elements, local_name, text_of

_CODES = frozenset({"bpt", "ept", "ph", "it", "ut"})
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Tmx(FileReader):
    """A translation memory.

    Languages match exactly (en-US) or by their base (en). Where a unit holds several variants of
    a side, each combination is a pair.
    """

    @property
    def languages(self) -> tuple[str, str] | None:
        """Source and target of the first unit, if it holds just two languages.

        The source is the one that the unit or the header names, else the first.
        """
        header_source = ""
        for event, element in elements(self._path, root="tmx", names=frozenset({"header", "tu"})):
            is_header = local_name(element) == "header"
            if is_header:
                header_source = element.get("srclang", "")
            elif event == "end":
                codes = [code for code, _ in _variants(element)]
                if len(codes) != 2:
                    return None
                declared = element.get("srclang", header_source)
                if matching(declared, codes) == [1]:
                    codes.reverse()
                return codes[0], codes[1]
        return None

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; a unit that lacks a side is a pair with a fault.

        Raises DataError for broken XML, and when it is unclear which languages are meant.
        """
        wanted = self._options.languages or self.languages
        if wanted is None:
            raise DataError(
                f"{self._path} does not hold just two languages",
                hint="Say which: --langs SOURCE-TARGET",
            )
        origin = str(self._path)
        for event, unit in elements(self._path, root="tmx", names=frozenset({"tu"})):
            if event == "start":
                continue
            variants = _variants(unit)
            codes = [code for code, _ in variants]
            sources, targets = (matching(code, codes) for code in wanted)
            sources = [i for i in sources if i not in targets] or sources
            targets = [i for i in targets if i not in sources]
            line = int(unit.sourceline or 1)
            if not sources or not targets:
                yield Pair("", "", origin, line, NO_TARGET if sources else NO_SOURCE)
            for source in sources:
                for target in targets:
                    yield Pair(variants[source][1], variants[target][1], origin, line)


def _variants(unit: Element) -> list[tuple[str, str]]:
    """Language code and text of each variant of a unit."""
    found = []
    for variant in children(unit, "tuv"):
        code = variant.get(_XML_LANG) or variant.get("lang") or ""
        text = " ".join(text_of(segment, codes=_CODES) for segment in children(variant, "seg"))
        found.append((code, text))
    return found
