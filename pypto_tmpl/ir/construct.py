"""Nodes, types and views from the values of their fields, through the constructors, which check them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from pypto_tmpl.ir.base import Stmt, attach_leading_comments, set_fields
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.expr import Call, MakeTuple, Submit, TupleGetItemExpr
from pypto_tmpl.ir.leaves import ConstBool, ConstFloat, ConstInt
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.types import ArrayType

Values: TypeAlias = Mapping[str, Any]


def construct(cls: type, values: Values) -> Any:
    """The node, type or view of class ``cls`` whose declared fields have these values.

    What a constructor computes of other fields (the type of a tuple, say) is not taken from ``values``.
    Raises what the constructor raises.
    """
    return _maker(cls)(cls, values)


@cache
def _maker(cls: type) -> Callable[[Any, Values], Any]:
    return next((_MAKERS[owner] for owner in cls.__mro__ if owner in _MAKERS), _by_name)


def _by_name(cls: Any, values: Values) -> Any:
    return cls(**values)


def _statement(cls: Any, values: Values) -> Any:
    node = cls(**_without(values, "leading_comments"))
    if values["leading_comments"]:
        attach_leading_comments(node, values["leading_comments"])
    return node


def _scalar(cls: Any, values: Values) -> Any:
    """Constants and operators: the constructor takes the dtype of the type."""
    type_ = values["type"]
    if not isinstance(type_, ScalarType):
        raise TypeError(f"the type of a {cls.__name__} is a ScalarType, got {type(type_).__name__}")
    return cls(**_without(values, "type"), dtype=type_.dtype)


def _type_computed(cls: Any, values: Values) -> Any:
    return cls(**_without(values, "type"))


def _memref(cls: Any, values: Values) -> Any:
    node = cls(
        values["base_"],
        values["byte_offset_"],
        values["size_"],
        span=values.get("span"),
        is_pinned=values["is_pinned_"],
        slots=values["slot_count_"],
        slot=values["slot_index_"],
    )
    return _named(node, values)


def _window_buffer(cls: Any, values: Values) -> Any:
    return _named(cls(**_without(values, "type", "name_hint")), values)


def _named(var: Any, values: Values) -> Any:
    """``var``, whose constructor names it as its base, with the label that is given for it."""
    if values.get("name_hint") is not None:
        set_fields(var, name_hint=values["name_hint"])
    return var


def _call(cls: Any, v: Values) -> Any:
    return cls(v["op"], v["args"], v["kwargs"], v["attrs"], v["type"], v["span"])


def _submit(cls: Any, v: Values) -> Any:
    launch = (v["core_num"], v["sync_start"], v["allow_early_resolve"], v["predicate"])
    return cls(v["op"], v["args"], v["deps"], v["kwargs"], v["attrs"], v["type"], v["span"], *launch)


def _array_type(_: Any, values: Values) -> Any:
    (extent,) = values["shape"]
    return ArrayType(values["dtype"], extent)


def _function(cls: Any, values: Values) -> Any:
    rest = _without(values, "params", "param_directions", "func_type")
    pairs = list(zip(values["params"], values["param_directions"], strict=True))
    return cls(params=pairs, type=values["func_type"], **rest)


def _program(cls: Any, values: Values) -> Any:
    functions = values["functions"]
    given = functions.values() if isinstance(functions, dict) else functions
    return cls(given, values["name"], values["span"])


def _without(values: Values, *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


_MAKERS: dict[type, Callable[[Any, Values], Any]] = {
    Stmt: _statement,
    BinaryExpr: _scalar,
    UnaryExpr: _scalar,
    ConstInt: _scalar,
    ConstFloat: _scalar,
    ConstBool: _type_computed,
    MakeTuple: _type_computed,
    TupleGetItemExpr: _type_computed,
    MemRef: _memref,
    WindowBuffer: _window_buffer,
    Call: _call,
    Submit: _submit,
    ArrayType: _array_type,
    Function: _function,
    Program: _program,
}
