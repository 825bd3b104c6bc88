"""Markdown by markdown-it: blocks with their lines, inline markup with its spans.

markdown-it gives tokens without places; the rules that make inline tokens are watched here, and
what they read is the span of a token. This is the only module that imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import (
    StateInline,
    autolink,
    backtick,
    emphasis,
    entity,
    escape,
    html_inline,
    image,
    link,
    newline,
    strikethrough,
)
from markdown_it.token import Token

_Rule = Callable[[StateInline, bool], bool]

_RULES: dict[str, _Rule] = {
    "newline": newline,
    "escape": escape,
    "backticks": backtick,
    "strikethrough": strikethrough.tokenize,
    "emphasis": emphasis.tokenize,
    "link": link,
    "image": image,
    "autolink": autolink,
    "html_inline": html_inline,
    "entity": entity,
}
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:[ \t]*")

References = dict[str, dict[str, str]]
"""What the links of a document refer to, as markdown-it keeps it."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A piece of inline markup in the content of a block."""

    start: int
    end: int
    type: str
    """That of markdown-it's token: em_open, code_inline, softbreak …"""
    text: str
    """What it shows, where it is no pair and no line end."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A paragraph, heading or cell: its content without what stands before each line."""

    type: str
    """That of the token that opens it: paragraph_open, heading_open, td_open …"""
    content: str
    lines: tuple[int, int]
    """Those of the file, from 0, the end excluded."""


class Parser:
    """CommonMark with tables, strikethrough and footnotes."""

    def __init__(self) -> None:
        self._blocks = MarkdownIt("commonmark").enable("table")
        self._blocks.core.ruler.enableOnly(["normalize", "block"])
        self._blocks.block.ruler.before(
            "reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]}
        )
        self._inline = MarkdownIt("commonmark").enable("strikethrough")
        self._inline.core.ruler.disable("text_join")
        for name, rule in _RULES.items():
            self._inline.inline.ruler.at(name, _watched(rule))

    def blocks(self, text: str) -> tuple[list[Block], dict[str, int], References]:
        """The blocks with text, the other ones counted by type, and what links refer to."""
        environment: dict[str, References] = {}
        tokens = self._blocks.parse(text, environment)
        blocks, others, opened = [], dict[str, int](), ""
        for token in tokens:
            if token.type == "inline" and token.map is not None:
                lines = (token.map[0], token.map[1])
                blocks.append(Block(type=opened, content=token.content, lines=lines))
            elif token.nesting == 1:
                opened = token.type
            elif token.type in ("fence", "code_block", "html_block"):
                others[token.type] = others.get(token.type, 0) + 1
        return blocks, others, environment.get("references", {})

    def types(self, text: str) -> list[str]:
        """The types of the tokens of the blocks of a text, to compare its structure."""
        return [token.type for token in self._blocks.parse(text)]

    def marks(self, content: str, references: References) -> list[Mark]:
        """The inline markup of a content, in order; raises RecursionError for deep nesting."""
        tokens = self._inline.parseInline(content, {"references": references})
        return sorted(_marks(tokens[0].children or []), key=lambda mark: mark.start)


def _marks(tokens: list[Token]) -> Iterator[Mark]:
    for token in tokens:
        span, label = token.meta.get("span"), token.meta.get("label_end", -1)
        if span is None or token.type == "text":
            continue
        start, end = span
        if token.type == "strong_open":
            start -= 1
        elif token.type == "strong_close":
            end += 1
        is_plain = all(child.type == "text" for child in token.children or [])
        if token.type == "image" and is_plain and token.content:
            yield Mark(start=start, end=start + 2, type="image_open", text="")
            yield Mark(start=label, end=end, type="image_close", text="")
        else:
            yield Mark(start=start, end=end, type=token.type, text=token.content)


def _watched(rule: _Rule) -> _Rule:
    """A rule whose tokens know which characters it read for them."""

    def watched(state: StateInline, silent: bool) -> bool:
        start, num_tokens = state.pos, len(state.tokens)
        label_end = -1
        if not silent and rule in (link, image):
            label = start + (rule is image)
            if state.src.startswith("[", label):
                label_end = state.md.helpers.parseLinkLabel(state, label, rule is link)
        done = rule(state, silent)
        if done and not silent:
            tokens = [token for token in state.tokens[num_tokens:] if "span" not in token.meta]
            _place(rule, tokens, (start, state.pos), label_end)
        return done

    return watched


def _place(rule: _Rule, tokens: list[Token], span: tuple[int, int], label_end: int) -> None:
    """Note in tokens which characters they are of; a text may have been pushed before them."""
    start, end = span
    if rule is link:
        opening = next(token for token in tokens if token.type == "link_open")
        opening.meta["span"] = start, start + 1
        tokens[-1].meta["span"] = label_end, end
    elif rule in (emphasis.tokenize, strikethrough.tokenize):
        for token in reversed(tokens):
            if end <= start or not token.content:
                break
            token.meta["span"] = end - len(token.content), end
            end -= len(token.content)
    elif rule is autolink:
        opening = next(token for token in tokens if token.type == "link_open")
        opening.type, opening.content = "autolink", tokens[-2].content
        opening.meta["span"] = span
    elif tokens:
        tokens[-1].meta |= {"span": span, "label_end": label_end}


def _footnote(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """The text of a footnote, up to the next one or a blank line, as a paragraph."""
    if state.is_code_block(start_line):
        return False
    place = state.bMarks[start_line] + state.tShift[start_line]
    found = _FOOTNOTE.match(state.src, place, state.eMarks[start_line])
    if found is None:
        return False
    if silent:
        return True
    following = start_line + 1
    terminators = state.md.block.ruler.getRules("paragraph")
    while following < end_line and not state.isEmpty(following):
        if any(rule(state, following, end_line, True) for rule in terminators):
            break
        following += 1
    state.push("paragraph_open", "p", 1).map = [start_line, following]
    token = state.push("inline", "", 0)
    token.map = [start_line, following]
    token.content = state.getLines(start_line, following, state.blkIndent, False).strip()
    token.content = token.content[found.end() - found.start() :]
    token.children = []
    state.push("paragraph_close", "p", -1)
    state.line = following
    return True
