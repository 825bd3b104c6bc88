"""The server: a socket, models, threads and uvicorn, which only this module knows."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mt.errors import ConfigError
from mt.events import Listener, Notice
from mt.serving.access import Keys
from mt.serving.assembly import Assembly, assemble, warm
from mt.serving.http import Application
from mt.serving.log import Log
from mt.serving.models import Models, load_models
from mt.serving.request import ServeRequest

_HEADER_BYTES = 16_384
_HEADER_SECONDS = 10.0  # until the head of a request has come
_IDLE_SECONDS = 15  # that a connection may rest between requests
_ENDING = 2.0  # seconds for threads to end when nothing is left to do


def serve(request: ServeRequest, listener: Listener) -> int:
    """Serve models until a signal ends it; gives the exit status.

    0 where all requests that had begun were answered. Raises MtError for a request, a folder or an
    address at fault.
    """
    keys = Keys.read(request.access.keys_file)
    with _bound(request.host, request.port) as (bound, is_loopback):
        if not is_loopback and not keys.keys:
            text = (
                f"{request.host} can be reached from other machines, and no key is needed: --keys "
                "names a file of keys"
            )
            listener(Notice(text=text, is_warning=True))
        models = load_models(request, listener)
        warm(models)
        log = Log(form=request.log_form)
        parts = assemble(models, request, keys=keys, log=log, is_loopback=is_loopback)
        server = Server(
            parts, request, greet=lambda: listener(Notice(text=_greeting(models, bound)))
        )
        with _uvicorn_heard_by(log):
            try:
                asyncio.run(server.serve(sockets=[bound]))
            finally:
                is_done = parts.workers.close(_ENDING)
    return 0 if is_done and not server.server_state.tasks else 1


def _greeting(models: Models, bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    pairs = ", ".join(f"{each.name} by {each.translator.engine}" for each in models.models)
    return f"serving {pairs} at http://{shown}:{port}"


@contextmanager
def _bound(host: str, port: int) -> Iterator[tuple[socket.socket, bool]]:
    """A socket bound to an address, and whether only this machine reaches it.

    Raises ConfigError for an address that cannot be had. Nobody is let in before it listens.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            yield bound, ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    except OSError as error:
        raise ConfigError(f"cannot serve at {host}, port {port}: {error.strerror}") from error


class _Protocol(H11Protocol):
    """Closes a connection whose next request does not show its head in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif not is_answering:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEADER_SECONDS, self.transport.close)


def _config(app: Application, request: ServeRequest) -> uvicorn.Config:
    proxy = request.access.proxy
    return uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=request.grace_seconds,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )


class Server(uvicorn.Server):
    """uvicorn, which says when it listens and answers what has begun before it ends."""

    def __init__(
        self, parts: Assembly, request: ServeRequest, *, greet: Callable[[], None]
    ) -> None:
        super().__init__(_config(parts.app, request))
        self._greet = greet
        self._ending = parts.ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._greet()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Hear of a signal."""
        self._ending.is_asked = True
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End when told to, as a success: the signals are not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _uvicorn_heard_by(log: Log) -> Iterator[None]:
    """Within, what uvicorn says is written as the log is, without the errors behind it."""

    class ToLog(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            log("server", message=record.getMessage())

    logger = logging.getLogger("uvicorn.error")
    before = logger.handlers, logger.propagate, logger.level
    logger.handlers, logger.propagate = [ToLog()], False
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.handlers, logger.propagate = before[:2]
        logger.setLevel(before[2])
