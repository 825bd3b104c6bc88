"""What goes wrong, each with its status and message; nothing of it tells of the inside."""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from mt.serving.models import Models, TranslatorLane
from mt.serving.request import Access, Limits, ServeRequest
from mt.translation.translation import Translation
from tests.serving.running import FORM, GENEROUS, SECONDS, Running, running

NOT_UTF8 = "Invalid request: the form is not percent-encoded UTF-8"
TOO_MANY = "Invalid request: the form has more than 1000 fields"
ASKED = {"q": "haus", "source": "de", "target": "en"}
SMALL = Limits(
    body_bytes=1000, body_seconds=0.5, waiting_characters=50, requests_a_minute=0, glossaries=1
)


class Held:
    """A lane of the models that waits at a gate before each batch."""

    def __init__(self, lane: TranslatorLane) -> None:
        self.lane = lane
        self.gate = threading.Event()
        self.began = threading.Event()
        self.batches: list[list[str]] = []
        self.most_lines = lane.most_lines
        self.most_characters = lane.most_characters

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        self.batches.append(list(lines))
        self.began.set()
        assert self.gate.wait(SECONDS)
        if any("secret" in line for line in lines):
            raise RuntimeError("what a library says: secret")
        return self.lane.translate(lines)


@pytest.fixture
def held(models: Models, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    model = models.models[0]
    found = Held(model.best)
    monkeypatch.setitem(vars(model), "best", found)
    yield found
    found.gate.set()


@pytest.fixture
def small(models: Models) -> Iterator[Running]:
    with running(models, ServeRequest(models=(), workers=1, limits=SMALL)) as found:
        yield found


def answer_of(connection: socket.socket) -> tuple[int, Any]:
    data = b""
    while block := connection.recv(4096):
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def connect(server: Running, length: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)
    connection.sendall(
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {length}\r\n\r\n".encode()
    )
    return connection


def wait_for(condition: Any) -> None:
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_slow_body(small: Running) -> None:
    with connect(small, 100) as connection:
        connection.sendall(b'{"q": ')
        found = answer_of(connection)  # until the server closes
    assert found == (408, {"error": "The body did not come in time"})


def test_a_body_that_is_too_large_whether_it_says_so_or_not(small: Running) -> None:
    message = {"error": "The body has more than 1000 bytes"}
    with connect(small, 2000) as connection:
        assert answer_of(connection) == (413, message)
    with socket.create_connection(("127.0.0.1", small.port), timeout=SECONDS) as connection:
        connection.sendall(
            b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + b"1F4\r\n" + b"a" * 500 + b"\r\n"
        )
        connection.sendall(b"1F5\r\n" + b"a" * 501 + b"\r\n")
        assert answer_of(connection) == (413, message)


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        (b'{"q": "haus"', "application/json", 400, "Invalid request: the body is not JSON"),
        (b'{"q": NaN}', "application/json", 400, "Invalid request: the body is not JSON"),
        (b'{"q": ' + b"9" * 5000, "application/json", 400, "Invalid request: the body is not JSON"),
        (b"[" * 50_000, "application/json", 400, "Invalid request: the body is not JSON"),
        (b'["haus"]', "application/json", 400, "Invalid request: the body must be a JSON object"),
        (b'{"q": "\xff"}', "application/json", 400, "Invalid request: the body is not UTF-8"),
        (b"q=%ff", FORM["Content-Type"], 400, NOT_UTF8),
        (b"q=\xff", FORM["Content-Type"], 400, NOT_UTF8),
        (b"a&" * 1001, FORM["Content-Type"], 400, TOO_MANY),
        (b"<q>haus</q>", "application/xml", 415, "The body must be JSON or a form"),
        (b"--b", "multipart/form-data; boundary=b", 400, None),
        (b"x", "multipart/form-data", 400, None),
        (b'{"a": 1}', "application/json", 400, "Invalid request: missing q parameter"),
    ],
)  # fmt: skip
def test_a_body_that_is_none(
    served: Running, body: bytes, kind: str, status: int, message: str | None
) -> None:
    answer = served.ask("POST", "/translate", body, {"Content-Type": kind})
    assert answer.status == status
    assert message is None or answer.json == {"error": message}


