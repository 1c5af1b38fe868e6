"""The result type of a call by the rules of the op table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.model import OpEntry, ResultSpec
from pypto_tmpl.ops.typing.dtypes import DTYPES
from pypto_tmpl.ops.typing.operands import Extents, InferenceError, MissingRuleError, Operands
from pypto_tmpl.ops.typing.regions import VALID_REGIONS
from pypto_tmpl.ops.typing.requirements import check_requirements
from pypto_tmpl.ops.typing.shapes import SHAPES
from pypto_tmpl.ops.typing.views import tensor_view, tile_view
from pypto_tmpl.ops.typing.words import Term, resolve_result, terms_of
from pypto_tmpl.ops.vocabulary import HANDLES


def infer_type(entry: OpEntry, args: Sequence[ir.Expr], kwargs: ir.AttrMap) -> ir.Type:
    """The result type of a call by the op's rules; InferenceError where its operands do not give one."""
    given = Operands(entry, args, kwargs)
    for arg in args:
        if isinstance(arg.type, ir.UnknownType):
            raise InferenceError(f"the operand {given.name_of(arg)!r} has no value")
    return result_type(resolve_result(entry), given)


def built_type(
    entry: OpEntry,
    args: Sequence[ir.Expr],
    kwargs: ir.AttrMap,
    stated: Mapping[str, Any],
    is_judged: bool = True,
) -> ir.Type:
    """The result type of a call that is being built, with what the call itself states of it.

    ``stated`` may hold ``shape`` and ``dtype``, which make the type where the op's rule leaves it to the
    call, and ``out_dtype``, which must be the dtype that the rule gives. Where nothing reaches the call,
    ``is_judged`` is false, and what only a rule would refuse is taken.
    """
    spec = resolve_result(entry)
    if spec.shape == "declared":
        return _stated_type(spec, stated)
    given = Operands(entry, args, kwargs, is_built=is_judged)
    type_ = result_type(spec, given)
    if is_judged:
        check_requirements(given)
    wanted = stated.get("out_dtype")
    if wanted is not None and isinstance(type_, ir.ShapedType) and wanted != type_.dtype:
        raise InferenceError(f"its result is {type_.dtype.name}, and out_dtype asks for {wanted.name}")
    return type_


def _stated_type(spec: ResultSpec, stated: Mapping[str, Any]) -> ir.Type:
    """The type, or the tile, that the call says it yields; unknown where it says nothing."""
    shape, dtype, type_ = (stated.get(name) for name in ("shape", "dtype", "result_type"))
    if isinstance(type_, ir.Type):
        return type_
    if shape is None and dtype is None:
        return ir.UnknownType()
    if not isinstance(dtype, ir.DataType) or shape is None:
        raise InferenceError("its shape and dtype are given together")
    extents = shape.elements if isinstance(shape, ir.MakeTuple) else shape
    return ir.TileType(extents, dtype, None, None, ir.MemorySpace[spec.memory or "Vec"])


def result_type(spec: ResultSpec, given: Operands) -> ir.Type:
    """The type that a specification gives; InferenceError where the operands do not fit it."""
    kind = spec.kind or given.entry.namespace.rpartition(".")[2]
    match kind:
        case "none":
            return ir.UnknownType()
        case "scalar":
            return ir.ScalarType(_dtype(spec, given))
        case "ptr":
            return ir.PtrType()
        case "handle":
            return HANDLES[spec.handle or ""]()
        case "tuple":
            return ir.TupleType([result_type(item, given) for item in spec.items])
        case "same":
            return given.first.type
        case "tensor" | "distributed_tensor":
            return _tensor(spec, given, kind == "distributed_tensor")
        case "tile":
            return _tile(spec, given)
        case "array":
            return _array(spec, given)
    raise MissingRuleError(f"its result is a {kind}, for which no rule exists")


def _tensor(spec: ResultSpec, given: Operands, distributed: bool) -> ir.Type:
    returned = _returned(spec, given)
    shape, valid = _shape(spec, given), _valid(spec, given)
    if isinstance(returned, ir.TensorType):
        before = returned.tensor_view
        if _has_region(before, valid):
            return returned
        view = ir.TensorView((), ir.TensorLayout.ND, valid or ())
        if before is not None:
            view = ir.TensorView(before.stride, before.layout, valid or (), before.pad)
        if isinstance(returned, ir.DistributedTensorType):
            window = returned.window_buffer
            return ir.DistributedTensorType(returned.shape, returned.dtype, returned.memref, view, window)
        return ir.TensorType(returned.shape, returned.dtype, returned.memref, view)
    build = ir.DistributedTensorType if distributed else ir.TensorType
    return build(shape, _dtype(spec, given), None, tensor_view(spec, given, shape, valid))


