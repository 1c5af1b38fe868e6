"""Tasks that all wait for the same tasks wait for one barrier instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType, ForKind, FunctionType, IRProperty
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.checks.calls import launch_of
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import all_definitions
from pypto_tmpl.passes.pipelining.loops import rounds_of
from pypto_tmpl.rewrite import Rewriter, build

_BARRIER, _UPDATE = "system.task_dummy", "array.update_element"
_PROPERTIES = frozenset(
    {IRProperty.NoNestedCalls, IRProperty.NormalizedStmtStructure, IRProperty.CallDirectionsResolved}
)


class ExpandManualPhaseFence(FunctionPass):
    """Put a barrier before loops in manual scopes whose tasks wait for all tasks of one array.

    N tasks that each of C tasks waits for are N * C edges, with a barrier N + C. Nothing of the array may
    change in the loop. Rounds of inner loops count where they are known; those of a parallel loop are looked
    at by themselves.
    """

    __slots__ = ()
    requires = _PROPERTIES
    produces = _PROPERTIES

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if function.func_type is not FunctionType.Orchestration:
            return function
        fences = _Fences(function)
        return _Fencing(fences).rewrite(function) if fences.before else function


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A submit that waits for the tasks of an array, and how often a round of a loop makes it."""

    submit: ir.Submit
    times: int

    @property
    def ids(self) -> ir.Var:
        """The array."""
        ids = self.submit.deps[0]
        assert isinstance(ids, ir.Var)
        return ids


class _Fences:
    """The barriers that stand ``before`` loops, and ``of`` which a submit waits; by id."""

    def __init__(self, function: ir.Function) -> None:
        self.before: dict[int, list[ir.Stmt]] = {}
        self.of: dict[int, ir.Var] = {}
        self._count = 0
        self._starts: dict[int, ir.Expr] = {}
        for stmt in statements(function.body):
            for arg in stmt.iter_args if isinstance(stmt, ir.ForStmt | ir.WhileStmt) else ():
                self._starts[id(arg)] = arg.initValue
        for loop in _loops_in_manual_scopes(function):  # outer loops first: one barrier for all rounds
            self._decide(loop)

    def _decide(self, loop: ir.ForStmt) -> None:
        rounds = rounds_of(loop)
        if (rounds is None and loop.kind is ForKind.Parallel) or (rounds is not None and not rounds.numbers):
            return
        own = 1 if rounds is None else len(rounds.numbers)
        found: dict[int, list[_Waiting]] = {}
        for waiting in self._waiting(loop):
            found.setdefault(id(waiting.ids), []).append(waiting)
        if not found:
            return
        changing = all_definitions(loop) | self._updated(loop)
        for waits in found.values():
            ids = waits[0].ids
            consumers = own * sum(waiting.times for waiting in waits)
            is_fixed = id(ids) not in changing and id(self._start(ids)) not in changing
            if is_fixed and (count := _length(ids)) * consumers > count + consumers:
                self._add(loop, waits)

    def _add(self, loop: ir.ForStmt, waits: list[_Waiting]) -> None:
        ids = waits[0].ids
        call = ops.call(_BARRIER)
        call = build(call, attrs=call.attrs.with_(dummy_task=True, manual_dep_edges=[ids]), span=loop.span)
        barrier = ir.Var(f"phase_fence_barrier_{self._count}_tid", call.type, loop.span)
        self._count += 1
        self.before.setdefault(id(loop), []).append(ir.AssignStmt(barrier, call, loop.span))
        self.of |= {id(waiting.submit): barrier for waiting in waits}

    def _waiting(self, loop: ir.ForStmt) -> Iterator[_Waiting]:
        """The submits in a loop that wait for one array, and for no barrier yet."""
        stack: list[tuple[ir.Stmt, int]] = [(loop.body, 1)]
        while stack:
            stmt, times = stack.pop()
            submit = launch_of(stmt)
            if isinstance(submit, ir.Submit) and _waits_for_array(submit) and id(submit) not in self.of:
                yield _Waiting(submit, times)
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                inner = rounds_of(stmt) if isinstance(stmt, ir.ForStmt) else None
                if loop.kind is ForKind.Parallel or inner is None:
                    continue
                times *= len(inner.numbers)
            stack += ((part, times) for part in reversed(parts(stmt)))

    def _updated(self, loop: ir.ForStmt) -> set[int]:
        """What the arrays of which a loop replaces elements began as."""
        found: set[int] = set()
        for stmt in statements(loop.body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
            if isinstance(value, ir.Call) and value.op.name == _UPDATE:
                found.add(id(self._start(value.args[0])))
        return found

    def _start(self, value: ir.Expr) -> ir.Expr:
        while id(value) in self._starts:
            value = self._starts[id(value)]
        return value


class _Fencing(Rewriter):
    def __init__(self, fences: _Fences) -> None:
        super().__init__()
        self._fences = fences

    def before(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        return [*self._fences.before.get(id(stmt), ()), stmt]

    def expression(self, expr: ir.Expr) -> ir.Expr:
        barrier = self._fences.of.get(id(expr))
        return expr if barrier is None else build(expr, deps=[barrier])


def _loops_in_manual_scopes(function: ir.Function) -> Iterator[ir.ForStmt]:
    stack = [(function.body, False)]
    while stack:
        stmt, is_manual = stack.pop()
        if isinstance(stmt, ir.ForStmt) and is_manual:
            yield stmt
        is_manual |= isinstance(stmt, ir.RuntimeScopeStmt) and stmt.manual
        stack += ((part, is_manual) for part in reversed(parts(stmt)))


def _waits_for_array(submit: ir.Submit) -> bool:
    ids = submit.deps[0] if len(submit.deps) == 1 else None
    type_ = ids.type if isinstance(ids, ir.Var) else None
    return isinstance(type_, ir.ArrayType) and type_.dtype == DataType.TASK_ID


def _length(ids: ir.Var) -> int:
    length = constant_extent(ids.type.extent) if isinstance(ids.type, ir.ArrayType) else None
    assert length is not None
    return length
