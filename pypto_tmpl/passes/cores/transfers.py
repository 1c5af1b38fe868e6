"""Tiles that go from one core to the other: the push on one side and the pop on the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import MemorySpace, TileLayout
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide, side_of_space
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import Kernel, evaluated_call
from pypto_tmpl.rewrite import build

UP_DOWN, LEFT_RIGHT = 1, 2
ODD = 2  # what is added to the code of a split whose first lane has one cell more
_BITS = 8
# The ops of the pipe to each core.
_PUSHES = {CoreSide.VECTOR: "tile.tpush_to_aiv", CoreSide.CUBE: "tile.tpush_to_aic"}
_POPS = {CoreSide.VECTOR: "tile.tpop_from_aic", CoreSide.CUBE: "tile.tpop_from_aiv"}
_FREES = {CoreSide.VECTOR: "system.tfree_to_aic", CoreSide.CUBE: "system.tfree_to_aiv"}


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tile that crosses: the statement that says so, where it comes from and what it becomes."""

    stmt: ir.AssignStmt
    source: ir.Var
    consumer: CoreSide
    code: int
    lane_stride: int | None
    is_move: bool

    @property
    def var(self) -> ir.Var:
        """What the tile is on the other side."""
        return self.stmt.var

    def slot_bytes(self, function: ir.Function) -> int:
        """Bytes of the whole tile, as the cube core sees it; raises PassError where they are no constant."""
        whole = self.var if self.consumer is CoreSide.CUBE else self.source
        return tile_bytes(whole, self.stmt, function)

    def pushed(self) -> ir.Stmt:
        """The statement of the side that the tile comes from."""
        stride = self.lane_stride if self.consumer is CoreSide.VECTOR else None
        return push(self.source, self.consumer, self.code, self.stmt.span, stride)

    def popped(self) -> list[ir.Stmt]:
        """The statements of the side that the tile comes to, the pop first."""
        span = self.stmt.span
        if self.consumer is CoreSide.VECTOR or not self.is_move:
            return [pop(self.var, self.consumer, self.code, span, self.lane_stride)]
        target = _tile_type(self.var)
        if target.memory_space is MemorySpace.Mat:
            return [pop(self.var, CoreSide.CUBE, self.code, span)]
        view = target.get_effective_tile_view()
        landed = ir.TileType(
            target.shape,
            target.dtype,
            None,
            ir.TileView(view.valid_shape, blayout=TileLayout.col_major, slayout=TileLayout.row_major),
            MemorySpace.Mat,
        )
        var = ir.Var(f"{self.var.name_hint}_mat", landed, span)
        assert target.memory_space is not None and isinstance(self.stmt.value, ir.Call)
        keywords = ir.AttrMap(
            {"target_memory": target.memory_space, "blayout": view.blayout, "slayout": view.slayout},
            of_op=True,
        )
        moved = build(self.stmt.value, args=[var], kwargs=keywords)
        return [pop(var, CoreSide.CUBE, self.code, span), ir.AssignStmt(self.var, moved, span)]


def transfers_of(kernel: Kernel) -> dict[int, Transfer]:
    """The tiles of a kernel that cross, by the ids of the statements that say so."""
    found: dict[int, Transfer] = {}
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        if call is None or kernel.side(stmt) is not CoreSide.MIXED:
            continue
        source = call.args[0]
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(source, ir.Var):
            raise PassError(f"{call.op.name} hands over a variable to a variable", kernel.function, stmt)
        found[id(stmt)] = _transfer(kernel, stmt, call, source)
    return found


def _transfer(kernel: Kernel, stmt: ir.AssignStmt, call: ir.Call, source: ir.Var) -> Transfer:
    known = facts.of_value(call)
    if known.core == "move":
        return Transfer(stmt, source, side_of_space(_tile_type(stmt.var).memory_space), 0, None, True)
    to_vector = known.has("shards")
    stride = call.kwargs.get("lane_stride")
    whole = source if to_vector else stmt.var
    code = split_code(kernel.function, stmt, whole, call.kwargs["split"], stride, to_vector)
    return Transfer(stmt, source, CoreSide.VECTOR if to_vector else CoreSide.CUBE, code, stride, False)


def split_code(
    function: ir.Function, stmt: ir.Stmt, whole: ir.Var, mode: int, stride: int | None, may_be_odd: bool
) -> int:
    """The code of a transfer: the mode where lanes have as much, or the second nothing; odd for one more."""
    if mode == 0:
        return 0
    type_ = _tile_type(whole)
    axis = mode - 1
    extent, valid = (
        constant_extent(e[axis]) for e in (type_.shape, type_.get_effective_tile_view().valid_shape)
    )
    if extent is None or valid is None:
        return mode
    step = stride or -(-extent // 2)
    first, second = min(valid, step), max(0, min(valid - step, step))
    if second in (0, first):
        return mode
    if first == second + 1 and may_be_odd:
        return mode + ODD
    way = f"the lanes of {whole.name_hint!r} have {first} and {second} valid cells"
    raise PassError(
        f"{way}: a tile is handed over in halves that are equal, or differ by one to the lanes",
        function,
        stmt,
        whole,
    )


def push(
    source: ir.Var, consumer: CoreSide, code: int, span: ir.Span, stride: int | None = None
) -> ir.EvalStmt:
    """The statement that sends a tile to the other core."""
    keywords: dict[str, Any] = {"split": code} | ({} if stride is None else {"lane_stride": stride})
    return ir.EvalStmt(ops.call(_PUSHES[consumer], source, span=span, **keywords), span)


def pop(
    var: ir.Var, consumer: CoreSide, code: int, span: ir.Span, stride: int | None = None
) -> ir.AssignStmt:
    """The statement that takes the next tile of the other core; its type says all that is known of it."""
    keywords: dict[str, Any] = {"split": code} | ({} if stride is None else {"lane_stride": stride})
    return ir.AssignStmt(var, ops.call(_POPS[consumer], span=span, result_type=var.type, **keywords), span)


def free(var: ir.Var, consumer: CoreSide, span: ir.Span, **keywords: Any) -> ir.EvalStmt:
    """The statement that gives the slot of a popped tile back."""
    return ir.EvalStmt(ops.call(_FREES[consumer], var, span=span, **keywords), span)


def boxed(source: ir.Var, span: ir.Span) -> tuple[ir.Var, list[ir.Stmt]]:
    """A tile of a vector core in the boxes that the cube core takes, and the move that makes it so."""
    view = _tile_type(source).get_effective_tile_view()
    layout = TileLayout.col_major, TileLayout.row_major
    if (view.blayout, view.slayout) == layout:
        return source, []
    call = ops.call(
        "tile.move", source, span=span, target_memory=MemorySpace.Vec, blayout=layout[0], slayout=layout[1]
    )
    var = ir.Var(f"{source.name_hint}_nz", call.type, span)
    return var, [ir.AssignStmt(var, call, span)]


def tile_bytes(var: ir.Var, stmt: ir.Stmt, function: ir.Function) -> int:
    """The bytes of a tile; raises PassError where its shape is not constant."""
    type_ = _tile_type(var)
    extents = [constant_extent(extent) for extent in type_.shape]
    if any(extent is None for extent in extents):
        what = f"{var.name_hint!r} is handed over, but its shape is not constant"
        raise PassError(what, function, stmt, var)
    return -(-math.prod(extent or 0 for extent in extents) * type_.dtype.get_bit() // _BITS)


def _tile_type(var: ir.Expr) -> ir.TileType:
    assert isinstance(var.type, ir.TileType)
    return var.type
