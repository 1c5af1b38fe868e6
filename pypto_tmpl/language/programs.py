"""Programs and functions that stand alone: signatures, then bodies, with the errors of all (spec, 3.3)."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.language.diagnostics import ParserError, ParserSyntaxError, PassedOverError, several
from pypto_tmpl.language.folding import boolean
from pypto_tmpl.language.functions import Declared, declare, decorator_of, read_function
from pypto_tmpl.language.reader import Module, Reader, Signature, Variables
from pypto_tmpl.language.source import Comments


def read_program(module: Module, node: ast.ClassDef, decorator: ast.expr) -> ir.Program:
    """Signatures first, so that a call may precede its function; then the bodies in text order."""
    reader = Reader(module, Variables(printed=False), Comments(module.source))
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
            reader.module.unread.add(inner.name)
    if not methods and not errors:
        message = f"class {node.name!r} has no function"
        raise reader.error(ParserSyntaxError, node, message, "decorate its functions with @pl.function")
    functions = _bodies(methods, errors)
    if errors:
        raise several(errors)
    for name, external in _from_outside(module).items():
        if name in methods:
            message = f"a function from outside is named {name!r}, as one of class {node.name!r} is"
            raise reader.error(ParserSyntaxError, methods[name].node, message)
        functions.append(external)
    return ir.Program(functions, node.name, reader.span(node))


def _from_outside(module: Module) -> dict[str, ir.Function]:
    """The functions outside of the class that its functions call, and those that these call in turn."""
    known = {value.name: value for value in module.closure.values() if isinstance(value, ir.Function)}
    found: dict[str, ir.Function] = {}
    pending = list(module.called.values())
    while pending:
        function = pending.pop(0)
        if function.name in found:
            continue
        found[function.name] = function
        calls = (node for node in ir.walk(function.body) if isinstance(node, (ir.Call, ir.Submit)))
        names = {call.op.name for call in calls if isinstance(call.op, ir.GlobalVar)}
        pending += [known[name] for name in sorted(names) if name in known]
    return found


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
            declared.signature.failed = not declared.signature.return_types
            errors += [] if isinstance(error, PassedOverError) else [error]
    return functions


def read_alone(module: Module, node: ast.FunctionDef, decorator: ast.expr) -> ir.Function:
    """A function outside a class."""
    declared = declare(module, node, decorator, {})
    module.functions[node.name] = declared.signature
    return read_function(declared)
