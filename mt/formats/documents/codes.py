"""Codes in content: found in pairs, compared, and put back as the markup that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mt.formats.documents.unit import Code, CodeForm, Content


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A piece of markup before it is known what it goes with."""

    markup: str
    opens: str = ""
    """What it opens, by name."""
    closes: str = ""
    """What it closes, by name. Neither: it stands alone."""
    text: str = ""
    is_break: bool = False


class OpenTags:
    """Tags that wait for the one that closes them."""

    def __init__(self) -> None:
        self._stack: list[tuple[str, int]] = []
        self._names: Counter[str] = Counter()

    def open(self, name: str, index: int) -> None:
        """Add a tag."""
        self._stack.append((name, index))
        self._names[name] += 1

    def close(self, name: str) -> int | None:
        """The index of the last one of a name, if any; those that were opened in it are dropped."""
        if not self._names[name]:
            return None
        while True:
            opened, index = self._stack.pop()
            self._names[opened] -= 1
            if opened == name:
                return index


def paired(pieces: Iterable[str | Tag]) -> Content:
    """Text and tags as text and codes: tags that enclose something are pairs, others stand alone.

    Codes are named by their number. Pairs never cross: of two that would, the inner one is none.
    """
    content: list[str | Code] = []
    open_tags = OpenTags()
    num_codes = 0
    for piece in pieces:
        if isinstance(piece, str):
            if piece and content and isinstance(content[-1], str):
                content[-1] += piece
            elif piece:
                content.append(piece)
            continue
        num_codes += 1
        code = Code(
            form=CodeForm.ISOLATED,
            name=str(num_codes),
            markup=piece.markup,
            text=piece.text,
            is_break=piece.is_break,
        )
        content.append(code)
        if piece.opens:
            open_tags.open(piece.opens, len(content) - 1)
        start = open_tags.close(piece.closes) if piece.closes else None
        if start is not None:
            opening = content[start]
            assert isinstance(opening, Code)
            content[start] = replace(opening, form=CodeForm.OPENING)
            content[-1] = replace(code, form=CodeForm.CLOSING, name=opening.name)
    return tuple(content)


def require_codes(source: Content, target: Content) -> None:
    """Raise ValueError unless a target has the codes of its source, each as often, well nested."""
    wanted, found = (
        Counter(code for code in content if isinstance(code, Code)) for content in (source, target)
    )
    if wanted != found:
        names = sorted({code.markup for code in (wanted - found) + (found - wanted)})
        raise ValueError(f"the codes are not those of the source: {', '.join(names)}")
    open_codes: list[str] = []
    for code in target:
        if isinstance(code, str) or code.form is CodeForm.ISOLATED:
            continue
        if code.form is CodeForm.OPENING:
            open_codes.append(code.name)
        elif not open_codes or open_codes.pop() != code.name:
            raise ValueError(f"the codes are not nested: {code.markup}")


def with_markup(content: Content, escape: Callable[[str], str] = str) -> str:
    """Content as the file has it: the text escaped, codes by their markup."""
    return "".join(escape(piece) if isinstance(piece, str) else piece.markup for piece in content)


def readable(content: Sequence[str | Code]) -> str:
    """What a reader sees."""
    return "".join(
        piece if isinstance(piece, str) else " " if piece.is_break else piece.text
        for piece in content
    )


def is_text(content: Sequence[str | Code]) -> bool:
    """Whether there is anything to translate: a letter outside of codes."""
    return any(isinstance(piece, str) and any(map(str.isalpha, piece)) for piece in content)
