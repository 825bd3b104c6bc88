"""One-line mutations of Python code, found in its syntax tree and made in its text.

Operators, comparisons, constants and conditions change, statements go, arguments are swapped.
Annotations, docstrings, messages of exceptions, text, assertions and `strict=` are left as they
are, and only arguments that are names are swapped: others would mostly be of the wrong type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
    ast.Pow: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
    ast.MatMult: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitXor: "&",
    ast.And: "or",
    ast.Or: "and",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_SPELLED: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"},
    **{ast.Mod: "%", ast.Pow: "**", ast.BitOr: "|", ast.BitAnd: "&", ast.MatMult: "@"},
    **{ast.LShift: "<<", ast.RShift: ">>", ast.BitXor: "^", ast.And: "and", ast.Or: "or"},
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_Site = ast.stmt | ast.expr


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A line of a file, and what stands there instead."""

    name: str
    file: str
    function: str
    """Qualified name of what the line stands in; empty for a module."""
    before: str
    """The line, without the spaces around it."""
    after: str
    number: int = 0
    """Which of the lines of that text in the function, from 0."""

    def applied(self, text: str) -> str:
        """The text of the file with the mutation; LookupError when its line is not there."""
        first, last = _span(text, self.function)
        lines = text.split("\n")
        at = [i for i in range(first, last) if lines[i].strip() == self.before]
        if len(at) <= self.number:
            raise LookupError(f"{self.file}, {self.function}: there is no line {self.before!r}")
        line = lines[at[self.number]]
        lines[at[self.number]] = line.replace(self.before, self.after)
        mutated = "\n".join(lines)
        ast.parse(mutated)
        return mutated


def _span(text: str, function: str) -> tuple[int, int]:
    """The lines of what has that qualified name, from 0, the last not counted."""
    for name, node in _named(ast.parse(text), ""):
        if name == function:
            assert node.end_lineno is not None
            return node.lineno - 1, node.end_lineno
    if function:
        raise LookupError(f"there is no {function}")
    return 0, text.count("\n") + 1


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from _named(child, f"{name}.")
        else:
            yield from _named(child, prefix)


def mutations_of(file: str, text: str) -> list[Mutation]:
    """All one-line mutations of the functions of a file, in order."""
    lines = text.split("\n")
    found = []
    for name, function in _named(ast.parse(text), ""):
        if isinstance(function, ast.ClassDef):
            continue
        for kind, node, replacement in _sites(function):
            made = _mutation(file, name, kind, lines, node, replacement)
            if made is not None:
                found.append(made)
    return found


def _mutation(
    file: str, function: str, kind: str, lines: list[str], node: _Site, replacement: str
) -> Mutation | None:
    """The mutation that puts `replacement` for `node`; None where that is no single line."""
    if node.end_lineno != node.lineno:
        return None
    line = lines[node.lineno - 1].encode("utf-8")
    new = line[: node.col_offset] + replacement.encode("utf-8") + line[node.end_col_offset :]
    before, after = line.decode("utf-8").strip(), new.decode("utf-8").strip()
    first = _span("\n".join(lines), function)[0]
    number = [each.strip() for each in lines[first : node.lineno - 1]].count(before)
    name = f"{file.removeprefix('mt/').removesuffix('.py')}:{node.lineno} {kind}"
    made = Mutation(
        name=name, file=file, function=function, before=before, after=after, number=number
    )
    try:
        made.applied("\n".join(lines))
    except SyntaxError:
        return None
    return made if before != after else None


def _sites(function: ast.FunctionDef) -> Iterator[tuple[str, _Site, str]]:
    """Kind, node and new text of each mutation of a function, those of functions in it apart."""
    for statement in function.body:
        yield from _of(statement)


def _of(node: ast.AST) -> Iterator[tuple[str, _Site, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Raise | ast.Assert | ast.JoinedStr):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    yield from _changed(node)
    for field, child in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params"):
            continue
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.AST):
                yield from _of(each)


def _changed(node: ast.AST) -> Iterator[tuple[str, _Site, str]]:
    if isinstance(node, ast.Expr | ast.AugAssign):
        yield "removed", node, "pass"
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare):
        yield from _changed_operator(node)
    elif isinstance(node, ast.Call):
        yield from _changed_call(node)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "negated", node.test, f"(not ({ast.unparse(node.test)}))"


def _changed_constant(node: ast.Constant) -> Iterator[tuple[str, _Site, str]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", node, str(not value)
    elif isinstance(value, int | float):
        yield "constant", node, repr(value + 1)


def _changed_operator(
    node: ast.BinOp | ast.BoolOp | ast.Compare,
) -> Iterator[tuple[str, _Site, str]]:
    operator = node.ops[0] if isinstance(node, ast.Compare) else node.op
    new = _OPERATORS.get(type(operator))
    if new is None:
        return
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
    else:
        operands = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
    rest = [ast.unparse(each) for each in operands]
    if len(rest) == 2:
        kind = f"{_SPELLED[type(operator)]} to {new}"
        yield kind, node, f"({rest[0]}) {new} ({rest[1]})"


def _changed_call(node: ast.Call) -> Iterator[tuple[str, _Site, str]]:
    if isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        new = _NAMES[node.func.id]
        yield f"{node.func.id} to {new}", node.func, new
    named = isinstance(node.func, ast.Name) and node.func.id in (*_NAMES, "isinstance", "zip")
    plain = len(node.args) >= 2 and all(
        isinstance(each, ast.Name | ast.Attribute) for each in node.args[:2]
    )
    if plain and not named:
        swapped = ast.parse(ast.unparse(node), mode="eval").body
        assert isinstance(swapped, ast.Call)
        swapped.args[:2] = swapped.args[1::-1]
        yield "swapped", node, ast.unparse(swapped)
