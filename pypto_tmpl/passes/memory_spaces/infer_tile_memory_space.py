"""Every tile of a kernel has a memory space, and every op finds its tiles where it takes them."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty, MemorySpace, TileLayout
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.typing import InferenceError, infer_type
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory_spaces.resident import resident_parameters, with_resident_loads
from pypto_tmpl.passes.memory_spaces.spaces import Spaces
from pypto_tmpl.passes.tensor_to_tile.lowering import BRIDGE
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.rewrite.rewriter import Task

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
            what = f"the parameter {param.name_hint!r} is a tile: kernels take tensors, and load tiles of them"
            raise PassError(what, function, param)
    function = with_resident_loads(function, resident)
    spaces = Spaces(function)
    for var, found in spaces.of_branches():
        if len(found) > 1:
            names = " and in ".join(space.name for space in found)
            raise PassError(f"{var.name_hint!r} lies in {names}, by which branch runs", function, var)
    return _Placing(function, spaces).rewrite(function)


class _Placing(Rewriter):
    """Gives variables the types that go with their spaces, and puts moves before what needs them."""

    def __init__(self, function: ir.Function, spaces: Spaces) -> None:
        super().__init__()
        self._owner = function
        self._spaces = spaces
        self._moved: list[dict[tuple[int, MemorySpace], ir.Var]] = [{}]

    def body(self, body: ir.Stmt) -> Task:
        self._moved.append({})
        new = yield super().body(body)
        self._moved.pop()
        return new

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call):
            return self._assigned(stmt, stmt.value)
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
            return self._renamed(stmt)
        return None

    def _assigned(self, stmt: ir.AssignStmt, before: ir.Call) -> Task:
        call = yield before
        type_ = yield stmt.var.type
        moves, call = self._with_moves(before, call)
        if isinstance(type_, ir.TileType):
            space = self._spaces.of(stmt.var)
            call = build(call, type=_in_space(self._result_type(before, call), space), kwargs=_placed(call, space))
            type_ = call.type
        var = build(stmt.var, type=type_)
        self.bind(stmt.var, var)
        return [*moves, build(stmt, var=var, value=call)]

    def _renamed(self, stmt: ir.AssignStmt) -> Task:
        value = yield stmt.value
        var = build(stmt.var, type=value.type)
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=value)]

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if isinstance(stmt, ir.EvalStmt) and isinstance(stmt.expr, ir.Call):
            moves, call = self._with_moves(stmt.expr, stmt.expr)
            return [*moves, build(stmt, expr=call)]
        return [stmt]

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        """Carries, results of loops and of branches."""
        if not isinstance(typed.type, ir.TileType):
            return typed
        space = self._spaces.of(old)
        type_ = _in_space(typed.type, space)
        if not isinstance(typed, ir.IterArg):
            return build(typed, type=type_)
        return build(typed, type=type_, initValue=self._started(typed, space))

    def _started(self, carry: ir.IterArg, space: MemorySpace | None) -> ir.Expr:
        """What a carry begins with, in its space."""
        start = carry.initValue
        lies = _space_of(start)
        if space is None or lies is space:
            return start
        if space is MemorySpace.Acc or not isinstance(start, ir.Var):
            what = (
                f"the carry {carry.name_hint!r} begins with a tile in {lies.name if lies else 'no memory'} and"
                f" goes on in {space.name}: nothing is moved there, begin with tile.create or a product"
            )
            raise PassError(what, self._owner, carry)
        move = _move_to(start, space)
        moved = ir.Var(f"{start.name_hint}_{space.name}", move.type, start.span)
        self.emit(ir.AssignStmt(moved, move, start.span))
        return moved

    def _with_moves(self, before: ir.Call, call: ir.Call) -> tuple[list[ir.Stmt], ir.Call]:
        """A call with its operands where its op takes them, after the moves that bring them there."""
        moves: list[ir.Stmt] = []
        args = list(call.args)
        for place, spaces in enumerate(facts.of_value(before).operand_memory):
            if not spaces or place >= len(args):
                continue
            arg, lies = args[place], _space_of(args[place])
            if type(arg) is not ir.Var or lies is None or lies in spaces:
                continue  # what a loop carries stays where it is
            key = (id(arg), spaces[0])
            if key not in self._moved[-1]:
                move = _move_to(arg, spaces[0], call.span)
                self._moved[-1][key] = ir.Var(f"{arg.name_hint}_{spaces[0].name}", move.type, call.span)
                moves.append(ir.AssignStmt(self._moved[-1][key], move, call.span))
            args[place] = self._moved[-1][key]
        kept = call.attrs.without(BRIDGE) if BRIDGE in call.attrs else call.attrs
        return moves, build(call, args=args, attrs=kept)

    def _result_type(self, before: ir.Call, call: ir.Call) -> ir.Type:
        """What a call gives: as it said, unless its operands are of other types now."""
        if all(old.type == new.type for old, new in zip(before.args, call.args, strict=True)):
            return call.type
        entry = ops.load_table().get(call.op.name)
        try:
            return infer_type(entry, call.args, call.kwargs) if entry is not None else call.type
        except InferenceError:
            return call.type


def _space_of(value: ir.Expr) -> MemorySpace | None:
    return value.type.memory_space if isinstance(value.type, ir.TileType) else None


def _move_to(tile: ir.Var, space: MemorySpace, span: ir.Span | None = None) -> ir.Call:
    where = tile.span if span is None else span
    if _space_of(tile) is MemorySpace.Acc and space is MemorySpace.Vec:
        return ops.call(
            "tile.move",
            tile,
            target_memory=space,
            blayout=TileLayout.row_major,
            slayout=TileLayout.none_box,
            span=where,
        )
    return ops.call("tile.move", tile, target_memory=space, span=where)


def _placed(call: ir.Call, space: MemorySpace | None) -> ir.AttrMap:
    """The keywords of a call whose result lies in ``space``."""
    asked = call.kwargs.get("target_memory")
    return call.kwargs if asked is None or space is None or asked is space else call.kwargs.with_(target_memory=space)


def _in_space(type_: ir.Type, space: MemorySpace | None) -> ir.Type:
    """A tile in a memory space; in another one than before it lies as tiles lie there by themselves."""
    if not isinstance(type_, ir.TileType) or type_.memory_space is space or space is None:
        return type_
    valid = type_.tile_view.valid_shape if type_.tile_view is not None else ()
    view = None
    if valid:
        implied = implicit_tile_view(type_.shape, space)
        view = build(implied, valid_shape=valid)
    return ir.TileType(type_.shape, type_.dtype, None, view, space)
