"""Whether the tests notice when a line of the code is wrong.

`python benchmarks/mutations.py` makes a copy of the tree, puts one mutation after another into it,
and runs the tests: those of the room of the file, beginning with `tests/ROOM/test_FILE.py` and what
is near it by imports, then `tests/cases`. It ends at the first that fails. Mutations that all tests
pass are survivors; those that nobody could see are argued in `mutations.md` beside this.

`mutations.json` holds them: eight that no test noticed when someone first tried, and 32 drawn by
`--draw`. Each is one line of a function, by its text: one that is gone ends the program.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from mutation_kinds import Mutation, mutations_of

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_suffix(".json")
ARGUED = Path(__file__).with_suffix(".md")
ROOMS = ("model", "search", "preparation", "training", "evaluation")
_STAGES = {"room": 500, "cases": 1000}
"""Most processor seconds of the tests of each stage; what takes longer hangs."""
_WALL = 6
"""Most seconds on the clock, as a multiple of those: what waits for ever uses no processor."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a mutation."""

    name: str
    verdict: str
    """killed, hang, survived or argued."""
    stage: str
    """Where the tests failed, or the last that passed."""
    test: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draw", type=int, metavar="N", help="print N more mutations, as JSON")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--only", metavar="REGEX", help="those whose name matches")
    parser.add_argument("--stages", default="room,cases", help="which tests, in order")
    parser.add_argument("--from", dest="path", type=Path, default=RECORD, metavar="FILE")
    flags = parser.parse_args()
    if flags.draw:
        print(json.dumps([asdict(each) for each in drawn(flags.draw, flags.seed)], indent=1))
        return
    mutations = [Mutation(**each) for each in json.loads(flags.path.read_text("utf-8"))]
    wanted = [each for each in mutations if re.search(flags.only or "", each.name)]
    for each in mutations:
        each.applied((ROOT / each.file).read_text("utf-8"))
    _import_what_tests_import()
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        copy_tree(copy)
        for each in wanted:
            verdicts.append(tried(each, copy, flags.stages.split(",")))
            print(_row(verdicts[-1]), flush=True)
    counts = dict.fromkeys(("killed", "hang", "argued", "survived"), 0)
    for verdict in verdicts:
        counts[verdict.verdict] += 1
    print(json.dumps({**counts, "mutations": [asdict(verdict) for verdict in verdicts]}))
    sys.exit(counts["survived"] > 0)


def _row(verdict: Verdict) -> str:
    return (
        f"{verdict.verdict:9}{verdict.stage:6}{verdict.seconds:6.0f} s  "
        f"{verdict.name}  {verdict.test}"
    )


