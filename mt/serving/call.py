"""A request and its answer without HTTP, and the routes between them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mt.serving.fields import Fields
from mt.serving.refusal import RefusalError

Api = Literal["libretranslate", "deepl"]
"""The shape of errors."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a client asks for."""

    fields: Fields
    """Of the body, or of the query where there is none."""
    key: str = ""
    """The key that let the client in; empty where none is needed."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Parts of the path by name."""
    accepts: str = ""
    """The header Accept."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client gets."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Route:
    """Who answers at a path."""

    method: str
    path: str
    """Names in braces stand for parts of it."""
    endpoint: Callable[[Call], Awaitable[Answer]]
    api: Api = "libretranslate"
    is_open: bool = False
    """Whether it answers without a key."""
    reads_body: bool = True
    """Whether the fields of the body are read; else they are those of the query."""


def json_answer(value: object, *, status: int = 200) -> Answer:
    """An answer in JSON."""
    return Answer(body=json.dumps(value, ensure_ascii=False).encode("utf-8"), status=status)


def refused(error: RefusalError, api: Api) -> Answer:
    """A refusal in the shape of an API."""
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    name = "message" if api == "deepl" else "error"
    body = json.dumps({name: error.message}, ensure_ascii=False).encode("utf-8")
    return Answer(body=body, status=error.status, headers=headers)
