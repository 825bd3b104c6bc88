"""How much of a server's work is translating, and how long one waits: clients on the loopback.

    python benchmarks/serving_load.py MODEL LINES --seconds 60 --clients 16

starts `mt serve` without its cache, asks for lines of the file, one by one or in arrays, checks
every answer against `mt translate` of the whole file, and prints sentences per second of CPU time
of both, and what a short request waits alone and under that load. One table, then a JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

SHORT = "."


class Client:
    """Asks over one connection."""

    def __init__(self, port: int, pair: tuple[str, str]) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)
        self._pair = pair

    def translate(self, lines: list[str]) -> list[str]:
        """The translations of lines."""
        body = json.dumps({"q": lines, "source": self._pair[0], "target": self._pair[1]})
        self._connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, answer
        texts: list[str] = answer["translatedText"]
        return texts


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory in MiB."""
    text = Path(f"/proc/{pid}/status").read_text("ascii")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    assert found is not None
    return int(found[1]) / 1024


def by_translate(model: str, lines: list[str], workers: int) -> tuple[list[str], float]:
    """What `mt translate` makes of lines, and its CPU seconds without those of its start."""
    seconds: list[float] = []
    found = b""
    for text in ("\n".join([*lines, ""]), "\n"):
        before = os.times()
        command = [sys.executable, "-m", "mt", "translate", "-m", model, "--threads", str(workers)]
        found = (
            found
            or subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
        )
        if seconds:
            subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        after = os.times()
        seconds.append(
            after.children_user + after.children_system
            - before.children_user - before.children_system
        )  # fmt: skip
    return found.decode().split("\n")[:-1], seconds[0] - seconds[1]


def percentile(values: list[float], share: float) -> float:
    """The value that so large a share is not above, in milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def load(
    port: int,
    pair: tuple[str, str],
    lines: list[str],
    wanted: list[str],
    options: argparse.Namespace,
) -> tuple[int, list[float]]:
    """Ask as many clients do; gives sentences answered, and what a short request waited."""
    until = time.monotonic() + options.seconds
    counts, waits = [0] * options.clients, []

    faults: list[str] = []

    def ask(number: int) -> None:
        draw, client = random.Random(number), Client(port, pair)
        while time.monotonic() < until:
            chosen = draw.choices(range(len(lines)), k=draw.choice(options.sizes))
            found = client.translate([lines[index] for index in chosen])
            faults.extend(
                lines[index]
                for index, text in zip(chosen, found, strict=True)
                if text != wanted[index]
            )
            counts[number] += len(set(chosen))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(options.clients)]
    for thread in threads:
        thread.start()
    client = Client(port, pair)
    while time.monotonic() < until:
        began = time.monotonic()
        client.translate([SHORT])
        waits.append(time.monotonic() - began)
        time.sleep(0.2)
    for thread in threads:
        thread.join()
    assert not faults, f"another translation than that of mt translate: {faults[:3]}"
    return sum(counts), waits


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("lines", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 1, 1, 5, 20])
    options = parser.parse_args()
    lines = options.lines.read_text("utf-8").split("\n")[:-1]
    wanted, seconds = by_translate(options.model, lines, options.workers)
    alone_rate = len(lines) / seconds
    command = [sys.executable, "-m", "mt", "serve", "-m", options.model, "--port", "0"]
    command += ["--cache", "0", "--requests-a-minute", "0", "--workers", str(options.workers)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        while not (found := re.search(r"serving (\w+)-(\w+) .*:(\d+)$", server.stderr.readline())):
            pass
        threading.Thread(target=lambda: [None for _ in server.stderr or ()], daemon=True).start()
        pair, port = (found[1], found[2]), int(found[3])
        client = Client(port, pair)
        alone = []
        for _ in range(50):
            began = time.monotonic()
            client.translate([SHORT])
            alone.append(time.monotonic() - began)
        fifty = lines[:50]
        began = time.monotonic()
        client.translate(fifty)
        array = time.monotonic() - began
        began = time.monotonic()
        for line in fifty:
            client.translate([line])
        singles = time.monotonic() - began
        before, memory_before = cpu_seconds(server.pid), memory(server.pid)
        num, waits = load(port, pair, lines, wanted, options)
        rate = num / (cpu_seconds(server.pid) - before)
        result = {
            "sentences_a_cpu_second": round(rate, 1),
            "of_mt_translate": round(rate / alone_rate, 3),
            "mt_translate": round(alone_rate, 1),
            "alone_ms": [round(percentile(alone, share), 1) for share in (0.5, 0.99)],
            "loaded_ms": [round(percentile(waits, share), 1) for share in (0.5, 0.99)],
            "array_of_50_s": round(array, 2),
            "50_requests_s": round(singles, 2),
            "mean_loaded_ms": round(1000 * statistics.mean(waits), 1),
            "memory_mib": [round(memory_before), round(memory(server.pid))],
            "sentences": num,
        }
    finally:
        server.terminate()
        server.wait(60)
    for name, value in result.items():
        print(f"{name:24} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
