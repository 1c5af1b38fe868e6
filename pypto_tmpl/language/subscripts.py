"""Subscripts of tensors, tiles, arrays and tuples, read and written (spec, 5.4 and 8.3)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, simplify
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserTypeError
from pypto_tmpl.language.expressions import Operand, as_constant, expression, operand, reads
from pypto_tmpl.language.folding import integer
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.ops.calls import CallContext, OpCallError, build_call


@dataclass(slots=True)
class Axis:
    """What a subscript takes of one axis; ``extent`` is None for a single element."""

    node: ast.expr
    offset: ir.Expr
    extent: ir.Expr | None
    valid: ir.Expr | None = None


@reads(ast.Subscript)
def _subscript(reader: Reader, node: ast.Subscript) -> Operand:
    base = operand(reader, node.value)
    if isinstance(base, tuple):
        return base[_tuple_index(reader, node, -len(base), len(base))]
    if not isinstance(base, ir.Expr):
        raise reader.error(ParserTypeError, node, f"{shown(node.value)} has no elements")
    match base.type:
        case ir.TupleType():
            index = _tuple_index(reader, node, 0, len(base.type.types))
            return ir.TupleGetItemExpr(base, index, reader.span(node))
        case ir.ArrayType():
            index_ = _array_index(reader, node, base.type)
            return _op(reader, node, "array.get_element", [base, index_])
        case ir.TensorType():
            return _read(reader, node, base, base.type, "tensor")
        case ir.TileType():
            return _read(reader, node, base, base.type, "tile")
    raise unsupported(reader, node, f"a subscript of a {type(base.type).__name__}")


def _tuple_index(reader: Reader, node: ast.Subscript, first: int, count: int) -> int:
    """The index of an element of a tuple of ``count``, which is ``first`` at least."""
    index = integer(reader, node.slice, "the index of a tuple")
    if not first <= index < count:
        raise reader.error(ParserTypeError, node, f"index {index} is outside a tuple of {count}")
    return index


def _array_index(reader: Reader, node: ast.Subscript, type_: ir.ArrayType) -> ir.Expr:
    if isinstance(node.slice, (ast.Slice, ast.Tuple)):
        raise reader.error(ParserTypeError, node.slice, "an array has one index")
    index = expression(reader, node.slice)
    if not reader.module.printed:
        _check_index(reader, node.slice, index)
        extent = constant_extent(type_.shape[0])
        if isinstance(index, ir.ConstInt) and extent is not None and index.value >= extent:
            message = f"index {index.value} is outside {type_text(type_)}"
            raise reader.error(ParserTypeError, node.slice, message)
    return index


def _read(
    reader: Reader, node: ast.Subscript, base: ir.Expr, type_: ir.ShapedType, namespace: str
) -> ir.Expr:
    axes = _axes(reader, node, type_)
    if all(axis.extent is None for axis in axes):
        return _op(reader, node, f"{namespace}.read", [base, _tuple(reader, node, [a.offset for a in axes])])
    return _op(reader, node, f"{namespace}.slice", [base, *_window(reader, node, axes)])


def _window(reader: Reader, node: ast.Subscript, axes: Sequence[Axis]) -> list[ir.Expr]:
    """Shape, offset and, where there are any, valid shape and dropped axes."""
    one = ir.ConstInt(1, ir.DataType.INDEX, reader.span(node))
    shape = [axis.extent if axis.extent is not None else one for axis in axes]
    found: list[ir.Expr] = [_tuple(reader, node, shape), _tuple(reader, node, [a.offset for a in axes])]
    dropped = [index for index, axis in enumerate(axes) if axis.extent is None]
    has_valid = any(axis.valid is not None for axis in axes)
    if has_valid or dropped:
        valid = [axis.valid or extent for axis, extent in zip(axes, shape, strict=True)] if has_valid else []
        found.append(_tuple(reader, node, valid))
    if dropped:
        found.append(_tuple(reader, node, [as_constant(reader, node, index) for index in dropped]))
    return found


def _axes(reader: Reader, node: ast.Subscript, type_: ir.ShapedType) -> list[Axis]:
    """One entry for every axis; those that the subscript leaves out are taken whole."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    rank = len(type_.shape)
    if len(indices) > rank:
        message = f"{len(indices)} indices for {type_text(type_)}, which has {rank} axes"
        raise reader.error(ParserTypeError, indices[rank], message)
    whole: list[ast.expr] = [ast.Slice()] * (rank - len(indices))
    found = []
    is_tile = isinstance(type_, ir.TileType)
    for index, extent in zip([*indices, *whole], type_.shape, strict=True):
        if not isinstance(index, ast.Slice):
            offset = expression(reader, index)
            _check_index(reader, index, offset)
            found.append(Axis(index, offset, None))
        else:
            found.append(_slice(reader, node, index, extent, is_tile))
    if is_tile and sum(axis.extent is not None for axis in found) == 1:
        reader.warn(node, f"{shown(node)} has fewer than two axes; as a tile it keeps two")
    return found


