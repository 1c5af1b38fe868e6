"""The source of a user's function: its tree with the positions of its file, and what its names stand for."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Hashable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal, TypeAlias

from pypto_tmpl.ir import Span
from pypto_tmpl.language.diagnostics import ParserError
from pypto_tmpl.language.jit.identity import identity_of
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


Step: TypeAlias = tuple[Literal["attribute"], str] | tuple[Literal["item"], int | str]


def stepped(value: Any, step: Step) -> Any:
    """What an attribute of a value is, or an item; MISSING where it has none."""
    match step:
        case "attribute", str() as name:
            return getattr(value, name, MISSING)
        case _, key:
            try:
                return value[key]
            except (LookupError, TypeError):
                return MISSING


class Reads:
    """The values that names, and attributes and items of these, had when a text took them over."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, str, tuple[Step, ...]], tuple[Surroundings, Any, Hashable]] = {}

    def note(self, around: Surroundings, name: str, steps: tuple[Step, ...], value: Any) -> None:
        """Keep the value that one gets from a name by ``steps``."""
        key = id(around), name, steps
        if key not in self._values:
            self._values[key] = around, value, identity_of(value)

    def still_hold(self) -> bool:
        """True as long as every value is what it was."""
        for (_, name, steps), (around, _, identity) in self._values.items():
            value = around.lookup(name)
            for step in steps:
                value = stepped(value, step)
            if identity_of(value) != identity:
                return False
        return True


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
