"""Yields: the values that loops and branches hand on, and the names they get (spec, 5.5 to 5.8)."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.constants import shown
from pypto_tmpl.language.diagnostics import ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.expressions import expression
from pypto_tmpl.language.reader import Reader, Results
from pypto_tmpl.language.statements import emit
from pypto_tmpl.language.type_agreement import may_agree
from pypto_tmpl.language.types import annotation


def spelled_type(reader: Reader, node: ast.expr) -> ir.Type | None:
    """The type of an annotation, None for a string; types without names of variables are read once."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return None
    return annotation(reader, node)


def read_yield(reader: Reader, node: ast.expr, targets: list[tuple[ast.Name, ast.expr | None]]) -> None:
    """A yield; its targets are what the enclosing loop or branch defines."""
    assert isinstance(node, ast.Call)
    if node.keywords:
        raise reader.error(ParserSyntaxError, node, "pl.yield_ takes values only")
    values = [expression(reader, value) for value in node.args]
    if targets and len(targets) != len(values):
        message = f"Mismatch: {len(targets)} names for {len(values)} yielded values"
        raise reader.error(ParserSyntaxError, node, message)
    results = reader.results
    if results is not None and not (reader.module.printed or reader.unreached):
        _check_types(reader, node, results, [target.id for target, _ in targets], values)
    if results is not None:
        results.yields += 1
        if results.yields > 1:
            raise reader.error(ParserSyntaxError, node, "a body yields once", "yield all values together")
        if results.needs_names and not targets and not reader.module.printed:
            message = "the yield of a loop that carries values names its results"
            raise reader.error(ParserSyntaxError, node, message, "write `out = pl.yield_(...)`")
    if targets and results is None:
        message = "pl.yield_ defines names only in a loop or a branch"
        raise reader.error(ParserSyntaxError, node, message)
    if results is not None:
        results.has_bare_yield |= not targets
        for (target, spelled), value in zip(targets, values, strict=False):
            type_ = None if spelled is None else spelled_type(reader, spelled)
            if results.types.get(target.id) is None:
                results.types[target.id] = type_
            results.values.setdefault(target.id, value.type)
    emit(reader, ir.YieldStmt(values, reader.span(node)))


def _check_types(
    reader: Reader, node: ast.Call, results: Results, names: Sequence[str], values: Sequence[ir.Expr]
) -> None:
    """The yields of a loop hand on what it carries, those of two branches the same kinds of values."""
    if results.carried is not None and len(values) != len(results.carried):
        message = f"Mismatch: {len(values)} yielded values for {len(results.carried)} carried ones"
        raise reader.error(ParserSyntaxError, node, message)
    known = results.carried or [results.values.get(name, ir.UnknownType()) for name in names]
    for argument, value, type_ in zip(node.args, values, known, strict=False):
        if not may_agree(type_, value.type):
            message = f"{shown(argument)} is yielded as {type_text(type_)}, and it is {type_text(value.type)}"
            raise reader.error(ParserTypeError, argument, message)


def define_results(
    reader: Reader, results: Results, span: ir.Span, types: Sequence[ir.Type] = ()
) -> list[ir.Var]:
    """The variables that a loop or branch defines; ``types`` are those of the loop's carried values."""
    found = []
    for index, (name, type_) in enumerate(results.types.items()):
        if type_ is None:
            type_ = types[index] if index < len(types) else results.values[name]
        found.append(reader.names.define(name, type_, span))
        reader.failed.discard(name)
    return found
