"""The type of a call of a function, from what it returns and what it is given."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.rewrite import substitute


def returned_type(params: Sequence[ir.Var], args: Sequence[ir.Expr], type_: ir.Type) -> ir.Type:
    """The type that a call returns: dynamic extents of ``type_`` replaced by those of the arguments."""
    known: dict[ir.Var, ir.Expr] = {}
    for param, arg in zip(params, args, strict=False):
        for var, value in extents_by_dimension(param, arg):
            if var not in known and var is not value:
                known[var] = value
    return substitute(type_, known)


def extents_by_dimension(param: ir.Var, arg: ir.Expr) -> list[tuple[ir.Var, ir.Expr]]:
    """What an argument says about the variables in the parameter's type, and about a scalar parameter."""
    if isinstance(param.type, ir.ScalarType):
        return [(param, arg)]
    if not isinstance(param.type, ir.ShapedType) or not isinstance(arg.type, ir.ShapedType):
        return []
    pairs = zip(param.type.shape, arg.type.shape, strict=False)
    return [(extent, value) for extent, value in pairs if isinstance(extent, ir.Var)]
