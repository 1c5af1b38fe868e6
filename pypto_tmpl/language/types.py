"""Annotations: types, shapes, views and memory references (spec, 4)."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.language.annotations import TENSOR_VIEW_FIELDS, TILE_VIEW_FIELDS, View
from pypto_tmpl.language.constants import (
    data_type,
    enum_member,
    named_member,
    shown,
)
from pypto_tmpl.language.diagnostics import ParserError, ParserTypeError
from pypto_tmpl.language.expressions import Operand, as_constant, closure_operand, in_type, int_constant
from pypto_tmpl.language.folding import integer, sequence
from pypto_tmpl.language.former_names import REPLACEMENTS
from pypto_tmpl.language.memrefs import memory_reference
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.ops.vocabulary import HANDLES

_MARKERS: dict[str, Callable[[], ir.Type]] = {
    "Ptr": ir.PtrType,
    "PtrType": ir.PtrType,
    "MemRefType": ir.MemRefType,
    "UnknownType": ir.UnknownType,
    "WindowBufferType": ir.WindowBufferType,
    **HANDLES,
    **{f"{name}Type": type_ for name, type_ in HANDLES.items()},
}
_FORMS = {
    "Tensor": "[[extents], dtype]",
    "Tile": "[[extents], dtype]",
    "DistributedTensor": "[[extents], dtype]",
    "Scalar": "[dtype]",
    "Array": "[extent, dtype]",
}
DIRECTIONS = {"Out": ir.ParamDirection.Out, "InOut": ir.ParamDirection.InOut}


def annotation(reader: Reader, node: ast.expr) -> ir.Type:
    """The type that an annotation spells."""
    match node:
        case ast.Subscript(value=owner, slice=inner):
            kind = _name_of(owner)
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        case ast.Call(func=owner, args=parts, keywords=[]):  # the legacy spelling pl.Tensor((64,), pl.FP32)
            kind = _name_of(owner)
        case ast.Name() | ast.Attribute():
            kind, parts = _name_of(node), []
            if kind in _MARKERS:
                return _MARKERS[kind]()
            if kind == "TaskId":
                return ir.ScalarType(ir.DataType.TASK_ID)
        case _:
            kind, parts = "", []
    read = _KINDS.get(kind)
    if read is None or (not parts and kind != "Tuple"):
        hint = REPLACEMENTS.get(kind) or allowed_note("types", [*_KINDS, *_MARKERS], kind)
        hint = f"write what it holds: pl.{kind}{_FORMS[kind]}" if kind in _FORMS else hint
        raise reader.error(ParserTypeError, node, f"{shown(node)} is no type", hint)
    try:
        return read(reader, node, parts)
    except ParserError:
        raise
    except ValueError as error:
        raise reader.error(ParserTypeError, node, str(error)) from None


def return_annotation(reader: Reader, node: ast.expr | None) -> tuple[ir.Type, ...]:
    """The return types of a function: one type, or those of ``tuple[...]``."""
    if node is None:
        return ()
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "tuple":
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return tuple(annotation(reader, part) for part in parts)
    return (annotation(reader, node),)


def parameter(reader: Reader, node: ast.arg) -> tuple[ir.Type, ir.ParamDirection]:
    """Type and direction of a parameter."""
    if node.annotation is None:
        raise reader.error(ParserTypeError, node, f"parameter {node.arg!r} has no annotation")
    inner, direction = node.annotation, ir.ParamDirection.In
    if isinstance(inner, ast.Subscript) and (kind := _name_of(inner.value)) in (*DIRECTIONS, "tuple"):
        if kind == "tuple":
            raise reader.error(ParserTypeError, node, f"parameter {node.arg!r}: tuples are return types only")
        inner, direction = inner.slice, DIRECTIONS[kind]
    dtype = named_member(reader, inner)  # pl.FP32 stands for pl.Scalar[pl.FP32]
    found = ir.ScalarType(dtype) if isinstance(dtype, ir.DataType) else annotation(reader, inner)
    if isinstance(found, ir.ScalarType) and direction is ir.ParamDirection.InOut:
        raise reader.error(ParserTypeError, node, f"parameter {node.arg!r}: a scalar cannot be InOut")
    return found, direction


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _scalar(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    _expect(reader, node, len(parts) == 1, "pl.Scalar[dtype]")
    return ir.ScalarType(data_type(reader, parts[0]))


def _array(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    _expect(reader, node, len(parts) == 2, "pl.Array[extent, dtype]")
    return ir.ArrayType(data_type(reader, parts[1]), integer(reader, parts[0], "the extent of an array"))


def _tuple(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    found = [annotation(reader, part) for part in parts]
    for part, type_ in zip(parts, found, strict=True):
        if isinstance(type_, ir.TupleType) and not reader.module.printed:
            raise reader.error(ParserTypeError, part, "a tuple holds no tuples", "list all parts in one")
    return ir.TupleType(found)


def _tensor(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    return ir.TensorType(*_tensor_parts(reader, node, parts))


def _distributed(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    if parts and isinstance(parts[-1], ast.Constant) and isinstance(parts[-1].value, str):
        parts = parts[:-1]  # the printer's marker for the window; text cannot name the buffer itself
    return ir.DistributedTensorType(*_tensor_parts(reader, node, parts))


def _tensor_parts(
    reader: Reader, node: ast.expr, parts: list[ast.expr]
) -> tuple[list[ir.Expr], ir.DataType, ir.MemRef | None, ir.TensorView | None]:
    _expect(reader, node, 2 <= len(parts) <= 4, "pl.Tensor[[extents], dtype, layout or view, memref]")
    shape, dtype = extents(reader, parts[0]), data_type(reader, parts[1])
    view: ir.TensorView | None = None
    memref: ir.MemRef | None = None
    for part in parts[2:]:
        if memref is not None:
            raise reader.error(ParserTypeError, part, "the MemRef of a tensor is its last argument")
        if view is None and (found := _tensor_view(reader, part)) is not None:
            view = found
        else:
            memref = memory_reference(reader, part)
    return shape, dtype, memref, view


def _tensor_view(reader: Reader, node: ast.expr) -> ir.TensorView | None:
    """A TensorView or the layout that stands for one; None for anything else."""
    if (call := _view_call(reader, node, "TensorView")) is not None:
        fields = _view_fields(reader, call, TENSOR_VIEW_FIELDS)
        layout = fields.get("layout")
        return ir.TensorView(
            _extents_of(reader, fields, "stride"),
            enum_member(reader, layout, ir.TensorLayout, "layout") if layout else None,
            _extents_of(reader, fields, "valid_shape"),
            _pad(reader, fields),
        )
    layout_name = named_member(reader, node)
    if not isinstance(layout_name, ir.TensorLayout):
        return None
    if layout_name is ir.TensorLayout.DN:
        hint = "write pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)"
        raise reader.error(ParserTypeError, node, "the layout DN needs its strides", hint)
    return ir.TensorView((), layout_name)


def _tile(reader: Reader, node: ast.expr, parts: list[ast.expr]) -> ir.Type:
    _expect(reader, node, 2 <= len(parts) <= 5, "pl.Tile[[extents], dtype, memref, space, view]")
    shape, dtype = extents(reader, parts[0]), data_type(reader, parts[1])
    memref: ir.MemRef | None = None
    space: ir.MemorySpace | None = None
    view_node: ast.Call | None = None
    for part in parts[2:]:
        found = named_member(reader, part)
        if view_node is None and (call := _view_call(reader, part, "TileView")) is not None:
            view_node = call
        elif isinstance(found, ir.MemorySpace) and space is None:
            space = found
        elif isinstance(found, (ir.TensorLayout, ir.TileLayout)):
            raise reader.error(ParserTypeError, part, "a tile has no layout name", "write a pl.TileView(...)")
        elif found is None and space is None and _names_memory(part):
            space = enum_member(reader, part, ir.MemorySpace, "the memory of a tile")
        elif memref is None and found is None:
            memref = memory_reference(reader, part)
        else:
            raise reader.error(ParserTypeError, part, f"{shown(part)} is given twice or out of place")
    view = tile_view(reader, view_node, shape, space) if view_node is not None else None
    return ir.TileType(shape, dtype, memref, view, space)


def _names_memory(node: ast.expr) -> bool:
    """Whether a memory is named, which need not be known: ``pl.Mem.Vex``."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute | ast.Name):
        return False
    owner = node.value
    return (owner.attr if isinstance(owner, ast.Attribute) else owner.id) in ("Mem", "MemorySpace")


