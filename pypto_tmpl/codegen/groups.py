"""Pairs of cube and vector calls that run concurrently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.kernels import KernelMap


@dataclass(frozen=True, slots=True)
class CallPair:
    """The calls of a group's members; both run where the later of the two stands."""

    group: str
    aic: Launch | None
    aiv: Launch | None
    last: Launch

    def is_first(self, value: ir.Expr) -> bool:
        """True for the earlier call of the pair: it has no text of its own."""
        return (value is self.aic or value is self.aiv) and value is not self.last

    def is_last(self, value: ir.Expr) -> bool:
        return value is self.last

    @property
    def giver(self) -> Launch:
        """The call whose value the pair's is: the vector member's, if there is one."""
        giver = self.aiv if self.aiv is not None else self.aic
        assert giver is not None
        return giver


def find_pair(kernels: KernelMap, group: str, calls: Iterable[Launch]) -> CallPair | None:
    """The first AIC call and the first AIV call among ``calls``, which stand in program order."""
    found: dict[ir.FunctionType, Launch] = {}
    last: Launch | None = None
    for call in calls:
        callee = kernels.callee(call)
        is_member = callee is not None and callee.func_type in (ir.FunctionType.AIC, ir.FunctionType.AIV)
        if callee is not None and is_member and callee.func_type not in found:
            found[callee.func_type] = last = call
    if last is None:
        return None
    return CallPair(group, found.get(ir.FunctionType.AIC), found.get(ir.FunctionType.AIV), last)


def is_plain_group(kernels: KernelMap, group: ir.Function) -> bool:
    """True when the group does nothing but call its members on its own parameters and return.

    The value returned must be the vector member's (or, parameter by parameter, what that returns). A body
    that calls no member stands for a call of both: the group is paired by its name.
    """
    if kernels.members(kernels.facts[group.name].launches) == (None, None):
        return True
    stmts = list(_flat(group.body))
    last = stmts[-1] if stmts else None
    returned = last.value if isinstance(last, ir.ReturnStmt) else ()
    stmts = stmts[:-1] if isinstance(last, ir.ReturnStmt) else stmts
    calls: list[ir.Call] = []
    results: list[ir.Expr] = []
    for stmt in stmts:
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        if not isinstance(value, ir.Call):
            return False
        calls.append(value)
        results.append(stmt.var if isinstance(stmt, ir.AssignStmt) else value)
    if len(returned) == 1 and isinstance(returned[0], ir.Call):
        calls.append(returned[0])
        results.append(returned[0])
    if not _calls_members_plainly(kernels, group, calls):
        return False
    return all(_is_result(value, group, calls, results) for value in returned) and _returns_alike(
        kernels, group, calls
    )


def _calls_members_plainly(kernels: KernelMap, group: ir.Function, calls: list[ir.Call]) -> bool:
    kinds = []
    for call in calls:
        callee = kernels.callee(call)
        if callee is None or len(call.args) != len(group.params):
            return False
        if any(arg is not param for arg, param in zip(call.args, group.params, strict=True)):
            return False
        kinds.append(callee.func_type)
    return (
        bool(kinds)
        and len(set(kinds)) == len(kinds)
        and set(kinds) <= {ir.FunctionType.AIC, ir.FunctionType.AIV}
    )


def _is_result(value: ir.Expr, group: ir.Function, calls: list[ir.Call], results: list[ir.Expr]) -> bool:
    if any(value is param for param in group.params):
        return True
    return any(value is result for result in results)


def _returns_alike(kernels: KernelMap, group: ir.Function, calls: list[ir.Call]) -> bool:
    """The member whose value becomes the group's returns as many values as the group."""
    vector = [c for call in calls if (c := kernels.callee(call)) and c.func_type is ir.FunctionType.AIV]
    source = vector[0] if vector else kernels.callee(calls[0])
    return source is not None and len(source.return_types) == len(group.return_types)


def _flat(stmt: ir.Stmt) -> Iterable[ir.Stmt]:
    if isinstance(stmt, ir.SeqStmts):
        for child in stmt.stmts:
            yield from _flat(child)
    elif isinstance(stmt, ir.RuntimeScopeStmt):
        yield from _flat(stmt.body)
    else:
        yield stmt
