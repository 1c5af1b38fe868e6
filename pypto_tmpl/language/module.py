"""The module level of a text: imports, constants, dimensions, buffers and the program (spec, 2)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.constants import integer, member, python_value, shown, string
from pypto_tmpl.language.diagnostics import (
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    ProgramCountError,
    UnsupportedFeatureError,
    several,
)
from pypto_tmpl.language.functions import Declared, declare, function_decorator, read_function
from pypto_tmpl.language.limits import decode, parse_source, too_deep
from pypto_tmpl.language.scopes import Module, Reader, Signature, Variables

_HEADER = "# pypto.program:"
_LANGUAGE_MODULES = frozenset({"pypto.language", "pypto_tmpl.language"})
_DISTRIBUTED_MODULES = frozenset(f"{name}.distributed" for name in _LANGUAGE_MODULES)
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
    source = parse_source(text, filename)
    module = Module(source, printed=text.lstrip("\ufeff").startswith(_HEADER))
    reader = Reader(module, Variables(printed=False))
    found: list[Callable[[], ir.Program | ir.Function]] = []
    for node in source.tree.body:
        try:
            if (definition := _statement(reader, node)) is not None:
                found.append(definition)
        except RecursionError:
            raise too_deep(source, node) from None
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
        case ast.ClassDef() if _is_program(node):
            return lambda: _program(reader, node)
        case ast.FunctionDef() if (decorator := function_decorator(node)) is not None:
            return lambda: _alone(reader.module, node, decorator)
        case _:
            what = shown(node).splitlines()[0][:80]
            message = f"the module-level statement {what} is not supported"
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
        elif not full.startswith(("pypto", "__future__.", "typing.")):
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


def _is_program(node: ast.ClassDef) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) == "program":
            return True
    return False


def _program(reader: Reader, node: ast.ClassDef) -> ir.Program:
    """Signatures first, so that a call may precede its function; then the bodies in text order."""
    errors: list[ParserError] = []
    methods: dict[str, Declared] = {}
    signatures: dict[str, Signature] = {}
    for member_node in node.body:
        decorator = function_decorator(member_node)
        if decorator is None or not isinstance(member_node, ast.FunctionDef):
            continue
        try:
            if member_node.name in methods:
                message = f"two functions are named {member_node.name!r}"
                raise reader.error(ParserSyntaxError, member_node, message)
            declared = declare(reader.module, member_node, decorator, signatures)
            methods[declared.name] = declared
            signatures[declared.name] = declared.signature
        except ParserError as error:
            errors.append(error)
    if not methods and not errors:
        hint = allowed_note("decorators", ["@pl.function"])
        raise reader.error(ParserSyntaxError, node, f"class {node.name!r} has no function", hint)
    functions = _bodies(methods, errors)
    if errors:
        raise several(errors)
    return ir.Program(functions, node.name, reader.span(node))


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
