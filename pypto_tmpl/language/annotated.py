"""Annotated assignments: what an annotation says beyond the type that its value has (spec, 5.3)."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.constants import shown
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.language.type_agreement import may_agree
from pypto_tmpl.ops import facts


def annotated_type(reader: Reader, node: ast.expr, spelled: ir.Type, value: ir.Expr) -> ir.Type:
    """The type of a variable with that annotation and value; an error where they contradict each other."""
    found = value.type
    if isinstance(found, ir.UnknownType) or isinstance(spelled, ir.UnknownType):
        return spelled if isinstance(found, ir.UnknownType) else found
    if isinstance(spelled, ir.TileType) and _is_flattened(spelled, value):
        return spelled
    check_annotation(reader, node, spelled, found)
    match spelled, found:
        case ir.TileType(), ir.TileType():
            space = spelled.memory_space or found.memory_space
            view = spelled.tile_view or (found.tile_view if space == found.memory_space else None)
            memref = spelled.memref or found.memref
            return ir.TileType(spelled.shape, spelled.dtype, memref, view, space)
        case ir.TensorType(), ir.TensorType():
            return spelled if spelled.memref is not None or spelled.tensor_view is not None else found
        case ir.ScalarType(), ir.ScalarType() if found.dtype == ir.DataType.INDEX:
            return spelled
    return found


def retyped(value: ir.Expr, type_: ir.Type) -> ir.Expr:
    """The value with that type: a call is built again, an integer constant takes the dtype."""
    if value.type is type_:
        return value
    match value:
        case ir.Call():
            return ir.Call(value.op, value.args, value.kwargs, value.attrs, type_, value.span)
        case ir.ConstInt() if isinstance(type_, ir.ScalarType) and type_.dtype.is_int():
            return ir.ConstInt(value.value, type_.dtype, value.span)
    return value


def _is_flattened(spelled: ir.TileType, value: ir.Expr) -> bool:
    """Whether a loaded or created tile of several axes is annotated with two: all but the last in one."""
    if not facts.of_value(value).has("flattens") or not isinstance(value.type, ir.TileType):
        return False
    have, want = _constants(value.type.shape), _constants(spelled.shape)
    if have is None or want is None or len(want) != 2 or len(have) <= 2:
        return False
    rows = 1
    for extent in have[:-1]:
        rows *= extent
    return want == [rows, have[-1]] and spelled.dtype == value.type.dtype


def _constants(shape: Sequence[ir.Expr]) -> list[int] | None:
    found = [constant_extent(extent) for extent in shape]
    known = [extent for extent in found if extent is not None]
    return known if len(known) == len(found) else None


def check_annotation(reader: Reader, node: ast.expr, spelled: ir.Type, found: ir.Type) -> None:
    """Raise where an annotation contradicts the type that an expression has."""
    fits = may_agree(spelled, found)
    if fits and not reader.module.printed and isinstance(spelled, ir.ScalarType):
        dtypes = {spelled.dtype, found.dtype} if isinstance(found, ir.ScalarType) else set()
        fits = len(dtypes) < 2 or ir.DataType.INDEX in dtypes
    if not fits:
        message = f"the annotation {shown(node)} contradicts the value's type {type_text(found)}"
        raise reader.error(ParserTypeError, node, message)