def _tile(spec: ResultSpec, given: Operands) -> ir.Type:
    returned = _returned(spec, given)
    shape, valid, space = _shape(spec, given), _valid(spec, given), _memory(spec, given)
    if isinstance(returned, ir.TileType) and returned.memory_space is space:
        pads = spec.pad is not None  # then the view records the pad, also where all was valid before
        if _has_region(returned.tile_view, valid) and not pads:
            return returned
    return ir.TileType(shape, _dtype(spec, given), None, tile_view(spec, given, shape, valid, space), space)


def _has_region(view: ir.TensorView | ir.TileView | None, valid: Extents | None) -> bool:
    """Whether that is the region of the view; None is the whole box, whatever the view says."""
    before = view.valid_shape if view is not None else ()
    return not before if valid is None else before is valid


def _returned(spec: ResultSpec, given: Operands) -> ir.Type | None:
    """The type of the operand that the op yields again, where dtype and shape stay its own."""
    name = given.entry.returns
    if name is None or not spec.dtype == spec.shape == name:
        return None
    operand = given.operand(name)
    return None if operand is None else operand.type


def _array(spec: ResultSpec, given: Operands) -> ir.Type:
    if spec.shape in given.entry.operand_names:
        return given.needed(spec.shape or "").type
    extent = given.first
    if not isinstance(extent, ir.ConstInt):
        raise InferenceError("the extent of an array is a constant")
    return ir.ArrayType(_dtype(spec, given), extent)


def _terms(rule: str | None, part: str) -> tuple[Term, ...]:
    if rule is None:
        raise MissingRuleError(f"the op table gives no {part}")
    return terms_of(rule)


def _dtype(spec: ResultSpec, given: Operands) -> ir.DataType:
    for name, words in _terms(spec.dtype, "dtype"):
        value = given.operand(name)
        if value is not None:
            return given.dtype_of(value)
        keyword = given.keyword(name)
        if isinstance(keyword, ir.DataType):
            return keyword
        if name in DTYPES:
            return DTYPES[name](given, words)
        if isinstance(getattr(ir.DataType, name, None), ir.DataType):
            literal: ir.DataType = getattr(ir.DataType, name)
            return literal
    raise MissingRuleError(f"its dtype is {spec.dtype!r}, which the call does not give")


def _shape(spec: ResultSpec, given: Operands) -> Extents:
    terms = _terms(spec.shape, "shape")
    for name, words in terms:
        if name == "argument" and len(terms) > 1 and given.operand("shape") is None:
            continue
        value = given.operand(name)
        if value is not None:
            return given.shape_of(value)
        if name in SHAPES:
            return SHAPES[name](given, words)
    raise MissingRuleError(f"its shape is {spec.shape!r}, for which no rule exists")


def _valid(spec: ResultSpec, given: Operands) -> Extents | None:
    """The valid region, None for the whole box."""
    terms = _terms(spec.valid, "valid region")
    for index, (name, words) in enumerate(terms):
        value = given.operand(name)
        if value is not None:
            return given.valid_of(value)
        is_last = index == len(terms) - 1
        if name == "argument" and not is_last and given.operand("valid_shape") is None:
            continue
        if name in VALID_REGIONS:
            return VALID_REGIONS[name](given, words)
    raise MissingRuleError(f"its valid region is {spec.valid!r}, for which no rule exists")


def _memory(spec: ResultSpec, given: Operands) -> ir.MemorySpace | None:
    for name, _ in _terms(spec.memory, "memory space"):
        value = given.operand(name)
        if value is not None and isinstance(value.type, ir.TileType):
            return value.type.memory_space
        keyword = given.keyword(name)
        if isinstance(keyword, ir.MemorySpace):
            return keyword
        if name == "first_tile":
            tiles = (arg.type for arg in given.args if isinstance(arg.type, ir.TileType))
            return next((tile.memory_space for tile in tiles), None)
        if name == "unresolved":
            return None
        if name in ir.MemorySpace.__members__:
            return ir.MemorySpace[name]
    raise MissingRuleError(f"its memory space is {spec.memory!r}, for which no rule exists")
