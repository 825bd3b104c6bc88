"""The mutations on record can be made: a line that is renamed is renamed there, too."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_recorded_mutation_finds_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / "benchmarks" / "mutation_kinds.py"
    spec = importlib.util.spec_from_file_location("mutation_kinds", path)
    assert spec is not None
    assert spec.loader is not None
    kinds = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutation_kinds", kinds)
    spec.loader.exec_module(kinds)
    records = json.loads((ROOT / "benchmarks" / "mutations.json").read_text("utf-8"))
    assert len(records) == 39
    for record in records:
        mutation = kinds.Mutation(**record)
        text = (ROOT / mutation.file).read_text("utf-8")
        assert mutation.applied(text) != text, mutation.name
