"""Compile-time values: Python numbers that expressions fold, and the members of language enumerations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from enum import Enum
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.diagnostics import ParserTypeError, UnsupportedFeatureError
from pypto_tmpl.language.scopes import PythonValue, Reader

_MAX_BITS = 1024  # far above any int64 and below what takes time to compute

_COMPUTE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}

ENUMERATIONS: dict[str, type[Enum]] = {
    cls.__name__: cls
    for cls in (
        ir.MemorySpace, ir.TensorLayout, ir.TileLayout, ir.PadValue, ir.CompactMode, ir.SplitMode,
        ir.AtomicType, ir.PipeType, ir.CoreType, ir.NotifyOp, ir.WaitCmp, ir.ReduceOp, ir.FunctionType,
        ir.Level, ir.Role,
    )
}  # fmt: skip
ENUMERATIONS["Mem"] = ir.MemorySpace

MASK_PATTERNS = {"P0101": 1, "P1010": 2, "P0001": 3, "P0010": 4, "P0100": 5, "P1000": 6, "P1111": 7}
CAST_MODES = {"none": 0, "rint": 1, "round": 2, "floor": 3, "ceil": 4, "trunc": 5, "odd": 6}
DIRECTIONS = {
    "input": ir.ArgDirection.Input,
    "output": ir.ArgDirection.Output,
    "output_existing": ir.ArgDirection.OutputExisting,
    "inout": ir.ArgDirection.InOut,
    "no_dep": ir.ArgDirection.NoDep,
    "scalar": ir.ArgDirection.Scalar,
}
DATA_TYPES: dict[str, ir.DataType] = {
    name: value
    for name, value in vars(ir.DataType).items()
    if isinstance(value, ir.DataType) and not name.startswith("DEFAULT")
}
_MEMBERS: dict[tuple[str, str], Any] = {
    (owner, name): member for owner, cls in ENUMERATIONS.items() for name, member in cls.__members__.items()
}
_MEMBERS |= {("adir", name): member for name, member in DIRECTIONS.items()}
_MEMBERS |= {("MaskPattern", name): code for name, code in MASK_PATTERNS.items()}


def member(node: ast.expr) -> Any:
    """The enumeration member, layout or data type that an attribute names; None where it names none.

    The prefix does not count: ``pl.FP32``, ``X.FP32``; ``pl.Mem.Vec``, ``Mem.Vec``.
    """
    if not isinstance(node, ast.Attribute):
        return None
    owner = node.value
    if isinstance(owner, ast.Attribute):
        return _MEMBERS.get((owner.attr, node.attr))
    if isinstance(owner, ast.Name):
        found = _MEMBERS.get((owner.id, node.attr))
        if found is None:
            found = DATA_TYPES.get(node.attr)
        return ir.TensorLayout.__members__.get(node.attr) if found is None else found
    return None


def enum_member(reader: Reader, node: ast.expr, kind: type[Enum], what: str) -> Any:
    """A member of ``kind``; the enumeration that the text names must be that one."""
    found = member(resolved(reader, node))
    if isinstance(found, kind):
        return found
    hint = allowed_note(f"members of {kind.__name__}", list(kind.__members__), getattr(node, "attr", ""))
    raise reader.error(ParserTypeError, node, f"{what} is a {kind.__name__}, not {shown(node)}", hint)


def data_type(reader: Reader, node: ast.expr) -> ir.DataType:
    """The data type that ``node`` names."""
    found = member(resolved(reader, node))
    if isinstance(found, ir.DataType):
        return found
    hint = allowed_note("data types", list(DATA_TYPES), getattr(node, "attr", ""))
    raise reader.error(ParserTypeError, node, f"{shown(node)} is no data type", hint)


def resolved(reader: Reader, node: ast.expr) -> ast.expr:
    """``node``, or what the module level says its name stands for: ``DT`` after ``DT = pl.FP32``."""
    if isinstance(node, ast.Name) and node.id in reader.module.members and not reader.names.find(node.id):
        return reader.module.members[node.id]
    return node


def fold(op: ast.operator, left: PythonValue, right: PythonValue) -> PythonValue:
    """Python's value of ``left op right``; ValueError or TypeError where there is none to be had cheaply."""
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        raise TypeError("only numbers are computed with")
    if type(op) not in _COMPUTE:
        raise TypeError("this operator is no arithmetic")
    if isinstance(left, int) and isinstance(right, int):
        grows = isinstance(op, (ast.Pow, ast.LShift, ast.Mult))
        by = right if isinstance(op, ast.LShift) else right.bit_length()
        bits = right * left.bit_length() if isinstance(op, ast.Pow) else left.bit_length() + by
        if grows and bits > _MAX_BITS:
            raise ValueError("the value is too large")
    value: PythonValue = _COMPUTE[type(op)](left, right)
    if isinstance(value, complex):
        raise ValueError("the value is no real number")
    return value


def python_value(reader: Reader, node: ast.expr) -> PythonValue:
    """The Python value of a literal, a module constant or arithmetic on them; TypeError for anything else."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name in reader.module.values and not reader.names.find(name):
            return reader.module.values[name]
        case ast.UnaryOp(op=op, operand=operand):
            return unary(op, python_value(reader, operand))
        case ast.BinOp(left=left, op=operation, right=right):
            return fold(operation, python_value(reader, left), python_value(reader, right))
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return tuple(python_value(reader, element) for element in elements)
    raise TypeError(f"{shown(node)} is no compile-time value")


def unary(op: ast.unaryop, value: PythonValue) -> PythonValue:
    """Python's value of a unary operator on a number."""
    if isinstance(op, ast.Not):
        return not value
    if not isinstance(value, (int, float)):
        raise TypeError("only numbers are computed with")
    if isinstance(op, ast.USub):
        return -value
    if isinstance(op, ast.UAdd):
        return +value
    if not isinstance(value, int):
        raise TypeError("~ takes an integer")
    return ~value


def integer(reader: Reader, node: ast.expr, what: str) -> int:
    """A compile-time integer."""
    try:
        value = python_value(reader, node)
    except (TypeError, ValueError, ArithmeticError):
        value = None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise reader.error(ParserTypeError, node, f"{what} is a compile-time integer, not {shown(node)}")


def boolean(reader: Reader, node: ast.expr, what: str) -> bool:
    """A literal True or False."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    raise reader.error(ParserTypeError, node, f"{what} is True or False, not {shown(node)}")


def string(reader: Reader, node: ast.expr, what: str) -> str:
    """A literal string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise reader.error(ParserTypeError, node, f"{what} is a string, not {shown(node)}")


def shown(node: ast.AST) -> str:
    """The text of ``node`` for a message, cut where it is long or goes on in another line."""
    try:
        text, _, more = ast.unparse(node).partition("\n")
    except (RecursionError, ValueError):
        return "this expression"
    if len(text) > 60:
        return repr(text[:57] + "...")
    return repr(text + " ..." if more else text)


def type_text(type_: ir.Type) -> str:
    """The text of a type for a message, cut where it is long."""
    try:
        text = ir.python_print(type_, format=False)
    except (ValueError, RecursionError):
        text = type(type_).__name__
    return text if len(text) <= 100 else text[:97] + "..."


def unsupported(reader: Reader, node: ast.AST, what: str, hint: str | None = None) -> UnsupportedFeatureError:
    """The error for Python that is not part of the language."""
    error = reader.error(UnsupportedFeatureError, node, f"{what} is not supported", hint)
    assert isinstance(error, UnsupportedFeatureError)
    return error
