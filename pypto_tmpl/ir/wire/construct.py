"""Decoded field values to nodes and types, through the constructors, which check the invariants."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from pypto_tmpl.ir import expr
from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import Expr, InternalError, IRNode, Stmt, Type, attach_leading_comments, set_fields
from pypto_tmpl.ir.enums import ParamDirection, SplitMode
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.structural import structural_equal
from pypto_tmpl.ir.types import ArrayType, ScalarType
from pypto_tmpl.ir.wire.errors import Fault, with_article

Values: TypeAlias = "dict[str, Any]"

REFUSALS = (ValueError, TypeError, InternalError)
"""What constructors raise when an invariant does not hold."""


def construct(cls: type, values: Values) -> IRNode:
    """The node of class ``cls`` with these field values. Raises Fault, or one of REFUSALS."""
    build = _builder(cls)
    built: IRNode = build(cls, values)
    return built


def construct_type(cls: type, values: Values) -> Type:
    """The type of class ``cls`` with these field values. Raises Fault, or one of REFUSALS."""
    values.pop("__class__")
    if cls is ArrayType:
        if len(values["shape"]) != 1:
            count = len(values["shape"])
            raise Fault("wire-invalid", f"an ArrayType has one extent, got {count}", ".shape")
        return ArrayType(values["dtype"], values["shape"][0])
    built: Type = cls(**values)
    return built


def memref_of(values: Values) -> expr.MemRef:
    """The MemRef of either wire form; the embedded one has no span."""
    return expr.MemRef(
        values["base_"],
        values["byte_offset_"],
        values["size_"],
        span=values.get("span"),
        is_pinned=values["is_pinned_"],
        slots=values["slot_count_"],
        slot=values["slot_index_"],
    )


@cache
def _builder(cls: type) -> Callable[[Any, Values], Any]:
    return next((_BUILDERS[owner] for owner in cls.__mro__ if owner in _BUILDERS), _plain)


def _plain(cls: Any, values: Values) -> Any:
    return cls(**values)


def _stmt(cls: Any, values: Values) -> Any:
    comments = values.pop("leading_comments")
    node = cls(**values)
    if comments:
        attach_leading_comments(node, comments)
    return node


def _scalar(cls: Any, values: Values) -> Any:
    """Constants and operators: the constructor takes the dtype of the type."""
    type_ = values.pop("type")
    if not isinstance(type_, ScalarType):
        what = f"expected a ScalarType, got {with_article(type(type_).__name__)}"
        raise Fault("wire-wrong-kind", what, ".type")
    return cls(**values, dtype=type_.dtype)


def _type_computed(cls: Any, values: Values) -> Any:
    """Nodes whose type follows from other fields."""
    stored = values.pop("type")
    return _with_stored_type(cls(**values), stored)


def _with_stored_type(node: Expr, stored: Type | None) -> Expr:
    """``node`` with its stored type, if it has one, which must be the one that was computed.

    The stored one is kept for its sharing of nodes.
    """
    if stored is not None:
        if not _same_type(stored, node.type):
            what = f"the type of this {type(node).__name__} does not follow from its other fields"
            raise Fault("wire-invalid", what, ".type")
        set_fields(node, type=stored)
    return node


def _same_type(stored: Type, computed: Type) -> bool:
    if type(stored) is type(computed) and not fields_of(type(stored)):
        return True
    return structural_equal(stored, computed)


def _memref_node(_: Any, values: Values) -> Any:
    node = memref_of(values)
    set_fields(node, name_hint=values["name_hint"])
    return _with_stored_type(node, values["type"])


def _window_buffer(cls: Any, values: Values) -> Any:
    name_hint = values.pop("name_hint")
    node = _type_computed(cls, values)
    if name_hint is not None:
        set_fields(node, name_hint=name_hint)
    return node


def _call(cls: Any, v: Values) -> Any:
    attrs = v["attrs"]
    if directions := v["legacy_arg_directions"]:
        attrs = _with_attr(attrs, "arg_directions", AttrKind.ARG_DIRECTIONS, directions)
    return cls(v["op"], v["args"], v["kwargs"], attrs, v["type"], v["span"])


def _with_attr(attrs: AttrMap, key: str, kind: AttrKind, value: object) -> AttrMap:
    """``attrs`` and one more entry, which blobs of older writers have as a field of its own."""
    return AttrMap.of_stored([*((k, attrs.kinds[k], v) for k, v in attrs.items()), (key, kind, value)])


def _submit(cls: Any, v: Values) -> Any:
    launch = (v["core_num"], v["sync_start"], v["allow_early_resolve"], v["predicate"])
    return cls(v["op"], v["args"], v["deps"], v["kwargs"], v["attrs"], v["type"], v["span"], *launch)


def _function(cls: Any, values: Values) -> Any:
    params, directions = values.pop("params"), values.pop("param_directions")
    if directions is None:
        directions = [ParamDirection.In] * len(params)
    if len(directions) != len(params):
        what = f"{len(directions)} directions for {len(params)} params"
        raise Fault("wire-invalid", what, ".param_directions")
    split = values.pop("legacy_split")
    if split not in (None, SplitMode.NONE):
        values["attrs"] = _with_attr(values["attrs"], "split", AttrKind.INT, split.value)
    pairs = list(zip(params, directions, strict=True))
    return cls(params=pairs, type=values.pop("func_type"), **values)


_BUILDERS: dict[type, Callable[[Any, Values], Any]] = {
    Stmt: _stmt,
    BinaryExpr: _scalar,
    UnaryExpr: _scalar,
    expr.ConstInt: _scalar,
    expr.ConstFloat: _scalar,
    expr.ConstBool: _type_computed,
    expr.MakeTuple: _type_computed,
    expr.TupleGetItemExpr: _type_computed,
    expr.MemRef: _memref_node,
    expr.WindowBuffer: _window_buffer,
    expr.Call: _call,
    expr.Submit: _submit,
    Function: _function,
}
