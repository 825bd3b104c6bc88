"""`benchmarks/gpu.py` runs in one command, here on the CPU with tiny shapes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_it_measures_all_and_agrees_with_the_cpu() -> None:
    command = [sys.executable, "benchmarks/gpu.py", "--device", "cpu", "--quick", "--threads", "1"]
    out = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    record = json.loads(out.splitlines()[-1])
    assert record["check"]["agrees"]
    assert record["check"]["compiled_float32_loss"] < 1e-4
    assert not record["left_out"]
    trained = [(each["preset"], each["compiled"]) for each in record["training"]]
    assert trained == [(p, c) for c in ("no", "aot_eager") for p in ("base", "big")]
    assert [each["way"] for each in record["otherwise"]] == [
        "cuDNN attention",
        "four batches an update",
    ]
    assert record["otherwise"][1]["accumulate"] == 4
    assert all(
        each["tokens_per_second"] > 0
        for each in record["training"] + record["otherwise"] + record["decoding"]
    )


def test_what_there_is_no_time_for_is_told() -> None:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from gpu import Plan
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    plan = Plan(100.0)
    assert plan.measure("short", lambda: {"a": 1}, needs=50.0) == [{"a": 1}]
    assert plan.measure("long", lambda: {"a": 1}, needs=150.0) == []
    assert plan.left_out == ["long"]
