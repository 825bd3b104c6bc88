"""Scalars of YAML with their spans, and others written in their place in the same style.

What is written is read again; where it would be something else in its style, it gets double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from mt.errors import DataError
from mt.formats.documents.text_file import TextFile

Path = tuple[str | int, ...]

_STRING = "tag:yaml.org,2002:str"
_MOST_DEPTH = 100
_HARMLESS = re.compile(r"[^\W\d_][\w,.!?()]* [\w,.!?() ]*[\w.!?)]")
"""Words that are a string in each style: to read them again would take longer than all else."""
_UNPRINTED = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """A scalar of a file."""

    path: Path
    """Keys and indices of what it is in, its own last."""
    is_key: bool
    is_string: bool
    is_plain_node: bool
    """Whether it has neither an anchor nor a tag."""
    in_flow: bool
    """Whether it is inside of brackets or braces."""
    text: str
    style: str
    """| > ' " or empty."""
    raw: str
    start: int
    end: int


def scalars_of(file: TextFile) -> Iterator[Scalar]:
    """The scalars in the order of the file; raises DataError, with the line, for broken YAML."""
    try:
        yield from _scalars(file)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = error.problem or error.context
        raise DataError(f"{file.name}:{line}: broken YAML: {problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise DataError(f"{file.name}: broken YAML: {error}") from error


def _scalars(file: TextFile) -> Iterator[Scalar]:
    loader = yaml.SafeLoader(file.text)
    containers: list[_Container] = []
    while loader.check_event():
        event = loader.get_event()
        if isinstance(event, yaml.CollectionEndEvent):
            containers.pop()
            if containers:
                containers[-1].step("")
        elif isinstance(event, yaml.CollectionStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            in_flow = bool(event.flow_style) or any(each.is_flow for each in containers)
            containers.append(_Container(is_mapping=is_mapping, is_flow=in_flow))
            if len(containers) > _MOST_DEPTH:
                raise DataError(f"{file.name}:{event.start_mark.line + 1}: nested too deeply")
        elif isinstance(event, yaml.AliasEvent) and containers:
            containers[-1].step("")
        elif isinstance(event, yaml.ScalarEvent):
            is_key = bool(containers) and containers[-1].awaits_key
            path = tuple(each.key for each in containers)
            start, end = event.start_mark.index, event.end_mark.index
            tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit)
            yield Scalar(
                path=(*path[:-1], event.value) if is_key else path,
                is_key=is_key,
                is_string=tag == _STRING,
                is_plain_node=event.anchor is None and event.tag is None,
                in_flow=bool(containers) and containers[-1].is_flow,
                text=event.value,
                style=event.style or "",
                raw=file.text[start:end],
                start=start,
                end=end,
            )
            if containers:
                containers[-1].step(event.value)


class _Container:
    """A mapping or a sequence that is being read."""

    def __init__(self, *, is_mapping: bool, is_flow: bool) -> None:
        self.is_flow = is_flow
        self.key: str | int = "" if is_mapping else 0
        self.awaits_key = is_mapping

    def step(self, key: str) -> None:
        """Go on behind a node, which is `key` if a key was awaited."""
        if isinstance(self.key, int):
            self.key += 1
        else:
            self.key = key if self.awaits_key else ""
            self.awaits_key = not self.awaits_key


def written(text: str, scalar: Scalar, newline: str) -> str:
    """A text as a scalar in the place of another, in its style if it can be read in that."""
    in_style = _in_style(text, scalar, newline)
    if in_style is not None and _is_read_as(in_style, text, scalar):
        return in_style
    ending = re.search(r"\s*\Z", scalar.raw)
    assert ending is not None
    return _double_quoted(text) + (ending[0] if scalar.style in ("|", ">") else "")


def _in_style(text: str, scalar: Scalar, newline: str) -> str | None:
    raw = scalar.raw
    if scalar.style in ("|", ">"):
        return _block(text, scalar, newline)
    if "\n" in text and scalar.style != '"':
        return None
    whole = _double_quoted(text) if scalar.style == '"' else text
    if scalar.style == "'":
        doubled = text.replace("'", "''")
        whole = f"'{doubled}'"
    lines = raw.replace("\r\n", "\n").split("\n")
    if len(lines) == 1:
        return whole
    indent = re.match(r"\s*", lines[-1])
    assert indent is not None
    return (newline + indent[0]).join(_wrapped(whole, max(map(len, lines))))


def _block(text: str, scalar: Scalar, newline: str) -> str | None:
    """A block scalar with its header and what follows its last line."""
    header, *lines = scalar.raw.replace("\r\n", "\n").split("\n")
    ending: list[str] = []
    while lines and not lines[-1].strip():
        ending.insert(0, lines.pop())
    if not lines:
        return None
    indent = re.match(r" *", next(line for line in lines if line.strip()))
    assert indent is not None
    width = max(map(len, lines)) - len(indent[0])
    new: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if scalar.style == ">":
            new += [*_wrapped(line, width), ""] if line else [""]
        else:
            new.append(line)
    if scalar.style == ">":
        new.pop()
    body = [f"{indent[0]}{line}" if line else "" for line in new]
    return newline.join([header, *body, *ending])


def _double_quoted(text: str) -> str:
    escaped = "".join(_ESCAPES.get(each) or each for each in text)
    escaped = _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return f'"{escaped}"'


def _wrapped(line: str, width: int) -> list[str]:
    """A line cut at single spaces."""
    lines: list[str] = []
    for word in re.split(r"(?<=\S) (?=\S)", line):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _is_read_as(new: str, text: str, scalar: Scalar) -> bool:
    """Whether a scalar means a text where it stands, as a value or an item."""
    if not scalar.in_flow and "\n" not in new and _HARMLESS.fullmatch(text):
        return True
    try:
        value: object = yaml.safe_load(f"k: {new}\n")
        item: object = yaml.safe_load(f"[{new}]" if scalar.in_flow else f"- {new}\n")
    except (yaml.YAMLError, ValueError):
        return False
    return value == {"k": text} and item == [text]
