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
from pypto_tmpl.rewrite import substitute

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
    known: dict[ir.Var, ir.Expr] = {}
    for param, arg in zip(signature.params, args, strict=False):
        for var, value in extents_by_dimension(param, arg):
            if var not in known and var is not value:
                known[var] = value
    return substitute(signature.result_type, known)


def extents_by_dimension(param: ir.Var, arg: ir.Expr) -> list[tuple[ir.Var, ir.Expr]]:
    """What an argument says about the variables in the parameter's type, and about a scalar parameter."""
    if isinstance(param.type, ir.ScalarType):
        return [(param, arg)]
    if not isinstance(param.type, ir.ShapedType) or not isinstance(arg.type, ir.ShapedType):
        return []
    pairs = zip(param.type.shape, arg.type.shape, strict=False)
    return [(extent, value) for extent, value in pairs if isinstance(extent, ir.Var)]
