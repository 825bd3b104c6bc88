"""A server in a thread of the test, on a free port of the loopback interface."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from mt.serving.access import Keys
from mt.serving.assembly import Assembly, assemble
from mt.serving.log import Log
from mt.serving.models import Models
from mt.serving.request import Limits, ServeRequest
from mt.serving.server import Server

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
GENEROUS = Limits(requests_a_minute=0)
SECONDS = 60.0
"""After which a test gives up."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer as it came."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Running:
    """A server that answers."""

    port: int
    parts: Assembly
    written: io.StringIO
    """Its log."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Reply(
                status=response.status,
                body=response.read(),
                headers={name.lower(): value for name, value in response.getheaders()},
            )
        finally:
            connection.close()

    def post(self, path: str, value: object, **headers: str) -> Reply:
        """Send JSON."""
        body = json.dumps(value).encode()
        return self.ask("POST", path, body, {"Content-Type": "application/json", **headers})

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, headers=headers)


@contextmanager
def running(
    models: Models, request: ServeRequest | None = None, *, keys: tuple[str, ...] = ()
) -> Iterator[Running]:
    """Serve models that are loaded, until the block ends."""
    request = request or ServeRequest(models=(), workers=2)
    written = io.StringIO()
    log = Log(form=request.log_form, stream=written)
    parts = assemble(models, request, keys=Keys(keys=keys), log=log, is_loopback=True)
    listens = threading.Event()
    server = Server(parts, request, greet=listens.set)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
        thread.start()
        try:
            assert listens.wait(SECONDS)
            yield Running(port=port, parts=parts, written=written)
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()
            assert parts.workers.close(SECONDS)
