"""The source of a user's function: its tree with the positions of its file, and what its names stand for."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from pypto_tmpl.ir import Span
from pypto_tmpl.language.diagnostics import ParserError
from pypto_tmpl.language.retrieval import source_of_function
from pypto_tmpl.language.source import Source


class Missing:
    """The type of what a name stands for that nothing defines."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class UserSource:
    """A function in its file; ``tree`` has the line numbers of the file."""

    file: Source
    tree: ast.FunctionDef

    @property
    def filename(self) -> str:
        return self.file.filename

    def span(self, node: ast.AST) -> Span:
        """Where a node begins in the file."""
        return self.file.span(node)

    def error(
        self, kind: type[ParserError], node: ast.AST, message: str, hint: str | None = None
    ) -> ParserError:
        """An error of that kind at ``node``, with its line."""
        return kind(message, self.span(node), hint, source_lines=self.file.lines)


def read_source(function: FunctionType) -> UserSource:
    """The source of a function. Raises OSError where it cannot be read."""
    try:
        return UserSource(*source_of_function(function))
    except ParserError as error:
        raise OSError(str(error)) from None


class Reads:
    """The values that names had when a text took them over."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, str], tuple[Surroundings, Any]] = {}

    def note(self, around: Surroundings, name: str, value: Any) -> None:
        """Keep a value."""
        self._values.setdefault((id(around), name), (around, value))

    def still_hold(self) -> bool:
        """True as long as every name has the value it had."""
        return all(
            _is_same(around.lookup(name), value) for (_, name), (around, value) in self._values.items()
        )


def _is_same(now: Any, before: Any) -> bool:
    if now is before:
        return True
    plain = (bool, int, float, str, tuple)
    return isinstance(now, plain) and type(now) is type(before) and bool(now == before)


class Surroundings:
    """What the names in a function's text stand for outside of it, looked up when they are asked for."""

    def __init__(self, function: FunctionType) -> None:
        self._globals = function.__globals__
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def lookup(self, name: str) -> Any:
        """The value of a name; MISSING where it has none."""
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:  # the enclosing function has not defined it yet
                return MISSING
        if name in self._globals:
            return self._globals[name]
        return getattr(builtins, name, MISSING)

    def is_builtin(self, name: str) -> bool:
        """True for a name that only Python itself defines."""
        return name not in self._cells and name not in self._globals and hasattr(builtins, name)

    def evaluate(self, text: str) -> Any:
        """The value of a Python expression that is written as a string, such as a deferred annotation."""
        cells = {name: value for name in self._cells if (value := self.lookup(name)) is not MISSING}
        return eval(text, {**self._globals, **cells})


def annotation_of(function: FunctionType, name: str, around: Surroundings) -> Any:
    """What the annotation of a parameter evaluates to; MISSING without one."""
    found = function.__annotations__.get(name, MISSING)
    return around.evaluate(found) if isinstance(found, str) else found
