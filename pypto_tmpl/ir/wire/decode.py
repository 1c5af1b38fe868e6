"""Decoded MessagePack to the values of fields, by the layout of the class they belong to.

Nodes and types that a map refers to are built already (reader.py sees to that), so nothing here
recurses into them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.expr import GlobalVar, Op
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_types import PtrType
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.wire import decode_leaves as leaves
from pypto_tmpl.ir.wire import layout as wire_layout
from pypto_tmpl.ir.wire.construct import REFUSALS, memref_of
from pypto_tmpl.ir.wire.decode_attrs import decode_attrs
from pypto_tmpl.ir.wire.errors import Fault, allowed, with_article, wrong_kind
from pypto_tmpl.ir.wire.layout import Kind, Layout, WireField, layout_of
from pypto_tmpl.ir.wire.tolerance import REQUIRED
from pypto_tmpl.ir.wire.unpack import WireMap

Decode: TypeAlias = "Callable[[Decoder, Any, WireField], Any]"
Plan: TypeAlias = "tuple[Layout, tuple[tuple[str, str, Decode, WireField], ...]]"
"""A layout, and of each field the key, the attribute and the decoder."""


class Decoder:
    """Values of one blob; ``built`` and ``types`` hold the nodes and types decoded so far."""

    def __init__(self) -> None:
        self.built: dict[int, IRNode] = {}
        self.types: dict[int, Type] = {}  # by identity of the map
        self.spans: dict[tuple[object, ...], Span] = {}
        self.bases: dict[str, Var] = {}

    def node(self, raw: object, base: type) -> Any:
        """The node that a reference or a full node stands for, checked to be a ``base``."""
        if type(raw) is not dict:
            raise wrong_kind(f"a node ({base.__name__})", raw)
        if "ref" not in raw and "fields" not in raw:
            what = f"expected a node ({base.__name__}), which has the fields id, type and fields"
            raise Fault("wire-wrong-kind", what)
        found = self.built[raw["ref"] if "ref" in raw else raw["id"]]
        if not isinstance(found, base):
            what = f"expected a node ({base.__name__}), got {with_article(type(found).__name__)}"
            raise Fault("wire-wrong-kind", what)
        return found

    def fields(self, raw: WireMap, cls: type) -> dict[str, Any]:
        """Field values of a node, type or view from its map, by attribute name. Raises Fault."""
        return self.values(raw, _plan(cls))

    def values(self, raw: object, plan: Plan) -> dict[str, Any]:
        if type(raw) is not dict:
            raise wrong_kind("a map", raw)
        layout, slots = plan
        found: dict[str, Any] = {}
        used = 0
        for key, attr, decode, field in slots:
            value = raw.get(key, REQUIRED)
            if value is REQUIRED:
                if field.missing is REQUIRED:
                    raise Fault("wire-missing-field", f"the field {key!r} is missing")
                found[attr] = field.missing
                continue
            used += 1
            if value is None and field.nil is not REQUIRED:
                found[attr] = field.nil
                continue
            try:
                found[attr] = decode(self, value, field)
            except Fault as fault:
                raise fault.inside(f".{key}") from None
            except REFUSALS as refusal:
                raise Fault("wire-invalid", str(refusal), f".{key}") from None
        if used != len(raw):
            _check_keys(raw, layout)
        return found


def _check_keys(raw: WireMap, layout: Layout) -> None:
    """Raise Fault for a key that the layout does not know: nothing is dropped silently."""
    known = [field.key for field in layout.fields]
    for key, value in raw.items():
        if key in layout.removed:
            if value is not None:
                raise Fault("wire-removed-field", f"the field {key!r} belongs to a removed feature")
        elif key not in known and key not in layout.ignored:
            note = allowed("fields", known, key)
            raise Fault("wire-unknown-field", f"unknown field {key!r}", notes=[note])


@cache
def _plan(cls: type) -> Plan:
    return _plan_of(layout_of(cls))


def _plan_of(layout: Layout) -> Plan:
    return layout, tuple((f.key, f.attr, _decoder_of(f), f) for f in layout.fields)


def _decoder_of(field: WireField) -> Decode:
    return _each(_DECODERS[field.kind]) if field.many else _DECODERS[field.kind]


def _each(decode: Decode) -> Decode:
    def decode_list(decoder: Decoder, raw: Any, field: WireField) -> tuple[Any, ...]:
        if type(raw) is not list:
            raise wrong_kind("a list", raw)
        found = []
        for i, item in enumerate(raw):
            try:
                found.append(decode(decoder, item, field))
            except Fault as fault:
                raise fault.inside(f"[{i}]") from None
        return tuple(found)

    return decode_list


def _leaf(decode: Callable[[object], Any]) -> Decode:
    return lambda _, raw, __: decode(raw)


def _type(decoder: Decoder, raw: Any, _: WireField) -> Type:
    found = decoder.types.get(id(raw))
    if found is None:
        raise wrong_kind("a type (a map with type_kind)", raw)
    return found


def _memref(decoder: Decoder, raw: Any, _: WireField) -> MemRef:
    values = decoder.values(raw, _MEMREF_PLAN)
    name, base = values["base_.name_hint"], values["base_"]
    if base is None:
        # blobs of older writers identify an allocation by its name
        if name not in decoder.bases:
            decoder.bases[name] = Var(name, PtrType(), Span.unknown())
        values["base_"] = decoder.bases[name]
    elif base.name_hint != name:
        what = f"the base is named {name!r}, but its variable {base.name_hint!r}"
        raise Fault("wire-invalid", what)
    return memref_of(values)


def _function_entry(decoder: Decoder, raw: Any, _: WireField) -> Function:
    entry = decoder.values(raw, _FUNCTION_PLAN)
    name, function = entry["key"], entry["value"]
    if not isinstance(name, GlobalVar):
        raise Fault("wire-invalid", "the key of a function is a global variable", ".key")
    if name.name != function.name:
        what = f"the key is {name.name!r}, but the function is named {function.name!r}"
        raise Fault("wire-invalid", what, ".key")
    found: Function = function
    return found


def _span(decoder: Decoder, raw: Any, _: WireField) -> Span:
    """The span of a map; equal ones are one object."""
    try:
        values = _span_values(raw)
        known = len(raw) == len(values) and tuple(map(type, values)) == _SPAN_KINDS
    except (KeyError, TypeError):
        known = False
    if not known:  # with keys missing, or wrong
        return Span(**decoder.values(raw, _SPAN_PLAN))
    found = decoder.spans.get(values)
    if found is None:
        found = decoder.spans[values] = Span(**decoder.values(raw, _SPAN_PLAN))
    return found


def _op(decoder: Decoder, raw: Any, _: WireField) -> Op:
    values = decoder.values(raw, _OP_PLAN)
    return (GlobalVar if values["is_global_var"] else Op)(values["name"])


_DECODERS: dict[Kind, Decode] = {
    Kind.NODE: lambda decoder, raw, field: decoder.node(raw, field.base),
    Kind.TYPE: _type,
    Kind.VIEW: lambda decoder, raw, field: field.base(**decoder.fields(raw, field.base)),
    Kind.MEMREF: _memref,
    Kind.ATTRS: lambda decoder, raw, _: decode_attrs(decoder.node, raw),
    Kind.FUNCTIONS: _each(_function_entry),
    Kind.SPAN: _span,
    Kind.OP: _op,
    Kind.DTYPE: _leaf(leaves.dtype_of),
    Kind.CODE: lambda _, raw, field: leaves.member_by_code(field.base, raw),
    Kind.NAME: lambda _, raw, field: leaves.member_by_name(field.base, raw),
    Kind.BOOL: _leaf(leaves.bool_of),
    Kind.INT: _leaf(leaves.int_of),
    Kind.UINT: _leaf(leaves.uint_of),
    Kind.FLOAT: _leaf(leaves.float_of),
    Kind.STR: _leaf(leaves.str_of),
    Kind.TYPE_KIND: _leaf(leaves.str_of),
}

_MEMREF_PLAN = _plan_of(wire_layout.EMBEDDED_MEMREF)
_FUNCTION_PLAN = _plan_of(wire_layout.FUNCTION_ENTRY)
_OP_PLAN = _plan_of(wire_layout.OP)
_SPAN_PLAN = _plan(Span)
_span_values = itemgetter(*(field.key for field in layout_of(Span).fields))
_SPAN_KINDS = tuple(field.base for field in layout_of(Span).fields)
