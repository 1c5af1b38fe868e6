"""Compile-time values: what expressions without variables of the language are worth in Python (spec, 9).

Nothing is executed: names, attributes, subscripts, operators and a few harmless builtins are evaluated
here, on the values that the names stand for outside of the function.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from pypto_tmpl.language.annotations import Dimension
from pypto_tmpl.language.constants import member, shown
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.reader import PythonValue, Reader

_PATH_METHODS = frozenset({"resolve", "absolute", "joinpath", "with_name", "with_suffix"})
_MAX_BITS = 1024  # far above any int64 and below what takes time to compute
_MAX_LENGTH = 1 << 16

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
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
BUILTINS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        function.__name__: function
        for function in (len, max, min, abs, sum, round, int, float, bool, list, tuple, isinstance, type)
    }
)


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


def python_value(reader: Reader, node: ast.expr) -> Any:
    """The Python value of an expression without variables; TypeError or ValueError where it has none."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name in reader.module.closure and not reader.names.find(name):
            found = reader.module.closure[name]
            return tuple(found) if isinstance(found, list) else found
        case ast.UnaryOp(op=op, operand=operand):
            return unary(op, python_value(reader, operand))
        case ast.BinOp(left=left, op=operation, right=right):
            return _binary(operation, python_value(reader, left), python_value(reader, right))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return bool(COMPARE[type(comparison)](python_value(reader, left), python_value(reader, right)))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_truth(python_value(reader, value)) for value in values)
        case ast.BoolOp(values=values):
            return any(_truth(python_value(reader, value)) for value in values)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return tuple(python_value(reader, element) for element in elements)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(reader, node, owner, name)
        case ast.Subscript(value=base, slice=index):
            return _element(python_value(reader, base), python_value(reader, index))
        case ast.Slice():
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else python_value(reader, part) for part in parts))
        case ast.Call(func=function, args=args, keywords=[]):
            return _call(reader, function, args)
    raise TypeError(f"{shown(node)} is no compile-time value")


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Arithmetic on numbers and dimensions, and sums of sequences."""
    if isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, (tuple, str)):
        return left + right
    if isinstance(left, Dimension) or isinstance(right, Dimension):
        return _COMPUTE[type(op)](left, right)
    if isinstance(op, ast.Div) and isinstance(left, PurePath) and isinstance(right, (str, PurePath)):
        return _COMPUTE[type(op)](left, right)
    return fold(op, left, right)


def _truth(value: Any) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, tuple)):
        return bool(value)
    raise TypeError(f"a {type(value).__name__} is no truth value")


def _attribute(reader: Reader, node: ast.Attribute, owner: ast.expr, name: str) -> Any:
    """``cfg.tile_m``: attributes of values that names stand for; else a member of the language."""
    root, module = owner, reader.module
    if isinstance(owner, ast.Call | ast.BinOp) and isinstance(path := python_value(reader, owner), PurePath):
        return _part_of(path, name)
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in module.closure and root.id not in module.language:
        value = python_value(reader, owner)
        if name.startswith("_"):
            raise TypeError(f"the attribute {name!r} is private")
        return getattr(value, name)
    found = member(node)
    if found is None:
        raise TypeError(f"{shown(node)} is no compile-time value")
    return found


def _element(base: Any, index: Any) -> Any:
    if isinstance(base, (list, tuple, dict, str)):
        return base[index]
    raise TypeError(f"a {type(base).__name__} has no elements")


def _call(reader: Reader, function: ast.expr, args: list[ast.expr]) -> Any:
    match function:
        case ast.Name(id="range") if "range" not in reader.module.closure:
            found = range(*(python_value(reader, arg) for arg in args))
            if len(found) > _MAX_LENGTH:
                raise ValueError(f"a range of more than {_MAX_LENGTH} numbers")
            return tuple(found)
        case ast.Name(id=name) if name in BUILTINS and name not in reader.module.closure:
            value = BUILTINS[name](*(python_value(reader, arg) for arg in args))
            return tuple(value) if isinstance(value, list) else value
        case ast.Attribute(value=owner, attr=name) if name in _PATH_METHODS:
            path = python_value(reader, owner)
            if isinstance(path, PurePath):
                return getattr(path, name)(*(python_value(reader, arg) for arg in args))
        case ast.Attribute(value=owner, attr="get_byte" | "get_bit" as name):
            return getattr(python_value(reader, owner), name)()
    kind = compile_time(reader, function)
    if isinstance(kind, type) and issubclass(kind, PurePath):
        return kind(*(python_value(reader, arg) for arg in args))
    raise TypeError(f"{shown(function)} cannot be called at compile time")


def _part_of(path: PurePath, name: str) -> Any:
    if name.startswith("_"):
        raise TypeError(f"the attribute {name!r} is private")
    return getattr(path, name)


def compile_time(reader: Reader, node: ast.expr) -> Any:
    """``python_value``, and NotImplemented for what has none."""
    try:
        return python_value(reader, node)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return NotImplemented


def integer(reader: Reader, node: ast.expr, what: str) -> int:
    """A compile-time integer."""
    value = compile_time(reader, node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise reader.error(ParserTypeError, node, f"{what} is a compile-time integer, not {shown(node)}")


def boolean(reader: Reader, node: ast.expr, what: str) -> bool:
    """A compile-time True or False."""
    value = compile_time(reader, node)
    if isinstance(value, bool):
        return value
    raise reader.error(ParserTypeError, node, f"{what} is True or False, not {shown(node)}")


def string(reader: Reader, node: ast.expr, what: str) -> str:
    """A compile-time string."""
    value = compile_time(reader, node)
    if isinstance(value, str):
        return value
    raise reader.error(ParserTypeError, node, f"{what} is a string, not {shown(node)}")


def sequence(reader: Reader, node: ast.expr) -> Sequence[Any] | None:
    """The items of a compile-time list or tuple, None where ``node`` is none."""
    value = compile_time(reader, node)
    return value if isinstance(value, tuple) else None
