"""Decoded field values to nodes and types, through the constructors, which check the invariants."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from pypto_tmpl.ir import buffers, expr, leaves
from pypto_tmpl.ir import construct as ir_construct
from pypto_tmpl.ir.attrs import AttrKind, AttrMap, with_float_keywords
from pypto_tmpl.ir.base import Expr, InternalError, IRNode, Type, set_fields
from pypto_tmpl.ir.enums import ParamDirection, SplitMode
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.structural import structural_equal
from pypto_tmpl.ir.types import ArrayType
from pypto_tmpl.ir.wire.errors import Fault, with_article

Values: TypeAlias = "dict[str, Any]"

_TYPE_IS_COMPUTED = frozenset(
    {leaves.ConstBool, expr.MakeTuple, expr.TupleGetItemExpr, buffers.MemRef, buffers.WindowBuffer}
)

REFUSALS = (ValueError, TypeError, InternalError)
"""What constructors raise when an invariant does not hold."""


def construct(cls: type, values: Values) -> IRNode:
    """The node of class ``cls`` with these field values. Raises Fault, or one of REFUSALS."""
    prepare = _preparation(cls)
    if prepare is not None:
        prepare(cls, values)
    built: IRNode = ir_construct.construct(cls, values)
    return _with_stored_type(built, values["type"]) if cls in _TYPE_IS_COMPUTED else built


def construct_type(cls: type, values: Values) -> Type:
    """The type of class ``cls`` with these field values. Raises Fault, or one of REFUSALS."""
    values.pop("__class__")
    if cls is ArrayType and len(values["shape"]) != 1:
        count = len(values["shape"])
        raise Fault("wire-invalid", f"an ArrayType has one extent, got {count}", ".shape")
    built: Type = ir_construct.construct(cls, values)
    return built


def memref_of(values: Values) -> buffers.MemRef:
    """The MemRef that a type embeds, which has neither span nor name of its own."""
    built: buffers.MemRef = ir_construct.construct(buffers.MemRef, values)
    return built


@cache
def _preparation(cls: type) -> Callable[[type, Values], None] | None:
    return next((_PREPARATIONS[owner] for owner in cls.__mro__ if owner in _PREPARATIONS), None)


def _scalar(_: type, values: Values) -> None:
    if not isinstance(values["type"], ScalarType):
        what = f"expected a ScalarType, got {with_article(type(values['type']).__name__)}"
        raise Fault("wire-wrong-kind", what, ".type")


def _call(_: type, values: Values) -> None:
    if directions := values.pop("legacy_arg_directions"):
        values["attrs"] = _with_attr(values["attrs"], "arg_directions", AttrKind.ARG_DIRECTIONS, directions)
    values["kwargs"] = with_float_keywords(values["op"].name, values["kwargs"])


def _function(_: type, values: Values) -> None:
    params, directions = values["params"], values["param_directions"]
    if directions is None:
        values["param_directions"] = [ParamDirection.In] * len(params)
    elif len(directions) != len(params):
        what = f"{len(directions)} directions for {len(params)} params"
        raise Fault("wire-invalid", what, ".param_directions")
    split = values.pop("legacy_split")
    if split not in (None, SplitMode.NONE):
        values["attrs"] = _with_attr(values["attrs"], "split", AttrKind.INT, split.value)


def _with_attr(attrs: AttrMap, key: str, kind: AttrKind, value: object) -> AttrMap:
    """``attrs`` and one more entry, which blobs of older writers have as a field of its own."""
    return AttrMap.of_stored([*((k, attrs.kinds[k], v) for k, v in attrs.items()), (key, kind, value)])


_PREPARATIONS: dict[type, Callable[[type, Values], None]] = {
    BinaryExpr: _scalar,
    UnaryExpr: _scalar,
    leaves.ConstInt: _scalar,
    leaves.ConstFloat: _scalar,
    expr.Call: _call,
    Function: _function,
}


def _with_stored_type(node: IRNode, stored: Type | None) -> IRNode:
    """``node``, whose type was computed, with its stored type, if it has one, which must be the same.

    The stored one is kept for its sharing of nodes.
    """
    if stored is not None and isinstance(node, Expr):
        if not _same_type(stored, node.type):
            what = f"the type of this {type(node).__name__} does not follow from its other fields"
            raise Fault("wire-invalid", what, ".type")
        set_fields(node, type=stored)
    return node


def _same_type(stored: Type, computed: Type) -> bool:
    if type(stored) is type(computed) and not fields_of(type(stored)):
        return True
    return structural_equal(stored, computed)
