"""Result types of calls that text does not give: nested calls, calls that are statements, concise text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.language.diagnostics import InvalidOperationError
from pypto_tmpl.language.inference.operands import InferenceError
from pypto_tmpl.language.inference.results import infer_type
from pypto_tmpl.language.scopes import Reader, Signature
from pypto_tmpl.ops import load_table

_TASK_OPS = frozenset({"system.task_invalid", "system.task_dummy"})


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