def drawn(count: int, seed: int) -> list[Mutation]:
    """Mutations of the four rooms, drawn evenly from all that there are, at most one a function."""
    every = [
        mutation
        for room in ROOMS
        for path in sorted((ROOT / "mt" / room).rglob("*.py"))
        for mutation in mutations_of(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]
    print(f"drawn from {len(every):,} mutations", file=sys.stderr)
    random.Random(seed).shuffle(every)
    seen: set[tuple[str, str]] = set()
    chosen: list[Mutation] = []
    for each in every:
        if (each.file, each.function) not in seen and len(chosen) < count:
            seen.add((each.file, each.function))
            chosen.append(each)
    return chosen


def copy_tree(copy: Path) -> None:
    """Copy what the tests need; the tree itself is never changed."""
    ignored = shutil.ignore_patterns(".*", "checkpoints", "build", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=ignored)
    (copy / "checkpoints").mkdir()


def tried(mutation: Mutation, copy: Path, stages: Sequence[str]) -> Verdict:
    """Put the mutation into the copy, run the tests, and take it out."""
    path = copy / mutation.file
    text = path.read_text("utf-8")
    started = time.monotonic()
    try:
        _write(path, mutation.applied(text))
        stage, failed = "", ""
        for stage in stages:
            failed = _failed_test(stage, mutation.file, copy)
            if failed:
                break
    finally:
        _write(path, text)
    verdict = "hang" if failed == "hang" else "killed"
    if failed not in ("", "hang") and (again := _failed([failed], copy, _STAGES[stage])):
        raise RuntimeError(f"{failed} fails without any mutation: {again}")
    if not failed:
        verdict = "argued" if f"`{mutation.name}`" in ARGUED.read_text("utf-8") else "survived"
    seconds = time.monotonic() - started
    return Verdict(
        name=mutation.name, verdict=verdict, stage=stage, test=failed, seconds=round(seconds, 1)
    )


_written = [time.time()]


def _write(path: Path, text: str) -> None:
    """Write with a time of its own: compiled code of a file of equal size and time is taken."""
    path.write_text(text, "utf-8")
    _written[0] += 2
    os.utime(path, (_written[0], _written[0]))


def _failed_test(stage: str, file: str, copy: Path) -> str:
    """The first test of a stage that fails; "hang" if it did not end, empty if all pass."""
    tests = _tests_of(stage, file, copy)
    return _failed(tests, copy, _STAGES[stage]) if tests else ""


def _failed(tests: list[str], copy: Path, most: int) -> str:
    """The first of some tests that fails, within `most` processor seconds; as above."""
    output = copy.parent / "output"
    pid = os.fork()
    if pid == 0:
        _run_tests(tests, copy, output, most)
    status = _waited(pid, _WALL * most)
    if status is None:
        return "hang"
    if os.WIFSIGNALED(status):
        return "hang"
    code = os.WEXITSTATUS(status)
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    text = output.read_text("utf-8", "replace")
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"pytest ended with {code}:\n{text[-3000:]}")
    return found[1]


def _tests_of(stage: str, file: str, copy: Path) -> list[str]:
    """What pytest is to run: of a room, the tests first that are nearest to the file by imports."""
    if stage == "cases":
        return ["tests/cases"]
    _, room, *_, name = file.split("/")
    distances = _distances(file, copy / "mt" / room)
    tests = sorted((copy / "tests" / room).glob("test_*.py"))

    def distance(test: Path) -> float:
        text = test.read_text("utf-8")
        near = [steps for module, steps in distances.items() if re.search(rf"\b{module}\b", text)]
        return -1 if test.name == f"test_{name}" else min(near, default=math.inf)

    return [test.relative_to(copy).as_posix() for test in sorted(tests, key=distance)]


def _distances(file: str, room: Path) -> dict[str, int]:
    """How many imports lie between the module of a file and each of its room that uses it."""
    texts = {
        path.relative_to(room.parent.parent).as_posix(): path.read_text("utf-8")
        for path in room.rglob("*.py")
    }
    modules = {path: path.removesuffix(".py").replace("/", ".") for path in texts}
    found = {modules[file]: 0}
    for steps in range(1, len(texts)):
        for path, text in texts.items():
            if modules[path] not in found and any(
                re.search(rf"\b{module}\b", text) for module, at in found.items() if at < steps
            ):
                found[modules[path]] = steps
    return found


def _run_tests(tests: list[str], copy: Path, output: Path, seconds: int) -> NoReturn:
    """Become pytest in the copy."""
    code = 99
    try:
        with output.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.setsid()
        os.chdir(copy)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        os.environ["PYTHONPATH"] = str(copy)
        sys.path[0] = str(copy)
        # Processes that tests start by multiprocessing would run this program anew.
        sys.modules["__main__"] = ModuleType("__main__")
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:  # nothing of the parent's may be ended here
        os._exit(code)


def _waited(pid: int, seconds: float) -> int | None:
    """The status of a process, or None if it had to be killed; what it started goes with it."""
    end = time.monotonic() + seconds
    ended, status = 0, 0
    while not ended and time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.waitpid(pid, 0)
        return None
    return status


def _import_what_tests_import() -> None:
    """What is large, not of mt and no plugin of pytest: each run is a fork of this process."""
    for name in ("torch", "sacrebleu", "sentencepiece"):
        __import__(name)


if __name__ == "__main__":
    main()
