"""What statements define and use, and checks in steps, without a Python stack, however deep the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.expr import Call, Submit
from pypto_tmpl.ir.leaves import ConstBool, ConstFloat, ConstInt, IterArg, Var
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.stmt import (
    AssignStmt,
    EvalStmt,
    ForStmt,
    IfStmt,
    ReturnStmt,
    SpmdScopeStmt,
    WhileStmt,
    YieldStmt,
)

Steps: TypeAlias = "Iterator[Steps]"
"""A check that yields the checks of what is inside, where a plain function would call itself."""


def run(steps: Steps) -> None:
    """Run a check and those that it yields, each at the place where it is yielded."""
    stack = [steps]
    while stack:
        for inner in stack[-1]:
            stack.append(inner)
            break
        else:
            stack.pop()


def occurrences(root: Stmt) -> int:
    """How many statements there are in ``root``, a shared one counted wherever it stands."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        stmt = stack.pop()
        if id(stmt) in seen:
            return _unfolded_occurrences(root)
        seen.add(id(stmt))
        stack += parts(stmt)
    return len(seen)


def _unfolded_occurrences(root: Stmt) -> int:
    counts: dict[int, int] = {}
    stack = [root]
    while stack:
        stmt = stack[-1]
        missing = [part for part in parts(stmt) if id(part) not in counts]
        if missing and id(stmt) not in counts:
            stack += missing
            continue
        stack.pop()
        counts[id(stmt)] = 1 + sum(counts[id(part)] for part in parts(stmt))
    return counts[id(root)]


def definitions(stmt: Stmt) -> tuple[Var, ...]:
    """The variables that ``stmt`` itself defines, inside its body or after it."""
    if isinstance(stmt, AssignStmt):
        return (stmt.var,)
    if isinstance(stmt, ForStmt):
        return (stmt.loop_var, *stmt.iter_args, *stmt.return_vars)
    if isinstance(stmt, WhileStmt):
        return (*stmt.iter_args, *stmt.return_vars)
    return stmt.return_vars if isinstance(stmt, IfStmt) else ()


def all_definitions(function: Function) -> Iterator[tuple[Var, Stmt]]:
    """Every definition of a function with its statement; parameters come with the body."""
    for var in function.params:
        yield var, function.body
    for stmt in statements(function.body):
        for var in definitions(stmt):
            yield var, stmt


def own_expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that ``stmt`` evaluates before what is inside it; not the condition of a while."""
    if isinstance(stmt, AssignStmt):
        return (stmt.value,)
    if isinstance(stmt, EvalStmt):
        return (stmt.expr,)
    if isinstance(stmt, YieldStmt | ReturnStmt):
        return stmt.value
    if isinstance(stmt, IfStmt):
        return (stmt.condition,)
    if isinstance(stmt, ForStmt):
        return (stmt.start, stmt.stop, stmt.step, *(arg.initValue for arg in stmt.iter_args))
    if isinstance(stmt, WhileStmt):
        return tuple(arg.initValue for arg in stmt.iter_args)
    return (stmt.core_num,) if isinstance(stmt, SpmdScopeStmt) else ()


def evaluated(*roots: Expr) -> Iterator[Expr]:
    """The expressions that evaluating ``roots`` reads, in order, each object once.

    What only types and attributes mention does not count. Of a MemRef or WindowBuffer, which no statement
    defines, the parts are read.
    """
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if type(node) not in _LEAVES:
                stack += _operands(node)[::-1]


_LEAVES = frozenset({Var, IterArg, ConstInt, ConstFloat, ConstBool})
_OPERANDS = ("left", "right", "operand", "tuple")


def _operands(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Var | ConstInt | ConstFloat | ConstBool):
        return _buffer_parts(node)
    if isinstance(node, Submit):
        launched = (part for part in (node.core_num, node.predicate) if part is not None)
        return (*node.args, *node.deps, *launched)
    parts: tuple[Expr, ...] = getattr(node, "elements", ())
    return (*parts, *(getattr(node, name) for name in _OPERANDS if hasattr(node, name)))


def _buffer_parts(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, MemRef):
        slots = () if node.slot_index_ is None else (node.slot_index_,)
        return (node.base_, node.byte_offset_, *slots)
    return (node.base, node.size) if isinstance(node, WindowBuffer) else ()


def used_variables(*roots: Expr) -> Iterator[Var]:
    """The variables that evaluating ``roots`` reads."""
    return (node for node in evaluated(*roots) if type(node) in (Var, IterArg))  # type: ignore[misc]
