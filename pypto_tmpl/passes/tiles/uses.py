"""Where the variables of a function are defined and used, and statements that nothing needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat, parts, statements
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.rewrite import Rewriter


class Uses:
    """Definitions, uses and sequences, in the order of the text."""

    def __init__(self, function: ir.Function) -> None:
        self._values: dict[int, ir.Expr] = {}
        self._users: dict[int, list[ir.Stmt]] = {}
        self._sequences: dict[int, int] = {}
        self._following: dict[int, ir.Stmt] = {}
        self.order: dict[int, int] = {}
        for number, stmt in enumerate(statements(function.body)):
            self.order[id(stmt)] = number
            for var in own_reads(stmt):
                self._users.setdefault(id(var), []).append(stmt)
            if isinstance(stmt, ir.AssignStmt):
                self._values[id(stmt.var)] = stmt.value
        for body in (function.body, *(part for stmt in statements(function.body) for part in parts(stmt))):
            self._note(body)

    def _note(self, body: ir.Stmt) -> None:
        if id(body) in self._sequences:
            return
        found = list(flat(body))
        for place, stmt in enumerate(found):
            self._sequences[id(stmt)] = id(body)
            if place:
                self._following[id(found[place - 1])] = stmt

    def value(self, var: ir.Expr) -> ir.Expr | None:
        """What a variable is assigned, None where that is no assignment."""
        return self._values.get(id(var))

    def call(self, var: ir.Expr) -> ir.Call | None:
        """The call that a variable is assigned."""
        value = self.value(var)
        return value if isinstance(value, ir.Call) else None

    def users(self, var: ir.Expr) -> list[ir.Stmt]:
        """The statements that read a variable."""
        return self._users.get(id(var), [])

    def following(self, stmt: ir.Stmt) -> ir.Stmt | None:
        """The statement right behind one."""
        return self._following.get(id(stmt))

    def are_together(self, one: ir.Stmt, other: ir.Stmt) -> bool:
        """Whether two statements stand in one sequence."""
        return self._sequences.get(id(one)) == self._sequences.get(id(other)) is not None


def call_of(stmt: ir.Stmt) -> ir.Call | None:
    """The call that a statement makes."""
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    return value if isinstance(value, ir.Call) else None


def without_unused(function: ir.Function, candidates: Iterable[ir.Var]) -> ir.Function:
    """The function without the assignments of those of the variables that nothing reads any more."""
    names = {id(var) for var in candidates}
    counts: Counter[int] = Counter()
    reads: dict[int, list[int]] = {}
    for stmt in statements(function.body):
        found = [id(var) for var in own_reads(stmt)]
        counts.update(found)
        if isinstance(stmt, ir.AssignStmt) and id(stmt.var) in names:
            reads[id(stmt.var)] = found
    unused = [name for name in reads if not counts[name]]
    for name in unused:
        for read in reads[name]:
            counts[read] -= 1
            if read in reads and not counts[read]:
                unused.append(read)
    return _Dropping(frozenset(unused)).rewrite(function) if unused else function


class _Dropping(Rewriter):
    def __init__(self, unused: frozenset[int]) -> None:
        super().__init__()
        self._unused = unused

    def before(self, stmt: ir.Stmt) -> ir.Stmt | None:
        is_unused = isinstance(stmt, ir.AssignStmt) and id(stmt.var) in self._unused
        return None if is_unused else stmt
