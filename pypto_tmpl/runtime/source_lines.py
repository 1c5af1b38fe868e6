"""From a line of a generated script back to the source line of the statement it was made from.

The script has no position table; its assignments are matched with those of the IR by function, name and
order, and where they do not match one to one no line is named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.codegen.names import identifier

_SUFFIX = re.compile(r"_\d+$")


def source_place(program: ir.Program, script: ast.Module, line: int) -> str | None:
    """``file:line`` of the assignment that a line of a script belongs to; None where it is not certain."""
    function = function_at(script, line)
    if function is None:
        return None
    twins = [f for f in program.functions.values() if identifier(f.name) == function.name]
    found = [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AnnAssign)]
    assigned = sorted(found, key=lambda node: node.lineno)
    at = next((node for node in assigned if node.lineno <= line <= (node.end_lineno or 0)), None)
    if len(twins) != 1 or at is None or (name := _target(at)) is None:
        return None
    same = [node for node in assigned if _target(node) == name]
    spans = [stmt.span for stmt in _assignments(twins[0]) if _base(identifier(stmt.var.name_hint)) == name]
    if len(same) != len(spans) or not (span := spans[same.index(at)]).is_valid():
        return None
    return f"{span.filename}:{span.begin_line}"


def function_at(script: ast.Module, line: int) -> ast.FunctionDef | None:
    """The function of a script that a line belongs to, helpers included, methods not."""
    for node in script.body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            return node
    return None


def _target(node: ast.Assign | ast.AnnAssign) -> str | None:
    """Name that an assignment binds, without the suffix that tells variables of one name apart."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return _base(target.id) if isinstance(target, ast.Name) else None


def _base(name: str) -> str:
    return _SUFFIX.sub("", name)


def _assignments(function: ir.Function) -> Iterator[ir.AssignStmt]:
    """The assignments of a function in the order of the text."""
    return (node for node in ir.walk(function.body) if isinstance(node, ir.AssignStmt))
