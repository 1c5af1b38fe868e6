"""Rules on where variables are defined and used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.enums import FunctionType, ParamDirection
from pypto_tmpl.ir.expr import Call, GlobalVar, Var
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.stmt import (
    AssignStmt,
    EvalStmt,
    ForStmt,
    IfStmt,
    ReturnStmt,
    RuntimeScopeStmt,
    ScopeStmt,
    SeqStmts,
    SplitAivScopeStmt,
    SpmdScopeStmt,
    WhileStmt,
    YieldStmt,
)
from pypto_tmpl.ir.verifier.control_flow import parts, statements
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.visitor import walk


def own_expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that ``stmt`` itself evaluates."""
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
    if isinstance(stmt, SpmdScopeStmt):
        return (stmt.core_num,)
    return ()


def used_variables(expr: Expr) -> Iterator[Var]:
    """Variables that evaluating ``expr`` reads; those that only its types mention do not count."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            yield node
            continue
        for name in ("args", "deps", "elements"):
            stack.extend(getattr(node, name, ()))
        for name in ("tuple", "left", "right", "operand", "core_num", "predicate"):
            value = getattr(node, name, None)
            if isinstance(value, Expr):
                stack.append(value)


def defined_by_types(function: Function) -> set[int]:
    """Variables in the types of parameters, return values and assigned variables: they count as defined."""
    owners: list[object] = [var.type for var in function.params]
    owners += function.return_types
    for stmt in statements(function.body):
        if isinstance(stmt, AssignStmt):
            owners.append(stmt.var.type)
    return {id(node) for owner in owners for node in walk(owner) if isinstance(node, Var)}


def use_after_def(function: Function, findings: Findings) -> None:
    """Every use follows a definition; a body may leak names only where there are no return_vars."""
    defined = {id(var) for var in function.params} | defined_by_types(function)
    _check_uses(function.body, defined, findings, 401)


def _check_uses(stmt: Stmt, defined: set[int], findings: Findings, code: int) -> None:
    """Check ``stmt`` and enter what it defines into ``defined``."""
    if isinstance(stmt, WhileStmt):
        _check_reads((arg.initValue for arg in stmt.iter_args), defined, findings, code)
        inner = defined | {id(arg) for arg in stmt.iter_args}
        _check_reads((stmt.condition,), inner, findings, code)
        _check_uses(stmt.body, inner, findings, code)
        _leave(stmt.return_vars, [inner], defined)
        return
    _check_reads(own_expressions(stmt), defined, findings, code)
    if isinstance(stmt, AssignStmt):
        defined.add(id(stmt.var))
    elif isinstance(stmt, ForStmt):
        inner = defined | {id(stmt.loop_var), *(id(arg) for arg in stmt.iter_args)}
        _check_uses(stmt.body, inner, findings, code)
        _leave(stmt.return_vars, [inner], defined)
    elif isinstance(stmt, IfStmt):
        branches = []
        for branch in parts(stmt):
            branches.append(set(defined))
            _check_uses(branch, branches[-1], findings, code)
        _leave(stmt.return_vars, branches, defined)
    else:
        for part in parts(stmt):
            _check_uses(part, defined, findings, code)


def _leave(return_vars: Sequence[Var], inner: list[set[int]], defined: set[int]) -> None:
    if return_vars:
        defined.update(id(var) for var in return_vars)
        return
    for names in inner:
        defined.update(names)


def _check_reads(
    exprs: Iterator[Expr] | tuple[Expr, ...], defined: set[int], findings: Findings, code: int
) -> None:
    for expr in exprs:
        for var in used_variables(expr):
            if id(var) not in defined:
                findings.add(code, f"{var.name_hint!r} is used before it is defined", var.span)


def ssa_form(function: Function, findings: Findings) -> None:
    """Every variable is assigned once, used inside its scope, and value-producing bodies end in a yield."""
    assigned: set[int] = set()
    for var in _definitions(function):
        if id(var) in assigned:
            findings.add(1, f"{var.name_hint!r} is assigned more than once", var.span)
        assigned.add(id(var))
    _check_scopes(function.body, {id(var) for var in function.params} | defined_by_types(function), findings)
    for stmt in statements(function.body):
        if isinstance(stmt, ForStmt | WhileStmt):
            if len(stmt.iter_args) != len(stmt.return_vars):
                counts = f"{len(stmt.iter_args)} carries and {len(stmt.return_vars)} return variables"
                findings.add(4, f"a loop with {counts}", stmt.span)
            if stmt.iter_args:
                _check_yield(stmt.body, len(stmt.iter_args), "loop", findings)
        elif isinstance(stmt, IfStmt) and stmt.return_vars:
            if stmt.else_body is None:
                findings.add(3, "a branch with return variables and no else", stmt.span)
            for branch in parts(stmt):
                _check_yield(branch, len(stmt.return_vars), "branch", findings)


def _definitions(function: Function) -> Iterator[Var]:
    yield from function.params
    for stmt in statements(function.body):
        if isinstance(stmt, AssignStmt):
            yield stmt.var
        if isinstance(stmt, ForStmt):
            yield stmt.loop_var
        if isinstance(stmt, ForStmt | WhileStmt):
            yield from stmt.iter_args
        if isinstance(stmt, ForStmt | WhileStmt | IfStmt):
            yield from stmt.return_vars


def _check_scopes(stmt: Stmt, visible: set[int], findings: Findings) -> None:
    """Code 6: a variable is used outside the block that defines it; nothing leaks in SSA form."""
    if isinstance(stmt, WhileStmt):
        _check_reads((arg.initValue for arg in stmt.iter_args), visible, findings, 6)
    else:
        _check_reads(own_expressions(stmt), visible, findings, 6)
    if isinstance(stmt, AssignStmt):
        visible.add(id(stmt.var))
    elif isinstance(stmt, ForStmt | WhileStmt):
        inner = visible | {id(arg) for arg in stmt.iter_args}
        if isinstance(stmt, ForStmt):
            inner.add(id(stmt.loop_var))
        else:
            _check_reads((stmt.condition,), inner, findings, 6)
        _check_scopes(stmt.body, inner, findings)
        visible.update(id(var) for var in stmt.return_vars)
    elif isinstance(stmt, IfStmt):
        for branch in parts(stmt):
            _check_scopes(branch, set(visible), findings)
        visible.update(id(var) for var in stmt.return_vars)
    else:
        for part in parts(stmt):
            _check_scopes(part, visible, findings)


def trailing_yield(body: Stmt) -> YieldStmt | None:
    """The yield that ends ``body``; sequences, runtime and split-AIV scopes are transparent."""
    last: Stmt | None = body
    while isinstance(last, SeqStmts | RuntimeScopeStmt | SplitAivScopeStmt):
        last = (last.stmts[-1] if last.stmts else None) if isinstance(last, SeqStmts) else last.body
    return last if isinstance(last, YieldStmt) else None


def _check_yield(body: Stmt, count: int, what: str, findings: Findings) -> None:
    last = trailing_yield(body)
    if last is None:
        findings.add(3, f"a value-producing {what} that does not end in a yield", body.span)
    elif len(last.value) != count:
        findings.add(5, f"a yield of {len(last.value)} values where the {what} has {count}", last.span)
    for stmt in _same_level(body):
        if isinstance(stmt, YieldStmt) and stmt is not last:
            findings.add(7, "a yield before the end of a value-producing body", stmt.span)


def _same_level(body: Stmt) -> Iterator[Stmt]:
    """Statements of a body that are not inside a loop or branch of their own."""
    yield body
    if isinstance(body, SeqStmts | ScopeStmt):
        for part in parts(body):
            yield from _same_level(part)


def out_param_not_shadowed(function: Function, findings: Findings) -> None:
    """An output parameter is not replaced by a new tensor: what is written there would be lost."""
    outputs = {
        id(var)
        for var, direction in zip(function.params, function.param_directions, strict=True)
        if direction is not ParamDirection.In
    }
    for stmt in statements(function.body):
        is_new = isinstance(stmt, AssignStmt) and isinstance(stmt.value, Call)
        if isinstance(stmt, AssignStmt) and is_new and id(stmt.var) in outputs:
            assert isinstance(stmt.value, Call)
            if stmt.value.op.name in ("tensor.create", "tensor.full"):
                message = f"output parameter {stmt.var.name_hint!r} is reassigned by {stmt.value.op.name}"
                findings.add(501, message, stmt.span)


def in_out_use_valid(function: Function, findings: Findings, program: Program | None) -> None:
    """What was passed as an output of a call is not read afterwards under its old name."""
    exempt = (FunctionType.Group, FunctionType.Spmd)
    if program is not None and function.func_type not in exempt:
        _check_stale(function.body, {}, findings, program)


def _check_stale(stmt: Stmt, stale: dict[int, str], findings: Findings, program: Program) -> None:
    for expr in own_expressions(stmt):
        for var in used_variables(expr):
            if id(var) in stale:
                message = f"{var.name_hint!r} is read after it was an output of {stale[id(var)]!r}"
                findings.add(0, message, stmt.span)
        for call in (node for node in walk(expr) if isinstance(node, Call)):
            for output in _outputs(call, program):
                stale[id(output)] = call.op.name
    if isinstance(stmt, AssignStmt):
        stale.pop(id(stmt.var), None)
    if isinstance(stmt, IfStmt):
        outcomes = [dict(stale) for _ in parts(stmt)]
        for branch, outcome in zip(parts(stmt), outcomes, strict=True):
            _check_stale(branch, outcome, findings, program)
        for outcome in outcomes:
            stale.update(outcome)
        return
    for part in parts(stmt):
        _check_stale(part, stale, findings, program)


def _outputs(call: Call, program: Program) -> Iterator[Var]:
    callee = program.get_function(call.op.name) if isinstance(call.op, GlobalVar) else None
    if callee is None:
        return
    for arg, direction in zip(call.args, callee.param_directions, strict=False):
        if isinstance(arg, Var) and direction is not ParamDirection.In:
            yield arg
