"""Imports point down only, and rooms on one floor do not import each other."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import mt

ROOT = Path(mt.__file__).parent

FLOORS: dict[str, set[str]] = {
    "formats": set(),
    "text": {"formats"},
    "model": set(),
    "search": set(),
    "evaluation": {"text"},
    "corpus": {"formats"},
    "model_folder": {"corpus", "text", "model"},
    "preparation": {"formats", "corpus", "text", "model_folder"},
    "training": {"corpus", "text", "model"},
    "translation": {"text", "model", "search", "model_folder"},
    "exchange": {"text", "model", "search", "model_folder"},
    "synthetic": {"formats", "corpus", "text", "search", "translation"},
    "documents": {"formats", "text", "translation"},
    "reporting": {"text", "model", "search", "model_folder", "translation", "evaluation"},
    "tasks": {
        *("formats", "corpus", "text", "model", "search", "evaluation", "model_folder"),
        *("preparation", "training", "translation", "exchange", "reporting", "synthetic"),
        "documents",
    },
    "serving": {"corpus", "text", "model", "model_folder", "translation", "tasks"},
    "cli": {
        *("formats", "corpus", "text", "model_folder", "evaluation", "translation", "documents"),
        *("tasks", "serving"),
    },
}
"""For each room, the rooms it may import; every room may import floor 0."""

GROUND = ("config", "files")
"""The packages on floor 0, beside the modules that stand by themselves."""

ONE_ROOM = {
    "hashlib": ["mt/files/digests.py"],
    "sentencepiece": ["mt/text/subwords.py"],
    "sentencex": ["mt/text/segments.py"],
    "regex": ["mt/text/segments.py"],
    "sacrebleu": ["mt/evaluation/metrics.py", "mt/evaluation/scores.py"],
    "datasets": ["mt/corpus/store.py", "mt/formats/columnar.py"],
    "zstandard": ["mt/formats/compressed.py"],
    "lxml": ["mt/formats/xml.py"],
    "ctranslate2": ["mt/exchange/ctranslate2.py"],
    "transformers": ["mt/exchange/transformers_check.py"],
    "yaml": ["mt/exchange/marian.py", "mt/formats/documents/yaml_scalars.py"],
    "markdown_it": ["mt/formats/documents/markdown_spans.py"],
    "matplotlib": ["mt/reporting/attention_image.py"],
    "py3langid": ["mt/corpus/checks/language.py"],
    "starlette": ["mt/serving/http.py"],
    "uvicorn": ["mt/serving/server.py"],
    "prometheus_client": ["mt/serving/metrics.py"],
}
"""Packages that stand behind one module; datasets reads corpora and keeps the store."""


@cache
def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 and parts[0] not in GROUND else ""


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in modules()} - {""} == FLOORS.keys()


def test_imports_point_down() -> None:
    breaches = []
    for path in modules():
        room = room_of(path)
        if path in (ROOT / "__init__.py", ROOT / "__main__.py"):
            continue  # the ways in, above all floors
        may = FLOORS.get(room, set()) | {room}
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "mt" and len(parts) > 1 and parts[1] in FLOORS and parts[1] not in may:
                breaches.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not breaches


def test_floor_zero_needs_the_standard_library_alone() -> None:
    import sys

    for path in [path for path in modules() if not room_of(path)]:
        for name in imports_of(path):
            top = name.split(".")[0]
            assert top == "mt" or top in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_awkward_packages_stand_behind_one_room() -> None:
    for package, room in ONE_ROOM.items():
        users = [
            path.relative_to(ROOT.parent).as_posix()
            for path in modules()
            if any(name.split(".")[0] == package for name in imports_of(path))
        ]
        assert users == room


def test_the_corpus_and_the_scores_need_no_torch() -> None:
    for room in ("formats", "corpus", "evaluation"):
        for path in (ROOT / room).rglob("*.py"):
            assert not any(name.split(".")[0] == "torch" for name in imports_of(path)), path
