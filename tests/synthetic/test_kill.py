"""A kill at any moment loses no line and doubles none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases.runs import run_python


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks to kill")
def test_a_kill_before_any_change_of_the_disk_leaves_what_goes_on(tmp_path: Path) -> None:
    mono = tmp_path / "mono.txt"
    mono.write_text("".join(f"line {number}\n" for number in range(12)), "utf-8")
    run = run_python("-m", "tests.synthetic.killed", "steps", mono, tmp_path / "out.jsonl").check()
    assert int(run.out) > 10  # two blocks, the pairs, the summary, and what belongs to them
