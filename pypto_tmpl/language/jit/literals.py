"""Python values as they are written in a generated program."""

from __future__ import annotations

import ast
import math
from enum import Enum
from types import ModuleType
from typing import TypeVar

from pypto_tmpl.ir import DataType

Node = TypeVar("Node", bound=ast.AST)

_LANGUAGE_MODULES = frozenset({"pypto_tmpl.language", "pypto.language"})
_DISTRIBUTED_MODULES = frozenset(f"{name}.distributed" for name in _LANGUAGE_MODULES)
LANGUAGE, DISTRIBUTED = "pl", "pld"
_DISTRIBUTED_ENUMS = frozenset({"NotifyOp", "WaitCmp", "ReduceOp"})


def prefix_of(value: object) -> str | None:
    """``pl`` or ``pld`` for the module that a program knows by that name, None for anything else."""
    if isinstance(value, ModuleType):
        if value.__name__ in _LANGUAGE_MODULES:
            return LANGUAGE
        if value.__name__ in _DISTRIBUTED_MODULES:
            return DISTRIBUTED
    return None


def literal(value: object) -> ast.expr | None:
    """The expression for a value: numbers, dtypes, members of the language's enums, sequences of these.

    None for a value that has no such expression.
    """
    match value:
        case bool() | None:
            return ast.Constant(value)
        case Enum():
            return _member(value)
        case int() | float():
            return _number(value)
        case DataType():
            return _attribute(LANGUAGE, value.name)
        case list() | tuple():
            items = [literal(item) for item in value]
            if any(item is None for item in items):
                return None
            known = [item for item in items if item is not None]
            return ast.List(known, ast.Load()) if isinstance(value, list) else ast.Tuple(known, ast.Load())
    return None


def _number(value: float) -> ast.expr | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value < 0 or (value == 0 and math.copysign(1, value) < 0):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _member(value: Enum) -> ast.expr | None:
    owner = type(value)
    if not owner.__module__.startswith("pypto_tmpl."):
        return literal(value.value) if isinstance(value, int) else None
    prefix = DISTRIBUTED if owner.__name__ in _DISTRIBUTED_ENUMS else LANGUAGE
    return ast.Attribute(_attribute(prefix, owner.__name__), value.name, ast.Load())


def _attribute(owner: str, name: str) -> ast.expr:
    return ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Load())


def placed(made: Node, place: ast.AST) -> Node:
    """``made`` with the position of ``place`` wherever it has none of its own."""
    for inner in ast.walk(made):
        if isinstance(inner, (ast.stmt, ast.expr, ast.keyword)) and not hasattr(inner, "lineno"):
            ast.copy_location(inner, place)
    return made