def test_no_such_path_and_no_such_method(served: Running) -> None:
    assert served.get("/nowhere/haus").json == {"error": "Not Found"}
    assert served.get("/v2/nowhere").json == {"message": "Not Found"}
    answer = served.get("/translate?q=haus")
    assert (answer.status, answer.json) == (405, {"error": "Method Not Allowed"})


def test_keys(models: Models) -> None:
    with running(models, ServeRequest(models=(), workers=1), keys=("key-of-mine",)) as server:
        for wrong in ("", "key-of-min", "key-of-mine2", "ключ"):
            answer = server.post("/translate", {**ASKED, "api_key": wrong})
            assert answer.status == 403
            assert "key" in answer.json["error"]
        assert server.post("/translate", {**ASKED, "api_key": "key-of-mine"}).status == 200
        bearer = {"Authorization": "Bearer key-of-mine"}
        assert server.post("/translate", ASKED, **bearer).status == 200
        assert server.get("/metrics").status == 403
        assert server.get("/metrics", **bearer).status == 200
        assert server.get("/frontend/settings").json["keyRequired"]
        for path in ("/", "/health", "/ready", "/languages"):
            assert server.get(path).status == 200
        assert "key-of-mine" not in server.written.getvalue()


def test_too_many_requests_of_a_client(models: Models) -> None:
    limits = Limits(requests_a_minute=2)
    with running(models, ServeRequest(models=(), workers=1, limits=limits)) as server:
        assert [server.post("/translate", ASKED).status for _ in range(2)] == [200, 200]
        answer = server.post("/translate", ASKED)
        assert (answer.status, answer.json) == (429, {"error": "Slowdown: 2 requests a minute"})
        assert 1 <= int(answer.headers["retry-after"]) <= 30
        assert server.post("/v2/translate", {}).json == {"message": "Slowdown: 2 requests a minute"}
        assert server.get("/health").status == 200


def test_a_full_queue(small: Running, held: Held) -> None:
    """One line is translated, one waits that is larger than the queue: the third is refused."""
    first = threading.Thread(target=small.post, args=("/translate", ASKED))
    second = threading.Thread(target=small.post, args=("/translate", {**ASKED, "q": "und " * 20}))
    first.start()
    assert held.began.wait(SECONDS)
    second.start()
    wait_for(lambda: small.get("/ready").status == 503)
    assert small.get("/ready").json == {"status": "full"}
    answer = small.post("/translate", {**ASKED, "q": "katze"})
    assert answer.status == 429
    assert answer.json == {"error": "Slowdown: too much waits to be translated"}
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert small.get("/health").status == 200
    held.gate.set()
    first.join(SECONDS)
    second.join(SECONDS)
    assert small.post("/translate", {**ASKED, "q": "katze"}).status == 200
    assert small.get("/ready").json == {"status": "ready"}


def test_a_client_that_leaves_is_dropped(models: Models, held: Held) -> None:
    """What it asked for is not translated, and the server says what became of the request."""
    with running(models, ServeRequest(models=(), workers=1, limits=GENEROUS)) as server:
        first = threading.Thread(target=server.post, args=("/translate", ASKED))
        first.start()
        assert held.began.wait(SECONDS)
        body = json.dumps({**ASKED, "q": "never translated"}).encode()
        with connect(server, len(body)) as connection:
            connection.sendall(body)
            wait_for(lambda: "mt_waiting_lines 1.0" in server.get("/metrics").body.decode())
        wait_for(lambda: "mt_dropped_lines_total 1.0" in server.get("/metrics").body.decode())
        held.gate.set()
        first.join(SECONDS)
        assert server.post("/translate", {**ASKED, "q": "katze"}).status == 200
        assert held.batches == [["haus"], ["katze"]]
        assert "status=499" in server.written.getvalue()


