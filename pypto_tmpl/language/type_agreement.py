"""Which types one name may have in turn, and which may be types of one value (spec, 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import provably_equal
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.types import implicit_tile_view, layout_of

_NOTHING: Mapping[ir.Expr, ir.Expr] = MappingProxyType({})


def same_type(a: ir.Type, b: ir.Type, extents: Mapping[ir.Expr, ir.Expr] = _NOTHING) -> bool:
    """Whether a name may be bound to both types in turn: memory references do not count, and a view that
    is left out is the default one.

    ``extents`` says of variables which extent of a tensor they are.
    """
    if a is b or a == b:
        return True
    match a, b:
        case (ir.TileType(), ir.TileType()):
            if a.memory_space != b.memory_space or a.dtype != b.dtype or not provably_equal(a.shape, b.shape):
                return False
            return _same_tile_view(_tile_view(a), _tile_view(b))
        case (ir.TensorType(), ir.TensorType()):
            shapes = [[_resolved(extent, extents) for extent in tensor.shape] for tensor in (a, b)]
            if type(a) is not type(b) or a.dtype != b.dtype or not provably_equal(*shapes):
                return False
            return _same_tensor_view(_tensor_view(a), _tensor_view(b))
        case (ir.TupleType(types=first), ir.TupleType(types=second)):
            return len(first) == len(second) and all(
                same_type(x, y, extents) for x, y in zip(first, second, strict=True)
            )
    return False


def _resolved(extent: ir.Expr, extents: Mapping[ir.Expr, ir.Expr]) -> ir.Expr:
    """The extent that a variable was read from, through all variables between."""
    seen: list[ir.Expr] = []
    while extent in extents and extent not in seen:
        seen.append(extent)
        extent = extents[extent]
    return extent


def may_agree(a: ir.Type, b: ir.Type) -> bool:
    """Whether types of one kind, dtype and rank have no constant extents that differ.

    Integer scalars of any width agree, and an unknown type agrees with all.
    """
    if isinstance(a, ir.UnknownType) or isinstance(b, ir.UnknownType):
        return True
    match a, b:
        case (ir.ScalarType(), ir.ScalarType()):
            return a.dtype == b.dtype or (a.dtype.is_int() and b.dtype.is_int())
        case (ir.ShapedType(), ir.ShapedType()):
            return type(a) is type(b) and a.dtype == b.dtype and _may_be_equal(a.shape, b.shape)
        case (ir.TupleType(), ir.TupleType()):
            return len(a.types) == len(b.types)
    return type(a) is type(b)


def may_be_given(param: ir.Type, value: ir.Expr) -> bool:
    """Whether a parameter of that type takes a value: as ``may_agree``; constants take the type of a number.

    Windows of other cards are tensors too, and the memory space of a tile is none of its type here.
    """
    given = value.type
    if isinstance(param, ir.UnknownType) or isinstance(given, ir.UnknownType):
        return True
    match param, given:
        case (ir.ScalarType(dtype=wanted), ir.ScalarType()):
            if isinstance(value, (ir.ConstInt, ir.ConstFloat)) and wanted.is_float():
                return True
            return may_agree(param, given)
        case (ir.ShapedType(), ir.ShapedType()):
            are_tensors = isinstance(param, ir.TensorType) and isinstance(given, ir.TensorType)
            is_one_kind = are_tensors or type(param) is type(given)
            return is_one_kind and param.dtype == given.dtype and _may_be_equal(param.shape, given.shape)
    return type(param) is type(given)


def _may_be_equal(a: Sequence[ir.Expr], b: Sequence[ir.Expr]) -> bool:
    pairs = [(constant_extent(x), constant_extent(y)) for x, y in zip(a, b, strict=False)]
    return len(a) == len(b) and all(x == y for x, y in pairs if x is not None and y is not None)


def _tile_view(type_: ir.TileType) -> ir.TileView:
    return type_.tile_view or implicit_tile_view(type_.shape, type_.memory_space)


def _same_tile_view(a: ir.TileView, b: ir.TileView) -> bool:
    if layout_of(a) != layout_of(b):
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
