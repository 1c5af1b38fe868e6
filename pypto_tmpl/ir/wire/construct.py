"""Decoded field values to nodes and types, through the constructors, which check the invariants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pypto_tmpl.ir import expr, stmt
from pypto_tmpl.ir import types as ir_types
from pypto_tmpl.ir.base import IRNode, Stmt, Type, set_fields
from pypto_tmpl.ir.enums import ParamDirection
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.structural import structural_equal
from pypto_tmpl.ir.types import ScalarType
from pypto_tmpl.ir.wire.errors import Fault

Values = dict[str, Any]


def construct(cls: type[IRNode], values: Values) -> IRNode:
    """The node of class ``cls`` with these field values.

    Raises Fault, or what the constructor raises (ValueError, TypeError, InternalError).
    """
    comments = values.pop("leading_comments", ())
    node = _builder(cls)(cls, values)
    if comments:
        set_fields(node, leading_comments=comments)
    return node


def _builder(cls: type) -> Callable[[Any, Values], Any]:
    for owner in cls.__mro__:
        if owner in _BUILDERS:
            return _BUILDERS[owner]
    return _plain


def _plain(cls: Any, values: Values) -> Any:
    return cls(**values)


def _scalar(cls: Any, values: Values) -> Any:
    """Constants and operators: the constructor takes the dtype of the type."""
    type_ = values.pop("type")
    if not isinstance(type_, ScalarType):
        raise Fault("wire-wrong-kind", f"the type is a ScalarType, not a {type(type_).__name__}", "type")
    return cls(**values, dtype=type_.dtype)


def _computed_type(cls: Any, values: Values) -> Any:
    """Nodes whose type follows from their operands: the stored one, where given, must agree."""
    stored: Type | None = values.pop("type")
    node = cls(**values)
    if stored is None:
        return node
    if not structural_equal(stored, node.type):
        raise Fault("wire-invalid", "the stored type is not the type of the operands", "type")
    set_fields(node, type=stored)
    return node


def _call(cls: Any, v: Values) -> Any:
    return cls(v["op"], v["args"], v["kwargs"], v["attrs"], v["type"], v["span"])


def _submit(cls: Any, v: Values) -> Any:
    launch = (v["core_num"], v["sync_start"], v["allow_early_resolve"], v["predicate"])
    return cls(v["op"], v["args"], v["deps"], v["kwargs"], v["attrs"], v["type"], v["span"], *launch)


def memref(v: Values) -> expr.MemRef:
    """A MemRef with the fields of its wire forms."""
    return expr.MemRef(
        v["base_"],
        v["byte_offset_"],
        v["size_"],
        span=v.get("span"),
        is_pinned=v["is_pinned_"],
        slots=v["slot_count_"],
        slot=v["slot_index_"],
    )


def _memref_node(_: Any, values: Values) -> Any:
    node = memref(values)
    set_fields(node, name_hint=values["name_hint"])
    return node


def _window_buffer(cls: Any, values: Values) -> Any:
    name_hint, _type = values.pop("name_hint"), values.pop("type")
    node = cls(**values)
    if name_hint is not None:
        set_fields(node, name_hint=name_hint)
    return node


def _function(_: Any, values: Values) -> Any:
    params, directions = values.pop("params"), values.pop("param_directions")
    if directions is None:
        directions = [ParamDirection.In] * len(params)
    if len(directions) != len(params):
        raise Fault(
            "wire-invalid", f"{len(directions)} directions for {len(params)} params", "param_directions"
        )
    pairs = list(zip(params, directions, strict=True))
    return Function(params=pairs, type=values.pop("func_type"), **values)


def _program(_: Any, values: Values) -> Any:
    return Program(**values)


_BUILDERS: dict[type, Callable[[Any, Values], Any]] = {
    BinaryExpr: _scalar,
    UnaryExpr: _scalar,
    expr.ConstInt: _scalar,
    expr.ConstFloat: _scalar,
    expr.ConstBool: _computed_type,
    expr.MakeTuple: _computed_type,
    expr.TupleGetItemExpr: _computed_type,
    expr.Call: _call,
    expr.Submit: _submit,
    expr.MemRef: _memref_node,
    expr.WindowBuffer: _window_buffer,
    Function: _function,
    Program: _program,
}
