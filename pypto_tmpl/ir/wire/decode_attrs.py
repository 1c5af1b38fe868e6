"""Decoded MessagePack to attribute maps, stored types kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pypto_tmpl.ir.attrs import ENUM_KINDS, INT32_MAX, INT32_MIN, AttrKind, AttrMap
from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.enums import ArgDirection
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.wire.decode_leaves import dtype_of, int_of, member_by_code, member_by_name
from pypto_tmpl.ir.wire.errors import Fault, allowed, wrong_kind

FindNode: TypeAlias = "Callable[[object, type], Any]"
Stored: TypeAlias = "tuple[AttrKind, Any]"


def decode_attrs(find_node: FindNode, raw: object) -> AttrMap:
    """The attributes of a list of entries; ``find_node`` gives the node a map stands for. Raises Fault."""
    if type(raw) is not list:
        raise wrong_kind("a list of attributes", raw)
    entries: list[tuple[str, AttrKind, Any]] = []
    for i, entry in enumerate(raw):
        try:
            entries.append(_entry(find_node, entry))
        except Fault as fault:
            raise fault.inside(f"[{i}]") from None
    try:
        return AttrMap.of_stored(entries)
    except ValueError as error:
        raise Fault("wire-invalid", str(error)) from None


def _entry(find_node: FindNode, raw: object) -> tuple[str, AttrKind, Any]:
    key, value = _two_keys(raw, "an attribute", "key", "value")
    if type(key) is not str:
        raise wrong_kind("a str", key, ".key")
    try:
        return key, *_value(find_node, value)
    except Fault as fault:
        raise fault.inside(".value") from None


def _two_keys(raw: object, what: str, first: str, second: str) -> tuple[Any, Any]:
    """The two values of a map that has exactly these keys."""
    if type(raw) is not dict:
        raise wrong_kind(f"{what} (a map)", raw)
    for key in (first, second):
        if key not in raw:
            raise Fault("wire-missing-field", f"the field {key!r} is missing")
    for key in raw:
        if key not in (first, second):
            note = allowed("fields", (first, second), key)
            raise Fault("wire-unknown-field", f"unknown field {key!r}", notes=[note])
    return raw[first], raw[second]


def _value(find_node: FindNode, raw: object) -> Stored:
    if type(raw) is dict:
        return _tagged(find_node, raw)
    if type(raw) is bool:
        return AttrKind.BOOL, raw
    if type(raw) is str:
        return AttrKind.STR, raw
    if type(raw) is float:
        return AttrKind.FLOAT, raw
    if type(raw) is int:
        return _integer(raw)
    raise wrong_kind("an attribute value (a bool, number, str or tagged map)", raw)


def _integer(raw: int) -> Stored:
    """Integers are 32 bits wide; a larger one was an integral float before it was written."""
    if INT32_MIN <= raw <= INT32_MAX:
        return AttrKind.INT, raw
    if int(float(raw)) == raw:
        return AttrKind.FLOAT, float(raw)
    raise Fault("wire-out-of-range", f"{raw} is neither a 32-bit integer nor an integral float")


def _tagged(find_node: FindNode, raw: dict[str, Any]) -> Stored:
    tag = raw.get("type")
    if type(tag) is not str or tag not in _PAYLOADS:
        note = allowed("types", _PAYLOADS, tag)
        raise Fault("wire-unknown-type", f"an attribute value has no type {tag!r}", notes=[note])
    kind = AttrKind(tag)
    payload = "code" if kind is AttrKind.DATA_TYPE else "value"
    _, value = _two_keys(raw, "a tagged value", "type", payload)
    try:
        return kind, _PAYLOADS[tag](find_node, value)
    except Fault as fault:
        raise fault.inside(f".{payload}") from None


def _each(decode: Callable[[FindNode, object], Any]) -> Callable[[FindNode, object], tuple[Any, ...]]:
    def decode_list(find_node: FindNode, raw: object) -> tuple[Any, ...]:
        if type(raw) is not list:
            raise wrong_kind("a list", raw)
        found = []
        for i, item in enumerate(raw):
            try:
                found.append(decode(find_node, item))
            except Fault as fault:
                raise fault.inside(f"[{i}]") from None
        return tuple(found)

    return decode_list


def _node_or_nil(base: type) -> Callable[[FindNode, object], Any]:
    return lambda find_node, raw: None if raw is None else find_node(raw, base)


def _named(enum: type) -> Callable[[FindNode, object], Any]:
    return lambda _, raw: member_by_name(enum, raw)


def _direction(_: FindNode, raw: object) -> ArgDirection:
    found: ArgDirection = member_by_code(ArgDirection, raw)
    return found


_PAYLOADS: dict[str, Callable[[FindNode, object], Any]] = {
    **{kind.value: _named(enum) for enum, kind in ENUM_KINDS.items()},
    AttrKind.DATA_TYPE.value: lambda _, raw: dtype_of(raw),
    AttrKind.ARG_DIRECTION.value: _direction,
    AttrKind.ARG_DIRECTIONS.value: _each(_direction),
    AttrKind.INT32S.value: _each(lambda _, raw: int_of(raw, INT32_MIN, INT32_MAX)),
    AttrKind.VAR.value: _node_or_nil(Var),
    AttrKind.VARS.value: _each(_node_or_nil(Var)),
    AttrKind.EXPR.value: _node_or_nil(Expr),
}
