"""Views of tiles and the ops that write into a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import MemorySpace
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.service_base import ServiceBase
from pypto_tmpl.streams.spelling import constant_of, tile_extents
from pypto_tmpl.streams.tiles import shares_base
from pypto_tmpl.streams.values import Tensor, Value, Window
from pypto_tmpl.streams.windows import hint_of

_BOX_ROWS = 16  # of the boxes that a tile in Mat consists of


class TileServices(ServiceBase):
    """Slices, assemblies, reshapes, moves, and products with a condition."""

    def slice(self, call: Any) -> str:
        """A view of a part of a tile; the variable is the view from here on."""
        source: Value = call.a.input
        sizes = [constant_of(size) for size in self.parts(call.raw.shape)]
        offsets = [self._scalars.index(offset) for offset in self.parts(call.raw.offset)]
        if None in sizes:
            raise Obstacle("the extents of a slice of a tile must be constants", call.call.span)
        valid_exprs = [] if call.raw.valid_shape is None else list(self.parts(call.raw.valid_shape))
        valid = [self._scalars.index(extent) for extent in valid_exprs]
        shown = [constant_of(extent) for extent in valid_exprs] if valid else sizes
        kind = self.tile_of(call.var)
        text = self._tiles.static_type(kind, shown)
        window = Window(call.var, source, offsets[0], offsets[-1])
        view = Value(self.named("slice_view"), text, kind.dtype, tile=kind, is_view=True, window=window)
        self._kernel.line(
            self._kernel.templates.tiles.subview(view, source, offsets, sizes[0], sizes[1], valid)
        )
        self._kernel.bind(call.var, view)
        return ""

    def part(
        self, hint: str, target: Value, offsets: Sequence[Value], box: ir.TileType, valid: Sequence[ir.Expr]
    ) -> Value:
        """A view of a part of a tile that is written; ``box`` has its shape."""
        assert target.tile is not None
        rows, cols = tile_extents(box.shape)
        extents = [self._scalars.index(extent) for extent in valid[:2]]
        kind = ir.TileType(
            box.shape, target.tile.dtype, None, _layout_only(target.tile), target.tile.memory_space
        )
        text = self._tiles.static_type(kind, [constant_of(extent) for extent in valid[:2]])
        view = Value(self.named(hint), text, kind.dtype, tile=kind, is_view=True)
        macros = self._kernel.templates.tiles
        self._kernel.line(macros.subview(view, target, offsets, rows, cols, extents))
        return view

    def assemble(self, call: Any) -> str:
        """Write a tile into a part of another."""
        source: Value = call.a.source
        into: Value = call.out
        target_kind, source_kind = self.tile_of(call.raw.target), self.tile_of(call.raw.source)
        target: Value = call.a.target
        at = self.parts(call.raw.offset)
        if target.name != into.name:
            self._kernel.line(self._forms.moved(target, into))
        if _is_window_already(source_kind, self.tile_of(call.var), at):
            return ""
        offsets = [self._scalars.index(offset) for offset in at]
        if source_kind.memory_space is MemorySpace.Acc and target_kind.memory_space is MemorySpace.Mat:
            self._kernel.line(self._forms.insert(source, *offsets, into))
            return ""
        valid = source_kind.get_effective_tile_view().valid_shape
        _check_window(source_kind, self.tile_of(call.var), call.call.span)
        view = self.part("assemble_view", into, offsets, source_kind, valid)
        self._kernel.line(self._forms.moved(source, view))
        return ""

    def gather_row(self, call: Any) -> str:
        """Load rows of a tensor into a part of a tile."""
        into: Value = call.out
        source: Tensor = call.a.src
        sizes = self.parts(call.raw.shapes)
        valid = sizes if call.raw.valid_shape is None else self.parts(call.raw.valid_shape)
        offsets = self.parts(call.raw.src_offset)
        if call.attr.transpose:  # read through a view whose axes are swapped
            sizes, valid, offsets = sizes[::-1], valid[::-1], offsets[::-1]
        at = [self._scalars.index(offset) for offset in self.parts(call.raw.dst_offset)]
        assert into.tile is not None
        rows, cols = tile_extents(sizes)
        if into.tile.memory_space is MemorySpace.Mat:
            rows += -rows % _BOX_ROWS
        box = ir.TileType([rows, cols], into.tile.dtype, None, None, into.tile.memory_space)
        view = self.part("gather_row_view", into, at, box, valid)
        hint = hint_of(call.raw.src)
        if call.attr.transpose:
            window = self._tensors.cut_from(
                self._tensors.transposed_view(source, f"{hint}_dn_view"),
                source.type.dtype, f"{hint}_pview", offsets, valid,
            )  # fmt: skip
        else:
            window = self._tensors.window(source, f"{hint}_pview", offsets, valid)
        self._kernel.line(self._forms.loaded(window, view))
        return ""

    def reshape(self, call: Any) -> str:
        """Nothing where the variable has its own buffer; else a view of the operand in the new shape."""
        kind = self.tile_of(call.var)
        if kind.memref is not None:
            return ""
        source: Value = call.a.input
        valid = [constant_of(extent) for extent in kind.get_effective_tile_view().valid_shape]
        text = self._tiles.static_type(kind, valid[:2])
        view = Value(self.named(call.emit.hint), text, kind.dtype, tile=kind, is_view=True)
        self._kernel.line(self._kernel.templates.tiles.reshaped(view, source))
        self._kernel.bind(call.var, view)
        return ""

    def unviewed(self, operands: Sequence[Value]) -> list[Value]:
        """The operands, slices among them copied into buffers of their own."""
        return [operand if operand.window is None else self._copied(operand.window) for operand in operands]

    def _copied(self, window: Window) -> Value:
        if window.row.constant is None or window.col.constant is None:
            raise Obstacle("the operation cannot read a slice at an offset that is no constant")
        buffer = self._tiles.hoist(window.var, "extract_buf")
        self._kernel.line(self._forms.form("pto.textract", [window.source, window.row, window.col], buffer))
        return buffer

    def refuse_view(self, value: Value, call: Any) -> str:
        """The valid region of a view cannot be set."""
        if value.is_view:
            raise Obstacle("tile.set_validshape: the tile is a view of another one", call.call.span)
        return ""

    def refuse_self_move(self, call: Any) -> str:
        """A move onto its own place in one memory is an error of an earlier pass."""
        source, target = self.tile_of(call.raw.tile), call.out.tile
        if target is None or not shares_base(source, target) or source.memory_space != target.memory_space:
            return ""
        assert source.memref is not None and target.memref is not None
        offsets = constant_of(source.memref.byte_offset_), constant_of(target.memref.byte_offset_)
        if offsets[0] is not None and offsets[0] == offsets[1]:
            raise Obstacle(
                "tile.move: source and destination are one address in one memory space", call.call.span
            )
        return ""

    def conditional_product(self, call: Any) -> str:
        """A product that starts or continues an accumulation, as its condition says."""
        kernel = self._kernel
        condition = call.raw.init_cond
        into: Value = call.out
        lhs, rhs = call.a.lhs, call.a.rhs
        first = self._forms.form("pto.tmatmul", [lhs, rhs], into)
        further = self._forms.form("pto.tmatmul.acc", [into, lhs, rhs], into)
        if condition is None:
            return str(further)
        holds = self._scalars.condition(condition)
        control = kernel.templates.control
        kernel.writer.structure(control.if_open([], holds))
        with kernel.writer.region():
            kernel.line(first)
        kernel.writer.structure("} else {")
        with kernel.writer.region():
            kernel.line(further)
        kernel.writer.structure("}")
        return ""


def _layout_only(tile: ir.TileType) -> ir.TileView:
    """The layout of a tile without its extents."""
    view = tile.get_effective_tile_view()
    return ir.TileView(
        blayout=view.blayout,
        slayout=view.slayout,
        fractal=view.fractal,
        pad=view.pad,
        compact=view.compact,
    )


def _check_window(source: ir.TileType, target: ir.TileType, span: ir.Span) -> None:
    """What is written through a view must be laid out as the tile that the view shows."""
    a, b = source.get_effective_tile_view(), target.get_effective_tile_view()
    facts = {
        "dtype": (source.dtype.name, target.dtype.name),
        "blayout": (a.blayout.name, b.blayout.name),
        "slayout": (a.slayout.name, b.slayout.name),
        "pad": (a.pad.name, b.pad.name),
        "fractal": (a.fractal, b.fractal),
    }
    for name, (one, other) in facts.items():
        if one != other:
            raise Obstacle(f"tile.assemble: {name} mismatch, the source has {one}, the target {other}", span)


def _is_window_already(source: ir.TileType, target: ir.TileType, at: Sequence[ir.Expr]) -> bool:
    """Whether a tile lies where the window of another is, so that nothing is to be written."""
    if not shares_base(source, target) or len(at) != 2 or source.dtype == DataType.FP4:
        return False
    assert source.memref is not None and target.memref is not None
    start, place = constant_of(target.memref.byte_offset_), constant_of(source.memref.byte_offset_)
    row, col, width = constant_of(at[0]), constant_of(at[1]), constant_of(target.shape[-1])
    if start is None or row is None or col is None or width is None:
        return False
    return place == start + (row * width + col) * target.dtype.get_byte()
