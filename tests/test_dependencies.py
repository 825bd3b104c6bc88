"""What pyproject.toml claims to run with is what the tests ran with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_oldest_versions_that_are_allowed_are_those_that_are_tested() -> None:
    """An argument that a dependency brought later than its floor would fail here, not at users."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        required += extra
    assert len(required) > 15
    for requirement in required:
        found = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement)
        assert found is not None, requirement
        assert pins[found[1].lower()] == found[2], requirement
