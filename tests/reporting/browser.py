"""A headless Chromium, driven by the DevTools protocol over two pipes: no port, no driver."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_TIMEOUT = 60.0  # seconds
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--hide-scrollbars", "--disable-background-networking"),
    "--remote-debugging-pipe",
)

LEAST_CONTRAST = 4.5
"""Of text against its ground, by WCAG 2 (1.4.3)."""

CONTRASTS = """
(() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = channels(color).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const color = getComputedStyle(node).backgroundColor;
    return color.startsWith('rgba') && node.parentElement ? ground(node.parentElement) : color;
  };
  return [...document.querySelectorAll('main *')]
    .filter((node) => node.checkVisibility()
      && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
    .map((node) => {
      const [low, high] = [getComputedStyle(node).color, ground(node)].map(light)
        .sort((a, b) => a - b);
      return [(high + 0.05) / (low + 0.05), node.outerHTML.slice(0, 80)];
    })
    .sort((a, b) => a[0] - b[0]);
})()
"""
"""What text stands out how much from its ground, the least first, as JavaScript."""


def find_browser() -> str:
    """The browser's program; the test is skipped where none is installed."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no browser is installed ({', '.join(_NAMES)}): `make browser` installs one")


class Tab:
    """One page in the browser, and what its scripts and policies complained of."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its result."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._next_message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next_message(self) -> dict[str, Any]:
        until = time.monotonic() + _TIMEOUT
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], until - time.monotonic())
            assert ready, "the browser does not answer"
            block = os.read(self._from, 1 << 16)
            assert block, "the browser is gone"
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a page from the disk anew and wait until its script has drawn it."""
        # Between two places of one page a browser would only scroll.
        self.call("Page.navigate", url="about:blank")
        self.wait_for("location.href === 'about:blank'")
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + _TIMEOUT
        while not self.evaluate(expression):
            assert time.monotonic() < until, f"never true: {expression}; {self.complaints}"
            time.sleep(0.05)

    def press(self, key: str, *, code: int, control: bool = False) -> None:
        """Press a key and let it go; `code` is its number in Windows."""
        text = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                **(text if kind == "keyDown" else {}),
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                modifiers=2 if control else 0,
            )

    def show_as(self, *, width: int, height: int, dark: bool = False, phone: bool = False) -> None:
        """Set the size of the window and the colours that the reader prefers."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def screenshot(self, path: Path) -> None:
        """Write what is in view as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def _high(descriptor: int) -> int:
    """The same file under a number that is in nobody's way."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return high


@contextmanager
def browser_tab(program: str, profile: Path) -> Iterator[Tab]:
    """Start a browser with a new profile in the folder `profile`; it ends with the block."""
    browser_reads, we_write = map(_high, os.pipe())
    we_read, browser_writes = map(_high, os.pipe())
    # The browser reads file 3 and writes file 4: a shell puts ours there.
    script = f'exec "$@" 3<&{browser_reads} 4>&{browser_writes}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", program, *_OPTIONS, f"--user-data-dir={profile}"],
        pass_fds=(browser_reads, browser_writes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_reads)
    os.close(browser_writes)
    try:
        yield Tab(we_write, we_read)
    finally:
        os.close(we_write)  # the browser ends when its pipe does
        os.close(we_read)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