def tile_view(
    reader: Reader, node: ast.Call, shape: list[ir.Expr], space: ir.MemorySpace | None
) -> ir.TileView:
    """A TileView; what it omits is as in the implicit view of its shape and memory space."""
    fields = _view_fields(reader, node, TILE_VIEW_FIELDS)
    implicit = implicit_tile_view(shape, space)
    start, fractal, compact = fields.get("start_offset"), fields.get("fractal"), fields.get("compact")

    def layout(name: str, default: ir.TileLayout) -> ir.TileLayout:
        given = fields.get(name)
        found: ir.TileLayout = enum_member(reader, given, ir.TileLayout, name) if given else default
        return found

    return ir.TileView(
        _extents_of(reader, fields, "valid_shape") if "valid_shape" in fields else shape,
        _extents_of(reader, fields, "stride"),
        None if start is None or _is_none(start) else extent(reader, start),
        layout("blayout", implicit.blayout),
        layout("slayout", implicit.slayout),
        integer(reader, fractal, "fractal") if fractal else implicit.fractal,
        _pad(reader, fields),
        enum_member(reader, compact, ir.CompactMode, "compact") if compact else ir.CompactMode.null,
    )


def _view_call(reader: Reader, node: ast.expr, name: str) -> ast.Call | None:
    """The call that spells a view of that name, also where a variable holds the view; None for neither."""
    if isinstance(node, ast.Call) and _name_of(node.func) == name:
        return node
    closure = reader.module.closure
    view = closure.get(node.id) if isinstance(node, ast.Name) and not reader.names.find(node.id) else None
    if not (isinstance(node, ast.Name) and isinstance(view, View) and view.name == name):
        return None
    keywords = []
    for key, value in view.fields.items():
        part = f"{node.id}.{key}"  # a name that no text can have otherwise
        closure[part] = value
        keywords.append(ast.keyword(key, ast.copy_location(ast.Name(part, ast.Load()), node)))
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], keywords), node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _view_fields(reader: Reader, node: ast.Call, allowed: tuple[str, ...]) -> dict[str, ast.expr]:
    if node.args:
        raise reader.error(ParserTypeError, node.args[0], f"{_name_of(node.func)} takes keywords only")
    for keyword in node.keywords:
        if keyword.arg not in allowed:
            hint = allowed_note("keywords", allowed, keyword.arg or "")
            raise reader.error(ParserTypeError, keyword.value, f"unknown view field {keyword.arg!r}", hint)
    return {keyword.arg or "": keyword.value for keyword in node.keywords}


