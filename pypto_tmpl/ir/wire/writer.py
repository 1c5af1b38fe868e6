"""IR to bytes.

Nodes are numbered and first written in declaration order while maps stand in key order, so a node's
map is a list of pieces that are filled out of order and joined at the end. The walk keeps its own
stack: the depth of a program is bounded by the format, not by Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import msgpack

from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.expr import GlobalVar, MemRef, Op
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.wire.errors import WireError
from pypto_tmpl.ir.wire.layout import (
    EMBEDDED_MEMREF,
    REQUIRED,
    TYPE_KINDS,
    Kind,
    Layout,
    WireField,
    layout_of,
)
from pypto_tmpl.ir.wire.limits import MAX_DEPTH

Rope: TypeAlias = "list[Any]"  # of bytes and ropes; None until the walk has come there


def serialize(node: IRNode) -> bytes:
    """The bytes of ``node`` and all below it.

    Raises TypeError for anything but a node, WireError for a program that the format cannot hold.
    """
    if not isinstance(node, IRNode):
        raise TypeError(f"serialize takes an IR node, got {type(node).__name__}")
    return _Writer().write(node)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of a map as it is written: the packed key, and how its value is."""

    key: bytes
    attr: str
    omitted: object
    leaf: Callable[[_Writer, Any], bytes] | None
    nested: Callable[[_Writer, Any, int], Any] | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The entries of a map in key order, and their places in visit order, last first."""

    entries: tuple[_Entry, ...]
    backwards: tuple[int, ...]


class _Writer:
    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.pack: Callable[[object], bytes] = msgpack.Packer().pack
        self.spans: dict[Span, bytes] = {}
        self.stack: list[tuple[Callable[[_Writer, Any, int], Any], Any, int, Rope, int]] = []

    def write(self, root: IRNode) -> bytes:
        out: Rope = [None]
        self.stack.append((_Writer.node, root, 1, out, 0))
        while self.stack:
            visit, value, depth, rope, place = self.stack.pop()
            rope[place] = visit(self, value, depth)
        return b"".join(_flat(out))

    def node(self, node: IRNode, depth: int) -> bytes | Rope:
        number = self.numbers.get(id(node))
        if number is not None:
            self.reach(depth, node)
            return _REF + self.pack(number)
        self.reach(depth + 2, node)  # its span is a map in its fields map
        self.numbers[id(node)] = number = len(self.numbers)
        head, tail = _node_frame(type(node))
        return [head, self.map(node, _plan(type(node)), depth + 1), _ID, self.pack(number), tail]

    def map(self, owner: object, plan: _Plan, depth: int) -> Rope:
        """Header and entries of a map at ``depth``; what holds nodes is left to the walk."""
        rope: Rope = [b""]
        places: dict[int, int] = {}
        count = 0
        for i, entry in enumerate(plan.entries):
            value = getattr(owner, entry.attr)
            if type(value) is type(entry.omitted) and value == entry.omitted:
                continue
            count += 1
            rope.append(entry.key)
            if entry.leaf is not None:
                rope.append(entry.leaf(self, value))
            elif value is None:
                rope.append(b"\xc0")
            else:
                places[i] = len(rope)
                rope.append(value)
        rope[0] = bytes((0x80 | count,))
        for i in plan.backwards:
            if (place := places.get(i)) is not None:
                nested = plan.entries[i].nested
                assert nested is not None
                self.stack.append((nested, rope[place], depth + 1, rope, place))
        return rope

    def list(self, visit: Callable[[_Writer, Any, int], Any], values: tuple[Any, ...], depth: int) -> Rope:
        self.reach(depth, values)
        rope: Rope = [_array_header(len(values)), *values]
        for i in range(len(values), 0, -1):
            self.stack.append((visit, values[i - 1], depth + 1, rope, i))
        return rope

    def type(self, type_: Type, depth: int) -> Rope:
        self.reach(depth, type_)
        return self.map(type_, _plan(type(type_)), depth)

    def view(self, view: object, depth: int) -> Rope:
        self.reach(depth, view)
        return self.map(view, _plan(type(view)), depth)

    def memref(self, memref: MemRef, depth: int) -> Rope:
        self.reach(depth, memref)
        return self.map(memref, _EMBEDDED_PLAN, depth)

    def functions(self, functions: dict[GlobalVar, Function], depth: int) -> Rope:
        self.reach(depth + 2, functions)
        rope: Rope = [_array_header(len(functions))]
        places: list[tuple[int, Function]] = []
        for name, function in functions.items():
            rope += (b"\x82\xa3key", _op(self, name), b"\xa5value", None)
            places.append((len(rope) - 1, function))
        for place, function in reversed(places):
            self.stack.append((_Writer.node, function, depth + 2, rope, place))
        return rope

    def attrs(self, attrs: AttrMap, depth: int) -> Rope:
        self.reach(depth + (1 if attrs else 0), attrs)
        rope: Rope = [_array_header(len(attrs))]
        pushed = []
        for key, value in attrs.items():
            rope += (b"\x82\xa3key", self.pack(key), b"\xa5value")
            kind = attrs.kinds[key]
            if kind in _TAGGED_NODES:
                self.reach(depth + 2, attrs)
                rope += (b"\x82\xa4type", self.pack(kind.value), b"\xa5value", None)
                visit = _Writer.var_list if kind is AttrKind.VARS else _Writer.optional_node
                pushed.append((visit, value, depth + 3, rope, len(rope) - 1))
            else:
                rope.append(self.attr_value(key, kind, value, depth + 2))
        self.stack += reversed(pushed)
        return rope

    def attr_value(self, key: str, kind: AttrKind, value: Any, depth: int) -> bytes:
        """A value that holds no node; ``depth`` is that of its tagged map."""
        if (leaf := _PLAIN_ATTRS.get(kind)) is not None:
            return leaf(self, value)
        self.reach(depth, value)
        tag = self.pack(kind.value)
        if kind is AttrKind.DATA_TYPE:
            return b"\x82\xa4code" + self.pack(value.code()) + b"\xa4type" + tag
        if kind in (AttrKind.INT32S, AttrKind.ARG_DIRECTIONS):
            self.reach(depth + 1, value)
            items = value if kind is AttrKind.INT32S else [v.value for v in value]
            return b"\x82\xa4type" + tag + b"\xa5value" + _many(_int)(self, items)
        code = value.value if kind is AttrKind.ARG_DIRECTION else value.name
        return b"\x82\xa4type" + tag + b"\xa5value" + self.pack(code)

    def optional_node(self, node: IRNode | None, depth: int) -> bytes | Rope:
        return b"\xc0" if node is None else self.node(node, depth)

    def var_list(self, values: tuple[Any, ...], depth: int) -> Rope:
        return self.list(_Writer.optional_node, values, depth)

    def reach(self, depth: int, what: object) -> None:
        if depth > MAX_DEPTH:
            raise WireError(
                f"the program nests deeper than {MAX_DEPTH} MessagePack levels",
                slug="wire-too-deep",
                where=repr(what),
            )


def _flat(rope: Rope) -> Iterable[bytes]:
    out: list[bytes] = []
    stack = [iter(rope)]
    while stack:
        for part in stack[-1]:
            if type(part) is bytes:
                out.append(part)
            else:
                stack.append(iter(part))
                break
        else:
            stack.pop()
    return out


_REF = b"\x81\xa3ref"
_ID = b"\xa2id"
_TYPE_KIND_FIELD = WireField("type_kind", "__class__", Kind.TYPE_KIND, type)
_TAGGED_NODES = frozenset({AttrKind.VAR, AttrKind.EXPR, AttrKind.VARS})


@cache
def _node_frame(cls: type) -> tuple[bytes, bytes]:
    return b"\x83\xa6fields", msgpack.packb("type") + msgpack.packb(cls.__name__)


@cache
def _plan(cls: type) -> _Plan:
    plan = layout_of(cls)
    if issubclass(cls, Type):
        plan = Layout((*plan.fields, _TYPE_KIND_FIELD))
    return _plan_of(plan)


def _plan_of(layout: Layout) -> _Plan:
    ordered = sorted(layout.fields, key=lambda field: field.key.encode())
    return _Plan(
        tuple(_entry(field) for field in ordered),
        tuple(ordered.index(field) for field in reversed(layout.fields)),
    )


def _entry(field: WireField) -> _Entry:
    leaf, nested = _LEAVES.get(field.kind), _NESTED.get(field.kind)
    if field.many:
        leaf = leaf and _many(leaf)
        nested = nested and _each(nested)
    if leaf is not None and field.omitted is REQUIRED:
        leaf = _or_nil(leaf)
    return _Entry(msgpack.packb(field.key), field.attr, field.omitted, leaf, nested)


def _each(visit: Callable[[_Writer, Any, int], Any]) -> Callable[[_Writer, Any, int], Any]:
    return lambda writer, values, depth: writer.list(visit, values, depth)


def _many(leaf: Callable[[_Writer, Any], bytes]) -> Callable[[_Writer, Any], bytes]:
    return lambda writer, values: _array_header(len(values)) + b"".join(leaf(writer, v) for v in values)


def _or_nil(leaf: Callable[[_Writer, Any], bytes]) -> Callable[[_Writer, Any], bytes]:
    return lambda writer, value: b"\xc0" if value is None else leaf(writer, value)


@cache
def _array_header(count: int) -> bytes:
    return msgpack.Packer().pack_array_header(count)


def _span(writer: _Writer, span: Span) -> bytes:
    found = writer.spans.get(span)
    if found is None:
        pack = writer.pack
        found = writer.spans[span] = b"".join(
            (
                b"\x85\xacbegin_column",
                pack(span.begin_column),
                b"\xaabegin_line",
                pack(span.begin_line),
                b"\xaaend_column",
                pack(span.end_column),
                b"\xa8end_line",
                pack(span.end_line),
                b"\xa8filename",
                pack(span.filename),
            )
        )
    return found


def _op(writer: _Writer, op: Op) -> bytes:
    flag = b"\xc3" if isinstance(op, GlobalVar) else b"\xc2"
    return b"\x82\xadis_global_var" + flag + b"\xa4name" + writer.pack(op.name)


def _int(writer: _Writer, value: int) -> bytes:
    return writer.pack(value)


def _float(writer: _Writer, value: float) -> bytes:
    """A number; upstream writes an integral one in range as an integer."""
    if value.is_integer() and -(2.0**63) <= value < 2.0**64:
        return writer.pack(int(value))
    return writer.pack(value)


_LEAVES: dict[Kind, Callable[[_Writer, Any], bytes]] = {
    Kind.SPAN: _span,
    Kind.OP: _op,
    Kind.DTYPE: lambda writer, dtype: writer.pack(dtype.code()),
    Kind.CODE: lambda writer, member: writer.pack(member.value),
    Kind.NAME: lambda writer, member: writer.pack(member.name),
    Kind.BOOL: lambda writer, value: writer.pack(value),
    Kind.INT: _int,
    Kind.FLOAT: _float,
    Kind.STR: lambda writer, text: writer.pack(text),
    Kind.TYPE_KIND: lambda writer, cls: writer.pack(TYPE_KINDS[cls]),
    Kind.BASE_NAME: lambda writer, var: writer.pack(var.name_hint),
}

_NESTED: dict[Kind, Callable[[_Writer, Any, int], Any]] = {
    Kind.NODE: _Writer.node,
    Kind.TYPE: _Writer.type,
    Kind.VIEW: _Writer.view,
    Kind.MEMREF: _Writer.memref,
    Kind.ATTRS: _Writer.attrs,
    Kind.FUNCTIONS: _Writer.functions,
}

_PLAIN_ATTRS: dict[AttrKind, Callable[[_Writer, Any], bytes]] = {
    AttrKind.BOOL: _LEAVES[Kind.BOOL],
    AttrKind.INT: _int,
    AttrKind.FLOAT: _float,
    AttrKind.STR: _LEAVES[Kind.STR],
}

_EMBEDDED_PLAN = _plan_of(EMBEDDED_MEMREF)
