"""What a machine tells of itself, and that no system makes an error of it."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import torch

from mt.cli.options import typed_command
from mt.tasks import machine
from mt.tasks.machine import describe_run

CPU = torch.device("cpu")


def test_this_machine_describes_itself() -> None:
    run = describe_run("mt", device=CPU, threads=3, num_processes=2)
    assert run.processor
    assert run.num_cores >= 1
    assert (run.num_threads, run.num_processes, run.gpus) == (3, 2, ())
    assert [name.split()[0] for name in run.software[:3]] == ["mt", "torch", "Python"]
    assert describe_run("mt", device=CPU, threads=None).num_threads == run.num_cores


def test_a_system_that_tells_nothing_makes_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "none")
    monkeypatch.delattr(os, "sysconf")
    for name in ("processor", "machine", "system"):
        monkeypatch.setattr(platform, name, lambda: "")
    run = describe_run("mt", device=CPU, threads=None)
    assert (run.processor, run.memory) == ("unknown", None)
    assert run.software[-1] == "unknown system"


@pytest.mark.parametrize("size", [-1, ValueError("unrecognized configuration name"), OSError()])
def test_a_size_that_the_system_does_not_know_is_left_out(
    size: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sysconf(name: str) -> int:
        if isinstance(size, Exception):
            raise size
        return -1 if name == "SC_PHYS_PAGES" else 4096

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert describe_run("mt", device=CPU, threads=None).memory is None


def test_a_mac_is_asked_for_its_chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    found = subprocess.CompletedProcess(args=[], returncode=0, stdout="Apple M3\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: found)
    assert describe_run("mt", device=CPU, threads=None).processor == "Apple M3"

    def fails(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", fails)
    assert describe_run("mt", device=CPU, threads=None).processor == "arm"


def test_a_processor_is_what_linux_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("processor\t: 0\nmodel name\t: AMD  EPYC 9B45\nmodel name\t: other\n")
    monkeypatch.setattr(machine, "_CPUINFO", path)
    assert describe_run("mt", device=CPU, threads=None).processor == "AMD EPYC 9B45"


def test_a_command_is_quoted_as_a_shell_wants_it() -> None:
    with click.Context(click.Command("mt"), obj=["train", "a b.de", "x\udcff", "-o", "m"]):
        assert typed_command() == "mt train 'a b.de' 'x\\udcff' -o m"
    assert typed_command() == "mt"
