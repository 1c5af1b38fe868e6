"""Values of keywords and of ``attrs={...}``, stored again as the kind they were (spec, 12.7)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.constants import CAST_MODES, named_member, shown
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.expressions import expression, operand
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.ops import facts

_EMPTY = ir.AttrMap()


def attribute_dict(reader: Reader, node: ast.expr, what: str) -> list[tuple[str, Any]]:
    """The entries of a dict literal with string keys."""
    if not isinstance(node, ast.Dict):
        raise reader.error(ParserSyntaxError, node, f"{what} is a dict literal, not {shown(node)}")
    entries: list[tuple[str, Any]] = []
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if not (isinstance(key_node, ast.Constant) and isinstance(key_node.value, str)):
            raise reader.error(ParserSyntaxError, key_node or node, f"the keys of {what} are string literals")
        if any(key == key_node.value for key, _ in entries):
            raise reader.error(ParserSyntaxError, key_node, f"{what} has the key {key_node.value!r} twice")
        entries.append((key_node.value, attribute_value(reader, value_node)))
    return entries


def attribute_value(reader: Reader, node: ast.expr) -> Any:
    """One value: a number, a string, an enumeration member, an expression, None, or a tuple of those."""
    found = named_member(reader, node)
    if found is not None:
        return found
    if isinstance(node, ast.List):
        return tuple(attribute_value(reader, element) for element in node.elts)
    return operand(reader, node)


def stored(reader: Reader, node: ast.AST, entries: list[tuple[str, Any]], of_op: bool = False) -> ir.AttrMap:
    """The entries as an attribute map: also lists of ints and null variables, which need no known key."""
    if not entries:
        return _EMPTY
    special = {key: kind for key, value in entries if (kind := _kind_of(key, value)) is not None}
    try:
        if not special:
            return ir.AttrMap(entries, of_op)
        plain = ir.AttrMap([(key, value) for key, value in entries if key not in special], of_op)
        found = [
            (key, special[key], value) if key in special else (key, plain.kinds[key], plain[key])
            for key, value in entries
        ]
        return ir.AttrMap.of_stored(found)
    except (TypeError, ValueError, RuntimeError) as error:
        raise reader.error(ParserTypeError, node, str(error)) from None


def _kind_of(key: str, value: object) -> ir.AttrKind | None:
    """The stored kind of a value that an AttrMap would refuse, None for any other."""
    if value is None:
        return ir.AttrKind.VAR if key == "task_id_var" else ir.AttrKind.EXPR
    if not isinstance(value, tuple) or not value:
        return None
    if all(type(item) is int and -(2**31) <= item < 2**31 for item in value):
        return ir.AttrKind.INT32S
    if None in [item for item in value if not isinstance(item, ir.Expr)] and all(
        item is None or isinstance(item, ir.Var) for item in value
    ):
        return ir.AttrKind.VARS
    return None


def keyword_value(reader: Reader, op: str, keyword: ast.keyword) -> Any:
    """The value of an op's keyword; names of cast modes become their codes."""
    if keyword.arg is None:
        raise reader.error(ParserSyntaxError, keyword.value, "keywords are written out, not unpacked with **")
    value = attribute_value(reader, keyword.value)
    if keyword.arg == "mode" and isinstance(value, str) and facts.of(op).has("casts"):
        if value not in CAST_MODES:
            hint = allowed_note("cast modes", list(CAST_MODES), value)
            raise reader.error(InvalidOperationError, keyword.value, f"unknown cast mode {value!r}", hint)
        return CAST_MODES[value]
    return value


def variables(reader: Reader, node: ast.expr, what: str) -> tuple[ir.Expr, ...]:
    """A list of variables; ``None`` entries are left out."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise reader.error(ParserTypeError, node, f"{what} is a list, not {shown(node)}")
    found = [(element, expression(reader, element)) for element in _named(node.elts)]
    for element, value in found:
        if not isinstance(value, ir.Var):
            raise reader.error(ParserTypeError, element, f"{what} holds variables, not {shown(element)}")
    return tuple(value for _, value in found)


def _named(elements: Iterable[ast.expr]) -> list[ast.expr]:
    return [e for e in elements if not (isinstance(e, ast.Constant) and e.value is None)]


def listed(node: ast.expr, values: Iterable[ir.Expr]) -> Iterator[tuple[ast.expr, ir.Expr]]:
    """The variables of a list, each with the place where it is written."""
    assert isinstance(node, (ast.List, ast.Tuple))
    return zip(_named(node.elts), values, strict=True)
