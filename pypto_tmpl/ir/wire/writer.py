"""IR to bytes.

Nodes are numbered and written in full where declaration order meets them first, while maps stand in key
order. So a map is a list of pieces that are filled in one order and joined in another. The walk keeps
its own stack: the format bounds the depth of a program, not Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias

import msgpack

from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.ir.expr import GlobalVar
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_types import TupleType
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.types import TensorView, TileView
from pypto_tmpl.ir.wire import encode_leaves as leaves
from pypto_tmpl.ir.wire.encode_leaves import NIL, EncodeLeaf, key_bytes, list_header, map_header
from pypto_tmpl.ir.wire.errors import Fault, WireError, with_article
from pypto_tmpl.ir.wire.layout import (
    EMBEDDED_MEMREF,
    NODE_CLASSES,
    TYPE_KINDS,
    Kind,
    Layout,
    WireField,
    layout_of,
)
from pypto_tmpl.ir.wire.limits import MAX_DEPTH, MAX_TYPES

Pieces: TypeAlias = "list[Any]"
"""Bytes and further pieces; for a while also the values that the walk has yet to encode."""

Encode: TypeAlias = "Callable[[_Writer, Any, int], bytes | Pieces]"
"""Encodes a value whose outermost container is at a depth."""


def serialize(node: IRNode) -> bytes:
    """The bytes of ``node`` and all below it.

    Raises TypeError for anything but a node, WireError for a program that the format cannot hold.
    """
    if not isinstance(node, IRNode):
        raise TypeError(f"serialize takes an IR node, got {type(node).__name__}")
    with collector_paused():
        return _Writer().write(node)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of a map as it is written; exactly one of ``leaf`` and ``encode`` is given."""

    key: bytes
    field: WireField
    value_of: Callable[[Any], Any]
    leaf: EncodeLeaf | None
    encode: Encode | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The entries of a map in key order, and the places of those with nodes in reverse visit order."""

    entries: tuple[_Entry, ...]
    backwards: tuple[int, ...]


class _Writer:
    def __init__(self) -> None:
        self.pack: leaves.Pack = msgpack.Packer().pack
        self.numbers: dict[int, int] = {}  # by identity of the node
        self.spans: dict[Span, bytes] = {}
        self.types = 0  # in tuple types, written so far
        self.type_counts: dict[int, int] = {}  # by identity of the tuple type
        self.todo: list[tuple[Encode, Any, int, Pieces, int]] = []

    def write(self, root: IRNode) -> bytes:
        pieces: Pieces = [root]
        self.later(_Writer.node, root, 1, pieces, 0)
        while self.todo:
            encode, value, depth, owner, place = self.todo.pop()
            try:
                owner[place] = encode(self, value, depth)
            except Fault as fault:
                where = " of ".join([*fault.steps, _shown(value)])
                raise WireError.of(fault.slug, fault.what, where) from None
        return _joined(pieces)

    def later(self, encode: Encode, value: object, depth: int, owner: Pieces, place: int) -> None:
        """Have ``owner[place]`` filled; what is put off last is done first."""
        self.reach(depth, value)
        self.todo.append((encode, value, depth, owner, place))

    def reach(self, depth: int, value: object) -> None:
        if depth > MAX_DEPTH:
            what = f"the program nests deeper than the {MAX_DEPTH} MessagePack levels that readers take"
            raise WireError.of("wire-too-deep", what, _shown(value))

    def node(self, node: IRNode, depth: int) -> bytes | Pieces:
        number = self.numbers.get(id(node))
        if number is not None:
            return map_header(1) + key_bytes("ref") + self.pack(number)
        self.reach(depth + 2, node)  # the map of its span in the map of its fields
        self.numbers[id(node)] = number = len(self.numbers)
        cls: type = type(node)
        fields = self.map_of(node, _plan(cls), depth + 1)
        end = key_bytes("id") + self.pack(number) + key_bytes("type") + key_bytes(cls.__name__)
        return [map_header(3) + key_bytes("fields"), fields, end]

    def type_of(self, owner: Type, depth: int) -> Pieces:
        if isinstance(owner, TupleType):
            self.types += len(owner.types)
            if self.types + self.count_types(owner) > MAX_TYPES:
                what = f"the tuple types of the program, written in full, are more than {MAX_TYPES} types"
                raise WireError.of("wire-too-large", what, _shown(owner))
        return self.view(owner, depth)

    def count_types(self, root: TupleType) -> int:
        """How many types ``root`` holds when it is written in full."""
        todo = [root]
        while todo:
            type_ = todo[-1]
            inner = [t for t in type_.types if isinstance(t, TupleType)]
            if unknown := [t for t in inner if id(t) not in self.type_counts]:
                todo += unknown
                continue
            self.type_counts[id(type_)] = len(type_.types) + sum(self.type_counts[id(t)] for t in inner)
            todo.pop()
        return self.type_counts[id(root)]

    def view(self, owner: object, depth: int) -> Pieces:
        cls: type = type(owner)
        return self.map_of(owner, _plan(cls), depth)

    def embedded_memref(self, memref: MemRef, depth: int) -> Pieces:
        return self.map_of(memref, _MEMREF_PLAN, depth)

    def map_of(self, owner: Any, plan: _Plan, depth: int) -> Pieces:
        pieces: Pieces = [b""]
        count = 0
        places: dict[int, int] = {}
        for i, entry in enumerate(plan.entries):
            value = entry.value_of(owner)
            omitted = entry.field.omitted
            if type(value) is type(omitted) and value == omitted:
                continue
            count += 1
            pieces.append(entry.key)
            if entry.leaf is not None or value is None:
                pieces.append(self.leaf(entry, value))
            else:
                places[i] = len(pieces)
                pieces.append(value)
        pieces[0] = map_header(count)
        for i in plan.backwards:
            if i in places:
                encode = plan.entries[i].encode
                assert encode is not None
                self.later(encode, pieces[places[i]], depth + 1, pieces, places[i])
        return pieces

    def leaf(self, entry: _Entry, value: Any) -> bytes:
        if value is None:
            if not entry.field.optional:
                what = f"expected {with_article(entry.field.base.__name__)}, got None"
                raise Fault("wire-wrong-kind", what, entry.field.key)
            return NIL
        if type(value) is Span and value in self.spans:
            return self.spans[value]
        assert entry.leaf is not None
        try:
            packed = entry.leaf(self.pack, value)
        except Fault as fault:
            raise fault.inside(entry.field.key) from None
        if type(value) is Span:
            self.spans[value] = packed
        return packed

    def list_of(self, encode: Encode, values: tuple[Any, ...], depth: int) -> Pieces:
        pieces: Pieces = [list_header(len(values)), *values]
        for place in range(len(values), 0, -1):
            self.later(encode, values[place - 1], depth + 1, pieces, place)
        return pieces

    def functions(self, functions: dict[GlobalVar, Function], depth: int) -> Pieces:
        pieces: Pieces = [list_header(len(functions))]
        for name, function in functions.items():
            if name.name != function.name:
                what = f"the key is {name.name!r}, but the function is named {function.name!r}"
                raise Fault("wire-invalid", what)
            key = key_bytes("key") + leaves.op_bytes(self.pack, name)
            pieces += (map_header(2) + key + key_bytes("value"), function)
        for place in range(len(pieces) - 1, 0, -2):
            self.later(_Writer.node, pieces[place], depth + 2, pieces, place)
        return pieces

    def attrs(self, attrs: AttrMap, depth: int) -> Pieces:
        pieces: Pieces = [list_header(len(attrs))]
        places: list[tuple[Encode, int]] = []
        for key, value in attrs.items():
            kind = attrs.kinds[key]
            self.reach(depth + leaves.ATTR_LEVELS[kind], attrs)
            try:
                head = leaves.attr_head(self.pack, key)
                packed = leaves.ATTRS[kind](self.pack, value)
            except Fault as fault:
                raise fault.inside(repr(key)) from None
            pieces += (head, packed)
            if kind in _NODE_ATTRS:
                places.append((_NODE_ATTRS[kind], len(pieces)))
                pieces.append(value)
        for encode, place in reversed(places):
            self.later(encode, pieces[place], depth + 3, pieces, place)
        return pieces

    def node_or_nil(self, node: IRNode | None, depth: int) -> bytes | Pieces:
        return NIL if node is None else self.node(node, depth)


_NODE_ATTRS: dict[AttrKind, Encode] = {
    AttrKind.VAR: _Writer.node_or_nil,
    AttrKind.EXPR: _Writer.node_or_nil,
    AttrKind.VARS: lambda writer, values, depth: writer.list_of(_Writer.node_or_nil, values, depth),
}

_NESTED: dict[Kind, Encode] = {
    Kind.NODE: _Writer.node,
    Kind.TYPE: _Writer.type_of,
    Kind.VIEW: _Writer.view,
    Kind.MEMREF: _Writer.embedded_memref,
    Kind.ATTRS: _Writer.attrs,
    Kind.FUNCTIONS: _Writer.functions,
}


@cache
def _plan(cls: type) -> _Plan:
    """How the fields of a class are written; raises Fault for a class without wire form."""
    if (
        cls not in (TensorView, TileView)
        and cls not in TYPE_KINDS
        and NODE_CLASSES.get(cls.__name__) is not cls
    ):
        raise Fault("wire-unknown-node", f"{with_article(cls.__name__)} has no wire form")
    return _plan_of(layout_of(cls))


def _plan_of(layout: Layout) -> _Plan:
    fields = [field for field in layout.fields if not field.legacy]
    ordered = sorted(fields, key=lambda field: field.key)
    return _Plan(
        tuple(_entry(field) for field in ordered),
        tuple(ordered.index(field) for field in reversed(fields) if field.kind in _NESTED),
    )


def _entry(field: WireField) -> _Entry:
    leaf, encode = leaves.LEAVES.get(field.kind), _NESTED.get(field.kind)
    if field.many:
        leaf = leaf and leaves.leaf_list(leaf)
        encode = encode and _each(encode)
    return _Entry(key_bytes(field.key), field, attrgetter(field.attr), leaf, encode)


def _each(encode: Encode) -> Encode:
    return lambda writer, values, depth: writer.list_of(encode, values, depth)


def _joined(pieces: Pieces) -> bytes:
    found: list[bytes] = []
    todo = [iter(pieces)]
    while todo:
        for piece in todo[-1]:
            if type(piece) is bytes:
                found.append(piece)
            else:
                todo.append(iter(piece))
                break
        else:
            todo.pop()
    return b"".join(found)


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, IRNode) else with_article(type(value).__name__)


_MEMREF_PLAN = _plan_of(EMBEDDED_MEMREF)
