"""Paragraphs in an order that no translation changes, where some stand within others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mt.formats.documents.xml_tree import Element, XmlFile

_Test = Callable[[Element], bool]
_Found = tuple[Element, tuple[Element, ...]]
"""A paragraph and the elements that it stands in."""


@dataclass(frozen=True, kw_only=True)
class Paragraphs:
    """The paragraphs of a file; what stays holds none."""

    xml: XmlFile
    is_paragraph: _Test
    stays: _Test

    def within(self, root: Element) -> Iterator[Element]:
        """The paragraphs in an element, each before those in it.

        A translation may put the notes and frames of a paragraph in another order: so those within
        one go by the tags that they stand in, and only then by their place.
        """
        for element, _ in self._outermost(root, ()):
            yield element
            inner = list(self._inner(element))
            yield from (each for each, _ in sorted(inner, key=self._tags))

    def _tags(self, found: _Found) -> list[str]:
        return [self.xml.raw(element.opening) for element in found[1]]

    def _inner(self, paragraph: Element) -> Iterator[_Found]:
        for element, around in self._outermost(paragraph, ()):
            yield element, around
            for inner, more in self._inner(element):
                yield inner, (*around, *more)

    def _outermost(self, element: Element, around: tuple[Element, ...]) -> Iterator[_Found]:
        for child in element:
            if self.is_paragraph(child):
                yield child, around
            elif not self.stays(child):
                yield from self._outermost(child, (*around, child))