def _check_index(reader: Reader, node: ast.expr, value: ir.Expr) -> None:
    if not (isinstance(value.type, ir.ScalarType) and value.type.dtype.is_int()):
        message = f"an index is an integer scalar, not {type_text(value.type)}"
        raise reader.error(ParserTypeError, node, message)
    if isinstance(value, ir.ConstInt) and value.value < 0:
        message = f"the index {value.value} is negative"
        raise reader.error(ParserTypeError, node, message, "indices count from the first element")


def _slice(reader: Reader, whole: ast.Subscript, node: ast.Slice, extent: ir.Expr, is_tile: bool) -> Axis:
    if node.step is not None:
        raise unsupported(reader, node.step, "the step of a slice")
    span = reader.span(whole)
    at: ast.expr = node.lower or node.upper or whole
    lower: ir.Expr = ir.ConstInt(0, ir.DataType.INDEX, span)
    if node.lower is not None:
        lower = expression(reader, node.lower)
        _check_index(reader, node.lower, lower)
    upper = extent
    if node.upper is not None:
        upper = expression(reader, node.upper)
        _check_index(reader, node.upper, upper)
    size = simplify(ir.sub(upper, lower, span))
    constant = constant_extent(size)
    if constant is not None and constant <= 0:
        if not reader.unreached:
            what = "ends before it begins" if constant < 0 else "is empty"
            raise reader.error(ParserTypeError, at, f"the slice {shown(node)} {what}")
        constant, size = 0, ir.ConstInt(0, ir.DataType.INDEX, span)
    if not is_tile:
        return Axis(at, lower, size)
    first, box = constant_extent(lower), constant_extent(extent)
    if first is None or box is None:
        what = "a slice of a tile that begins at a run-time value"
        raise unsupported(reader, at, what, "use pl.tile.slice")
    if constant is not None:
        return Axis(at, lower, size)
    limit = ir.ConstInt(box - first, ir.DataType.INDEX, span)
    zero = ir.ConstInt(0, ir.DataType.INDEX, span)
    return Axis(at, lower, limit, ir.max_(ir.min_(size, limit, span), zero, span))


def written(reader: Reader, node: ast.Subscript, source_node: ast.expr) -> tuple[ast.Name, ir.Expr]:
    """``dst[idx] = src``: the name that is bound anew, and its value."""
    target = node.value
    if not isinstance(target, ast.Name):
        raise reader.error(ParserTypeError, target, f"{shown(target)} is no name to assign parts of")
    if reader.names.strict:
        raise unsupported(reader, node, "a subscript assignment under strict_ssa")
    base = expression(reader, target)
    source = expression(reader, source_node)
    if isinstance(base.type, ir.ArrayType):
        return target, _array_update(reader, node, base, base.type, source)
    if not isinstance(base.type, (ir.TensorType, ir.TileType)):
        message = f"{shown(target)} is {type_text(base.type)}, which has no parts"
        raise reader.error(ParserTypeError, target, message)
    axes = _axes(reader, node, base.type)
    if all(axis.extent is None for axis in axes):
        hint = f"write pl.write({shown(target)[1:-1]}, [...], value)"
        raise unsupported(reader, node, "an assignment to a single element", hint)
    namespace = "tile" if isinstance(base.type, ir.TileType) else "tensor"
    source = _fitted(reader, source_node, source, axes, namespace)
    offsets = _tuple(reader, node, [axis.offset for axis in axes])
    return target, _op(reader, node, f"{namespace}.assemble", [base, source, offsets])


