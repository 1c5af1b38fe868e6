"""The first use of a variable that nothing binds, in a stage of which no script can be made for that."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import located_statements
from pypto_tmpl.codegen.unsupported import Unsupported, UnsupportedProgramError
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.stages.preparation import Node, read_program
from pypto_tmpl.execution.entry import functions_of, user_name
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text


def undefined_use(
    first_bad: Stage, last_good: Stage | None, search: str, error: UnsupportedProgramError
) -> Divergence:
    """Where the first bad stage uses a variable that nothing binds, and where the variable is bound.

    ``search`` says how the stages were found.
    """
    first, node = error.found[0], read_program(first_bad.read())
    others = [place for place in _bindings(node, first.unbound) if place.function != first.function]
    reasons = [first.what, *(f"{place.function} binds it: {place.text}" for place in others[:1])]
    if len(error.found) > 1:
        reasons.append(f"{len(error.found) - 1} more such uses follow")
    good = None if last_good is None else read_program(last_good.read())
    return Divergence(
        first_bad=first_bad.name,
        last_good="" if last_good is None else last_good.name,
        search=search,
        kind="rejected",
        place=_use(node, first),
        place_stage=first_bad.name,
        good_place=None if good is None else next(_bindings(good, first.unbound), None),
        evidence=tuple(reasons),
    )


def _use(node: Node, found: Unsupported) -> StatementPlace:
    """The first statement of the function that uses the variable."""
    function = next(function for function in functions_of(node) if function.name == found.function)
    for path, stmt in located_statements(function.body):
        is_head = isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.IfStmt | ir.ScopeStmt)
        names = {var.name_hint for var in ir.walk(stmt) if isinstance(var, ir.Var)}
        if found.unbound in names and not is_head:
            return _place(function, path, stmt)
    source = f"{found.span.filename}:{found.span.begin_line}" if found.span.is_valid() else ""
    return StatementPlace(found.function, variable=found.unbound, source=source)


def _bindings(node: Node, name: str) -> Iterator[StatementPlace]:
    """The statements that bind a variable of the name, up to what passes add to it."""
    for function in functions_of(node):
        for path, stmt in located_statements(function.body):
            if isinstance(stmt, ir.AssignStmt) and user_name(stmt.var.name_hint) == user_name(name):
                yield _place(function, path, stmt)


def _place(function: ir.Function, path: str, stmt: ir.Stmt) -> StatementPlace:
    span = stmt.span
    source = f"{span.filename}:{span.begin_line}" if span.is_valid() else ""
    variable = stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else ""
    return StatementPlace(function.name, path, statement_text(stmt), variable, source)
