"""The module level of a text: imports, constants, dimensions, buffers and the program (spec, 2)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.ir.printer.destinations import BUFFER
from pypto_tmpl.ir.wire.unpack import is_binary_dump
from pypto_tmpl.language.annotations import DynVar, MemRef, TensorView, TileView
from pypto_tmpl.language.constants import member, shown
from pypto_tmpl.language.diagnostics import (
    BufferTextError,
    ParserError,
    ParserTypeError,
    ProgramCountError,
    UnsupportedFeatureError,
)
from pypto_tmpl.language.folding import integer, python_value, string
from pypto_tmpl.language.functions import decorator_of
from pypto_tmpl.language.limits import as_parser_error, decode, parse_source
from pypto_tmpl.language.programs import read_alone, read_program
from pypto_tmpl.language.reader import InlineFunction, Module, Reader, Variables
from pypto_tmpl.language.source import Comments, Source, SourceMap
from pypto_tmpl.ops import forget_changed

_HEADER = "# pypto.program:"
_LANGUAGE_MODULES = frozenset({"pypto.language", "pypto_tmpl.language"})
_DISTRIBUTED_MODULES = frozenset(f"{name}.distributed" for name in _LANGUAGE_MODULES)
HARMLESS_IMPORTS = frozenset({"pypto", "pypto_tmpl", "__future__", "typing"})
_IMPORT_HINT = "the reader never runs a text; import the file as a Python module to run what it does"


def loads(filepath: str | Path) -> ir.Program | ir.Function:
    """The program or function in a text file, such as a pass dump; the file is read, not run.

    Raises FileNotFoundError where there is no such file, or a ParserError that shows where the text is wrong.
    """
    file = Path(filepath)
    if not file.is_file():
        what = "is no ordinary file" if file.exists() else "does not exist"
        what = "is a folder" if file.is_dir() else what
        raise FileNotFoundError(f"no program can be read: {str(filepath)!r} {what}")
    return _read(decode(file.read_bytes(), str(filepath)), str(filepath))


def parse(
    code: str,
    filename: str = "<string>",
    source_map: SourceMap | None = None,
    closure: Mapping[str, object] | None = None,
    unreached: frozenset[str] = frozenset(),
) -> ir.Program | ir.Function:
    """The program or function in ``code``; ``filename`` is what positions and errors name.

    The text is a kernel's source or what the printer writes: it is read, not run, and no verifier runs over
    the result. ``source_map`` gives lines of a generated text the file, line and column that they come from,
    which is where spans and errors then point. ``closure`` gives names values from outside of the text,
    ``unreached`` names functions that are only called where no run gets to.

    Raises a ParserError that shows where the text is wrong, TypeError for anything but text.
    """
    given: object = code
    if not isinstance(given, str):
        is_binary = isinstance(given, bytes) and is_binary_dump(given)
        form = "; this is a binary dump, which ir.deserialize reads" if is_binary else ""
        raise TypeError(f"pl.parse takes text, got {type(code).__name__}{form}")
    return _read(code, filename, source_map, closure, unreached)


def parse_program(code: str, filename: str = "<string>") -> ir.Program:
    """The program in ``code``; deprecated for ``parse``. Raises ValueError where it is a function."""
    return _program_only("parse", parse(code, filename))


def loads_program(filepath: str | Path) -> ir.Program:
    """The program in a file; deprecated for ``loads``. Raises ValueError where it is a function."""
    return _program_only("loads", loads(filepath))


def _program_only(name: str, found: ir.Program | ir.Function) -> ir.Program:
    warnings.warn(f"pl.{name}_program is deprecated, use pl.{name}", DeprecationWarning, stacklevel=3)
    if not isinstance(found, ir.Program):
        raise ValueError(f"the text defines the function {found.name!r}, and a program is expected")
    return found


def _read(
    text: str,
    filename: str,
    source_map: SourceMap | None = None,
    closure: Mapping[str, object] | None = None,
    unreached: frozenset[str] = frozenset(),
) -> ir.Program | ir.Function:
    forget_changed()
    with collector_paused():
        return _definition(parse_source(text, filename, source_map), dict(closure or {}), unreached)


def _refuse_buffers(source: Source) -> None:
    """Raise BufferTextError for text that declares buffers."""
    if f".{BUFFER}[" not in source.text:
        return
    for node in ast.walk(source.tree):
        match node:
            case ast.AnnAssign(value=None, annotation=ast.Subscript(value=ast.Attribute(attr=name))):
                if name == BUFFER:
                    what = "this is Buffer text, which is no source that can be read"
                    companion = Path(f"{source.filename.removesuffix('.py')}.msgpack")
                    hint = "read the .msgpack of the same stage, which holds the same program"
                    if companion.is_file():
                        hint = f"read {companion.name}, which holds the same program"
                    span = source.span(node)
                    raise BufferTextError(what, span, hint=hint, source_lines=source.lines_of(span))


def _definition(
    source: Source, closure: dict[str, object], unreached: frozenset[str]
) -> ir.Program | ir.Function:
    filename, printed = source.filename, source.text.startswith(_HEADER)
    _refuse_buffers(source)
    module = Module(source, printed, closure=closure, unreached=unreached)
    reader = Reader(module, Variables(printed=False), Comments(source))
    found: list[Callable[[], ir.Program | ir.Function]] = []
    for node in source.tree.body:
        try:
            if (definition := _statement(reader, node)) is not None:
                found.append(definition)
        except ParserError:
            raise
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise as_parser_error(source, node, error) from error
    if len(found) != 1:
        what = "no @pl.function or @pl.program" if not found else "multiple functions or programs"
        raise ProgramCountError(f"found {what} in {filename}, where one is expected")
    return found[0]()


def _statement(reader: Reader, node: ast.stmt) -> Callable[[], ir.Program | ir.Function] | None:
    """Read a module-level statement; what it defines is read last, when all constants are known."""
    match node:
        case ast.Import() | ast.ImportFrom():
            _import(reader, node)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            _constant(reader, node, name, value)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
            values
        ) and all(isinstance(name, ast.Name) for name in names):
            for target, value in zip(names, values, strict=True):
                _constant(reader, node, getattr(target, "id", ""), value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            _constant(reader, node, name, value)
        case ast.Expr(value=ast.Constant(value=str())):
            pass
        case ast.ClassDef() if (decorator := decorator_of(node, "program")) is not None:
            program_decorator = decorator
            return lambda: read_program(reader.module, node, program_decorator)
        case ast.FunctionDef(name=name) if decorator_of(node, "inline") is not None:
            closure = reader.module.closure
            closure[name] = InlineFunction(name, reader.module.source, node, closure)
        case ast.FunctionDef() if (decorator := decorator_of(node, "function")) is not None:
            return lambda: read_alone(reader.module, node, decorator)
        case _:
            message = f"the module-level statement {shown(node)} is not supported"
            raise reader.error(UnsupportedFeatureError, node, message, _IMPORT_HINT)
    return None


def _import(reader: Reader, node: ast.Import | ast.ImportFrom) -> None:
    """Imports of the language give it a prefix; others have no effect here."""
    for alias in node.names:
        owner = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        full, name = f"{owner}{alias.name}", alias.asname or alias.name
        if full in _LANGUAGE_MODULES:
            reader.module.language.add(name)
        elif full in _DISTRIBUTED_MODULES:
            reader.module.distributed.add(name)
        elif full.partition(".")[0] not in HARMLESS_IMPORTS:
            message = f"the import of {full!r} is not supported"
            raise reader.error(UnsupportedFeatureError, node, message, _IMPORT_HINT)


def _constant(reader: Reader, node: ast.stmt, name: str, value: ast.expr) -> None:
    """``N = pl.dynamic("N")``, a buffer, a number, a tuple of numbers, or a name for a dtype or member."""
    closure = reader.module.closure
    if (found := member(value)) is not None:
        closure[name] = found
        return
    match value:
        case ast.Call(func=ast.Attribute(attr="dynamic"), args=[text], keywords=[]):
            closure[name] = DynVar(_dimension_name(reader, text))
        case ast.Call(func=ast.Attribute(attr="MemRef"), args=[], keywords=keywords):
            slots = 1
            for keyword in keywords:
                if keyword.arg != "slots":
                    raise reader.error(ParserTypeError, value, f"unknown MemRef argument {keyword.arg!r}")
                slots = integer(reader, keyword.value, "slots")
            closure[name] = MemRef(slots=slots)
        case ast.Call(func=ast.Attribute(attr="TensorView" | "TileView" as kind), args=[], keywords=keywords):
            build = TensorView if kind == "TensorView" else TileView
            closure[name] = build(**{k.arg or "": python_value(reader, k.value) for k in keywords})
        case _:
            try:
                closure[name] = python_value(reader, value)
            except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
                message = f"the module-level value {shown(value)} is not supported"
                raise reader.error(UnsupportedFeatureError, node, message, _IMPORT_HINT) from None


def _dimension_name(reader: Reader, text: ast.expr) -> str:
    symbol = string(reader, text, "the name of a dimension")
    if not symbol.isidentifier():
        raise reader.error(ParserTypeError, text, f"{symbol!r} is no name for a dimension")
    return symbol
