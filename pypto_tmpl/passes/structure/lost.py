"""Variables that a pass would leave without a definition."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import all_definitions, own_expressions, used_variables
from pypto_tmpl.passes.base import PassError


def lost_variables(before: ir.Function, after: ir.Function) -> Iterator[tuple[ir.Var, ir.Stmt]]:
    """What ``after`` reads and does not define though ``before`` did, with the statement that reads it."""
    defined = {id(var) for var, _ in all_definitions(before)} - {id(var) for var, _ in all_definitions(after)}
    for stmt in statements(after.body):
        conditions = (stmt.condition,) if isinstance(stmt, ir.WhileStmt) else ()
        for var in used_variables(*own_expressions(stmt), *conditions):
            if id(var) in defined:
                yield var, stmt


def refuse_lost_variables(before: ir.Function, after: ir.Function) -> None:
    """Raise PassError where a function would read what nothing in it defines any more."""
    indices = {id(stmt.loop_var) for stmt in statements(before.body) if isinstance(stmt, ir.ForStmt)}
    for var, reader in lost_variables(before, after):
        if id(var) in indices:
            what = f"the loop variable {var.name_hint!r} is read outside of its loop"
        else:
            what = f"{var.name_hint!r} is read where it may not have been assigned"
        raise PassError(what, before, reader, var)
