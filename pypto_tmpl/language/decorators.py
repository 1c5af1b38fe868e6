"""``@pl.program``, ``@pl.function`` and ``@pl.inline``: definitions whose text is read, not run (spec, 3)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import PurePath
from types import FrameType
from typing import Any, TypeVar, overload

from pypto_tmpl import ir
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.language.diagnostics import ParserSyntaxError
from pypto_tmpl.language.functions import decorator_of
from pypto_tmpl.language.programs import read_alone, read_program
from pypto_tmpl.language.reader import InlineFunction
from pypto_tmpl.language.retrieval import closure_of, executed_module, source_of_class, source_of_function
from pypto_tmpl.language.tracebacks import without_frames
from pypto_tmpl.ops import forget_changed

Definition = TypeVar("Definition", ir.Program, ir.Function)

_BARE = ast.Name("bare", ast.Load())


@overload
def program(cls: type) -> ir.Program: ...
@overload
def program(cls: None = None, *, strict_ssa: bool = False) -> Callable[[type], ir.Program]: ...
def program(cls: type | None = None, *, strict_ssa: bool = False) -> Any:
    """The program that a class spells: its methods with ``@pl.function``, and the functions they call.

    ``strict_ssa`` forbids binding a name twice. Raises a ParserError that shows where the text is wrong.
    """
    frame = sys._getframe(1)
    if cls is None:
        return lambda found: _program(found, frame)
    return _program(cls, frame)


def _program(cls: type, frame: FrameType) -> ir.Program:
    if not isinstance(cls, type):
        raise ParserSyntaxError(f"@pl.program decorates a class, not {cls!r}")
    source, node = source_of_class(cls, frame)
    module = executed_module(source, closure_of(frame))
    return _read(lambda: read_program(module, node, _decorator(node, "program")))


@overload
def function(func: Callable[..., Any]) -> ir.Function: ...
@overload
def function(
    func: None = None,
    *,
    type: ir.FunctionType = ir.FunctionType.Opaque,
    level: ir.Level | None = None,
    role: ir.Role | None = None,
    attrs: dict[str, Any] | None = None,
    auto_scope: bool = True,
    strict_ssa: bool = False,
    external_source: str | PurePath | None = None,
) -> Callable[[Callable[..., Any]], ir.Function]: ...
def function(
    func: Callable[..., Any] | None = None,
    *,
    type: ir.FunctionType = ir.FunctionType.Opaque,
    level: ir.Level | None = None,
    role: ir.Role | None = None,
    attrs: dict[str, Any] | None = None,
    auto_scope: bool = True,
    strict_ssa: bool = False,
    external_source: str | PurePath | None = None,
) -> Any:
    """The function of the language that a Python function spells.

    In a class it marks a method for ``@pl.program``. Keywords are read where the text has them. Raises a
    ParserError that shows where the text is wrong.
    """
    frame = sys._getframe(1)
    if func is None:
        return lambda found: _function(found, frame)
    return _function(func, frame)


def _function(func: Callable[..., Any], frame: FrameType) -> Any:
    if "__qualname__" in frame.f_locals and "__module__" in frame.f_locals:
        return func  # in a class body: the text of the class says that it is decorated
    source, node = source_of_function(func)
    module = executed_module(source, closure_of(frame))
    return _read(lambda: read_alone(module, node, _decorator(node, "function")))


def _read(read: Callable[[], Definition]) -> Definition:
    forget_changed()
    with collector_paused():
        return without_frames(read)


def _decorator(node: ast.stmt, name: str) -> ast.expr:
    """The decorator in the text; one under another name has no keywords that could be read."""
    return decorator_of(node, name) or _BARE


def inline(func: Callable[..., Any]) -> InlineFunction:
    """A function that is expanded where it is called by its name."""
    frame = sys._getframe(1)
    source, node = source_of_function(func)
    for arg in [*node.args.kwonlyargs, node.args.vararg, node.args.kwarg]:
        if arg is not None:
            message = f"inline function {node.name!r} takes positional parameters only"
            raise ParserSyntaxError(message, source.span(arg), source_lines=source.lines)
    return InlineFunction(node.name, source, node, closure_of(frame))
