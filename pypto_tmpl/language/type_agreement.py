"""Which types one name may have in turn (spec, 5.2)."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import provably_equal
from pypto_tmpl.ir.types import implicit_tile_view


def same_type(a: ir.Type, b: ir.Type) -> bool:
    """Whether a name may be bound to both types in turn: memory references do not count, and a view that
    is left out is the default one."""
    if a is b or a == b:
        return True
    match a, b:
        case (ir.TileType(), ir.TileType()):
            if a.memory_space != b.memory_space or a.dtype != b.dtype or not provably_equal(a.shape, b.shape):
                return False
            return _same_tile_view(_tile_view(a), _tile_view(b))
        case (ir.TensorType(), ir.TensorType()):
            if type(a) is not type(b) or a.dtype != b.dtype or not provably_equal(a.shape, b.shape):
                return False
            return _same_tensor_view(_tensor_view(a), _tensor_view(b))
        case (ir.TupleType(types=first), ir.TupleType(types=second)):
            return len(first) == len(second) and all(
                same_type(x, y) for x, y in zip(first, second, strict=True)
            )
    return False


def _tile_view(type_: ir.TileType) -> ir.TileView:
    return type_.tile_view or implicit_tile_view(type_.shape, type_.memory_space)


def _same_tile_view(a: ir.TileView, b: ir.TileView) -> bool:
    layout = (a.blayout, a.slayout, a.fractal, a.pad, a.compact)
    if layout != (b.blayout, b.slayout, b.fractal, b.pad, b.compact):
        return False
    starts = [view.start_offset for view in (a, b)]
    same_start = starts[0] is starts[1] or (
        starts[0] is not None and starts[1] is not None and provably_equal([starts[0]], [starts[1]])
    )
    return same_start and provably_equal(a.valid_shape, b.valid_shape) and provably_equal(a.stride, b.stride)


def _tensor_view(type_: ir.TensorType) -> ir.TensorView:
    return type_.tensor_view or ir.TensorView((), ir.TensorLayout.ND)


def _same_tensor_view(a: ir.TensorView, b: ir.TensorView) -> bool:
    same_layout = (a.layout, a.pad) == (b.layout, b.pad)
    return same_layout and provably_equal(a.valid_shape, b.valid_shape) and provably_equal(a.stride, b.stride)
