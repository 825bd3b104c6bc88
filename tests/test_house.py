"""What keeps the code readable: short functions, few parameters, typed values, thin commands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import mt

ROOT = Path(mt.__file__).parent
MOST_LINES, MOST_PARAMETERS = 80, 8
MOST_LINES_A_COMMAND = 255
"""Of the whole command line, what is shared included."""

UNTYPED = {
    "cli/check_output.py",
    "cli/comparison_output.py",
    "cli/json_records.py",
    "config/toml.py",
    "evaluation/results.py",
    "formats/json_lines.py",
    "model_folder/belonging.py",
    "model_folder/facts.py",
    "model_folder/scores.py",
    "preparation/reuse.py",
    "reporting/curves.py",
    "tasks/evaluate.py",
    "training/best.py",
    "training/checkpoint.py",
}
"""The edge where JSON and TOML come in and go out; nowhere else are values without a type."""


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path.relative_to(ROOT).as_posix(), node


def num_parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in named)


def test_functions_are_short() -> None:
    for path, function in functions():
        num_lines = (function.end_lineno or 0) - function.lineno + 1
        assert num_lines < MOST_LINES, f"{path}: {function.name} has {num_lines} lines"


def test_signatures_are_short() -> None:
    for path, function in functions():
        num = num_parameters(function)
        assert num <= MOST_PARAMETERS, f"{path}: {function.name} has {num} parameters"


def test_values_without_a_type_stay_at_the_edge() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "dict[str, Any]" in path.read_text("utf-8")
        or "Mapping[str, Any]" in path.read_text("utf-8")
    }
    assert found == UNTYPED


def test_tasks_neither_parse_nor_print() -> None:
    for path in (ROOT / "tasks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            assert not {name.split(".")[0] for name in modules} & {"click", "rich"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", path


def test_the_command_line_is_thin() -> None:
    num_lines = sum(path.read_text("utf-8").count("\n") for path in (ROOT / "cli").rglob("*.py"))
    num_commands = len(list((ROOT / "cli" / "commands").glob("[!_]*.py")))
    assert num_lines < MOST_LINES_A_COMMAND * num_commands
