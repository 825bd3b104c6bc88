"""Text and codes of an element of XLIFF or TMX, by the names that both formats share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from mt.formats.documents.embedded import embedded
from mt.formats.documents.inline import CLOSING, ISOLATED, OPENING, Mark, Stream, has_letters
from mt.formats.documents.splices import Part
from mt.formats.documents.unit import CodeForm
from mt.formats.documents.xml_tags import escaped
from mt.formats.documents.xml_tree import Aside, Element, XmlFile
from mt.formats.xml import attribute, is_break

TEXT_IN_CODES = "text within codes"

_OPENINGS = frozenset({"bx", "bpt", "sc", "sm"})
_CLOSINGS = frozenset({"ex", "ept", "ec", "em"})
_ISOLATED = frozenset({"x", "ph", "it", "ut", "cp"})
_ANGULAR = re.compile(r"(START|CLOSE)_([A-Z0-9_]+)$")
_PLACEHOLDER = re.compile(
    r"%(?:\d+\$)?[-+ #0']*\d*(?:\.\d+)?(?:hh|ll|[hlqzjtL])?[@A-Za-z]|%\(\w+\)[a-z]|%\{\w+\}|%\w+%"
    r"|[$#]?\{\{?[^{}<>]{1,100}\}\}?|\$\w+\$?|\[\[?%?\w+\]?\]"
)
_SHOWN = ("equiv-text", "equiv", "disp")


class InlineReader:
    """Reads elements of one file; `data` is what XLIFF 2 keeps of codes elsewhere."""

    def __init__(self, xml: XmlFile, skipped: Counter[str]) -> None:
        self._xml = xml
        self._skipped = skipped

    def stream(
        self, element: Element, *, keeps_spaces: bool, data: Mapping[str, str] | None = None
    ) -> Stream:
        """Text and marks within an element."""
        return list(self._items(element, keeps_spaces, data or {}))

    def _items(
        self, element: Element, keeps_spaces: bool, data: Mapping[str, str]
    ) -> Iterable[str | Mark]:
        for item in element.items:
            if isinstance(item, str):
                yield from embedded(
                    item,
                    _escaped,
                    keeps_spaces=keeps_spaces,
                    newline=self._xml.newline,
                )
            elif isinstance(item, Aside):
                yield self._mark(ISOLATED, (item.start, item.end))
            elif _is_pair(item):
                key, breaks = f"element {item.start}", is_break(item, with_content=False)
                yield self._mark(OPENING, item.opening, key, is_break=breaks, is_element=True)
                yield from self._items(item, keeps_spaces, data)
                yield self._mark(CLOSING, item.closing, key, is_element=True)
            else:
                yield self._code(item, data)

    def _code(self, element: Element, data: Mapping[str, str]) -> Mark:
        self._skipped[TEXT_IN_CODES] += sum(
            has_letters(each.text) for each in element.iter() if each.name == "sub"
        )
        self._skipped += Counter()  # forgets zeros
        form, key = _form(element)
        shown = [attribute(element, name) for name in _SHOWN]
        kept = data.get(element.get("dataRef"), "")
        text = element.text if element.name == "mrk" else _placeholder([*shown, kept, element.text])
        breaks = is_break(element) or kept.lower().startswith("<br")
        return self._mark(form, element.whole, key, text=text, is_break=breaks)

    def _mark(
        self,
        form: CodeForm,
        span: tuple[int, int],
        key: str = "",
        *,
        text: str = "",
        is_break: bool = False,
        is_element: bool = False,
    ) -> Mark:
        return Mark(
            form=form,
            markup=self._xml.raw(span),
            parts=(span,),
            key=key,
            text=text,
            is_break=is_break,
            is_element=is_element,
        )


def text_parts(text: str) -> Iterable[Part]:
    """A text of a target as XML holds it."""
    return (_escaped(text),)


def _is_pair(element: Element) -> bool:
    """Whether an element holds text to translate."""
    if element.name in _OPENINGS | _CLOSINGS | _ISOLATED or element.inner_end == element.end:
        return False
    return not (
        element.name == "mrk"
        and (element.get("mtype") == "protected" or attribute(element, "translate") == "no")
    )


def _form(element: Element) -> tuple[CodeForm, str]:
    """The form of a code, and what its two halves share."""
    name = element.name
    if name in _OPENINGS or name in _CLOSINGS:
        kind = "mark" if name in ("sm", "em") else "code"
        own = [element.get(each) for each in ("startRef", "rid", "i", "id")]
        key = f"{kind} {next(filter(None, own), '')}"
        return OPENING if name in _OPENINGS else CLOSING, key
    angular = _ANGULAR.match(element.get("id")) if name == "x" else None
    if angular is not None:
        return OPENING if angular[1] == "START" else CLOSING, f"angular {angular[2]}"
    return ISOLATED, ""


def _placeholder(candidates: Iterable[str]) -> str:
    """The first of some texts that looks like a placeholder, which stands for a word."""
    return next((each for each in candidates if _PLACEHOLDER.fullmatch(each.strip())), "")


def _escaped(text: str) -> bytes:
    return escaped(text).encode("utf-8")
