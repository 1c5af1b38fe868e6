"""Windows of tiles are read where they lie, or copied where the hardware cannot."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty, MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tensor_to_tile.storage import Storage
from pypto_tmpl.passes.tiles.carried_types import CarriedTypes
from pypto_tmpl.passes.tiles.slices import Slices, Window
from pypto_tmpl.passes.tiles.uses import without_unused
from pypto_tmpl.rewrite import build
from pypto_tmpl.rewrite.rewriter import Task

_EXTRACT = "tile.extract"
_SLICE = "tile.slice"
_TILES = frozenset(
    {
        IRProperty.SSAForm,
        IRProperty.SplitIncoreOrch,
        IRProperty.IncoreTileOps,
        IRProperty.TileOps2D,
        IRProperty.NormalizedStmtStructure,
    }
)
_FACTORS = {"tile.matmul": (0, 1), "tile.matmul_bias": (0, 1), "tile.matmul_acc": (1, 2)}
"""Where products have their factors, left and right."""
_ACCUMULATOR = "tile.matmul_acc"
_BY_COLUMN = frozenset(
    f"tile.col_expand_{name}" for name in ("mul", "add", "div", "sub", "max", "min", "expdif")
)
"""Ops that take a row for all rows of a tile; they read tiles as one block."""


class CanonicalizeTileSlice(FunctionPass):
    """Read windows of tiles with ``tile.extract`` where the hardware cannot work on the tile itself.

    Windows in Mat go to the matrix unit from where they lie. Windows in Vec are copied if they may not begin
    at a block, or if an op that reads them as one block would read beyond their columns.
    """

    __slots__ = ()
    requires = _TILES
    produces = _TILES

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not ir.is_incore_type(function.func_type):
            return function
        slices = Slices(function)
        if not slices.windows:
            return function
        return without_unused(_Canonicalize(function, slices).rewrite(function), slices.variables)


class _Canonicalize(CarriedTypes):
    def __init__(self, function: ir.Function, slices: Slices) -> None:
        super().__init__(function)
        self._owner = function
        self._slices = slices
        self._storage = Storage(function, ir.TileType)
        loops = (stmt for stmt in statements(function.body) if isinstance(stmt, ir.ForStmt | ir.WhileStmt))
        self._loop_spans = {id(arg): loop.span for loop in loops for arg in loop.iter_args}

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var):
            window = self._unaligned(stmt.value)
            if window is not None:
                self._refuse_shared(stmt.value, stmt)
                return self._copied(stmt, window)
        return super().rewriting(stmt)

    def _copied(self, stmt: ir.AssignStmt, window: Window) -> Task:
        """A second name of a window becomes the copy."""
        copy = yield self._extract(window, window.space or MemorySpace.Vec, stmt.span)
        var = build(stmt.var, type=copy.type)
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=copy)]

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | Iterable[ir.Stmt]:
        match stmt:
            case ir.AssignStmt(value=ir.Call() as call):
                return build(stmt, value=self._call(call, stmt))
            case ir.EvalStmt(expr=ir.Call() as call):
                return build(stmt, expr=self._call(call, stmt))
            case ir.YieldStmt():
                return build(stmt, value=[self._carried(value, stmt, stmt.span) for value in stmt.value])
        return stmt

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if isinstance(typed, ir.IterArg):
            span = self._loop_spans.get(id(old), typed.span)
            typed = build(typed, initValue=self._carried(typed.initValue, typed, span))
        return super().definition(old, typed)

    def _carried(self, value: ir.Expr, where: ir.IRNode, span: ir.Span) -> ir.Expr:
        """A window that becomes the value of a variable; its copy stands at ``span``."""
        window = self._unaligned(value)
        if window is None:
            return value
        self._refuse_shared(value, where)
        return self._let(value, window, window.space or MemorySpace.Vec, span)

    def _call(self, call: ir.Call, stmt: ir.Stmt) -> ir.Call:
        name = call.op.name
        if name == _SLICE or isinstance(call.op, ir.GlobalVar):
            return call
        if name == _EXTRACT:
            return self._from_base(call)
        args = list(call.args)
        factors = _FACTORS.get(name, ())
        for place, space in zip(factors, (MemorySpace.Left, MemorySpace.Right), strict=False):
            window = self._slices.of(args[place])
            if window is not None and window.space is MemorySpace.Mat:
                args[place] = self._let(args[place], window, space, call.span)
        is_done = name in _BY_COLUMN and self._by_column(args, call.span)
        for place, arg in enumerate(call.args):
            if not is_done and place not in factors and (window := self._unaligned(arg)) is not None:
                self._refuse_written(call, place, arg, stmt)
                args[place] = self._let(arg, window, window.space or MemorySpace.Vec, call.span)
        if name == _ACCUMULATOR:
            self._check_accumulator(call)
        return build(call, args=args)

    def _from_base(self, call: ir.Call) -> ir.Call:
        """What is read of a window is read of the tile."""
        window = self._slices.of(call.args[0])
        if window is None:
            return call
        row, column = (
            self._slices.sum(start, offset)
            for start, offset in zip((window.row, window.column), call.args[1:3], strict=True)
        )
        return build(call, args=[window.base, row, column, *call.args[3:]])

    def _by_column(self, args: list[ir.Expr], span: ir.Span) -> bool:
        """Copy the windows that do not lie in one block; whether there was one."""
        found = False
        for place, arg in enumerate(args):
            window = self._slices.of(arg)
            if window is None or window.space not in (None, MemorySpace.Vec):
                continue
            size = window.size()
            is_apart = size is None or (size[0] > 1 and size[1] != window.pitch)
            if is_apart or self._slices.is_dynamic(window):
                args[place] = self._let(arg, window, MemorySpace.Vec, span)
                found = True
        return found

    def _unaligned(self, value: ir.Expr) -> Window | None:
        """The window in Vec that a value is, if it may not begin where a block does."""
        window = self._slices.of(value)
        if window is None or window.space not in (None, MemorySpace.Vec) or self._slices.is_aligned(window):
            return None
        return window

    def _check_accumulator(self, call: ir.Call) -> None:
        window = self._slices.of(call.args[0])
        if window is None or window.space is not MemorySpace.Acc:
            return
        size = window.size()
        if size is None or size[1] != window.pitch:
            what = "the window that it adds to is not of whole rows of the accumulator"
            raise PassError(f"{call.op.name}: {what}", self._owner, call, call.args[0])

    def _let(self, value: ir.Expr, window: Window, space: MemorySpace, span: ir.Span) -> ir.Var:
        """A copy of a window, right before what reads it at ``span``."""
        assert isinstance(value, ir.Var)
        copy = self._extract(window, space, span)
        var = ir.Var(f"{value.name_hint}_textract", copy.type, span)
        self.emit(ir.AssignStmt(var, copy, span))
        return var

    def _extract(self, window: Window, space: MemorySpace, span: ir.Span) -> ir.Call:
        bound = self.bound(window.base) if isinstance(window.base, ir.Var) else None
        operands = (bound or window.base, window.row, window.column, window.shape)
        return ops.call("tile.extract", *operands, target_memory=space, span=span)

    def _refuse_written(self, call: ir.Call, place: int, value: ir.Expr, stmt: ir.Stmt) -> None:
        """What is written into a copy does not reach the tile."""
        if place in facts.of(call.op).written:
            assert isinstance(value, ir.Var)
            what = f"{call.op.name} writes into {value.name_hint!r}, a window that does not begin at a block"
            raise PassError(what, self._owner, stmt, value)

    def _refuse_shared(self, value: ir.Expr, where: ir.IRNode) -> None:
        """A copy that has a name of its own would not show what is written into the tile later, nor the tile
        what is written into the copy."""
        assert isinstance(value, ir.Var)
        begin = self._storage.place_of(value)
        for _, place in self._storage.writes_into(self._storage.sharing(value)):
            if place > begin or self._storage.places[place].loops:
                what = f"{value.name_hint!r}, a window of a tile that is written, does not begin at a block"
                raise PassError(f"{what}: a copy would be needed", self._owner, where, value)
