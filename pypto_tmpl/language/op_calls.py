"""Op calls as users write them: arguments become values and operands, the namespaces build the call."""

from __future__ import annotations

import ast
import difflib
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.attributes import attribute_dict, stored
from pypto_tmpl.language.constants import named_member, shown
from pypto_tmpl.language.dependencies import dependencies
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
)
from pypto_tmpl.language.expressions import as_constant, operand
from pypto_tmpl.language.former_names import REPLACEMENTS
from pypto_tmpl.language.rank_calls import check_rank_call
from pypto_tmpl.language.reader import HOST_LEVELS, Reader
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.calls import CallContext, OpCallError, build_call
from pypto_tmpl.ops.calls.overloads import forms_of

_ALL_BUT = 0.88  # of the letters, the namespace among them


def source_call(reader: Reader, node: ast.Call, path: tuple[str, ...], is_statement: bool = False) -> ir.Expr:
    """The expression that the call of an op, or of a unified name such as ``pl.add``, means.

    Raises UnknownOpCallError where no namespace has that name.
    """
    is_array = path[:2] == ("pl", "array")  # whose elements may be the task id of no task
    args = [_operand(reader, value) if is_array else argument(reader, value) for value in node.args]
    kwargs: dict[str, Any] = {}
    attrs: list[tuple[str, Any]] = []
    for keyword in node.keywords:
        if keyword.arg is None:
            message = "keywords are written out, not unpacked with **"
            raise reader.error(ParserSyntaxError, keyword.value, message)
        if keyword.arg in kwargs:
            raise reader.error(ParserTypeError, keyword.value, f"the keyword {keyword.arg!r} is given twice")
        if keyword.arg == "attrs":
            attrs += attribute_dict(reader, keyword.value, "attrs")
        elif keyword.arg == "deps" and path[-1] in facts.short_names("dummy_task"):
            kwargs["deps"] = list(dependencies(reader, keyword.value))
        else:
            kwargs[keyword.arg] = argument(reader, keyword.value)
    split = reader.splits[-1] if reader.splits else None
    target = reader.target if node is reader.root else ""
    named = next((form.call.target for form in forms_of(path) if form.call.target), None)
    if named is not None:
        _check_window(reader, node, target)
        if named in kwargs:
            message = "a window buffer is named by the variable it is bound to"
            raise reader.error(ParserSyntaxError, node, message, f"leave out {named}=")
    context = CallContext(reader.span(node), is_statement, split, target, not reader.unreached)
    try:
        found = build_call(path, args, kwargs, context)
    except OpCallError as error:
        if type(error) is not OpCallError:
            raise
        raise reader.error(InvalidOperationError, node, str(error), error.hint or error.order) from None
    if not reader.module.printed and isinstance(found, ir.Call):
        check_rank_call(reader, node, found)
    if attrs and isinstance(found, ir.Call):
        merged = [*found.attrs.items(), *attrs]
        found = ir.Call(
            found.op, found.args, found.kwargs, stored(reader, node, merged), found.type, found.span
        )
    return found


def _check_window(reader: Reader, node: ast.Call, target: str) -> None:
    """A window buffer is named by the variable it is bound to, once in a program, in host code."""
    if not target:
        raise reader.error(ParserSyntaxError, node, "a window buffer is bound to a name of its own")
    if reader.level not in HOST_LEVELS or reader.kernel_depth:
        message = "a window buffer is allocated in a function of host level, outside of kernel code"
        raise reader.error(ParserSyntaxError, node, message, "write @pl.function(level=pl.Level.HOST, ...)")
    if target in reader.module.windows:
        raise reader.error(ParserSyntaxError, node, f"two window buffers are named {target!r}")
    reader.module.windows.add(target)


def argument(reader: Reader, node: ast.expr) -> Any:
    """The value of an argument; bare numbers stay Python numbers, for the op says what they become."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_element(reader, element) for element in node.elts]
    found = named_member(reader, node)
    if found is not None:
        return found
    if (buffer := _buffer_base(reader, node)) is not None:
        return buffer
    value = operand(reader, node)
    return list(value) if isinstance(value, tuple) else value


def _element(reader: Reader, node: ast.expr) -> Any:
    """An element of a shape or of offsets: these hold scalars."""
    value = argument(reader, node)
    if isinstance(value, ir.Expr) and isinstance(value.type, ir.ShapedType):
        message = f"a list in an op call holds scalars, and {shown(node)} is {type_text(value.type)}"
        raise reader.error(ParserTypeError, node, message)
    return value


def _operand(reader: Reader, node: ast.expr) -> Any:
    value = argument(reader, node)
    return as_constant(reader, node, None) if value is None else value


def _buffer_base(reader: Reader, node: ast.expr) -> ir.Expr | None:
    """``buffer.base``: the address of a buffer that ``reserve_buffer`` or ``import_peer_buffer`` gave."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="base"):
            return reader.names.find(name)
    return None


def is_misspelt(op: str) -> bool:
    """Whether no op is registered by that name, and the name of one is all but the same."""
    table = load_table()
    return op not in table and bool(difflib.get_close_matches(op, table, n=1, cutoff=_ALL_BUT))


def unknown_op(reader: Reader, node: ast.Call, hint: str | None = None) -> ParserError:
    """The diagnostic for a name that no namespace has."""
    hint = REPLACEMENTS.get(getattr(node.func, "attr", ""), hint)
    message = f"unknown op {shown(node.func)}"
    return reader.error(InvalidOperationError, node, message, hint, concerns_values=False)
