"""The page of the cases names every case that a test names."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent


def test_every_case_that_a_test_names_is_on_the_page() -> None:
    page = set(re.findall(r"^- ([A-Z]\d+): ", (FOLDER / "README.md").read_text("utf-8"), re.M))
    for path in FOLDER.parent.rglob("test_*.py"):
        named = set(re.findall(r"\b[A-GTX]\d\d\b", path.read_text("utf-8")))
        if path.parent == FOLDER:
            named |= set(re.findall(r'""".*?\b([AB]\d)\b', path.read_text("utf-8")))
        assert named <= page, f"{path.name}: {sorted(named - page)}"