def _array_update(
    reader: Reader, node: ast.Subscript, base: ir.Expr, type_: ir.ArrayType, value: ir.Expr
) -> ir.Expr:
    if isinstance(value, ir.ConstInt) and value.dtype != type_.dtype:
        value = ir.ConstInt(value.value, type_.dtype, value.span)
    return _op(reader, node, "array.update_element", [base, _array_index(reader, node, type_), value])


def _fitted(reader: Reader, node: ast.expr, source: ir.Expr, axes: Sequence[Axis], namespace: str) -> ir.Expr:
    """The source with the axes that the subscript gives one index as extents of one."""
    type_ = source.type
    if not isinstance(type_, ir.ShapedType):
        message = f"the value of a subscript assignment is a tensor or a tile, not {type_text(type_)}"
        raise reader.error(ParserTypeError, node, message)
    kept = [axis.extent for axis in axes if axis.extent is not None]
    if len(type_.shape) == len(axes) and len(kept) < len(axes) and isinstance(type_, ir.TileType):
        return source  # tiles keep two axes
    valid = _valid_shape(type_)
    if len(type_.shape) != len(kept):
        message = f"the value has {len(type_.shape)} axes, and the subscript keeps {len(kept)}"
        raise reader.error(ParserTypeError, node, message)
    for place, (have, want) in enumerate(zip(type_.shape, kept, strict=True)):
        region = valid[place] if valid else have
        if not (_may_equal(have, want) or _may_equal(region, want)):
            message = f"the value has {_text(have)} elements in axis {place}, and the subscript {_text(want)}"
            raise reader.error(ParserTypeError, node, message)
    if len(kept) == len(axes):
        return source
    operands = [source, _spread(reader, node, type_.shape, axes)]
    if valid:
        operands.append(_spread(reader, node, valid, axes))
    return _op(reader, node, f"{namespace}.reshape", operands)


def _spread(reader: Reader, node: ast.expr, extents: Sequence[ir.Expr], axes: Sequence[Axis]) -> ir.MakeTuple:
    """Extents at the axes that are kept, ones at the others."""
    rest = iter(extents)
    one = ir.ConstInt(1, ir.DataType.INDEX, reader.span(node))
    return _tuple(reader, node, [one if axis.extent is None else next(rest) for axis in axes])


def _valid_shape(type_: ir.ShapedType) -> Sequence[ir.Expr]:
    view = getattr(type_, "tile_view", None) or getattr(type_, "tensor_view", None)
    return view.valid_shape if view is not None else ()


def _may_equal(a: ir.Expr, b: ir.Expr) -> bool:
    return constant_difference(a, b) in (None, 0)


def _text(extent: ir.Expr) -> str:
    return str(ir.python_print(extent, format=False)).strip()


def _tuple(reader: Reader, node: ast.expr, elements: Sequence[ir.Expr]) -> ir.MakeTuple:
    return ir.MakeTuple(elements, reader.span(node))


def _op(reader: Reader, node: ast.expr, name: str, operands: list[ir.Expr]) -> ir.Expr:
    context = CallContext(reader.span(node), is_judged=not reader.unreached)
    try:
        return build_call(("pl", *name.split(".")), operands, {}, context)
    except OpCallError as error:
        raise reader.error(InvalidOperationError, node, str(error), error.hint) from None
