"""Loads of pipelined loops rotate through the slots of an allocation, under a planner that knows these."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.loops import (
    BASE_PROPERTIES,
    as_sequential,
    constant_like,
    is_pipeline,
    stages_of,
)
from pypto_tmpl.passes.pipelining.memory import Memory, call_of
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.rewrite import Names, Rewriter, build, flat


class LowerPipelineToSlots(FunctionPass):
    """Declare an allocation for each load of a pipelined loop, a slot for each stage; rounds run in order.

    The slot of a round is its number modulo the stages, so that the load of the next round may begin while
    this one is still read. A loop without such loads stays pipelined. Planners but PTOAS get copies of rounds
    (LowerPipelineLoops), and this pass leaves their programs alone.
    """

    __slots__ = ()
    requires = BASE_PROPERTIES
    produces = BASE_PROPERTIES

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if context.get_memory_planner() is not MemoryPlanner.PTOAS:
            return function
        slots = _Slots(function)
        return _Lower(slots).rewrite(function) if slots.loops else function


class _Slots:
    """The loops whose loads rotate, and the slot of each load (ids)."""

    def __init__(self, function: ir.Function) -> None:
        self.loops: set[int] = set()
        self.slots: dict[int, ir.MemRef] = {}
        names = Names.of(function)
        memory = Memory(function, Callees())
        for loop in statements(function.body):
            if not is_pipeline(loop) or stages_of(loop) < 2:
                continue
            for var in _rotating(loop, memory):
                memref = ir.MemRef(
                    names.unique(f"pipe_{var.name_hint}"), span=var.span, slots=stages_of(loop)
                )
                self.slots[id(var)] = memref[_slot(loop)]
                self.loops.add(id(loop))


class _Lower(Rewriter):
    def __init__(self, slots: _Slots) -> None:
        super().__init__()
        self._found = slots

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        return as_sequential(stmt) if is_pipeline(stmt) and id(stmt) in self._found.loops else stmt

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        memref = self._found.slots.get(id(old))
        return typed if memref is None else build(typed, type=build(typed.type, memref=memref))


def _rotating(loop: ir.ForStmt, memory: Memory) -> Iterator[ir.Var]:
    """The tiles that every round loads, and that are of no use to the next one."""
    handed_on = {memory.storage(value) for value in yielded(loop.body) if isinstance(value, ir.Var)}
    for stmt in flat(loop.body):
        call = call_of(stmt)
        if not isinstance(stmt, ir.AssignStmt) or call is None or not facts.of(call.op).has("loads"):
            continue
        type_ = stmt.var.type
        if not isinstance(type_, ir.TileType) or type_.memref is not None:
            continue
        is_static = all(constant_extent(extent) is not None for extent in type_.shape)
        if is_static and memory.storage(stmt.var) not in handed_on:
            yield stmt.var


def _slot(loop: ir.ForStmt) -> ir.Expr:
    """The number of the round modulo the stages."""
    number: ir.Expr = loop.loop_var
    if constant_extent(loop.start) != 0:
        number = ir.sub(number, loop.start, loop.span)
    if constant_extent(loop.step) != 1:
        number = ir.floordiv(number, loop.step, loop.span)
    return ir.mod(number, constant_like(loop.loop_var, stages_of(loop)), loop.span)
