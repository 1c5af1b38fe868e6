"""Tiles lie row by row where the hardware takes them no other way."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty, TileLayout
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.retyping import with_operands
from pypto_tmpl.rewrite import GeneratedName, Rewriter, base_name, build

_BASE = frozenset(
    {IRProperty.SSAForm, IRProperty.IncoreTileOps, IRProperty.SplitIncoreOrch, IRProperty.TileOps2D}
)


class ResolveBackendOpLayouts(FunctionPass):
    """Have operands lie row by row for the ops that need it, and results as they were declared.

    A column of N elements is a row of N in the same bytes: where all operands are such columns, the op works
    on rows. Other tiles are moved. Without a backend nothing is needed.
    """

    __slots__ = ()
    requires = _BASE
    produces = _BASE | {IRProperty.NormalizedStmtStructure}

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        backend = context.backend
        if backend is None or not ir.is_incore_type(function.func_type):
            return function
        return _Repairing(function, backend).rewrite(function)


class _Repairing(Rewriter):
    def __init__(self, function: ir.Function, backend: BackendFacts) -> None:
        super().__init__()
        self._owner = function
        self._backend = backend
        self._count = 0

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        if not isinstance(call, ir.Call) or not self._backend.needs_row_major(call.op):
            return [stmt]
        wrong = [place for place, arg in enumerate(call.args) if not _is_row_major(arg.type)]
        if not wrong:
            return [stmt]
        as_rows = _works_on_columns(call)
        args, made = list(call.args), list[ir.Stmt]()
        for place in wrong:
            value = _row_major(args[place], as_rows, call.span)
            args[place] = self._let(stmt, made, f"rm_a{place}", f"row_major_arg{place}", value)
        fixed = with_operands(build(call, attrs=ir.AttrMap()), args, self._owner, stmt)
        if not isinstance(stmt, ir.AssignStmt):
            return [*made, build(stmt, expr=fixed)]
        if _is_row_major(stmt.var.type):
            return [*made, build(stmt, value=fixed)]
        result = self._let(stmt, made, "row_major", "", _in_buffer_of(stmt.var.type, fixed))
        return [*made, build(stmt, value=_restored(result, stmt.var.type))]

    def _let(self, stmt: ir.Stmt, made: list[ir.Stmt], qualifier: str, bare: str, value: ir.Expr) -> ir.Var:
        """A variable for a value, named after what the statement binds."""
        if isinstance(stmt, ir.AssignStmt):
            name = GeneratedName(base_name(stmt.var.name_hint), "tmp", self._count, qualifier)
        else:
            name = GeneratedName("layout_fix", "tmp", self._count, bare)
        self._count += 1
        var = ir.Var(str(name), value.type, value.span)
        made.append(ir.AssignStmt(var, value, stmt.span))
        return var


def _is_row_major(type_: ir.Type) -> bool:
    """Whether it is no tile that lies column by column."""
    return (
        not isinstance(type_, ir.TileType) or type_.get_effective_tile_view().blayout is TileLayout.row_major
    )


def _column_height(type_: ir.Type) -> int | None:
    """The rows of a tile ``[N, 1]``, None of another type."""
    if not isinstance(type_, ir.TileType) or [constant_extent(extent) for extent in type_.shape[1:]] != [1]:
        return None
    return constant_extent(type_.shape[0])


def _is_single(type_: ir.TileType) -> bool:
    return all(constant_extent(extent) == 1 for extent in type_.shape)


def _works_on_columns(call: ir.Call) -> bool:
    """Whether the op may work on rows instead: all it computes from and with are columns of the same height.

    A column that lies row by row, or a result of another shape (a packed mask), would not go along. A single
    element does: it is repeated along either axis.
    """
    entry = ops.load_table()[call.op.name]
    counting = [
        arg.type
        for arg, operand in zip(call.args, entry.operands, strict=False)
        if isinstance(arg.type, ir.TileType) and not operand.scratch and not _is_single(arg.type)
    ]
    heights = {_column_height(type_) for type_ in counting}
    if isinstance(call.type, ir.TileType):
        heights.add(_column_height(call.type))
    return len(heights) == 1 and None not in heights and not any(map(_is_row_major, counting))


def _row_major(tile: ir.Expr, as_row: bool, span: ir.Span) -> ir.Call:
    """A tile row by row: a column as a row where that is asked for, else the same extents."""
    height = _column_height(tile.type)
    if as_row and height is not None:
        return ops.call("tile.reshape", tile, [1, height], span=span)
    return _moved(tile, TileLayout.row_major, TileLayout.none_box, span)


def _in_buffer_of(declared: ir.Type, value: ir.Call) -> ir.Call:
    """A value in the buffer that a column is declared in, if it is: the column is a view of the value."""
    memref = declared.memref if isinstance(declared, ir.TileType) else None
    if memref is None or _column_height(declared) is None:
        return value
    return build(value, type=build(value.type, memref=memref))


def _restored(result: ir.Var, declared: ir.Type) -> ir.Call:
    """A result as it was declared."""
    assert isinstance(declared, ir.TileType)
    height = _column_height(declared)
    if height is not None:
        call = ops.call("tile.reshape", result, [height, 1], span=result.span)
    else:
        view = declared.get_effective_tile_view()
        call = _moved(result, view.blayout, view.slayout, result.span)
    return build(call, type=declared)


def _moved(tile: ir.Expr, blayout: TileLayout, slayout: TileLayout, span: ir.Span) -> ir.Call:
    assert isinstance(tile.type, ir.TileType)
    space = tile.type.memory_space
    return ops.call("tile.move", tile, target_memory=space, blayout=blayout, slayout=slayout, span=span)
