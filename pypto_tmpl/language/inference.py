"""Result types of calls for which the text prints none: nested calls, and calls that are statements.

The op table says for each op how dtype, shape, valid region and memory space follow from the operands;
``result_rules.py`` gives its words their meaning.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.types import implicit_tile_view
from pypto_tmpl.language.diagnostics import InvalidOperationError
from pypto_tmpl.language.result_rules import DTYPES, SHAPES, VALID_REGIONS, Extents, InferenceError, Operands
from pypto_tmpl.language.scopes import Reader, Signature
from pypto_tmpl.ops import OpEntry, ResultSpec, load_table, resolve_result

_TASK_OPS = frozenset({"system.task_invalid", "system.task_dummy"})
_TERM = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>[^()]*)\))?")


def op_type(
    reader: Reader, node: ast.AST, name: str, args: list[ir.Expr], kwargs: ir.AttrMap, required: bool
) -> ir.Type:
    """Result type of an op call; without a rule an error, or no type where none is ``required``."""
    if name in _TASK_OPS:
        return ir.ScalarType(ir.DataType.TASK_ID)
    entry = load_table().get(name)
    if entry is None and not required:
        return ir.UnknownType()
    try:
        if entry is None:
            raise InferenceError("no rule gives its result type, and the text prints none here")
        return infer_type(entry, args, kwargs)
    except (InferenceError, TypeError, ValueError) as error:
        if not required:
            return ir.UnknownType()
        hint = "the annotation of a name that the call is bound to would give its type"
        raise reader.error(InvalidOperationError, node, f"operation {name!r}: {error}", hint) from None


def infer_type(entry: OpEntry, args: Sequence[ir.Expr], kwargs: ir.AttrMap) -> ir.Type:
    """The result type of a call by the op's rules; InferenceError where its operands do not give one."""
    return _result(resolve_result(entry), Operands(entry, args, kwargs))


def built_type(
    entry: OpEntry, args: Sequence[ir.Expr], kwargs: ir.AttrMap, stated: Mapping[str, Any]
) -> ir.Type:
    """The result type of a call that is being built, with what the call itself states of it.

    ``stated`` may hold ``shape`` and ``dtype``, which make the type where the op's rule leaves it to the
    call, and ``out_dtype``, which must be the dtype that the rule gives.
    """
    if entry.result == "declared":
        return _stated_type(entry, stated)
    type_ = infer_type(entry, args, kwargs)
    wanted = stated.get("out_dtype")
    if wanted is not None and isinstance(type_, ir.ShapedType) and wanted != type_.dtype:
        raise InferenceError(f"its result is {type_.dtype.name}, and out_dtype asks for {wanted.name}")
    return type_


_POPPED = {"tile.tpop_from_aic": ir.MemorySpace.Vec, "tile.tpop_from_aiv": ir.MemorySpace.Mat}


def _stated_type(entry: OpEntry, stated: Mapping[str, Any]) -> ir.Type:
    """The tile that a pop is said to yield, unknown where nothing is said."""
    shape, dtype = stated.get("shape"), stated.get("dtype")
    if shape is None and dtype is None:
        return ir.UnknownType()
    if not isinstance(dtype, ir.DataType) or shape is None:
        raise InferenceError("shape and dtype of what is popped are given together")
    extents = shape.elements if isinstance(shape, ir.MakeTuple) else shape
    return ir.TileType(extents, dtype, None, None, _POPPED[entry.name])


def _result(spec: ResultSpec, given: Operands) -> ir.Type:
    kind = spec.kind or given.entry.namespace.rpartition(".")[2]
    match kind:
        case "none":
            return ir.UnknownType()
        case "scalar":
            return ir.ScalarType(_dtype(spec, given))
        case "ptr":
            return ir.PtrType()
        case "tuple":
            return ir.TupleType([_result(item, given) for item in spec.items])
        case "same":
            return given.args[0].type
        case "tensor" | "distributed_tensor":
            return _tensor(spec, given, kind == "distributed_tensor")
        case "tile":
            return _tile(spec, given)
        case "array" if isinstance(given.args[0], ir.ConstInt):
            return ir.ArrayType(_dtype(spec, given), given.args[0])
    raise InferenceError(f"its result is a {kind}, for which no rule exists")


