"""The text of functions and classes that Python defines: files, notebook cells, ``python -c`` (spec, 2.2)."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any, TypeVar

from pypto_tmpl.ir import Span
from pypto_tmpl.language.diagnostics import ParserSyntaxError
from pypto_tmpl.language.limits import parse_source
from pypto_tmpl.language.reader import Module
from pypto_tmpl.language.source import Source

Definition = TypeVar("Definition", ast.FunctionDef, ast.ClassDef)

_LANGUAGE = "pypto_tmpl.language"
_HINT = "define it in a file, in a notebook cell or in the text of `python -c`"


def source_of_function(function: Callable[..., Any]) -> tuple[Source, ast.FunctionDef]:
    """The file of a Python function and its definition there; ParserSyntaxError where no text is found."""
    code = function.__code__
    source = _source(code.co_filename, function.__globals__, function.__name__, code.co_firstlineno)
    candidates = [node for node in _definitions(source, ast.FunctionDef) if node.name == code.co_name]
    for node in candidates:
        if code.co_firstlineno in (_first_line(node), node.lineno):
            return source, node
    raise _no_source(function.__name__, code.co_filename, code.co_firstlineno)


def source_of_class(cls: type, frame: FrameType) -> tuple[Source, ast.ClassDef]:
    """The file of a class whose decorator ``frame`` runs, and its definition there."""
    filename, line = frame.f_code.co_filename, frame.f_lineno
    source = _source(filename, frame.f_globals, cls.__name__, line)
    for node in _definitions(source, ast.ClassDef):
        if node.name == cls.__name__ and _first_line(node) <= line <= (node.end_lineno or node.lineno):
            return source, node
    raise _no_source(cls.__name__, filename, line)


def closure_of(frame: FrameType) -> dict[str, object]:
    """What names stand for where ``frame`` is: its globals, and its locals over them."""
    return {**frame.f_globals, **frame.f_locals}


def executed_module(source: Source, closure: dict[str, object]) -> Module:
    """The module level of a text that Python has run: ``closure`` says what its names stand for."""
    modules = [(name, value.__name__) for name, value in closure.items() if isinstance(value, ModuleType)]
    language = {name for name, module in modules if module == _LANGUAGE}
    distributed = {name for name, module in modules if module == f"{_LANGUAGE}.distributed"}
    return Module(source, executed=True, language=language, distributed=distributed, closure=closure)


def _source(filename: str, namespace: dict[str, Any], name: str, line: int) -> Source:
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, namespace))
    if not text and filename == "<string>":
        text = _command_text()
    if not text:
        raise _no_source(name, filename, line)
    return _parsed(text, filename)


@lru_cache(maxsize=16)
def _parsed(text: str, filename: str) -> Source:
    """One tree for all definitions of a file."""
    return parse_source(text, filename)


def _command_text() -> str:
    """The text that ``python -c`` runs, or nothing."""
    arguments: Sequence[str] = sys.orig_argv
    return arguments[arguments.index("-c") + 1] if "-c" in arguments[:-1] else ""


def _definitions(source: Source, kind: type[Definition]) -> list[Definition]:
    return [node for node in _statements(source.tree) if isinstance(node, kind)]


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a tree, those of the bodies of others too."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from _statements(node)


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _no_source(name: str, filename: str, line: int) -> ParserSyntaxError:
    message = f"cannot retrieve the source code of {name!r}"
    return ParserSyntaxError(message, Span(filename, line, 1), _HINT)
