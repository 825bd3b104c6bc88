"""Whether the other ranks live: connections to the first rank that carry nothing but their end.

A collective of GPUs, or one whose connection a forked child of the dead rank still holds open,
waits for a rank that is gone until its timeout, which is hours, since the first rank may take as
long to prepare a corpus. The kernel closes the connections of a process however it ends, and its
keepalive probes find a machine that is gone within a minute. So each rank but the first holds one
connection to the first, which hands on who was lost. A rank that lives but is stuck is left to the
timeout of the collective.
"""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from torch.distributed.distributed_c10d import PrefixStore

from mt.errors import TrainingError

Lost = Callable[[int], None]
"""Called with the rank that was lost, by a thread that nobody waits for."""

_DONE = b"done"
_GRACE = 10.0  # seconds in which a rank may end by itself after another one ended
_KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6}
_HELLO = 40  # bytes: 32 of the secret, 8 of the number of the rank


def end_process(rank: int, size: int, lost: int) -> None:
    """Say that a rank was lost and end this process at once.

    The main thread cannot be asked to: it may be waiting inside of a library for the lost rank.
    Checkpoints and models are whole at any moment.
    """
    error = TrainingError(
        f"rank {rank} of {size} lost another one: rank {lost} has ended, or its machine",
        hint="Look for its message above; go on from the last checkpoint by --resume",
    )
    sys.stderr.write(f"mt: error: {error}\n")
    sys.stderr.flush()
    os._exit(error.exit_code)


class RankWatch:
    """Watches over the other ranks from its making until `close`."""

    def __init__(
        self,
        *,
        rank: int,
        size: int,
        store: PrefixStore,
        host: str,
        timeout: timedelta,
        on_loss: Lost | None = None,
    ) -> None:
        """Connect the ranks; all must do so at once. `host` is the machine of the first rank.

        `on_loss` is called once, after a time in which this rank may end by itself; without it
        the process is ended. Raises OSError or RuntimeError when not all connect in time.
        """
        self._on_loss = on_loss or (lambda lost: end_process(rank, size, lost))
        self._is_closed = threading.Event()
        seconds = timeout.total_seconds()
        if rank == 0:
            self._others = _accept_all(size - 1, store, seconds)
        else:
            self._others = {0: _connect(rank, store, host, seconds)}
        # A forked child would hold the connections of a rank open beyond its end.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._drop)
        threading.Thread(target=self._watch, name="rank-watch", daemon=True).start()

    def close(self, *, is_done: bool) -> None:
        """Watch no more; one that `is_done` with its work is not missed by the others."""
        self._is_closed.set()
        if is_done:
            self._send(_DONE)
        for connection in self._others.values():
            with suppress(OSError):  # the other end may be gone already
                connection.shutdown(socket.SHUT_WR if is_done else socket.SHUT_RDWR)

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            for rank, connection in self._others.items():
                selector.register(connection, selectors.EVENT_READ, rank)
            while selector.get_map():
                for key, _ in selector.select():
                    word = _received(self._others[key.data])
                    selector.unregister(key.fileobj)
                    if word != _DONE:
                        self._lose(int(word) if word.isdigit() else key.data)
                        return

    def _lose(self, lost: int) -> None:
        if self._is_closed.is_set():
            return
        if len(self._others) > 1:
            self._send(str(lost).encode())
        if not self._is_closed.wait(_GRACE):
            self._on_loss(lost)

    def _send(self, word: bytes) -> None:
        for connection in self._others.values():
            with suppress(OSError):  # the other end may be gone already
                connection.sendall(word)

    def _drop(self) -> None:
        for connection in self._others.values():
            connection.close()


def _accept_all(count: int, store: PrefixStore, seconds: float) -> dict[int, socket.socket]:
    """The connections of the other ranks by their numbers; who does not know the secret is none."""
    has_both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if has_both else socket.AF_INET
    secret = secrets.token_hex(16)
    found: dict[int, socket.socket] = {}
    with socket.create_server(("", 0), family=family, dualstack_ipv6=has_both) as server:
        server.settimeout(seconds)
        store.set("rank-watch", f"{server.getsockname()[1]} {secret}")
        while len(found) < count:
            connection, _ = server.accept()
            connection.settimeout(seconds)
            hello = connection.recv(_HELLO, socket.MSG_WAITALL)
            if hello[:32] != secret.encode():
                connection.close()
                continue
            found[int(hello[32:])] = _kept_alive(connection)
    return found


def _connect(rank: int, store: PrefixStore, host: str, seconds: float) -> socket.socket:
    """The connection of a rank to the first."""
    port, secret = store.get("rank-watch").decode().split()
    connection = socket.create_connection((host, int(port)), timeout=seconds)
    connection.sendall(f"{secret}{rank:08}".encode())
    return _kept_alive(connection)


def _kept_alive(connection: socket.socket) -> socket.socket:
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return connection


def _received(connection: socket.socket) -> bytes:
    """What came over a connection; nothing if it has ended, however it ended."""
    try:
        return connection.recv(64)
    except OSError:
        return b""
