"""Memory references: declared buffers, and placed byte ranges (spec, 4.5)."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.language.annotations import MemRef
from pypto_tmpl.language.constants import enum_member, shown
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.expressions import in_type
from pypto_tmpl.language.folding import boolean, integer
from pypto_tmpl.language.reader import Reader


def memory_reference(reader: Reader, node: ast.expr) -> ir.MemRef:
    """A MemRef, declared or placed, perhaps with the index of one of its slots."""
    slot: ir.Expr | None = None
    whole = node
    if isinstance(node, ast.Subscript):
        slot, node = in_type(reader, node.slice), node.value
    if isinstance(node, ast.Name) and isinstance(buffer := reader.module.closure.get(node.id), MemRef):
        return _declared(reader, whole, _buffer_name(reader, node, buffer), buffer.slots, slot)
    if not (isinstance(node, ast.Call) and is_memory_reference(node)):
        raise reader.error(ParserTypeError, node, f"{shown(node)} is no part of a type")
    slots, pinned = _options(reader, node)
    match node.args:
        case [ast.Constant(value=str() as name)]:
            return _declared(reader, whole, name, slots, slot)
        case [base, offset, size] | [base, offset, size, _]:
            where, start, length = _place(reader, base, offset, size, node.args)
            if not reader.module.printed:
                _check_slot(reader, whole, slots, slot)
            return ir.MemRef(
                where,
                in_type(reader, start),
                integer(reader, length, "the size of a MemRef"),
                span=reader.span(whole),
                is_pinned=pinned,
                slots=slots,
                slot=slot,
            )
    raise reader.error(ParserTypeError, node, "a MemRef is pl.MemRef(base, offset, size) or pl.MemRef(name)")


def _buffer_name(reader: Reader, node: ast.Name, buffer: MemRef) -> str:
    """The name of a declared buffer: its own, or that of the one Python variable that holds it."""
    closure = reader.module.closure
    if buffer.args and isinstance(buffer.args[0], str):
        name = buffer.args[0]
    else:
        name = node.id
        others = [other for other, value in closure.items() if value is buffer and other != node.id]
        if others:
            message = f"one buffer is named {node.id!r} and {others[0]!r}"
            raise reader.error(ParserTypeError, node, message, "give every buffer one name")
    known = reader.module.buffers.setdefault(name, buffer)
    if known is not buffer:
        raise reader.error(ParserTypeError, node, f"two buffers are named {name!r}")
    return name


def is_memory_reference(node: ast.expr) -> bool:
    """Whether an expression is ``pl.MemRef(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "MemRef"


def _options(reader: Reader, node: ast.Call) -> tuple[int, bool]:
    """The number of slots, and whether the range is pinned."""
    slots, pinned = 1, False
    for keyword in node.keywords:
        if keyword.arg == "slots":
            slots = integer(reader, keyword.value, "slots")
        elif keyword.arg == "pinned":
            pinned = boolean(reader, keyword.value, "pinned")
        else:
            raise reader.error(ParserTypeError, keyword.value, f"unknown MemRef argument {keyword.arg!r}")
    return slots, pinned


def _declared(reader: Reader, node: ast.expr, name: str, slots: int, slot: ir.Expr | None) -> ir.MemRef:
    base = reader.names.pointer(name)
    _check_slot(reader, node, slots, slot)
    return ir.MemRef(base, 0, 0, span=reader.span(node), is_pinned=True, slots=slots, slot=slot)


def _check_slot(reader: Reader, node: ast.expr, slots: int, slot: ir.Expr | None) -> None:
    """An index picks one of several slots, and a constant one that there is."""
    if slot is not None and slots == 1 and not reader.module.printed:
        message = "a MemRef of one slot takes no index"
        raise reader.error(ParserTypeError, node, message, "leave out the index, or give it slots=N")
    if isinstance(slot, ir.ConstInt) and slots > 1 and not 0 <= slot.value < slots:
        raise reader.error(ParserTypeError, node, f"slot {slot.value} of a MemRef with {slots} slots")


def _place(
    reader: Reader, first: ast.expr, second: ast.expr, third: ast.expr, args: list[ast.expr]
) -> tuple[ir.Var, ast.expr, ast.expr]:
    """Base, offset and size of a placed MemRef, also in its two legacy spellings."""
    if len(args) == 4:  # (space, address, size, number)
        space = enum_member(reader, first, ir.MemorySpace, "the memory space of a MemRef")
        number = integer(reader, args[3], "the number of a MemRef")
        return reader.names.pointer(f"mem_{space.name.lower()}_{number}"), second, third
    match first:
        case ast.Name(id=name) | ast.Constant(value=str() as name):
            return reader.names.pointer(name), second, third
    number = integer(reader, third, "the number of a MemRef")  # (address, size, number)
    return reader.names.pointer(f"mem_{number}"), first, second