def _extents_of(reader: Reader, fields: dict[str, ast.expr], name: str) -> list[ir.Expr]:
    return extents(reader, fields[name]) if name in fields else []


def _pad(reader: Reader, fields: dict[str, ast.expr]) -> ir.PadValue:
    found: ir.PadValue = ir.PadValue.null
    if "pad" in fields:
        found = enum_member(reader, fields["pad"], ir.PadValue, "pad")
    return found


def extents(reader: Reader, node: ast.expr) -> list[ir.Expr]:
    """A shape: a list of extents, or a module constant that holds one."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [extent(reader, element) for element in node.elts]
    values = sequence(reader, node)
    if values is None:
        raise reader.error(ParserTypeError, node, f"a shape is a list of extents, not {shown(node)}")
    return [_extent(reader, node, closure_operand(reader, node, value)) for value in values]


_SMALL = [ir.ConstInt(value, ir.DataType.INDEX, ir.Span.unknown()) for value in range(1025)]


def extent(reader: Reader, node: ast.expr) -> ir.Expr:
    """One extent of a shape or a view: an integer, a dimension or an expression, not folded."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value: int = node.value
        if 0 <= value <= 1024:
            return _SMALL[value]  # constants are immutable: types share them
        return int_constant(reader, node, value, ir.DataType.INDEX)
    return _extent(reader, node, in_type(reader, node, is_extent=True))


def _extent(reader: Reader, node: ast.expr, value: Operand) -> ir.Expr:
    found = value if isinstance(value, ir.Expr) else as_constant(reader, node, value)
    if isinstance(found, ir.ConstInt) and found.value < 0 and not reader.module.printed:
        raise reader.error(ParserTypeError, node, f"an extent is not negative, as {shown(node)} is")
    if isinstance(found.type, ir.ScalarType) and found.type.dtype.is_int():
        return found
    raise reader.error(ParserTypeError, node, f"an extent is an integer, not {shown(node)}")


def _expect(reader: Reader, node: ast.expr, holds: bool, form: str) -> None:
    if not holds:
        raise reader.error(ParserTypeError, node, f"{shown(node)} is not of the form {form}")


_KINDS: dict[str, Callable[[Reader, ast.expr, list[ast.expr]], ir.Type]] = {
    "Tensor": _tensor,
    "Tile": _tile,
    "Scalar": _scalar,
    "Array": _array,
    "Tuple": _tuple,
    "DistributedTensor": _distributed,
}
