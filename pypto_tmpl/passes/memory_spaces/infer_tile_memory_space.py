"""Every tile of a kernel has a memory space, and every op finds its tiles where it takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty, MemorySpace, TileLayout
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import side_of_space
from pypto_tmpl.ops.op_facts import OpFacts
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory_spaces.moved_tiles import MovedTiles, in_space, space_of
from pypto_tmpl.passes.memory_spaces.resident import resident_parameters, with_resident_loads
from pypto_tmpl.passes.memory_spaces.spaces import Spaces
from pypto_tmpl.passes.retyping import with_operands
from pypto_tmpl.passes.structure.convert_to_ssa import type_of_value
from pypto_tmpl.passes.tensor_to_tile.lowering import BRIDGE
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.rewrite.rewriter import Task

_UNBOXED: dict[str, Any] = {"blayout": TileLayout.row_major, "slayout": TileLayout.none_box}
"""How a product is moved to the vector core, which has no boxes."""
_BASE = frozenset(
    {
        IRProperty.SSAForm,
        IRProperty.IncoreTileOps,
        IRProperty.SplitIncoreOrch,
        IRProperty.NormalizedStmtStructure,
    }
)


class InferTileMemorySpace(ProgramPass):
    """Find the memory space of each tile of a kernel, and move operands to where ops take them.

    A move stands before the statement that needs it, and serves the rest of its sequence of statements. What
    a call gives is derived again where an operand changed. Loads of panels that stay the same in all rounds
    of a loop leave it.
    """

    __slots__ = ()
    requires = _BASE
    produces = frozenset(
        {
            IRProperty.SSAForm,
            IRProperty.TileMemoryInferred,
            IRProperty.NormalizedStmtStructure,
            IRProperty.AivSplitValid,
            IRProperty.AccToGmStoreValid,
        }
    )
    invalidates = frozenset({IRProperty.AivSplitValid})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        resident = resident_parameters(program)
        return build(
            program,
            functions=[
                _inferred(function, resident.get(function.name, set()))
                if ir.is_incore_type(function.func_type)
                else function
                for function in program.functions.values()
            ],
        )


def _inferred(function: ir.Function, resident: set[int]) -> ir.Function:
    for param in function.params:
        if isinstance(param.type, ir.TileType):
            what = (
                f"the parameter {param.name_hint!r} is a tile: kernels take tensors, and load tiles of them"
            )
            raise PassError(what, function, param)
    function = with_resident_loads(function, resident)
    return _Placing(function, Spaces(function)).rewrite(function)


class _Placing(Rewriter):
    """Gives variables the types that go with their spaces, and puts moves before what needs them."""

    def __init__(self, function: ir.Function, spaces: Spaces) -> None:
        super().__init__()
        self._owner = function
        self._spaces = spaces
        self._moved = MovedTiles()
        self._targets = dict(_targets(function.body))
        self._carries = dict(_carries(function.body))
        # Of carries and results of branches: the type before of what they begin as, and what that is now.
        self._begun: dict[int, tuple[ir.Type, ir.Expr]] = {}
        self._rows: dict[int, ir.Var] = {}  # by the id of what lies by rows and does not say so

    def body(self, body: ir.Stmt) -> Task:
        self._moved.enter()
        new = yield super().body(body)
        self._moved.leave()
        return new

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call):
            return self._assigned(stmt, stmt.value)
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
            return self._renamed(stmt)
        return self._yielding(stmt) if isinstance(stmt, ir.YieldStmt) else None

    def _assigned(self, stmt: ir.AssignStmt, before: ir.Call) -> Task:
        call = yield before
        type_ = yield stmt.var.type
        moves, call = self._with_moves(call, before, stmt)
        if isinstance(type_, ir.TileType):
            space = self._spaces.of(stmt.var)
            if any(old.type != new.type for old, new in zip(before.args, call.args, strict=True)):
                call = with_operands(call, call.args, self._owner, stmt)
            call = self._shown(call, stmt)
            call = build(call, type=in_space(call.type, space), kwargs=_asking_for(space, call.kwargs))
            type_ = type_of_value(type_, call)
        var = build(stmt.var, type=type_)
        self.bind(stmt.var, var)
        self._moved.note(var, call)
        return [*moves, build(stmt, var=var, value=call)]

    def _renamed(self, stmt: ir.AssignStmt) -> Task:
        value = yield stmt.value
        var = build(stmt.var, type=type_of_value((yield stmt.var.type), value))
        self.bind(stmt.var, var)
        self._moved.note(var, value)
        self._note_rows(var, stmt.var.type, (stmt.value.type, value))
        return [build(stmt, var=var, value=value)]

    def _yielding(self, stmt: ir.YieldStmt) -> Task:
        moves: list[ir.Stmt] = []
        values: list[ir.Expr] = []
        targets = self._targets.get(id(stmt), ())
        for place, before in enumerate(stmt.value):
            value = yield before
            space = self._spaces.of(targets[place]) if place < len(targets) else None
            if isinstance(value, ir.Var) and space is not None and space_of(value) is not space:
                value = self._brought(value, space, value, moves)
            if place < len(targets) and not isinstance(targets[place], ir.IterArg):
                self._begun.setdefault(id(targets[place]), (before.type, value))
            values.append(value)
        return [*moves, build(stmt, value=values)]

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if isinstance(stmt, ir.EvalStmt) and isinstance(stmt.expr, ir.Call):
            moves, call = self._with_moves(stmt.expr, stmt.expr, stmt)
            return [*moves, build(stmt, expr=call)]
        return [stmt]

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        """Carries, results of loops and of branches."""
        if not isinstance(typed.type, ir.TileType):
            return typed
        space = self._spaces.of(old)
        type_ = in_space(typed.type, space)
        if not isinstance(typed, ir.IterArg):
            new = build(typed, type=type_)
            if (begun := self._begun.get(self._carries.get(id(old), id(old)))) is not None:
                self._note_rows(new, old.type, begun)
            return new
        start = typed.initValue
        if isinstance(start, ir.Var) and space is not None and space_of(start) is not space:
            moves: list[ir.Stmt] = []
            start = self._brought(start, space, typed, moves)
            self.emit(*moves)
        new = build(typed, type=type_, initValue=start)
        if isinstance(old, ir.IterArg):
            self._begun[id(old)] = old.initValue.type, start
            self._note_rows(new, old.type, self._begun[id(old)])
        return new

    def _note_rows(self, var: ir.Var, declared: ir.Type, begun: tuple[ir.Type, ir.Expr]) -> None:
        """Note a tile that is declared to lie in boxes as did what it begins as, which now lies by rows."""
        before, value = begun
        now = self._rows.get(id(value), value)
        if (
            isinstance(var.type, ir.TileType)
            and _layout(declared) == _layout(before) != _UNBOXED
            and _layout(var.type) != _UNBOXED == _layout(now.type)
        ):
            view = build(var.type.get_effective_tile_view(), **_UNBOXED)
            self._rows[id(var)] = build(var, type=build(var.type, tile_view=view))

    def _shown(self, call: ir.Call, stmt: ir.Stmt) -> ir.Call:
        """A call that shows a tile in another shape, or a part of it: its result lies as that tile does.

        It was written for the result of a loop, or for what stands in its place when that has one round. The
        carry itself keeps the type that it was declared with, as in PyPTO's stages.
        """
        place = facts.of_value(call).view_of
        if place is None:
            return call
        shown = self._rows.get(id(call.args[place]), call.args[place])
        if _layout(shown.type) != _UNBOXED or _layout(call.type) == _UNBOXED:
            return call
        args = [*call.args[:place], shown, *call.args[place + 1 :]]
        return build(call, type=with_operands(call, args, self._owner, stmt).type)

    def _with_moves(self, call: ir.Call, before: ir.Call, at: ir.Stmt) -> tuple[list[ir.Stmt], ir.Call]:
        """A call with its operands where its op takes them, after the moves that bring them there."""
        known = facts.of_value(before)
        moves: list[ir.Stmt] = []
        args = list(call.args)
        for place, spaces in enumerate(known.operand_memory[: len(args)]):
            arg, lies = args[place], space_of(args[place])
            wanted = spaces or _reached(known, args, lies)
            if isinstance(arg, ir.Var) and lies is not None and wanted and lies not in wanted:
                args[place] = self._brought(arg, wanted[0], at, moves)
        self._moved.forget_written(call)
        kept = call.attrs.without(BRIDGE) if BRIDGE in call.attrs else call.attrs
        return moves, build(call, args=args, attrs=kept)

    def _brought(self, tile: ir.Var, space: MemorySpace, at: ir.IRNode, moves: list[ir.Stmt]) -> ir.Var:
        """A tile in another space, for what needs it there; ``moves`` gets the statement that moves it."""
        known = self._moved.get(tile, space)
        if known is not None:
            return known
        lies = space_of(tile)
        if space is MemorySpace.Acc:
            name = lies.name if lies is not None else "no memory"
            what = (
                f"{tile.name_hint!r} lies in {name} and is needed in {space.name}, into which nothing is"
                " moved: begin with a product, or with a buffer of tile.create"
            )
            raise PassError(what, self._owner, at, tile)
        layout = _UNBOXED if lies is MemorySpace.Acc and space is MemorySpace.Vec else {}
        move = ops.call("tile.move", tile, target_memory=space, span=at.span, **layout)
        moved = ir.Var(f"{tile.name_hint}_{space.name}", move.type, at.span)
        moves.append(ir.AssignStmt(moved, move, at.span))
        self._moved.add(tile, moved)
        return moved


def _targets(body: ir.Stmt) -> Iterator[tuple[int, tuple[ir.Var, ...]]]:
    """What the yields (ids) of loops and branches give their values to."""
    for stmt in statements(body):
        variables: tuple[ir.Var, ...] = ()
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            variables = stmt.iter_args
        elif isinstance(stmt, ir.IfStmt):
            variables = stmt.return_vars
        for side in parts(stmt) if variables else ():
            if (last := trailing_yield(side)) is not None:
                yield id(last), variables


def _carries(body: ir.Stmt) -> Iterator[tuple[int, int]]:
    """What the results of loops are carried as (ids)."""
    for stmt in statements(body):
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            yield from zip(map(id, stmt.return_vars), map(id, stmt.iter_args), strict=True)


def _layout(type_: ir.Type) -> dict[str, Any] | None:
    if not isinstance(type_, ir.TileType):
        return None
    view = type_.get_effective_tile_view()
    return {"blayout": view.blayout, "slayout": view.slayout}


def _reached(known: OpFacts, operands: list[ir.Expr], lies: MemorySpace | None) -> tuple[MemorySpace, ...]:
    """Where a tile has to lie that is laid into another one: a core writes to its own memories only."""
    if not known.has("lays") or not known.written or lies is None:
        return ()
    target = space_of(operands[known.written[0]])
    is_apart = target is not None and side_of_space(target) is not side_of_space(lies)
    return (target,) if target is not None and is_apart else ()


def _asking_for(space: MemorySpace | None, keywords: ir.AttrMap) -> ir.AttrMap:
    """The keywords of a call whose result lies in ``space``."""
    asked = keywords.get("target_memory")
    is_said = asked is None or space is None or asked is space
    return keywords if is_said else keywords.with_(target_memory=space)
