"""Pairs of cube and vector calls that run concurrently."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch, code_nodes
from pypto_tmpl.codegen.kernels import KernelMap, giver_of
from pypto_tmpl.ir.bodies import flat, statements


@dataclass(frozen=True, slots=True)
class CallPair:
    """The calls of a group's members; both run where the later of the two stands."""

    group: str
    aic: Launch | None
    aiv: Launch | None
    last: Launch
    givers: tuple[Launch, ...]  # the calls whose values are the pair's: those that the caller binds

    def is_first(self, value: ir.Expr) -> bool:
        """True for the earlier call of the pair: it has no text of its own."""
        return (value is self.aic or value is self.aiv) and value is not self.last

    def is_last(self, value: ir.Expr) -> bool:
        return value is self.last

    def gives(self, value: ir.Expr) -> bool:
        """Whether the value of this call is wanted."""
        return any(value is giver for giver in self.givers)

    @property
    def value(self) -> str | None:
        """Whose value the run is asked for, none for the group's own (which is the vector member's)."""
        if len(self.givers) == 2:
            return "both"
        return "aic" if self.aiv is not None and self.givers[0] is self.aic else None


def find_pair(kernels: KernelMap, group: str, body: ir.Stmt) -> CallPair | None:
    """The first AIC call and the first AIV call of a body, with what the body makes of their values."""
    found: dict[ir.FunctionType, Launch] = {}
    dropped: set[int] = set()
    last: Launch | None = None
    for node in code_nodes(body):
        if isinstance(node, ir.EvalStmt):
            dropped.add(id(node.expr))
        callee = kernels.callee(node) if isinstance(node, Launch) else None
        is_member = callee is not None and callee.func_type in (ir.FunctionType.AIC, ir.FunctionType.AIV)
        if isinstance(node, Launch) and callee is not None and is_member and callee.func_type not in found:
            found[callee.func_type] = last = node
    if last is None:
        return None
    aic, aiv = found.get(ir.FunctionType.AIC), found.get(ir.FunctionType.AIV)
    calls = [call for call in (aic, aiv) if call is not None]
    givers = [call for call in calls if id(call) not in dropped and _returns(kernels, call)]
    return CallPair(group, aic, aiv, last, tuple(givers or calls[-1:]))


def _returns(kernels: KernelMap, call: Launch) -> bool:
    callee = kernels.callee(call)
    return callee is not None and bool(callee.return_types)


def is_plain_group(kernels: KernelMap, group: ir.Function) -> bool:
    """True when the group does nothing but call its members on its own parameters and return.

    The value returned must be that of the member whose value is the group's (or, parameter by parameter,
    what that returns). A body that calls no member stands for a call of both: it is paired by its name.
    """
    if kernels.members(kernels.facts[group.name].launches) == (None, None):
        return True
    stmts = list(flat(group.body, (ir.RuntimeScopeStmt,)))
    last = stmts[-1] if stmts else None
    returned = last.value if isinstance(last, ir.ReturnStmt) else ()
    stmts = stmts[:-1] if isinstance(last, ir.ReturnStmt) else stmts
    calls: list[ir.Call] = []
    results: list[ir.Expr] = []  # of the calls, in the same order
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
    giver = giver_of(*kernels.members(calls))
    given = [result for call, result in zip(calls, results, strict=True) if kernels.callee(call) is giver]
    if giver is None or len(giver.return_types) != len(group.return_types):
        return False
    known = all(any(value is one for one in (*group.params, *given)) for value in returned)
    return known and not _returns_others(group, returned, giver)


def _returns_others(group: ir.Function, returned: tuple[ir.Expr, ...], giver: ir.Function) -> bool:
    """Whether a member that returns its parameters returns others, or in another order, than the group."""
    mine = {id(param): place for place, param in enumerate(group.params)}
    others = {id(param): place for place, param in enumerate(giver.params)}
    for stmt in statements(giver.body):
        if isinstance(stmt, ir.ReturnStmt) and len(stmt.value) == len(returned):
            for value, other in zip(returned, stmt.value, strict=True):
                if id(value) in mine and id(other) in others and mine[id(value)] != others[id(other)]:
                    return True
    return False


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
