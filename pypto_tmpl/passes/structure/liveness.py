"""Which variables are still read after a loop."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.verifier.walking import Steps, own_expressions, run, used_variables

REGIONS = (ir.InCoreScopeStmt, ir.ClusterScopeStmt, ir.HierarchyScopeStmt, ir.SpmdScopeStmt)
"""Scopes that become functions."""


def live_after_loops(body: ir.Stmt) -> dict[int, frozenset[int]]:
    """For each loop, by id, the variables (ids) that the text behind it reads before it assigns them.

    What the next round of a loop around it reads does not count, nor what stands behind the region that the
    loop is in.
    """
    liveness = _Liveness()
    run(liveness.visit(body))
    return liveness.after_loops


class _Liveness:
    """A walk from the end of a body to its start."""

    def __init__(self) -> None:
        self.after_loops: dict[int, frozenset[int]] = {}
        self._live: set[int] = set()
        self._live_behind: set[int] = set()  # behind the innermost region

    def visit(self, stmt: ir.Stmt) -> Steps:
        """Go on from what is live after a statement to what is live before it."""
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self.after_loops[id(stmt)] = frozenset(self._live)
        self._forget(getattr(stmt, "return_vars", ()))
        if isinstance(stmt, ir.AssignStmt):
            self._forget((stmt.var,))
        elif isinstance(stmt, ir.IfStmt):
            yield self._branches(stmt)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            yield self._branches(stmt)
            if isinstance(stmt, ir.WhileStmt):
                self._read(stmt.condition)
        elif isinstance(stmt, REGIONS):
            yield self._region(stmt)
        else:
            for part in reversed(parts(stmt)):
                yield self.visit(part)
        self._read(*own_expressions(stmt))

    def _forget(self, assigned: tuple[ir.Var, ...]) -> None:
        self._live.difference_update(map(id, assigned))
        self._live_behind.difference_update(map(id, assigned))

    def _read(self, *values: ir.Expr) -> None:
        self._live |= {id(var) for var in used_variables(*values)}

    def _branches(self, stmt: ir.Stmt) -> Steps:
        """Bodies of which one may run, or none."""
        after = set(self._live), set(self._live_behind)
        has_both = isinstance(stmt, ir.IfStmt) and stmt.else_body is not None
        before = (set(), set()) if has_both else (set(after[0]), set(after[1]))
        for part in parts(stmt):
            self._live, self._live_behind = set(after[0]), set(after[1])
            yield self.visit(part)
            before[0].update(self._live)
            before[1].update(self._live_behind)
        self._live, self._live_behind = before

    def _region(self, stmt: ir.Stmt) -> Steps:
        behind = self._live_behind
        self._live_behind = self._live | behind
        self._live = set()
        for part in parts(stmt):
            yield self.visit(part)
        self._live |= self._live_behind - behind
        self._live_behind &= behind
