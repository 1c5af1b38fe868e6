"""Values that hold no nodes, to MessagePack.

Each encoder takes ``pack``, which packs one plain value, and raises Fault for a value of another kind
than the field holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from math import copysign
from operator import attrgetter
from typing import Any, TypeAlias

import msgpack

from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.expr import GlobalVar, Op
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.wire.errors import Fault
from pypto_tmpl.ir.wire.layout import TYPE_KINDS, Kind, layout_of

Pack: TypeAlias = "Callable[[object], bytes]"
EncodeLeaf: TypeAlias = "Callable[[Pack, Any], bytes]"

NIL = b"\xc0"


@cache
def key_bytes(key: str) -> bytes:
    packed: bytes = msgpack.packb(key)
    return packed


_SHORT = range(16)
_MAP_HEADERS = tuple(bytes((0x80 | count,)) for count in _SHORT)
_LIST_HEADERS = tuple(bytes((0x90 | count,)) for count in _SHORT)


def map_header(count: int) -> bytes:
    """Header of a map; no map of the format has more than 15 keys."""
    return _MAP_HEADERS[count]


def list_header(count: int) -> bytes:
    header: bytes = _LIST_HEADERS[count] if count in _SHORT else msgpack.Packer().pack_array_header(count)
    return header


def leaf_list(encode: EncodeLeaf) -> EncodeLeaf:
    """Encoder of a list of values that ``encode`` takes."""

    def encode_list(pack: Pack, values: Collection[Any]) -> bytes:
        return list_header(len(values)) + b"".join([encode(pack, value) for value in values])

    return encode_list


def _int(low: int, high: int) -> EncodeLeaf:
    def encode(pack: Pack, value: Any) -> bytes:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Fault("wire-wrong-kind", f"expected an integer, got {value!r}")
        if not low <= value <= high:
            raise Fault("wire-out-of-range", f"{value} is not in {low} .. {high}")
        return pack(value)

    return encode


def _float(pack: Pack, value: Any) -> bytes:
    """A number; one that an integer can hold is written as an integer, as upstream does.

    Negative zero stays a float: an integer would lose its sign, and readers take a float everywhere.
    """
    if not isinstance(value, float):
        raise Fault("wire-wrong-kind", f"expected a float, got {value!r}")
    if value.is_integer() and -(2.0**63) <= value < 2.0**64 and (value or copysign(1.0, value) > 0):
        return pack(int(value))
    return pack(value)


def _bool(pack: Pack, value: Any) -> bytes:
    if type(value) is not bool:
        raise Fault("wire-wrong-kind", f"expected a bool, got {value!r}")
    return pack(value)


def _str(pack: Pack, value: Any) -> bytes:
    if not isinstance(value, str):
        raise Fault("wire-wrong-kind", f"expected a str, got {value!r}")
    try:
        return pack(value)
    except UnicodeEncodeError:
        raise Fault("wire-malformed", f"{value!r} has no UTF-8 form") from None


def op_bytes(pack: Pack, op: Op) -> bytes:
    flag = _bool(pack, isinstance(op, GlobalVar))
    return map_header(2) + key_bytes("is_global_var") + flag + key_bytes("name") + _str(pack, op.name)


def _span(pack: Pack, span: Span) -> bytes:
    entries = [key + encode(pack, value_of(span)) for key, value_of, encode in _SPAN_ENTRIES]
    return map_header(len(entries)) + b"".join(entries)


LEAVES: dict[Kind, EncodeLeaf] = {
    Kind.SPAN: _span,
    Kind.OP: op_bytes,
    Kind.DTYPE: lambda pack, dtype: pack(dtype.code()),
    Kind.CODE: lambda pack, member: pack(member.value),
    Kind.NAME: lambda pack, member: pack(member.name),
    Kind.BOOL: _bool,
    Kind.INT: _int(-(2**63), 2**63 - 1),
    Kind.UINT: _int(0, 2**64 - 1),
    Kind.FLOAT: _float,
    Kind.STR: _str,
    Kind.TYPE_KIND: lambda _, cls: key_bytes(TYPE_KINDS[cls]),
}

_SPAN_ENTRIES = [
    (key_bytes(field.key), attrgetter(field.attr), LEAVES[field.kind])
    for field in sorted(layout_of(Span).fields, key=lambda field: field.key)
]


def attr_head(pack: Pack, key: str) -> bytes:
    """An entry of an attribute list up to its value."""
    return map_header(2) + key_bytes("key") + _str(pack, key) + key_bytes("value")


def _tagged(payload: str, encode: EncodeLeaf) -> Callable[[AttrKind], EncodeLeaf]:
    """Encoders of {"type": tag, payload: value}, keys in order."""

    def of_kind(kind: AttrKind) -> EncodeLeaf:
        tag = key_bytes("type") + key_bytes(kind.value)
        if payload < "type":
            return lambda pack, value: map_header(2) + key_bytes(payload) + encode(pack, value) + tag
        return lambda pack, value: map_header(2) + tag + key_bytes(payload) + encode(pack, value)

    return of_kind


_BY_NAME = _tagged("value", LEAVES[Kind.NAME])
_INT32 = _int(-(2**31), 2**31 - 1)

ATTRS: dict[AttrKind, EncodeLeaf] = {
    AttrKind.BOOL: _bool,
    AttrKind.INT: _INT32,
    AttrKind.FLOAT: _float,
    AttrKind.STR: _str,
    AttrKind.DATA_TYPE: _tagged("code", LEAVES[Kind.DTYPE])(AttrKind.DATA_TYPE),
    AttrKind.MEMORY_SPACE: _BY_NAME(AttrKind.MEMORY_SPACE),
    AttrKind.TENSOR_LAYOUT: _BY_NAME(AttrKind.TENSOR_LAYOUT),
    AttrKind.TILE_LAYOUT: _BY_NAME(AttrKind.TILE_LAYOUT),
    AttrKind.PAD_VALUE: _BY_NAME(AttrKind.PAD_VALUE),
    AttrKind.ARG_DIRECTION: _tagged("value", LEAVES[Kind.CODE])(AttrKind.ARG_DIRECTION),
    AttrKind.ARG_DIRECTIONS: _tagged("value", leaf_list(LEAVES[Kind.CODE]))(AttrKind.ARG_DIRECTIONS),
    AttrKind.INT32S: _tagged("value", leaf_list(_INT32))(AttrKind.INT32S),
    **{kind: _tagged("value", lambda *_: b"")(kind) for kind in (AttrKind.VAR, AttrKind.VARS, AttrKind.EXPR)},
}
"""Encoders of attribute values; for the kinds that hold nodes, of what stands before the nodes."""

ATTR_LEVELS: dict[AttrKind, int] = {
    **dict.fromkeys(AttrKind, 2),
    **dict.fromkeys((AttrKind.BOOL, AttrKind.INT, AttrKind.FLOAT, AttrKind.STR), 1),
    **dict.fromkeys((AttrKind.ARG_DIRECTIONS, AttrKind.INT32S), 3),
}
"""Containers that an entry of each kind opens below its list, nodes not counted."""
