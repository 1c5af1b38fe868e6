"""Macros whose text is one expression, as functions of Python: Jinja's own take several times as long.

Such a macro has names of its parameters, literals, conditions, filters without a context, and calls of macros
beside it that are plain too. The text is the template's: its syntax tree becomes one of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jinja2
from jinja2 import nodes

_STR = 115  # the conversion by str()
_ANY_ERROR, _TIMEOUT, _GIVEN = "any_error", "timeout", "given"
_COMPARISONS: Mapping[str, type[ast.cmpop]] = MappingProxyType(
    {"eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "lteq": ast.LtE, "gt": ast.Gt, "gteq": ast.GtE}
)


class _NotPlainError(Exception):
    """A macro has more than an expression."""


def plain_functions(
    environment: jinja2.Environment, template: str, in_full: Callable[[str], Callable[..., str]]
) -> Mapping[str, Callable[..., str]]:
    """The plain macros of a template by name; none of a template that has more than macros.

    A function gives the macro's text. Where it would raise, be it for the number of its arguments, the macro
    ``in_full`` does so instead, with an error that ends at the template's line.
    """
    assert environment.loader is not None
    source, filename, _ = environment.loader.get_source(environment, template)
    body = environment.parse(source, template, filename).body
    macros = [node for node in body if isinstance(node, nodes.Macro)]
    if any(not isinstance(node, nodes.Macro) and not _is_data(node) for node in body):
        return {}
    names: dict[str, Any] = {"__builtins__": {}, _ANY_ERROR: Exception, _TIMEOUT: TimeoutError}
    found: dict[str, Callable[..., str]] = {}
    for macro in macros:  # the last of a name counts
        found.pop(macro.name, None)
        names.pop(_macro_name(macro.name), None)
        try:
            function = _Translation(environment, names, macro).function()
        except _NotPlainError:
            continue
        names[_full_name(macro.name)] = in_full(macro.name)
        found[macro.name] = names[_macro_name(macro.name)] = function
    return found


def _is_data(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Output) and all(isinstance(part, nodes.TemplateData) for part in node.nodes)


def _macro_name(name: str) -> str:
    return f"macro_{name}"


def _full_name(name: str) -> str:
    return f"full_{name}"


def _filter_name(name: str) -> str:
    return f"filter_{name}"


def _parameter_name(name: str) -> str:
    return f"given_{name}"


class _Translation:
    """One macro as a function; what its filters and the other macros are called is in ``names``."""

    def __init__(self, environment: jinja2.Environment, names: dict[str, Any], macro: nodes.Macro) -> None:
        self._environment, self._names, self._macro = environment, names, macro
        self._parameters = frozenset(argument.name for argument in macro.args)

    def function(self) -> Callable[..., str]:
        """Raises: _NotPlainError."""
        macro = self._macro
        if macro.defaults or macro.find(nodes.Macro) is not None:
            raise _NotPlainError
        names: list[ast.expr] = [
            ast.Name(_parameter_name(argument.name), ast.Store()) for argument in macro.args
        ]
        taken = ast.Assign(
            [ast.Tuple(names, ast.Store())], _read(_GIVEN)
        )  # an error, if it is another number
        again = ast.Call(_read(_full_name(macro.name)), [ast.Starred(_read(_GIVEN), ast.Load())], [])
        handlers = [
            ast.ExceptHandler(_read(_TIMEOUT), None, [ast.Raise()]),  # a limit that is over is told once
            ast.ExceptHandler(_read(_ANY_ERROR), None, [ast.Return(again)]),
        ]
        body = ast.Try([taken, ast.Return(self._text(macro.body))], handlers, [], [])
        name, given = _macro_name(macro.name), ast.arguments([], [], ast.arg(_GIVEN), [], [], None, [])
        tree = ast.Module([ast.FunctionDef(name, given, [body], [])], [])
        made: dict[str, Callable[..., str]] = {}
        exec(compile(ast.fix_missing_locations(tree), "<plain macro>", "exec"), self._names, made)
        return made[name]

    def _text(self, body: Sequence[nodes.Node]) -> ast.expr:
        return ast.JoinedStr([part for node in body for part in self._parts(node)])

    def _parts(self, node: nodes.Node) -> Iterable[ast.expr]:
        if isinstance(node, nodes.Output):
            return [self._part(part) for part in node.nodes]
        if not isinstance(node, nodes.If):
            raise _NotPlainError
        chosen = self._text(node.else_)
        for branch in (*reversed(node.elif_), node):
            chosen = ast.IfExp(self._value(branch.test), self._text(branch.body), chosen)
        return [_formatted(chosen)]

    def _part(self, node: nodes.Expr) -> ast.expr:
        if isinstance(node, nodes.TemplateData):
            return ast.Constant(node.data)
        if isinstance(node, nodes.CondExpr) and node.expr2 is None:
            shown = ast.JoinedStr([self._part(node.expr1)])
            return _formatted(ast.IfExp(self._value(node.test), shown, ast.Constant("")))
        return _formatted(self._value(node))

    def _value(self, node: nodes.Node | None) -> ast.expr:
        match node:
            case nodes.Const():
                return ast.Constant(node.value)
            case nodes.Name() if node.name in self._parameters:
                return _read(_parameter_name(node.name))
            case nodes.List():
                return ast.List([self._value(item) for item in node.items], ast.Load())
            case nodes.Concat():
                return ast.JoinedStr([self._part(part) for part in node.nodes])
            case nodes.Add():
                return ast.BinOp(self._value(node.left), ast.Add(), self._value(node.right))
            case nodes.Mul():
                return ast.BinOp(self._value(node.left), ast.Mult(), self._value(node.right))
            case nodes.Not():
                return ast.UnaryOp(ast.Not(), self._value(node.node))
            case nodes.And():
                return ast.BoolOp(ast.And(), [self._value(node.left), self._value(node.right)])
            case nodes.Or():
                return ast.BoolOp(ast.Or(), [self._value(node.left), self._value(node.right)])
            case nodes.Compare() if all(operand.op in _COMPARISONS for operand in node.ops):
                operators = [_COMPARISONS[operand.op]() for operand in node.ops]
                return ast.Compare(
                    self._value(node.expr), operators, [self._value(operand.expr) for operand in node.ops]
                )
            case nodes.CondExpr():
                test, first = self._value(node.test), self._value(node.expr1)
                return ast.IfExp(test, first, self._value(node.expr2))
            case nodes.Test() if node.name == "none":
                return ast.Compare(self._value(node.node), [ast.Is()], [ast.Constant(None)])
            case nodes.Filter():
                return self._filtered(node)
            case nodes.Call():
                return self._called(node)
        raise _NotPlainError

    def _filtered(self, node: nodes.Filter) -> ast.expr:
        function = self._environment.filters.get(node.name)
        if function is None or hasattr(function, "jinja_pass_arg") or _has_more(node):
            raise _NotPlainError
        self._names[_filter_name(node.name)] = function
        return ast.Call(
            _read(_filter_name(node.name)), [self._value(node.node), *map(self._value, node.args)], []
        )

    def _called(self, node: nodes.Call) -> ast.expr:
        """A call of another macro; a name that is a parameter's is no macro."""
        other = node.node
        if not isinstance(other, nodes.Name) or other.name in self._parameters or _has_more(node):
            raise _NotPlainError
        if _macro_name(other.name) not in self._names:
            raise _NotPlainError
        return ast.Call(_read(_macro_name(other.name)), [self._value(arg) for arg in node.args], [])


def _has_more(node: nodes.Filter | nodes.Call) -> bool:
    """Whether arguments are given otherwise than by their place."""
    return bool(node.kwargs) or node.dyn_args is not None or node.dyn_kwargs is not None


def _formatted(value: ast.expr) -> ast.expr:
    return ast.FormattedValue(value, _STR, None)


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())
