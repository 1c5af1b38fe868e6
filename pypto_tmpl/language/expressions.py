"""Expressions: names, constants, scalar operators, tuples. Calls register themselves (``calls.py``)."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from pypto_tmpl import ir, ops
from pypto_tmpl.errors import closest
from pypto_tmpl.language.annotations import PYTHON_OPERATORS, DimExpr, DynVar
from pypto_tmpl.language.constants import member, shown, unsupported
from pypto_tmpl.language.diagnostics import (
    ParserSyntaxError,
    ParserTypeError,
    PassedOverError,
    UndefinedVariableError,
)
from pypto_tmpl.language.folding import compile_time, fold, unary
from pypto_tmpl.language.reader import FREE_SUFFIX, PythonValue, Reader

Operand: TypeAlias = "ir.Expr | PythonValue"
"""What an expression reads as: bare numbers stay Python values, so that arithmetic on them folds."""

_READERS: dict[type[ast.expr], Callable[[Reader, Any], Operand]] = {}
_NON_FINITE = {"inf": math.inf, "nan": math.nan}  # how C++ streams write them

_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[..., ir.Expr]]] = {
    ast.Add: ("+", ir.add),
    ast.Sub: ("-", ir.sub),
    ast.Mult: ("*", ir.mul),
    ast.Div: ("/", ir.truediv),
    ast.FloorDiv: ("//", ir.floordiv),
    ast.Mod: ("%", ir.mod),
    ast.Pow: ("**", ir.pow),
    ast.LShift: ("<<", ir.bit_shift_left),
    ast.RShift: (">>", ir.bit_shift_right),
    ast.BitAnd: ("&", ir.bit_and),
    ast.BitOr: ("|", ir.bit_or),
    ast.BitXor: ("^", ir.bit_xor),
}
# Kernels compute these of compile-time values only; the printer writes them of others too.
_FOLDED_ONLY = (ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[..., ir.Expr], Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", ir.eq, operator.eq),
    ast.NotEq: ("!=", ir.ne, operator.ne),
    ast.Lt: ("<", ir.lt, operator.lt),
    ast.LtE: ("<=", ir.le, operator.le),
    ast.Gt: (">", ir.gt, operator.gt),
    ast.GtE: (">=", ir.ge, operator.ge),
}
_UNSUPPORTED: dict[type[ast.expr], str] = {
    ast.IfExp: "a conditional expression",
    ast.Lambda: "a lambda",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.JoinedStr: "an f-string",
    ast.Starred: "a starred expression",
    ast.NamedExpr: "an assignment expression",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Slice: "a slice",
}


def reads(
    kind: type[ast.expr],
) -> Callable[[Callable[[Reader, Any], Operand]], Callable[[Reader, Any], Operand]]:
    """Register a function as the reader of a kind of expression."""

    def register(function: Callable[[Reader, Any], Operand]) -> Callable[[Reader, Any], Operand]:
        _READERS[kind] = function
        return function

    return register


def operand(reader: Reader, node: ast.expr) -> Operand:
    """The expression ``node``; a bare number stays a Python value."""
    read = _READERS.get(type(node))
    if read is None:
        raise unsupported(reader, node, _UNSUPPORTED.get(type(node), f"a {type(node).__name__}"))
    return read(reader, node)


def expression(reader: Reader, node: ast.expr) -> ir.Expr:
    """The expression ``node``; ints become INDEX constants, floats FP32 constants."""
    value = operand(reader, node)
    return value if isinstance(value, ir.Expr) else as_constant(reader, node, value)


def in_type(reader: Reader, node: ast.expr, is_extent: bool = False) -> ir.Expr:
    """An expression inside a type, where names that nothing defines are dimensions."""
    outer = reader.in_type, reader.in_extent
    reader.in_type, reader.in_extent = True, is_extent
    try:
        return expression(reader, node)
    finally:
        reader.in_type, reader.in_extent = outer


def as_constant(reader: Reader, node: ast.expr, value: PythonValue) -> ir.Expr:
    """The constant of a Python value."""
    span = reader.span(node)
    if isinstance(value, bool):
        return ir.ConstBool(value, span)
    if isinstance(value, int):
        return int_constant(reader, node, value, ir.DataType.INDEX)
    if isinstance(value, float):
        return ir.ConstFloat(value, ir.DataType.FP32, span)
    if value is None:
        return ops.call("system.task_invalid", span=span)
    if isinstance(value, tuple):
        return ir.MakeTuple([as_constant(reader, node, item) for item in value], span)
    raise reader.error(ParserTypeError, node, "a string is no expression")


def typed_constant(reader: Reader, node: ast.expr, value: Operand, dtype: ir.DataType | None) -> ir.Expr:
    """A bare number as a constant of ``dtype``: int or float as it is written."""
    if isinstance(value, ir.Expr):
        return value
    if dtype is None or value is None or isinstance(value, (bool, str, tuple)):
        return as_constant(reader, node, value)
    if isinstance(value, int):
        return int_constant(reader, node, value, dtype)
    return ir.ConstFloat(value, dtype, reader.span(node))


def int_constant(reader: Reader, node: ast.AST, value: int, dtype: ir.DataType) -> ir.ConstInt:
    """An integer constant; an error where it is no int64."""
    if not -(2**63) <= value < 2**63:
        message = f"an integer constant is a 64-bit integer, and this one has {value.bit_length()} bits"
        raise reader.error(ParserTypeError, node, message)
    return ir.ConstInt(value, dtype, reader.span(node))


def scalar(reader: Reader, node: ast.expr, what: str, dtype: ir.DataType | None = None) -> ir.Expr:
    """A scalar expression, of a dtype where one is given."""
    value = expression(reader, node)
    if not isinstance(value.type, ir.ScalarType):
        found = type(value.type).__name__
        raise reader.error(ParserTypeError, node, f"{what} is a scalar, and {shown(node)} is a {found}")
    if dtype is not None and value.type.dtype != dtype:
        message = f"{what} is a {dtype.name} scalar, and {shown(node)} is {value.type.dtype.name}"
        raise reader.error(ParserTypeError, node, message)
    return value


@reads(ast.Constant)
def _constant(reader: Reader, node: ast.Constant) -> Operand:
    value = node.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    message = f"a value of type {type(value).__name__} is not part of the language"
    raise reader.error(ParserTypeError, node, message)


@reads(ast.Name)
def _name(reader: Reader, node: ast.Name) -> Operand:
    if reader.failed and node.id in reader.failed:
        raise reader.error(PassedOverError, node, f"the statement that binds {node.id!r} has an error")
    if reader.in_extent and node.id in reader.lane_symbols:
        return reader.module.dimension(node.id)
    variable = reader.names.find(node.id)
    return variable if variable is not None else _module_name(reader, node)


def _module_name(reader: Reader, node: ast.Name) -> Operand:
    name, module = node.id, reader.module
    if name in module.closure:
        return closure_operand(reader, node, module.closure[name])
    if reader.in_type and not module.executed and (named := reader.names.find_anywhere(name)) is not None:
        return named
    if name in module.undeclared:
        return module.dimension(name)
    if reader.in_type and not module.executed:
        return _undeclared_dimension(reader, name)
    if name in _NON_FINITE:
        return _NON_FINITE[name]
    if name.endswith(FREE_SUFFIX):
        return reader.names.free(name)
    if (unbound := reader.names.unbound(name)) is not None:
        return unbound
    guess = closest(name, [*_written(reader), *module.closure])
    hint = f"did you mean {guess!r}?" if guess else None
    note = None
    if (ended := reader.names.find_anywhere(name)) is not None:
        note = f"{name!r} is defined in a scope that ends before this line"
        hint = f"hand it on with `{name} = pl.yield_({name})` at the end of that scope"
        if isinstance(ended, ir.IterArg):  # whose yield has another name
            hint = None
    elif reader.without_yield:
        line, carried = reader.without_yield[-1]
        note = f"the loop on line {line} carries {', '.join(carried)} and yields nothing"
        results = name if len(carried) == 1 else f"{name}, ..."
        hint = hint or f"end the loop on line {line} with `{results} = pl.yield_(...)`"
    raise reader.error(UndefinedVariableError, node, f"undefined variable {name!r}", hint, note)


def _written(reader: Reader) -> list[str]:
    """The names that may be read here and stand in the text: results of loops may have others."""
    nodes = [*ast.walk(reader.module.source.tree)]
    written = {node.id for node in nodes if isinstance(node, ast.Name)}
    written |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return [name for name in reader.names.names() if name in written]


def _undeclared_dimension(reader: Reader, name: str) -> ir.Var:
    """What a type names without a definition: in a signature a dimension that all functions share.

    Where the function binds the name itself, further on, it is that variable.
    """
    function = reader.signature
    if function is None or name.endswith(FREE_SUFFIX) or name in reader.bound_names(function):
        return reader.names.dimension(name)
    reader.module.undeclared.add(name)
    return reader.module.dimension(name)


def closure_operand(reader: Reader, node: ast.expr, value: object) -> Operand:
    """What a Python value from outside the function stands for in it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case ir.MemorySpace():
            return ir.ConstInt(value.value, ir.DataType.INDEX, reader.span(node))
        case ir.Expr():
            return value
        case DynVar(name=name):
            return reader.module.dimension(name)
        case DimExpr(op=op, left=left, right=right):
            parts = (_dimension_part(reader, node, part) for part in (left, right))
            found: ir.Expr = PYTHON_OPERATORS[op](*parts)
            return found
        case list() | tuple():
            items = [closure_operand(reader, node, item) for item in value]
            if not any(isinstance(item, ir.Expr) for item in items):
                return tuple(item for item in items if not isinstance(item, ir.Expr))
            return ir.MakeTuple([_number(reader, node, item) for item in items], reader.span(node))
    what = f"{shown(node)} is a {type(value).__name__}, which stands for no expression"
    raise reader.error(ParserTypeError, node, what)