def _tensor(spec: ResultSpec, given: Operands, distributed: bool) -> ir.Type:
    shape, valid = _shape(spec, given), _valid(spec, given)
    view = ir.TensorView((), ir.TensorLayout.ND, valid) if valid is not None else None
    build = ir.DistributedTensorType if distributed else ir.TensorType
    return build(shape, _dtype(spec, given), None, view)


def _tile(spec: ResultSpec, given: Operands) -> ir.Type:
    shape, valid, space = _shape(spec, given), _valid(spec, given), _memory(spec, given)
    view = None
    if valid is not None:
        implicit = implicit_tile_view(shape, space)
        view = ir.TileView(
            valid, blayout=implicit.blayout, slayout=implicit.slayout, fractal=implicit.fractal
        )
    return ir.TileType(shape, _dtype(spec, given), None, view, space)


def _alternatives(rule: str | None, part: str) -> list[tuple[str, list[str]]]:
    """The terms of ``A or B(x, y)`` as names with their arguments."""
    if rule is None:
        raise InferenceError(f"the op table gives no {part}")
    found = []
    for text in rule.split(" or "):
        term = _TERM.fullmatch(text.strip())
        if term is None:
            raise InferenceError(f"the op table says {rule!r} of its {part}")
        words = (term["arguments"] or "").split(",")
        found.append((term["name"], [word.strip() for word in words if word.strip()]))
    return found


def _dtype(spec: ResultSpec, given: Operands) -> ir.DataType:
    for name, words in _alternatives(spec.dtype, "dtype"):
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
    raise InferenceError(f"its dtype is {spec.dtype!r}, which the call does not give")


def _shape(spec: ResultSpec, given: Operands) -> Extents:
    for name, words in _alternatives(spec.shape, "shape"):
        value = given.operand(name)
        if value is not None:
            return given.shape_of(value)
        if name in SHAPES:
            return SHAPES[name](given, words)
    raise InferenceError(f"its shape is {spec.shape!r}, for which no rule exists")


def _valid(spec: ResultSpec, given: Operands) -> Extents | None:
    """The valid region, None for the whole box."""
    terms = _alternatives(spec.valid, "valid region")
    for index, (name, words) in enumerate(terms):
        value = given.operand(name)
        if value is not None:
            return given.valid_of(value)
        is_last = index == len(terms) - 1
        if name == "argument" and not is_last and given.operand("valid_shape") is None:
            continue
        if name in VALID_REGIONS:
            return VALID_REGIONS[name](given, words)
    raise InferenceError(f"its valid region is {spec.valid!r}, for which no rule exists")


def _memory(spec: ResultSpec, given: Operands) -> ir.MemorySpace | None:
    for name, _ in _alternatives(spec.memory, "memory space"):
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
    raise InferenceError(f"its memory space is {spec.memory!r}, for which no rule exists")


def call_type(signature: Signature, args: Sequence[ir.Expr]) -> ir.Type:
    """Type of a function call: its return types, dynamic extents replaced by those of the arguments."""
    known: dict[int, ir.Expr] = {}
    mutator = ir.IRMutator()
    for param, arg in zip(signature.params, args, strict=False):
        for var, value in _bindings(param, arg):
            if id(var) not in known and var is not value:
                known[id(var)] = value
                mutator.replace(var, value)
    result = signature.result_type
    return _canonical(mutator.mutate(result)) if known else result


def _bindings(param: ir.Var, arg: ir.Expr) -> list[tuple[ir.Var, ir.Expr]]:
    """What an argument says about the variables in the parameter's type, and about a scalar parameter."""
    if isinstance(param.type, ir.ScalarType):
        return [(param, arg)]
    if not isinstance(param.type, ir.ShapedType) or not isinstance(arg.type, ir.ShapedType):
        return []
    pairs = zip(param.type.shape, arg.type.shape, strict=False)
    return [(extent, value) for extent, value in pairs if isinstance(extent, ir.Var)]


def _canonical(type_: ir.Type) -> ir.Type:
    """The type built anew: a region that has become the whole box is stored as such."""
    match type_:
        case ir.TupleType(types=types):
            return ir.TupleType([_canonical(part) for part in types])
        case ir.TileType():
            return ir.TileType(type_.shape, type_.dtype, type_.memref, type_.tile_view, type_.memory_space)
        case ir.DistributedTensorType():
            return ir.DistributedTensorType(
                type_.shape, type_.dtype, type_.memref, type_.tensor_view, type_.window_buffer
            )
        case ir.TensorType():
            return ir.TensorType(type_.shape, type_.dtype, type_.memref, type_.tensor_view)
    return type_
