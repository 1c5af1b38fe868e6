"""What takes effect while a kernel is read: ``static_print``, ``static_assert``, ``dump_tag`` (spec, 5.9)."""

from __future__ import annotations

import ast
from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import ParserError, ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.expressions import operand
from pypto_tmpl.language.folding import compile_time
from pypto_tmpl.language.reader import Reader


def _print(reader: Reader, node: ast.Call) -> None:
    if not node.args or node.keywords:
        message = "pl.static_print takes one value or more, and no keywords"
        raise reader.error(ParserSyntaxError, node, message)
    span = reader.span(node)
    text = " ".join(_text(reader, argument) for argument in node.args)
    print(f"static_print [{span.filename}:{span.begin_line}]: {text}")


def _text(reader: Reader, node: ast.expr) -> str:
    """The text of a value: Python's for compile-time values, the printed text for expressions."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(reader, part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        if node.conversion != -1 or node.format_spec is not None:
            raise unsupported(reader, node, "a conversion or format in an f-string of pl.static_print")
        return _text(reader, node.value)
    value = compile_time(reader, node)
    if value is NotImplemented:
        value = operand(reader, node)
    return ir.python_print(value, format=False).strip() if isinstance(value, ir.Expr) else str(value)


def _assert(reader: Reader, node: ast.Call) -> None:
    match node.args:
        case [condition]:
            text = f"{shown(condition)} does not hold"
        case [condition, ast.Constant(value=str() as text)]:
            pass
        case _:
            message = "pl.static_assert takes a condition and, at most, a literal message"
            raise reader.error(ParserSyntaxError, node, message)
    if node.keywords:
        raise reader.error(ParserSyntaxError, node, "pl.static_assert takes no keywords")
    value = compile_time(reader, condition)
    if value is NotImplemented:
        raise reader.error(ParserError, condition, f"{shown(condition)} is no compile-time value")
    if not value:
        raise reader.error(ParserError, node, f"static_assert failed: {text}", concerns_values=True)


def _dump_tag(reader: Reader, node: ast.Call) -> None:
    if reader.function_type not in (ir.FunctionType.Orchestration, ir.FunctionType.Inline):
        message = "pl.dump_tag stands in Orchestration and Inline functions"
        raise reader.error(ParserSyntaxError, node, message)
    match node.args, node.keywords:
        case [ast.Name() as name], []:
            value = operand(reader, name)
            if isinstance(value, ir.Var) and isinstance(value.type, ir.TensorType):
                reader.dump_tags[value] = node
                reader.idle_tags.append(node)
                return
    raise reader.error(ParserTypeError, node, "pl.dump_tag takes the name of a tensor")


STATIC_STATEMENTS: dict[str, Callable[[Reader, ast.Call], None]] = {
    "static_print": _print,
    "static_assert": _assert,
    "dump_tag": _dump_tag,
}