def _dimension_part(reader: Reader, node: ast.expr, value: object) -> ir.Expr:
    return _number(reader, node, closure_operand(reader, node, value))


@reads(ast.Attribute)
def _attribute(reader: Reader, node: ast.Attribute) -> Operand:
    value = compile_time(reader, node)
    is_code = isinstance(value, int) and value is member(node)  # of an enumeration that has plain codes
    if isinstance(value, (ir.MemorySpace, int, float, tuple, DynVar, DimExpr)) and not is_code:
        return closure_operand(reader, node, value)
    hint = "only memory spaces and numbers stand for a value"
    if node.attr == "shape" and isinstance(node.value, ast.Name) and reader.names.find(node.value.id):
        hint = f"write pl.tensor.dim({node.value.id}, axis)"
    raise unsupported(reader, node, f"{shown(node)} as an expression", hint)


@reads(ast.BinOp)
def _binary(reader: Reader, node: ast.BinOp) -> Operand:
    chain = [node]  # a + b + c nests to the left; a loop reads sums that are longer than the stack is deep
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = operand(reader, chain[-1].left)
    for link in reversed(chain):
        value = _applied(reader, link, value, operand(reader, link.right))
    return value


def _applied(reader: Reader, node: ast.BinOp, left: Operand, right: Operand) -> Operand:
    if type(node.op) not in _ARITHMETIC:
        raise unsupported(reader, node, "the operator @", "matrix products are ops, such as pl.tensor.matmul")
    symbol, build = _ARITHMETIC[type(node.op)]
    try:
        if not isinstance(left, ir.Expr) and not isinstance(right, ir.Expr):
            return fold(node.op, left, right)
        if type(node.op) in _FOLDED_ONLY and not reader.module.printed:
            raise unsupported(reader, node, f"the operator {symbol} on run-time values")
        span = reader.span(node)
        return build(_number(reader, node.left, left), _number(reader, node.right, right), span)
    except (TypeError, ValueError, ArithmeticError) as error:
        message, hint = f"operator {symbol}: {error}", _operator_hint(left, right)
        raise reader.error(ParserSyntaxError, node, message, hint) from None


