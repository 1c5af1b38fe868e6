"""IR to bytes.

Nodes are numbered and written in full where declaration order meets them first, while maps stand in key
order. So a map is a list of pieces that are filled in one order and joined in another; the number of a node
stays a number until then. The walk keeps its own stack: the format bounds the depth of a program, not Python.
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
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import GlobalVar
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.types import TensorView, TileView
from pypto_tmpl.ir.wire import encode_leaves as leaves
from pypto_tmpl.ir.wire.encode_leaves import NIL, EncodeLeaf, key_bytes, list_header, map_header
from pypto_tmpl.ir.wire.errors import Fault, WireError, with_article
from pypto_tmpl.ir.wire.kept import Kept, WrittenFunction
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
from pypto_tmpl.ir.wire.tolerance import REQUIRED

Pieces: TypeAlias = "list[Any]"
"""Bytes, numbers of nodes and further pieces; for a while also the values that the walk has yet to encode."""

Encode: TypeAlias = "Callable[[_Writer, Any, int], bytes | Pieces]"
"""Encodes a value whose outermost container is at a depth."""


def serialize(node: IRNode) -> bytes:
    """The bytes of ``node`` and all below it.

    Raises TypeError for anything but a node, WireError for a program that the format cannot hold.
    """
    if not isinstance(node, IRNode):
        raise TypeError(f"serialize takes an IR node, got {type(node).__name__}")
    with collector_paused():
        return _Writer(None).write(node)


class Serializer:
    """Writes one program after the other; a function that the one before had as well is not walked again."""

    def __init__(self) -> None:
        self._kept = Kept()

    def serialize(self, program: Program) -> bytes:
        """The bytes of a program. Raises what the function ``serialize`` raises."""
        with collector_paused():
            found = _Writer(self._kept).write(program)
        self._kept.turn()
        return found


_Entry: TypeAlias = "tuple[bytes, Callable[[Any], Any], EncodeLeaf | None, object, WireField]"
"""One key of a map as it is written: key, value, encoder of a leaf, the value that is left out, field."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The entries of a map in key order, with the encoders of those that are no leaves.

    ``backwards`` are the places of those with nodes in reverse visit order.
    """

    entries: tuple[_Entry, ...]
    encoders: tuple[Encode | None, ...]
    backwards: tuple[int, ...]


class _Writer:
    def __init__(self, kept: Kept | None) -> None:
        self.kept = kept
        self.pack: leaves.Pack = msgpack.Packer().pack
        self.numbers: dict[int, int] = {}  # by identity of the node
        self.spans: dict[int, bytes] = {}  # by identity
        self.scalars: dict[DataType, Pieces] = {}  # their types
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
        return self.joined(_flat(pieces))

    def later(self, encode: Encode, value: object, depth: int, owner: Pieces, place: int) -> None:
        """Have ``owner[place]`` filled; what is put off last is done first, and what was written at once."""
        if depth > MAX_DEPTH:
            raise _too_deep(value)
        if encode is _AS_NODE and (number := self.numbers.get(id(value))) is not None:
            owner[place] = [_REFERENCE, number]
        else:
            self.todo.append((encode, value, depth, owner, place))

    def node(self, node: IRNode, depth: int) -> bytes | Pieces:
        number = self.numbers.get(id(node))
        if number is not None:
            return [_REFERENCE, number]
        if depth + 2 > MAX_DEPTH:  # the map of its span in the map of its fields
            raise _too_deep(node)
        self.numbers[id(node)] = number = len(self.numbers)
        cls: type = type(node)
        pieces = self.map_of(node, _plan(cls), depth + 1, _NODE)
        pieces[-1] += _NUMBER
        pieces += (number, _class_bytes(cls))
        return pieces

    def type_of(self, owner: Type, depth: int) -> Pieces:
        if type(owner) is ScalarType:  # as are most
            known = self.scalars.get(owner.dtype)
            if known is None:
                known = self.scalars[owner.dtype] = self.view(owner, depth)
            return known
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

    def map_of(self, owner: Any, plan: _Plan, depth: int, head: bytes = b"") -> Pieces:
        """A map behind ``head``: bytes first and last, between the parts that are yet to be filled in."""
        pieces: Pieces = []
        text = b""
        count = 0
        places: dict[int, int] = {}
        for i, (key, value_of, leaf, omitted, field) in enumerate(plan.entries):
            value = value_of(owner)
            if omitted is not REQUIRED and type(value) is type(omitted) and value == omitted:
                continue
            count += 1
            if leaf is None and value is not None:
                places[i] = len(pieces) + 1
                pieces += (text + key, value)
                text = b""
            else:
                text += key + self.leaf(leaf, field, value)
        pieces.append(text)
        pieces[0] = head + map_header(count) + pieces[0]
        for i in plan.backwards if places else ():
            if i in places:
                encode = plan.encoders[i]
                assert encode is not None
                self.later(encode, pieces[places[i]], depth + 1, pieces, places[i])
        return pieces

    def leaf(self, encode: EncodeLeaf | None, field: WireField, value: Any) -> bytes:
        if value is None:
            if not field.optional:
                what = f"expected {with_article(field.base.__name__)}, got None"
                raise Fault("wire-wrong-kind", what, field.key)
            return NIL
        is_span = type(value) is Span
        if is_span and (known := self.spans.get(id(value))) is not None:
            return known
        assert encode is not None
        try:
            packed = encode(self.pack, value)
        except Fault as fault:
            raise fault.inside(field.key) from None
        if is_span:
            self.spans[id(value)] = packed
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
        encode: Encode = _Writer.node if self.kept is None else _Writer.function
        for place in range(len(pieces) - 1, 0, -2):
            self.later(encode, pieces[place], depth + 2, pieces, place)
        return pieces

    def function(self, function: Function, depth: int) -> bytes | Pieces:
        """A function of a program, as it is kept of the one before, or to be kept for the next one."""
        assert self.kept is not None
        found = self.kept.find(function)
        if found and found.fits(self.numbers) and self.types + found.types <= MAX_TYPES:
            self.types += found.types
            self.kept.keep(found)
            return found.written(self.numbers, self.pack)
        pieces: Pieces = [b""]
        # What is put off before the node is done when all that is below the node is.
        start = function, len(self.numbers), self.types
        self.later(_Writer.keep, (*start, pieces), depth, pieces, 0)
        pieces[0] = self.node(function, depth)
        return pieces

    def keep(self, started: tuple[Function, int, int, Pieces], depth: int) -> bytes:
        """The bytes of a function that was walked."""
        assert self.kept is not None
        function, first, types, pieces = started
        parts = _flat(pieces)
        known = list(self.numbers)
        self.kept.keep(WrittenFunction(function, parts, first, known, self.types - types))
        return self.joined(parts)

    def joined(self, parts: list[Any]) -> bytes:
        """Bytes and numbers of nodes as bytes."""
        return b"".join([part if type(part) is bytes else self.pack(part) for part in parts])

    def attrs(self, attrs: AttrMap, depth: int) -> Pieces:
        pieces: Pieces = [list_header(len(attrs))]
        places: list[tuple[Encode, int]] = []
        for key, value in attrs.items():
            kind = attrs.kinds[key]
            if depth + leaves.ATTR_LEVELS[kind] > MAX_DEPTH:
                raise _too_deep(attrs)
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


_AS_NODE: Encode = _Writer.node

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
        tuple(_encoder(field) for field in ordered),
        tuple(ordered.index(field) for field in reversed(fields) if field.kind in _NESTED),
    )


def _entry(field: WireField) -> _Entry:
    leaf = leaves.LEAVES.get(field.kind)
    if field.many:
        leaf = leaf and leaves.leaf_list(leaf)
    return key_bytes(field.key), attrgetter(field.attr), leaf, field.omitted, field


def _encoder(field: WireField) -> Encode | None:
    encode = _NESTED.get(field.kind)
    return _each(encode) if field.many and encode else encode


def _each(encode: Encode) -> Encode:
    return lambda writer, values, depth: writer.list_of(encode, values, depth)


def _flat(pieces: Pieces) -> list[bytes | int]:
    found: list[bytes | int] = []
    todo = [iter(pieces)]
    while todo:
        for piece in todo[-1]:
            if type(piece) is list:
                todo.append(iter(piece))
                break
            found.append(piece)
        else:
            todo.pop()
    return found


def _too_deep(value: object) -> WireError:
    what = f"the program nests deeper than the {MAX_DEPTH} MessagePack levels that readers take"
    return WireError.of("wire-too-deep", what, _shown(value))


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, IRNode) else with_article(type(value).__name__)


@cache
def _class_bytes(cls: type) -> bytes:
    """What stands behind the number of a node."""
    return key_bytes("type") + key_bytes(cls.__name__)


_NODE = map_header(3) + key_bytes("fields")
_NUMBER = key_bytes("id")
_REFERENCE = map_header(1) + key_bytes("ref")
_MEMREF_PLAN = _plan_of(EMBEDDED_MEMREF)
