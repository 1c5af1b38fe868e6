"""Operands and keywords of a call by the names that macros read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.operands import UnknownNameError
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.typing import operands_by_name
from pypto_tmpl.streams.problems import Obstacle


class Named:
    """Names that a macro reads as attributes; one that does not exist is an error that lists the others."""

    def __init__(self, what: str, values: Mapping[str, Any]) -> None:
        self._what = what
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            note = allowed_note("names", tuple(self._values), name)
            raise UnknownNameError(f"{self._what}.{name}", "there is no such name", notes=[note])
        return self._values[name]


def given_operands(entry: OpEntry, call: ir.Call) -> dict[str, ir.Expr]:
    """The operands by name; an optional one that is no tuple is left out where a tuple stands instead."""
    given, rest = operands_by_name(entry, call.args)
    required = [operand.name for operand in entry.operands if not operand.optional]
    if rest or any(name not in given for name in required):
        raise Obstacle(f"{entry.name} requires {len(required)} operands, {len(call.args)} given", call.span)
    return given


def keywords_of(entry: OpEntry, call: ir.Call) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kwarg in entry.kwargs:
        default = kwarg.default if kwarg.has_default else None
        value = call.kwargs.get(kwarg.name, default)
        found[kwarg.name] = getattr(value, "value", value) if kwarg.type == "int" else value
    return found