def test_an_error_inside_tells_nothing_and_harms_nobody_else(models: Models, held: Held) -> None:
    held.gate.set()
    with running(models, ServeRequest(models=(), workers=1, limits=GENEROUS)) as server:
        answer = server.post("/translate", {**ASKED, "q": "secret"})
        assert (answer.status, answer.json) == (500, {"error": "A text could not be translated"})
        answer = server.post(
            "/v2/translate", {"text": "secret", "source_lang": "DE", "target_lang": "EN"}
        )
        assert answer.json == {"message": "A text could not be translated"}
        assert server.post("/translate", {**ASKED, "q": "katze"}).status == 200
        written = server.written.getvalue()
        assert "kind=RuntimeError" in written
        assert "secret" not in written


def test_a_bug_tells_nothing(served: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, code: str) -> str:
        raise KeyError("secret")

    monkeypatch.setattr(Models, "code", broken)
    answer = served.post("/translate", ASKED, **{"X-Request-ID": "mine-1"})
    assert (answer.status, answer.json) == (500, {"error": "Internal error mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    assert "secret" not in served.written.getvalue()


def test_no_text_is_in_the_log_or_in_the_metrics(models: Models) -> None:
    request = ServeRequest(models=(), workers=1, limits=GENEROUS, log_form="json")
    with running(models, request) as server:
        server.post("/translate", {**ASKED, "q": "Straße katze"})
        server.get("/Straße?katze=Straße".replace("ß", "ss"))
        server.post("/translate", {**ASKED, "target": "Strasse"})
        server.ask("POST", "/translate", b"Strasse", {"X-Request-ID": "Stras se"})
        metrics = server.get("/metrics").body.decode()
        written = server.written.getvalue()
    for text in ("Stra", "katze", "haus"):
        assert text not in written
        assert text not in metrics
    records = [json.loads(line) for line in written.splitlines()]
    assert {record["status"] for record in records} == {200, 400, 404}
    assert all(record["event"] == "request" and record["id"] for record in records)
    assert 'mt_characters_total{source="de",target="en"} 12.0' in metrics


def test_other_hosts_and_origins_are_not_let_in(models: Models, served: Running) -> None:
    """A page elsewhere, whose name leads to this machine, asks for nothing."""
    evil = {"Host": "evil.example:5000"}
    assert served.get("/languages", **evil).status == 400
    for host in ("localhost", "127.0.0.1:5000", "[::1]:80"):
        assert served.get("/languages", Host=host).status == 200
    headers = {"Origin": "https://evil.example"}
    assert "access-control-allow-origin" not in served.get("/languages", **headers).headers
    access = Access(origins=("https://good.example",), hosts=("mt.example",))
    with running(models, ServeRequest(models=(), workers=1, access=access)) as server:
        allowed = server.get("/languages", Origin="https://good.example", Host="mt.example")
        assert allowed.headers["access-control-allow-origin"] == "https://good.example"
        assert "access-control-allow-origin" not in server.get("/languages", **headers).headers


def test_a_connection_that_says_nothing_is_closed(
    served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.serving.server._HEADER_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", served.port), timeout=SECONDS) as connection:
        connection.sendall(b"POST /translate HTTP/1.1\r\nHost: loc")
        assert connection.recv(100) == b""


def test_glossaries_are_bounded(small: Running) -> None:
    asked = {"name": "n", "source_lang": "de", "target_lang": "en", "entries": "haus\thut"}
    assert small.post("/v2/glossaries", asked).status == 201
    answer = small.post("/v2/glossaries", asked)
    assert answer.status == 456
    assert "delete one first" in answer.json["message"]


def test_a_line_that_no_model_can_take(models: Models, small: Running) -> None:
    def too_long(lines: Sequence[str]) -> list[Translation]:
        return [Translation(source=line, hypotheses=(), error="too long") for line in lines]

    model = models.models[0]
    lane = dataclasses.replace(model.best)
    object.__setattr__(lane, "translate", too_long)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(model), "best", lane)
        answer = small.post("/translate", ASKED)
    assert answer.status == 400
    assert answer.json == {"error": "A text is too long to be translated: split it into lines"}
