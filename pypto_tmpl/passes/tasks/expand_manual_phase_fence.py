"""Tasks that all wait for the same tasks wait for one barrier instead."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType, ForKind, FunctionType, IRProperty
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.checks.calls import launch_of
from pypto_tmpl.passes.context import PassContext
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
    """A submit that waits for the tasks of an array, and the loops around it, outermost first."""

    submit: ir.Submit
    around: tuple[ir.ForStmt | ir.WhileStmt, ...]

    @property
    def ids(self) -> ir.Var:
        """The array."""
        ids = self.submit.deps[0]
        assert isinstance(ids, ir.Var)
        return ids

    def times(self, loop: ir.ForStmt) -> int | None:
        """How often a round of a loop makes the submit; None where that is not known, or not looked at."""
        inner = self.around[next(at for at, outer in enumerate(self.around) if outer is loop) + 1 :]
        if inner and loop.kind is ForKind.Parallel:
            return None
        counts = [rounds_of(outer) if isinstance(outer, ir.ForStmt) else None for outer in inner]
        known = [len(rounds.numbers) for rounds in counts if rounds is not None]
        return prod(known) if len(known) == len(counts) else None


class _Places:
    """Where in the text of a function its loops are, what waits for arrays, and where variables change."""

    def __init__(self, function: ir.Function) -> None:
        self._span: dict[int, tuple[int, int]] = {}
        self._waiting: list[_Waiting] = []
        self._waits: list[int] = []  # the places of these
        self._changes: dict[int, list[int]] = defaultdict(list)
        self._starts: dict[int, ir.Expr] = {}
        updates: list[tuple[int, ir.Expr]] = []
        around: list[ir.ForStmt | ir.WhileStmt] = []
        todo: list[tuple[ir.Stmt, int | None]] = [(function.body, None)]
        count = 0
        while todo:
            stmt, start = todo.pop()
            if start is not None:
                self._span[id(around.pop())] = start, count
                continue
            for var in definitions(stmt):
                self._changes[id(var)].append(count)
            submit = launch_of(stmt)
            if isinstance(submit, ir.Submit) and _waits_for_array(submit):
                self._waiting.append(_Waiting(submit, tuple(around)))
                self._waits.append(count)
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
            if isinstance(value, ir.Call) and value.op.name == _UPDATE:
                updates.append((count, value.args[0]))
            if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                self._starts |= {id(arg): arg.initValue for arg in stmt.iter_args}
                around.append(stmt)
                todo.append((stmt, count))
            todo += ((part, None) for part in reversed(parts(stmt)))
            count += 1
        for place, array in updates:
            insort(self._changes[id(self._start(array))], place)

    def waiting(self, loop: ir.ForStmt) -> list[_Waiting]:
        """What waits for an array in a loop."""
        first, last = (bisect_left(self._waits, place) for place in self._span[id(loop)])
        return self._waiting[first:last]

    def changes(self, ids: ir.Var, loop: ir.ForStmt) -> bool:
        """Whether a loop defines an array, or replaces elements of it."""
        return self._is_changed(ids, loop) or self._is_changed(self._start(ids), loop)

    def _is_changed(self, array: ir.Expr, loop: ir.ForStmt) -> bool:
        start, end = self._span[id(loop)]
        places = self._changes.get(id(array), [])
        at = bisect_left(places, start)
        return at < len(places) and places[at] < end

    def _start(self, value: ir.Expr) -> ir.Expr:
        """What a carry began as."""
        while id(value) in self._starts:
            value = self._starts[id(value)]
        return value


class _Fences:
    """The barriers that stand ``before`` loops, and ``of`` which a submit waits; by id."""

    def __init__(self, function: ir.Function) -> None:
        self.before: dict[int, list[ir.Stmt]] = {}
        self.of: dict[int, ir.Var] = {}
        self._count = 0
        self._places = _Places(function)
        for loop in _loops_in_manual_scopes(function):  # outer loops first: one barrier for all rounds
            self._decide(loop)

    def _decide(self, loop: ir.ForStmt) -> None:
        rounds = rounds_of(loop)
        if (rounds is None and loop.kind is ForKind.Parallel) or (rounds is not None and not rounds.numbers):
            return
        own = 1 if rounds is None else len(rounds.numbers)
        found: dict[int, list[_Waiting]] = {}
        for waiting in self._places.waiting(loop):
            if id(waiting.submit) not in self.of:
                found.setdefault(id(waiting.ids), []).append(waiting)
        for waits in found.values():
            ids = waits[0].ids
            counted = [(waiting, times) for waiting in waits if (times := waiting.times(loop)) is not None]
            consumers = own * sum(times for _, times in counted)
            is_fixed = bool(counted) and not self._places.changes(ids, loop)
            if is_fixed and (count := _length(ids)) * consumers > count + consumers:
                self._add(loop, [waiting for waiting, _ in counted])

    def _add(self, loop: ir.ForStmt, waits: list[_Waiting]) -> None:
        ids = waits[0].ids
        call = ops.call(_BARRIER)
        call = build(call, attrs=call.attrs.with_(dummy_task=True, manual_dep_edges=[ids]), span=loop.span)
        barrier = ir.Var(f"phase_fence_barrier_{self._count}_tid", call.type, loop.span)
        self._count += 1
        self.before.setdefault(id(loop), []).append(ir.AssignStmt(barrier, call, loop.span))
        self.of |= {id(waiting.submit): barrier for waiting in waits}


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
