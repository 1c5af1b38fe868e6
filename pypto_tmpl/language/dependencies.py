"""``deps=[...]`` and ``predicate=``: what a task waits for (spec, 7.2)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from pypto_tmpl import ir, ops
from pypto_tmpl.ir.scalar_ops import COMPARISONS
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.expressions import expression
from pypto_tmpl.language.folding import compile_time
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.ops import facts

_TASK = ir.ScalarType(ir.DataType.TASK_ID)
_BUFFER = "_submit_deps_buf"
_FLAGS = frozenset({ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64})


def dependencies(reader: Reader, node: ast.expr) -> tuple[ir.Expr, ...]:
    """Task ids and arrays of them; ``None`` entries are left out.

    Elements of arrays are collected into an array of their own, in front of the statement.
    """
    variables: list[ir.Expr] = []
    elements: list[ir.Expr] = []
    for value in _entries(reader, node):
        is_element = isinstance(value, ir.Call) and not reader.module.printed
        (elements if is_element else variables).append(value)
    return (*variables, _collected(reader, elements, reader.span(node))) if elements else tuple(variables)


def _entries(reader: Reader, node: ast.expr) -> Iterator[ir.Expr]:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _entry(reader, element)
        case ast.ListComp(elt=element, generators=[generator]):
            yield from _unrolled(reader, element, generator)
        case _:
            raise reader.error(ParserTypeError, node, f"deps is a list, not {shown(node)}")


def _entry(reader: Reader, node: ast.expr) -> Iterator[ir.Expr]:
    if isinstance(node, ast.Starred):
        yield from _entries(reader, node.value)
        return
    if isinstance(node, ast.Constant) and node.value is None:
        return
    value = expression(reader, node)
    is_task = isinstance(value.type, (ir.ScalarType, ir.ArrayType)) and value.type.dtype == _TASK.dtype
    if not is_task and not isinstance(value.type, ir.UnknownType):
        raise reader.error(ParserTypeError, node, f"deps holds task ids, not {shown(node)}")
    yield value


def _unrolled(reader: Reader, element: ast.expr, generator: ast.comprehension) -> Iterator[ir.Expr]:
    """``[ids[i] for i in range(n)]``: the element once for every number."""
    items, target = compile_time(reader, generator.iter), generator.target
    if not isinstance(items, tuple) or not isinstance(target, ast.Name):
        what = "a comprehension over anything but compile-time values"
        raise unsupported(reader, generator.iter, what, "write `for i in range(n)` with a constant n")
    for item in items:
        with _named(reader, target.id, item):
            conditions = [compile_time(reader, test) for test in generator.ifs]
            if NotImplemented in conditions:
                raise unsupported(reader, generator.ifs[0], "a condition that is no compile-time value")
            if all(conditions):
                yield from list(_entry(reader, element))


@contextmanager
def _named(reader: Reader, name: str, value: object) -> Iterator[None]:
    """Let a name stand for a Python value."""
    closure = reader.module.closure
    before = closure.get(name, NotImplemented)
    closure[name] = value
    try:
        with reader.names.scope():
            reader.names.hide(name)
            yield
    finally:
        if before is NotImplemented:
            del closure[name]
        else:
            closure[name] = before


def _collected(reader: Reader, elements: list[ir.Expr], span: ir.Span) -> ir.Var:
    """The array that holds task ids which are elements of other arrays."""
    extent = ir.ConstInt(len(elements), ir.DataType.INDEX, span)
    create = ops.call("array.create", extent, dtype=_TASK.dtype, span=span)
    buffer = ir.Var(_BUFFER, create.type, span)
    reader.statements.append(ir.AssignStmt(buffer, create, span))
    for index, element in enumerate(elements):
        place = ir.ConstInt(index, ir.DataType.INDEX, span)
        update = ops.call("array.update_element", buffer, place, element, span=span)
        reader.statements.append(ir.AssignStmt(buffer, update, span))
    return buffer


def _reads_tensor(call: ir.Call) -> bool:
    return facts.of_value(call).has("reads_element") and isinstance(call.args[0].type, ir.TensorType)


def predicate(reader: Reader, node: ast.expr) -> ir.Expr:
    """``predicate=(flags[i] > 0)``: an element of a tensor of signed integers against a literal."""
    found = expression(reader, node)
    if reader.module.printed:
        return found
    if isinstance(found, COMPARISONS) and isinstance(found.right, ir.ConstInt):
        read = found.left.operand if isinstance(found.left, ir.Cast) else found.left
        if isinstance(read, ir.Call) and _reads_tensor(read):
            dtype = read.type.dtype if isinstance(read.type, ir.ScalarType) else None
            if dtype in _FLAGS:
                return found
            raise reader.error(ParserTypeError, node, "a predicate reads a tensor of signed integers")
    hint = "write predicate=(flags[i] > 0)"
    raise reader.error(ParserTypeError, node, "a predicate compares a tensor's element with a number", hint)
