"""Warnings about programs: what is no fault of a program, but hardly meant."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from pypto_tmpl import ir
from pypto_tmpl.ir.verifier import Diagnostic, DiagnosticSeverity
from pypto_tmpl.ops import OpTable, load_table
from pypto_tmpl.passes.member_sets import MemberSet

LOGGER = logging.getLogger("pypto_tmpl.passes")


class DiagnosticCheck(Enum):
    """What can be warned of."""

    UnusedVariable = 0
    UnusedControlFlowResult = 1
    TileInnermostDimGranularity = 2
    OutParamWriteDropped = 3


class DiagnosticCheckSet(MemberSet[DiagnosticCheck]):
    """A set of what can be warned of."""


def warnings_of(program: ir.Program, checks: Iterable[DiagnosticCheck]) -> list[Diagnostic]:
    """What the checks say of a program, function by function; those without an implementation say nothing."""
    wanted = [_CHECKS[check] for check in checks if check in _CHECKS]
    return [found for function in program.functions.values() for check in wanted for found in check(function)]


def log_warnings(program: ir.Program, checks: Iterable[DiagnosticCheck], place: str) -> None:
    """Log what the checks say of a program; ``place`` is where it was looked at."""
    for found in warnings_of(program, checks):
        LOGGER.warning("%s: %s (function %r)", place, found, found.function)


def _unused_variables(function: ir.Function) -> Iterator[Diagnostic]:
    """Variables that are assigned for nothing; the result of a write or of a function may stay unread."""
    reads, table = _reads(function), load_table()
    for stmt in ir.walk(function.body):
        if not isinstance(stmt, ir.AssignStmt) or reads[id(stmt.var)]:
            continue
        if not stmt.var.name_hint.startswith("_") and not _has_effect(stmt.value, table):
            yield _warning("UnusedVariable", 1001, f"{stmt.var.name_hint!r} is never read", stmt, function)


def _unused_control_flow_results(function: ir.Function) -> Iterator[Diagnostic]:
    """Results of loops and branches that nothing reads."""
    reads = _reads(function)
    for stmt in ir.walk(function.body):
        for var in getattr(stmt, "return_vars", ()):
            if not reads[id(var)]:
                what = f"the result {var.name_hint!r} is never read"
                yield _warning("UnusedControlFlowResult", 1002, what, stmt, function)


def _warning(rule: str, code: int, what: str, stmt: ir.IRNode, function: ir.Function) -> Diagnostic:
    return Diagnostic(rule, code, what, stmt.span, function.name, DiagnosticSeverity.Warning)


def _reads(function: ir.Function) -> Counter[int]:
    """How often each variable stands somewhere else than where it is bound."""
    found: Counter[int] = Counter()
    for node in ir.walk(function):
        found.update(id(part) for part in ir.children(node) if isinstance(part, ir.Var))
        bound = (getattr(node, "var", None), getattr(node, "loop_var", None))
        results = getattr(node, "return_vars", ())
        carries = getattr(node, "iter_args", ())
        found.subtract(id(var) for var in (*bound, *results, *carries) if var is not None)
    return found


def _has_effect(value: ir.Expr, table: OpTable) -> bool:
    """Whether evaluating ``value`` may do more than give a value: what has no operands may act."""
    for node in ir.walk(value):
        if isinstance(node, ir.Submit):
            return True
        if isinstance(node, ir.Call):
            entry = table.get(node.op.name)
            if entry is None or entry.writes or not entry.operands:
                return True
    return False


_CHECKS: dict[DiagnosticCheck, Callable[[ir.Function], Iterator[Diagnostic]]] = {
    DiagnosticCheck.UnusedVariable: _unused_variables,
    DiagnosticCheck.UnusedControlFlowResult: _unused_control_flow_results,
}
