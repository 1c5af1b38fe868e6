"""Shaped types and their views (spec: IR, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pypto_tmpl.ir.base import Expr, Type, check_kind, check_uint64, equal, hash_of, set_fields
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import CompactMode, MemorySpace, PadValue, TensorLayout, TileLayout
from pypto_tmpl.ir.extents import as_extents, constant_extent, extent_of, extents_of, same_extents

Extent: TypeAlias = "int | Expr"


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TensorView:
    """Strides, layout, valid region and pad of a tensor; empty lists mean packed and fully valid."""

    stride: tuple[Expr, ...]
    layout: TensorLayout
    valid_shape: tuple[Expr, ...]
    pad: PadValue

    def __init__(
        self,
        stride: Sequence[Extent] = (),
        layout: TensorLayout | None = None,
        valid_shape: Sequence[Extent] = (),
        pad: PadValue = PadValue.null,
    ) -> None:
        if layout is None:
            if stride or valid_shape or pad is not PadValue.null:
                raise ValueError("a TensorView with stride, valid_shape or pad needs its layout as well")
            layout = TensorLayout.ND
        check_kind(layout, TensorLayout, "layout", self)
        check_kind(pad, PadValue, "pad", self)
        set_fields(
            self,
            stride=extents_of(stride, "stride", self),
            layout=layout,
            valid_shape=extents_of(valid_shape, "valid_shape", self),
            pad=pad,
        )


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TileView:
    """Valid region, strides and box layout of a tile; ``fractal`` is the box size in bytes."""

    valid_shape: tuple[Expr, ...]
    stride: tuple[Expr, ...]
    start_offset: Expr | None
    blayout: TileLayout
    slayout: TileLayout
    fractal: int
    pad: PadValue
    compact: CompactMode

    def __init__(
        self,
        valid_shape: Sequence[Extent] = (),
        stride: Sequence[Extent] = (),
        start_offset: Extent | None = None,
        blayout: TileLayout = TileLayout.row_major,
        slayout: TileLayout = TileLayout.none_box,
        fractal: int = 512,
        pad: PadValue = PadValue.null,
        compact: CompactMode = CompactMode.null,
    ) -> None:
        for value, kind, what in (
            (blayout, TileLayout, "blayout"),
            (slayout, TileLayout, "slayout"),
            (fractal, int, "fractal"),
            (pad, PadValue, "pad"),
            (compact, CompactMode, "compact"),
        ):
            check_kind(value, kind, what, self)
        check_uint64(fractal, "the fractal of a TileView is")
        set_fields(
            self,
            valid_shape=extents_of(valid_shape, "valid_shape", self),
            stride=extents_of(stride, "stride", self),
            start_offset=None if start_offset is None else extent_of(start_offset, "start_offset", self),
            blayout=blayout,
            slayout=slayout,
            fractal=fractal,
            pad=pad,
            compact=compact,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TileView) and equal(self, other)

    def __hash__(self) -> int:
        return hash_of(self)


def layout_of(view: TileView) -> tuple[TileLayout, TileLayout, int, PadValue, CompactMode]:
    """All that a view says of the layout, beside extents."""
    return view.blayout, view.slayout, view.fractal, view.pad, view.compact


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ShapedType(Type):
    """Base of types with an element type and a shape."""

    dtype: DataType
    shape: tuple[Expr, ...]

    def shares_memref_with(self, other: ShapedType) -> bool:
        """True when both types hold the same MemRef object."""
        mine: MemRef | None = getattr(self, "memref", None)
        return mine is not None and mine is getattr(other, "memref", None)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TensorType(ShapedType):
    """A tensor in global memory. Raises ValueError for a packed FP4 shape with an odd last extent."""

    memref: MemRef | None
    tensor_view: TensorView | None

    def __init__(
        self,
        shape: Sequence[Extent],
        dtype: DataType,
        memref: MemRef | None = None,
        tensor_view: TensorView | None = None,
    ) -> None:
        _set_tensor_fields(self, shape, dtype, memref, tensor_view)

    @property
    def memory_space(self) -> MemorySpace | None:
        return MemorySpace.DDR


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class DistributedTensorType(TensorType):
    """A tensor that lives in a communication window.

    The third argument is a MemRef, or the WindowBuffer the tensor is bound to.
    """

    window_buffer: WindowBuffer | None

    def __init__(
        self,
        shape: Sequence[Extent],
        dtype: DataType,
        memref: MemRef | WindowBuffer | None = None,
        tensor_view: TensorView | None = None,
        window_buffer: WindowBuffer | None = None,
    ) -> None:
        if isinstance(memref, WindowBuffer):
            memref, window_buffer = None, memref
        check_kind(window_buffer, (WindowBuffer, type(None)), "window_buffer", self)
        _set_tensor_fields(self, shape, dtype, memref, tensor_view)
        set_fields(self, window_buffer=window_buffer)


def _set_tensor_fields(
    node: TensorType,
    shape: Sequence[Extent],
    dtype: DataType,
    memref: MemRef | None,
    tensor_view: TensorView | None,
) -> None:
    check_kind(memref, (MemRef, type(None)), "memref", node)
    check_kind(tensor_view, (TensorView, type(None)), "tensor_view", node)
    extents = _checked_shape(node, shape, dtype)
    set_fields(
        node,
        dtype=dtype,
        shape=extents,
        memref=memref,
        tensor_view=_canonical_tensor_view(tensor_view, extents),
    )


def _canonical_tensor_view(view: TensorView | None, shape: tuple[Expr, ...]) -> TensorView | None:
    """A fully valid region is stored as an empty one, and a view that says nothing as None."""
    if view is None:
        return None
    if view.valid_shape and same_extents(view.valid_shape, shape):
        view = TensorView(view.stride, view.layout, (), view.pad)
    plain = not view.stride and not view.valid_shape and view.layout is TensorLayout.ND
    return None if plain and view.pad is PadValue.null else view


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class TileType(ShapedType):
    """A tile in on-chip memory. Raises ValueError for a MemRef without a memory space."""

    memref: MemRef | None
    tile_view: TileView | None
    memory_space: MemorySpace | None

    def __init__(
        self,
        shape: Sequence[Extent],
        dtype: DataType,
        memref: MemRef | None = None,
        tile_view: TileView | None = None,
        memory_space: MemorySpace | None = None,
    ) -> None:
        check_kind(memref, (MemRef, type(None)), "memref", self)
        check_kind(tile_view, (TileView, type(None)), "tile_view", self)
        check_kind(memory_space, (MemorySpace, type(None)), "memory_space", self)
        extents = _checked_shape(self, shape, dtype)
        if memref is not None and memory_space is None:
            raise ValueError("a TileType with a memref needs its memory_space as well")
        set_fields(
            self,
            dtype=dtype,
            shape=extents,
            memref=memref,
            tile_view=canonical_tile_view(tile_view, extents, memory_space),
            memory_space=memory_space,
        )

    def get_effective_tile_view(self) -> TileView:
        """The stored view, or the implicit one of the memory space; its valid_shape is never empty."""
        if self.tile_view is None:
            return implicit_tile_view(self.shape, self.memory_space)
        return self.tile_view if self.tile_view.valid_shape else _with_valid(self.tile_view, self.shape)


def canonical_tile_view(
    view: TileView | None, shape: tuple[Expr, ...], space: MemorySpace | None
) -> TileView | None:
    """A fully valid region is stored as an empty one, and the implicit view of the space as None."""
    if view is None:
        return None
    if view.valid_shape and same_extents(view.valid_shape, shape):
        view = _with_valid(view, ())
    if view.stride or view.valid_shape or view.start_offset is not None:
        return view
    if view.pad is not PadValue.null or view.compact is not CompactMode.null:
        return view
    layout = (view.blayout, view.slayout, view.fractal)
    return None if layout == _implicit_layout(shape, space) else view


def _with_valid(view: TileView, valid_shape: Sequence[Extent]) -> TileView:
    return TileView(
        valid_shape,
        view.stride,
        view.start_offset,
        view.blayout,
        view.slayout,
        view.fractal,
        view.pad,
        view.compact,
    )


def implicit_tile_view(shape: Sequence[Extent], space: MemorySpace | None) -> TileView:
    """The view that a tile of ``shape`` in ``space`` has when it stores none; fully valid."""
    extents = as_extents(shape)
    blayout, slayout, fractal = _implicit_layout(extents, space)
    return TileView(extents, blayout=blayout, slayout=slayout, fractal=fractal)


def _implicit_layout(
    shape: tuple[Expr, ...], space: MemorySpace | None
) -> tuple[TileLayout, TileLayout, int]:
    row, col, none = TileLayout.row_major, TileLayout.col_major, TileLayout.none_box
    rows, cols = (constant_extent(dim) for dim in shape) if len(shape) == 2 else (None, None)
    is_column = rows is not None and cols == 1 and rows > 1
    match space:
        case MemorySpace.Mat | MemorySpace.Left:
            return col, row, 512
        case MemorySpace.Right:
            return (col if is_column else row), col, 512
        case MemorySpace.Acc:
            return col, row, 1024
        case MemorySpace.LeftScale:
            return row, row, 32
        case MemorySpace.RightScale:
            return col, col, 32
    return (col if is_column else row), none, 512


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ArrayType(ShapedType):
    """A fixed-size scalar array in local memory.

    Raises ValueError unless the element type is an integer, BOOL or TASK_ID and the extent a positive
    constant.
    """

    def __init__(self, dtype: DataType, extent: Extent) -> None:
        check_kind(dtype, DataType, "dtype", self)
        if not (dtype.is_int() or dtype in (DataType.BOOL, DataType.TASK_ID)):
            raise ValueError(f"an ArrayType holds integers, BOOL or TASK_ID, not {dtype.name}")
        dim = extent_of(extent, "extent", self)
        value = constant_extent(dim)
        if value is None or value <= 0:
            raise ValueError("the extent of an ArrayType is a positive constant")
        set_fields(self, dtype=dtype, shape=(dim,))

    @property
    def extent(self) -> Expr:
        return self.shape[0]

    @property
    def memref(self) -> None:
        """None: an array lies in no buffer."""
        return None

    @property
    def memory_space(self) -> MemorySpace | None:
        return MemorySpace.ScalarLocal


def _checked_shape(node: Type, shape: Sequence[Extent], dtype: DataType) -> tuple[Expr, ...]:
    check_kind(dtype, DataType, "dtype", node)
    extents = extents_of(shape, "shape", node)
    if dtype == DataType.FP4:
        what = f"{type(node).__name__}.shape: packed FP4 needs"
        if not extents:
            raise ValueError(f"{what} at least one axis")
        last = constant_extent(extents[-1])
        if last is not None and (last <= 0 or last % 2):
            raise ValueError(f"{what} a positive even last extent, got {last}")
    return extents
