"""Rules that passes make true: what each of them leaves nothing of."""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl.ir.base import Stmt
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import ForKind, FunctionType, is_incore_type
from pypto_tmpl.ir.expr import Call, GlobalVar, Submit
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import (
    BreakStmt,
    ClusterScopeStmt,
    ContinueStmt,
    ForStmt,
    HierarchyScopeStmt,
    InCoreScopeStmt,
    SpmdScopeStmt,
)
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.walking import walk


def structured_ctrl_flow(function: Function, findings: Findings) -> None:
    """No function of a kernel jumps; others keep their jumps until scopes are made functions."""
    if is_incore_type(function.func_type):
        _refuse(function, lambda stmt: isinstance(stmt, BreakStmt | ContinueStmt), "a jump", findings)


def unroll_resolved(function: Function, findings: Findings) -> None:
    """No loop is yet to be unrolled."""
    _refuse(function, lambda stmt: _is_loop(stmt, ForKind.Unroll), "a loop of kind Unroll", findings)


def pipeline_resolved(function: Function, findings: Findings) -> None:
    """No loop is yet to be made a pipeline."""
    _refuse(function, lambda stmt: _is_loop(stmt, ForKind.Pipeline), "a loop of kind Pipeline", findings)


def hierarchy_outlined(function: Function, findings: Findings) -> None:
    """No Hierarchy scope is left in an Opaque function."""
    if function.func_type is FunctionType.Opaque:
        _refuse(function, lambda stmt: isinstance(stmt, HierarchyScopeStmt), "a Hierarchy scope", findings)


def split_incore_orch(function: Function, findings: Findings) -> None:
    """InCore scopes stand in kernels only."""
    if not is_incore_type(function.func_type):
        _refuse(function, lambda stmt: isinstance(stmt, InCoreScopeStmt), "an InCore scope", findings)


def cluster_outlined(function: Function, findings: Findings) -> None:
    """Cluster and Spmd scopes stand in Group and Spmd functions only."""
    if function.func_type not in (FunctionType.Group, FunctionType.Spmd):
        kinds = (ClusterScopeStmt, SpmdScopeStmt)
        _refuse(function, lambda stmt: isinstance(stmt, kinds), "a Cluster or Spmd scope", findings)


def inline_functions_eliminated(function: Function, findings: Findings, program: Program | None) -> None:
    """No function is Inline, and each that is called exists; only a program can tell the latter."""
    if function.func_type is FunctionType.Inline:
        findings.add(0, f"the Inline function {function.name!r} is left", function.span)
    _refuse_missing(function, findings, program)


def orchestration_references_resolved(
    function: Function, findings: Findings, program: Program | None
) -> None:
    """Every function that an orchestration function calls exists."""
    if function.func_type is FunctionType.Orchestration:
        _refuse_missing(function, findings, program)


def _is_loop(stmt: Stmt, kind: ForKind) -> bool:
    return isinstance(stmt, ForStmt) and stmt.kind is kind


def _refuse(function: Function, is_refused: Callable[[Stmt], bool], what: str, findings: Findings) -> None:
    for stmt in statements(function.body):
        if is_refused(stmt):
            findings.add(0, f"{what} is left in a function of type {function.func_type.name}", stmt.span)


def _refuse_missing(function: Function, findings: Findings, program: Program | None) -> None:
    for node in walk(function.body):
        if program is None or not isinstance(node, Call | Submit) or not isinstance(node.op, GlobalVar):
            continue
        callee = program.get_function(node.op.name)
        if callee is None:
            findings.add(0, f"there is no function {node.op.name!r} to call", node.span)
        elif callee.func_type is FunctionType.Inline:
            findings.add(0, f"the Inline function {node.op.name!r} is called", node.span)
