"""Text of types, views and memory references (spec: DSL, 12.4)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from pypto_tmpl.ir.base import Expr, Type
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import CompactMode, MemorySpace, PadValue, TensorLayout
from pypto_tmpl.ir.leaves import ConstInt
from pypto_tmpl.ir.printer.expressions import BODY, SHAPE, VIEW, ExpressionPrinter, Place, is_constant
from pypto_tmpl.ir.printer.pieces import Mention, Piece, Pieces, PrintError, Role, bracketed, joined, option
from pypto_tmpl.ir.printer.spellings import ENUM_NAMES, MARKER_TYPES
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType
from pypto_tmpl.ir.types import (
    ArrayType,
    DistributedTensorType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    implicit_tile_view,
)


class TypePrinter(ExpressionPrinter):
    """Types; ``signature`` says that the type stands in a function's header."""

    def type(self, node: Type, signature: bool = False) -> Piece:
        """Text of a type; PrintError for a class that has none."""
        marker = MARKER_TYPES.get(type(node))
        if marker is not None:
            return self.prefix + marker[2:] if marker.startswith("pl.") else str(marker)
        if isinstance(node, ScalarType):
            return f"{self.prefix}.Scalar[{self.dtype(node.dtype)}]"
        if isinstance(node, TileType):
            return self._tile(node, signature)
        if isinstance(node, TensorType):
            return self._tensor(node, signature)
        if isinstance(node, TupleType):
            return self._tuple(node, signature)
        if isinstance(node, ArrayType):
            return self._array(node)
        raise PrintError(f"no text for a type of class {node.__class__.__name__}")

    def enum(self, member: Enum) -> str:
        """``pl.<Enum>.<member>``."""
        return f"{self.prefix}.{ENUM_NAMES[type(member)]}.{member.name}"

    def memref(self, node: MemRef, place: Place, signature: bool = False) -> Pieces:
        """``pl.MemRef("name")`` for a declaration, ``pl.MemRef(base, offset, size)`` for a placed one."""
        is_declared = node.is_pinned_ and node.size_ == 0 and _is_zero_int64(node.byte_offset_)
        yield f"{self.prefix}.MemRef("
        quoted = signature or is_declared
        yield Mention(node.base_, Role.QUOTED if quoted else Role.BASE)
        if not is_declared:
            yield ", "
            yield self.expr(node.byte_offset_, place)
            yield f", {node.size_}"
            if node.is_pinned_:
                yield ", pinned=True"
        if node.slot_count_ != 1:
            yield f", slots={node.slot_count_}"
        yield ")"
        if node.slot_index_ is not None:
            yield "["
            yield self.expr(node.slot_index_, place)
            yield "]"

    def _tuple(self, node: TupleType, signature: bool) -> Pieces:
        yield f"{self.prefix}.Tuple["
        yield joined(self.type(item, signature) for item in node.types) if node.types else "()"
        yield "]"

    def _array(self, node: ArrayType) -> Pieces:
        yield f"{self.prefix}.Array["
        yield self._extent(node.extent)
        yield f", {self.dtype(node.dtype)}]"

    def _tensor(self, node: TensorType, signature: bool) -> Pieces:
        distributed = isinstance(node, DistributedTensorType)
        yield "pld.DistributedTensor[" if distributed else f"{self.prefix}.Tensor["
        yield self._shape(node.shape)
        yield f", {self.dtype(node.dtype)}"
        if node.tensor_view is not None:
            yield ", "
            yield self._tensor_view(node.tensor_view)
        if node.memref is not None:
            yield ", "
            yield self.memref(node.memref, BODY, signature)
        if isinstance(node, DistributedTensorType) and node.window_buffer and self.explicit_layout:
            yield ', "window_buffer='
            yield Mention(node.window_buffer.base, Role.LABEL)
            yield '"'
        yield "]"

    def _tensor_view(self, view: TensorView) -> Pieces:
        yield f"{self.prefix}.TensorView("
        yield joined(self._tensor_view_options(view))
        yield ")"

    def _tensor_view_options(self, view: TensorView) -> Pieces:
        has_pad = view.pad is not PadValue.null
        if not (view.valid_shape or view.stride or has_pad or view.layout is not TensorLayout.ND):
            return
        if view.valid_shape:
            yield self._extents("valid_shape", view.valid_shape)
        yield self._extents("stride", view.stride)
        yield "layout=" + self.enum(view.layout)
        if has_pad:
            yield "pad=" + self.enum(view.pad)

    def _tile(self, node: TileType, signature: bool) -> Pieces:
        yield f"{self.prefix}.Tile["
        yield self._shape(node.shape)
        yield f", {self.dtype(node.dtype)}"
        if node.memref is not None:
            yield ", "
            yield self.memref(node.memref, BODY, signature)
        if node.memory_space is not None:
            yield ", " + self.enum(node.memory_space)
        yield self._tile_view(node)
        yield "]"

    def _tile_view(self, node: TileType) -> Pieces:
        if node.tile_view is not None or self.explicit_layout:
            yield f", {self.prefix}.TileView("
            yield joined(self._tile_view_options(node))
            yield ")"

    def _tile_view_options(self, node: TileType) -> Pieces:
        implicit = implicit_tile_view(node.shape, node.memory_space)
        view = node.tile_view or TileView((), (), None, implicit.blayout, implicit.slayout, implicit.fractal)
        if view.valid_shape:
            yield self._extents("valid_shape", view.valid_shape)
        if view.stride:
            yield self._extents("stride", view.stride)
        if view.start_offset is not None:
            yield option("start_offset", self._view_extent(view.start_offset))
        if view.blayout is not implicit.blayout or self.explicit_layout:
            yield "blayout=" + self.enum(view.blayout)
        if view.slayout is not implicit.slayout or self.explicit_layout:
            yield "slayout=" + self.enum(view.slayout)
        if view.fractal != implicit.fractal or self.explicit_layout:
            yield f"fractal={view.fractal}"
        if view.pad is not PadValue.null:
            yield "pad=" + self.enum(view.pad)
        if view.compact is not CompactMode.null:
            yield "compact=" + self.enum(view.compact)

    def _shape(self, shape: Iterable[Expr]) -> Pieces:
        return bracketed(self._extent(extent) for extent in shape)

    def _extent(self, extent: Expr) -> Piece:
        # INDEX and INT64 constants are equal extents, so both are plain; composite ones keep their dtypes.
        if isinstance(extent, ConstInt) and extent.dtype in (DataType.INDEX, DataType.INT64):
            return str(extent.value)
        return self.expr(extent, SHAPE)

    def _extents(self, name: str, extents: Iterable[Expr]) -> Pieces:
        return option(name, bracketed(self._view_extent(extent) for extent in extents))

    def _view_extent(self, extent: Expr) -> Piece:
        # As in a shape, except that a constant of another dtype than INDEX says so.
        return self.expr(extent, VIEW if is_constant(extent) else SHAPE)

    def memory_space(self, code: int) -> str | None:
        """Spelling of a memory space code, None for a code that is none."""
        spaces = {space.value: space for space in MemorySpace}
        return self.enum(spaces[code]) if code in spaces else None


def _is_zero_int64(offset: Expr) -> bool:
    return isinstance(offset, ConstInt) and offset.value == 0 and offset.dtype == DataType.INT64
