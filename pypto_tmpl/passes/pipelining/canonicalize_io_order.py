"""Loads first: the statements of pipelined loops in the order in which their stages overlap best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.loops import (
    ALTERNATES,
    BASE_PROPERTIES,
    MEMBERSHIP,
    OVERLAPS_STORES,
    as_sequential,
    has_pipelines,
    is_pipeline,
    is_product_in_acc,
    memory_space,
)
from pypto_tmpl.passes.pipelining.memory import Memory, call_of
from pypto_tmpl.passes.pipelining.order import Key, Order
from pypto_tmpl.passes.pipelining.peers import Peers
from pypto_tmpl.passes.structure.normalize_stmt_structure import map_bodies
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat
from pypto_tmpl.rewrite.rewriter import Task

_LOADS, _EXTRACT = ("tile.load", "tile.read"), "tile.extract"
_STORES, _ASSEMBLE = ("tile.store", "tile.write"), "tile.assemble"
_OPERAND_SPACES = (ir.MemorySpace.Left, ir.MemorySpace.Right)
_SCALAR, _LOAD, _COMPUTE = range(3)


class CanonicalizeIOOrder(ProgramPass):
    """Sort the bodies of pipelined loops, which become sequential: scalars, loads, then stage by stage.

    Within a stage, stores come last, unless the loop says that they should not overlap.
    """

    __slots__ = ()
    requires = BASE_PROPERTIES
    produces = BASE_PROPERTIES | {IRProperty.PipelineResolved}

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        callees, peers = Callees(program.functions.values()), Peers(program)
        aliases = Aliases(program)
        functions = [
            _Sorting(function, Memory(function, callees, aliases.of(function.name)), peers).rewrite(function)
            if has_pipelines(function)
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


@dataclass(frozen=True, slots=True)
class _Policy:
    """How the bodies inside of a loop are sorted."""

    overlaps_stores: bool
    alternates: bool

    @staticmethod
    def of(loop: ir.ForStmt) -> _Policy:
        return _Policy(bool(loop.attrs.get(OVERLAPS_STORES, True)), bool(loop.attrs.get(ALTERNATES, False)))


class _Sorting(Rewriter):
    def __init__(self, function: ir.Function, memory: Memory, peers: Peers) -> None:
        super().__init__()
        self._memory = memory
        self._shared = {self._memory.storage(param) for param in peers.contended(function)}
        self._policy: _Policy | None = None
        self._membership: dict[int, str] = {}
        for stmt in statements(function.body):
            call = call_of(stmt)
            if isinstance(stmt, ir.AssignStmt) and call is not None and MEMBERSHIP in call.attrs:
                self._membership[id(stmt.var)] = call.attrs[MEMBERSHIP]

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        return self._compound(stmt) if isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt) else None

    def _compound(self, stmt: ir.Stmt) -> Task:
        around = self._policy
        policy = self._policy = _Policy.of(stmt) if is_pipeline(stmt) else around
        (made,) = yield self.usual(stmt)
        self._policy = around
        if policy is not None:
            made = map_bodies(made, lambda body: self._sorted(body, policy))
        return as_sequential(made) if is_pipeline(made) else made

    def _sorted(self, body: ir.Stmt, policy: _Policy) -> ir.Stmt:
        stmts = list(flat(body))
        last = stmts[-1:] if stmts and isinstance(stmts[-1], ir.YieldStmt | ir.ReturnStmt) else []
        stmts = stmts[: len(stmts) - len(last)]
        keys = [self._key(stmt, policy) for stmt in stmts]
        places = Order(stmts, self._memory, self._shared.__contains__).sorted(keys)
        changed = [self._alternating(stmts[place], policy) for place in places]
        is_same = all(new is old for new, old in zip(changed, stmts, strict=True))
        return body if is_same else as_body([*changed, *last], body.span)

    def _key(self, stmt: ir.Stmt, policy: _Policy) -> Key:
        tier, call = _tier(stmt), call_of(stmt)
        pairs = self._pairs(stmt) if tier == _COMPUTE else ""
        name = call.op.name if call is not None else ""
        if policy.alternates:
            stage = _stage(pairs)
            return tier, stage // 2, int(name in (*_STORES, _ASSEMBLE)), stage
        return tier, pairs, int(policy.overlaps_stores and name in _STORES)

    def _pairs(self, stmt: ir.Stmt) -> str:
        """Of which stages a statement is: what its call says, or the first operand that says something."""
        call = call_of(stmt)
        if call is None:
            return ""
        return next(self._said(call), "")

    def _said(self, call: ir.Call | ir.Submit) -> Iterator[str]:
        if MEMBERSHIP in call.attrs:
            yield call.attrs[MEMBERSHIP]
        yield from (self._membership[id(arg)] for arg in call.args if id(arg) in self._membership)

    def _alternating(self, stmt: ir.Stmt, policy: _Policy) -> ir.Stmt:
        """Of products into two accumulators by turns, every other one is of the same stage."""
        call = call_of(stmt)
        if not policy.alternates or not isinstance(call, ir.Call) or MEMBERSHIP not in call.attrs:
            return stmt
        if not is_product_in_acc(call):
            return stmt
        first, *others = call.attrs[MEMBERSHIP].split(";")
        group, _, stage = first.partition(":")
        pairs = ";".join([f"{group}:{int(stage) % 2}", *others])
        made = build(call, attrs=call.attrs.with_(**{MEMBERSHIP: pairs}))
        return build(stmt, value=made) if isinstance(stmt, ir.AssignStmt) else build(stmt, expr=made)


def _tier(stmt: ir.Stmt) -> int:
    call = call_of(stmt)
    if isinstance(call, ir.Call) and _is_load(call):
        return _LOAD
    is_scalar = isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.ScalarType)
    return _SCALAR if is_scalar else _COMPUTE


def _is_load(call: ir.Call) -> bool:
    if call.op.name == _EXTRACT:
        return memory_space(call) in _OPERAND_SPACES and memory_space(call.args[0]) is ir.MemorySpace.Mat
    return call.op.name in _LOADS


def _stage(pairs: str) -> int:
    """The stage of the innermost loop, -1 of what is of none."""
    return int(pairs.partition(";")[0].partition(":")[2]) if pairs else -1
