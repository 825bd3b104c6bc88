"""TMX 1.1 to 1.4b, the exchange format of translation memories."""

from __future__ import annotations

from collections.abc import Iterator

from mt.errors import DataError
from mt.formats.file_reader import FileReader
from mt.formats.options import matching
from mt.formats.pair import NO_SOURCE, NO_TARGET, Pair
from mt.formats.standard_input import shown
from mt.formats.xml import Element, children, elements, local_name, readable, text_of

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
        for event, element in self._elements("header", "tu"):
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

    def codes(self) -> tuple[str, ...]:
        """The languages of all units, each once."""
        units = (unit for event, unit in self._elements("tu") if event == "end")
        return tuple(dict.fromkeys(code for unit in units for code, _ in _variants(unit)))

    def __iter__(self) -> Iterator[Pair]:
        """Read the pairs; a unit that lacks a side is a pair with a fault.

        Raises DataError for broken XML, and when it is unclear which languages are meant.
        """
        asked = self._options.languages
        wanted = asked or self.languages
        origin = shown(self._path)
        for event, unit in self._elements("tu"):
            if event == "start":
                continue
            if wanted is None:
                raise _unclear(f"{shown(self._path)} does not hold just two languages")
            variants = _variants(unit)
            codes = [code for code, _ in variants]
            line = int(unit.sourceline or 1)
            if asked is None:
                _require_two(wanted, codes, f"{shown(self._path)}:{line}")
            sources, targets = (matching(code, codes) for code in wanted)
            sources = [i for i in sources if i not in targets] or sources
            targets = [i for i in targets if i not in sources]
            if not sources or not targets:
                yield Pair("", "", origin, line, NO_TARGET if sources else NO_SOURCE)
            for source in sources:
                for target in targets:
                    left, right, fault = readable(variants[source][1], variants[target][1])
                    yield Pair(left, right, origin, line, fault)

    def _elements(self, *names: str) -> Iterator[tuple[str, Element]]:
        return elements(
            self._path,
            root="tmx",
            names=frozenset(names),
            keep_invalid=self._options.keep_invalid,
        )


def _require_two(wanted: tuple[str, str], codes: list[str], where: str) -> None:
    """Raise DataError where a unit has a language beside the two of the first unit."""
    known = {i for code in wanted for i in matching(code, codes)}
    for i, code in enumerate(codes):
        # Where both sides are of one language, its regions tell them apart.
        if i not in known and not any(matching(each, [code]) for each in wanted):
            first, second = wanted
            raise _unclear(f"{where}: there is {code!r} beside {first!r} and {second!r}")


def _unclear(message: str) -> DataError:
    return DataError(message, hint="Say which: --langs SOURCE-TARGET")


def _variants(unit: Element) -> list[tuple[str, str]]:
    """Language code and text of each variant of a unit."""
    found = []
    for variant in children(unit, "tuv"):
        code = variant.get(_XML_LANG) or variant.get("lang") or ""
        text = " ".join(text_of(segment, codes=_CODES) for segment in children(variant, "seg"))
        found.append((code, text))
    return found
