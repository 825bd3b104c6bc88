"""The starter corpus and pieces of it, and the status of a command on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.cli.main import main

STARTER = Path(__file__).parents[2] / "data" / "starter"
DE, EN = str(STARTER / "test.de"), str(STARTER / "test.en")
MACHINE = ("--device", "cpu", "--precision", "float32", "--threads", "1")
BRIEF = (*MACHINE, "--updates", "2")


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    assert isinstance(caught.value.code, int)
    return caught.value.code


def write_corpus(folder: Path, name: str, start: int, *, languages: str = "de en") -> list[str]:
    paths = []
    for own, language in zip(languages.split(), ("de", "en"), strict=True):
        lines = (STARTER / f"train.{language}").read_text("utf-8").split("\n")[start : start + 60]
        path = folder / f"{name}.{own}"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        paths.append(str(path))
    return paths


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