def _operator_hint(*operands: Operand) -> str | None:
    if any(isinstance(value, ir.Expr) and isinstance(value.type, ir.ShapedType) for value in operands):
        return "operators take scalars; tensors and tiles are computed with ops, such as pl.add"
    return None


def _number(reader: Reader, node: ast.expr, value: Operand) -> ir.Expr:
    return value if isinstance(value, ir.Expr) else as_constant(reader, node, value)


@reads(ast.Compare)
def _compare(reader: Reader, node: ast.Compare) -> Operand:
    if len(node.ops) != 1:
        raise reader.error(ParserSyntaxError, node, "a comparison has two operands", "join two with `and`")
    found = _COMPARISONS.get(type(node.ops[0]))
    if found is None:
        raise unsupported(reader, node, "the operator `in` or `is`")
    symbol, build, compute = found
    left, right = operand(reader, node.left), operand(reader, node.comparators[0])
    try:
        if not isinstance(left, ir.Expr) and not isinstance(right, ir.Expr):
            return compute(left, right)
        span = reader.span(node)
        return build(_number(reader, node.left, left), _number(reader, node.comparators[0], right), span)
    except TypeError as error:
        message, hint = f"operator {symbol}: {error}", _operator_hint(left, right)
        raise reader.error(ParserSyntaxError, node, message, hint) from None


@reads(ast.BoolOp)
def _logical(reader: Reader, node: ast.BoolOp) -> Operand:
    build = ir.and_ if isinstance(node.op, ast.And) else ir.or_
    values = [_as_truth(reader, value, expression(reader, value)) for value in node.values]
    joined = values[0]
    for value in values[1:]:
        joined = build(joined, value, reader.span(node))
    return joined


def _as_truth(reader: Reader, node: ast.expr, value: ir.Expr) -> ir.Expr:
    """An operand of `and`, `or` and `not`, which is a scalar."""
    if isinstance(value.type, (ir.ShapedType, ir.TupleType)):
        message = f"{shown(node)}: a scalar is needed, got a {type(value.type).__name__}"
        raise reader.error(ParserSyntaxError, node, message, _operator_hint(value))
    return value


@reads(ast.UnaryOp)
def _unary(reader: Reader, node: ast.UnaryOp) -> Operand:
    value = operand(reader, node.operand)
    span = reader.span(node)
    try:
        if not isinstance(value, ir.Expr):
            return unary(node.op, value)
        match node.op:
            case ast.USub():
                if value.type == ir.ScalarType(ir.DataType.BOOL) and not reader.module.printed:
                    raise TypeError("BOOL is no number")
                return ir.neg(value, span)
            case ast.Not():
                return ir.not_(_as_truth(reader, node.operand, value), span)
            case ast.Invert():
                return ir.bit_not(value, span)
    except TypeError as error:
        raise reader.error(ParserSyntaxError, node, f"{shown(node)}: {error}") from None
    raise unsupported(reader, node, "unary +")


@reads(ast.Tuple)
@reads(ast.List)
def _tuple(reader: Reader, node: ast.List | ast.Tuple) -> Operand:
    return ir.MakeTuple([expression(reader, element) for element in node.elts], reader.span(node))
