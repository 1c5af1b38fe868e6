"""The module level of a text: imports, constants, dimensions, buffers and the program (spec, 2)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.language.constants import boolean, integer, member, python_value, shown, string
from pypto_tmpl.language.diagnostics import (
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ProgramCountError,
    UnsupportedFeatureError,
    several,
)
from pypto_tmpl.language.functions import Declared, declare, decorator_of, read_function
from pypto_tmpl.language.limits import as_parser_error, decode, parse_source, without_collector
from pypto_tmpl.language.scopes import Module, Reader, Signature, Variables
from pypto_tmpl.language.source import Source

_HEADER = "# pypto.program:"
_LANGUAGE_MODULES = frozenset({"pypto.language", "pypto_tmpl.language"})
_DISTRIBUTED_MODULES = frozenset(f"{name}.distributed" for name in _LANGUAGE_MODULES)
_HARMLESS = frozenset({"pypto", "pypto_tmpl", "__future__", "typing"})
_IMPORT_HINT = "the reader never runs a text; import the file as a Python module to run what it does"


def loads(path: str | Path) -> ir.Program | ir.Function:
    """The program or function in a text file, such as a pass dump; the file is read, not run.

    Raises FileNotFoundError, or a ParserError that shows where the text is wrong.
    """
    return _read(decode(Path(path).read_bytes(), str(path)), str(path))


def parse(code: str, filename: str = "<string>") -> ir.Program | ir.Function:
    """The program or function in ``code``; ``filename`` is what positions and errors name.

    The text is what the printer writes: it is read, not run, and no verifier runs over the result.
    Raises a ParserError that shows where the text is wrong.
    """
    return _read(code, filename)


def _read(text: str, filename: str) -> ir.Program | ir.Function:
    with without_collector():
        return _definition(parse_source(text, filename))


def _definition(source: Source) -> ir.Program | ir.Function:
    filename = source.filename
    module = Module(source, printed=source.text.startswith(_HEADER))
    reader = Reader(module, Variables(printed=False))
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
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            _constant(reader, node, name, value)
        case ast.Expr(value=ast.Constant(value=str())):
            pass
        case ast.ClassDef() if (decorator := decorator_of(node, "program")) is not None:
            program_decorator = decorator
            return lambda: _program(reader, node, program_decorator)
        case ast.FunctionDef() if (decorator := decorator_of(node, "function")) is not None:
            return lambda: _alone(reader.module, node, decorator)
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
        elif full.partition(".")[0] not in _HARMLESS:
            message = f"the import of {full!r} is not supported"
            raise reader.error(UnsupportedFeatureError, node, message, _IMPORT_HINT)


def _constant(reader: Reader, node: ast.stmt, name: str, value: ast.expr) -> None:
    """``N = pl.dynamic("N")``, a buffer, a number, a tuple of numbers, or a name for a dtype or member."""
    module = reader.module
    if (found := member(value)) is not None and not isinstance(found, int):
        module.members[name] = value
        return
    match value:
        case ast.Call(func=ast.Attribute(attr="dynamic"), args=[text], keywords=[]):
            _dimension(reader, name, text)
        case ast.Call(func=ast.Attribute(attr="MemRef"), args=[], keywords=keywords):
            module.memrefs[name] = 1
            for keyword in keywords:
                if keyword.arg != "slots":
                    raise reader.error(ParserTypeError, value, f"unknown MemRef argument {keyword.arg!r}")
                module.memrefs[name] = integer(reader, keyword.value, "slots")
        case ast.Name(id=other) if other in module.dimensions:
            module.dimensions[name] = module.dimensions[other]
        case _:
            try:
                module.values[name] = python_value(reader, value)
            except (TypeError, ValueError, ArithmeticError):
                message = f"the module-level value {shown(value)} is not supported"
                raise reader.error(UnsupportedFeatureError, node, message, _IMPORT_HINT) from None


def _dimension(reader: Reader, name: str, text: ast.expr) -> None:
    symbol = string(reader, text, "the name of a dimension")
    if not symbol.isidentifier():
        raise reader.error(ParserTypeError, text, f"{symbol!r} is no name for a dimension")
    known = next((v for v in reader.module.dimensions.values() if v.name_hint == symbol), None)
    if known is None:
        known = ir.Var(symbol, ir.ScalarType(ir.DataType.INDEX), reader.span(text))
    reader.module.dimensions[name] = known


def _program(reader: Reader, node: ast.ClassDef, decorator: ast.expr) -> ir.Program:
    """Signatures first, so that a call may precede its function; then the bodies in text order."""
    strict = _strict(reader, decorator)
    errors: list[ParserError] = []
    methods: dict[str, Declared] = {}
    signatures: dict[str, Signature] = {}
    for inner in node.body:
        function = decorator_of(inner, "function")
        if function is None or not isinstance(inner, ast.FunctionDef):
            continue
        try:
            if inner.name in methods:
                message = f"two functions are named {inner.name!r}"
                raise reader.error(ParserSyntaxError, inner, message)
            declared = declare(reader.module, inner, function, signatures, strict)
            methods[declared.name] = declared
            signatures[declared.name] = declared.signature
        except ParserError as error:
            errors.append(error)
    if not methods and not errors:
        message = f"class {node.name!r} has no function"
        raise reader.error(ParserSyntaxError, node, message, "decorate its functions with @pl.function")
    functions = _bodies(methods, errors)
    if errors:
        raise several(errors)
    return ir.Program(functions, node.name, reader.span(node))


def _strict(reader: Reader, decorator: ast.expr) -> bool:
    """The only keyword of ``@pl.program``."""
    match decorator:
        case ast.Call(args=[], keywords=[]):
            return False
        case ast.Call(args=[], keywords=[ast.keyword(arg="strict_ssa", value=value)]):
            return boolean(reader, value, "strict_ssa")
        case ast.Call():
            message = "pl.program takes strict_ssa=True or False and nothing else"
            raise reader.error(ParserSyntaxError, decorator, message)
    return False


def _bodies(methods: dict[str, Declared], errors: list[ParserError]) -> list[ir.Function]:
    functions = []
    for declared in methods.values():
        try:
            functions.append(read_function(declared))
        except ParserError as error:
            errors.append(error)
    return functions


def _alone(module: Module, node: ast.FunctionDef, decorator: ast.expr) -> ir.Function:
    """A function outside a class."""
    declared = declare(module, node, decorator, {})
    module.functions[node.name] = declared.signature
    return read_function(declared)
