"""What a server can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mt.config import SearchPrecision
from mt.tasks.requests import EngineName, StrPath

LogForm = Literal["text", "json"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a client may ask of the server; each bound is on by default."""

    body_bytes: int = 262_144
    """The body of a request."""
    body_seconds: float = 10.0
    """Until a body has come whole."""
    texts: int = 100
    """Texts of one request."""
    text_characters: int = 10_000
    """Characters of one text."""
    alternatives: int = 4
    """Further translations of one text; a beam gives one less than it has hypotheses."""
    requests_a_minute: int = 600
    """Requests of one address; 0: any number."""
    waiting_characters: int = 500_000
    """Characters that wait for a worker: beyond them a request is answered with 429."""
    cache_characters: int = 4_000_000
    """Characters of lines and their translations that are remembered; 0: none."""
    glossaries: int = 100
    """Glossaries of one key; without keys, of all clients together."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may ask."""

    keys_file: Path | None = None
    """A file with a key a line; without it the variable MT_SERVE_KEYS, with spaces between."""
    origins: Sequence[str] = ()
    """Origins of web pages that may ask, such as https://example.org."""
    hosts: Sequence[str] = ()
    """Names that requests may give the server beside those of the loopback interface."""
    proxy: str | None = None
    """The address of a proxy whose X-Forwarded-For is believed."""


@dataclass(frozen=True, kw_only=True)
class ServeRequest:
    """Models to be served, and how."""

    models: Sequence[StrPath]
    """Model folders, each of a pair of languages of its own."""
    pivot: str | None = None
    """A language by which pairs are translated that no model has."""
    beam: int | None = None
    engine: EngineName = "auto"
    device: str = "auto"
    precision: SearchPrecision = "auto"
    workers: int | None = None
    """Threads that translate side by side; None: one a core, and one for a GPU."""
    batch_size: int | None = None
    keep_case: bool = False
    host: str = "127.0.0.1"
    port: int = 5000
    grace_seconds: int = 30
    """How long requests that have begun may take when the server is told to end."""
    log_form: LogForm = "text"
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
