"""The command itself: signals, models that are replaced, addresses and keys at fault."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mt import Translator
from mt.cli.main import main
from tests.serving.models import LINES, expected
from tests.serving.running import FORM

SECONDS = 120


@dataclass(frozen=True)
class Process:
    """`mt serve` in a process of its own."""

    running: subprocess.Popen[str]
    port: int

    def translate(self, text: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        body = urlencode({"q": text, "source": "de", "target": "en"}).encode()
        connection.request("POST", "/translate", body, FORM)
        response = connection.getresponse()
        found = response.status, response.read()
        connection.close()
        return found


@contextmanager
def process(*arguments: str) -> Iterator[Process]:
    """Start it, wait until it serves, and see to it that it ends."""
    found = subprocess.Popen(
        [sys.executable, "-m", "mt", "serve", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        assert found.stderr is not None
        said = ""
        while (match := re.search(r"at http://\S+:(\d+)", said)) is None:
            line = found.stderr.readline()
            assert line, said
            said += line
        yield Process(found, int(match[1]))
    finally:
        found.kill()
        found.communicate(timeout=SECONDS)


def test_it_answers_what_has_begun_and_ends_with_0(
    folders: dict[str, str], translators: dict[str, Translator], tmp_path: Path
) -> None:
    """Also after its weights were replaced, and the files truncated where they are."""
    folder = tmp_path / "model"
    shutil.copytree(folders["de-en"], folder)
    text = "\n".join(LINES)
    wanted = "\n".join(expected(translators["de-en"], *LINES))
    body = urlencode({"q": f"{text}\n", "source": "de", "target": "en"}).encode()
    with process("-m", str(folder), "--workers", "1", "--cache", "0") as server:
        weights = folder / "model.safetensors"
        other = tmp_path / "other"
        shutil.copy(Path(folders["en-de"]) / "model.safetensors", other)
        other.replace(weights)
        first = server.translate(text)
        weights.write_bytes(b"")
        begun = HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        begun.putrequest("POST", "/translate")
        for name, value in {**FORM, "Content-Length": str(len(body))}.items():
            begun.putheader(name, value)
        begun.endheaders(body[:10])
        time.sleep(0.5)
        server.running.send_signal(signal.SIGTERM)
        until = time.monotonic() + SECONDS
        with pytest.raises(OSError, match="refused"):
            while time.monotonic() < until:
                server.translate("haus")
        begun.send(body[10:])
        last = begun.getresponse()
        assert (last.status, json.loads(last.read())["translatedText"]) == (200, f"{wanted}\n")
        begun.close()
        assert server.running.wait(SECONDS) == 0
    assert (first[0], json.loads(first[1])["translatedText"]) == (200, wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pivot", "fr"], "--pivot fr: no model translates from it, or none into it"),
        (["-m", "{de-en}"], "two models translate de-en: give one of them"),
        (["--port", "{taken}"], "cannot serve at 127.0.0.1, port {taken}: Address already in use"),
        (["--keys", "{empty}"], "{empty} holds no key. A line is a key"),
        (["--keys", "{short}"], "{short}: a key has fewer than 8 characters"),
    ],
)
def test_what_cannot_be_served(
    folders: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    (tmp_path / "empty").write_text("# none\n", "utf-8")
    (tmp_path / "short").write_text("key\n", "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        names = {
            "de-en": folders["de-en"],
            "taken": str(taken.getsockname()[1]),
            "empty": str(tmp_path / "empty"),
            "short": str(tmp_path / "short"),
        }

        def filled(text: str) -> str:
            return re.sub(r"{([\w-]+)}", lambda match: names[match[1]], text)

        with pytest.raises(SystemExit) as ended:
            main(["serve", "-m", folders["de-en"], "--port", "0", *map(filled, arguments)])
    assert ended.value.code == 2
    assert filled(message) in capsys.readouterr().err


def test_a_model_without_languages_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folders: dict[str, str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folders["de-en"], folder)
    config = folder / "config.toml"
    text = re.sub(r"source_language = .*\n", "", config.read_text("utf-8"))
    config.write_text(text, "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["serve", "-m", str(folder), "--port", "0"])
    assert ended.value.code == 2
    assert "the model does not say its languages" in capsys.readouterr().err


def test_who_listens_to_all_without_a_key_is_warned(
    folders: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ended(self: object, sockets: object = None) -> None:
        return None

    monkeypatch.setattr("mt.serving.server.Server.serve", ended)
    for host, variable, is_warned in (
        ("0.0.0.0", "", True),
        ("0.0.0.0", "a-key-of-ours", False),
        ("127.0.0.1", "", False),
    ):
        monkeypatch.setitem(os.environ, "MT_SERVE_KEYS", variable)
        with pytest.raises(SystemExit) as status:
            main(["serve", "-m", folders["de-en"], "--host", host, "--port", "0"])
        assert status.value.code == 0
        assert ("can be reached from other machines" in capsys.readouterr().err) == is_warned
