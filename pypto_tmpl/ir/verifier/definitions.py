"""Rules on where variables are defined and used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.bodies import IN_PLACE, flat, parts, statements, trailing_yield
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.stmt import AssignStmt, ForStmt, IfStmt, WhileStmt, YieldStmt
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import Steps, all_definitions, own_expressions, run, used_variables
from pypto_tmpl.ir.walking import walk


def use_after_def(function: Function, findings: Findings) -> None:
    """Every use follows a definition; a body may leak names only where there are no return_vars."""
    uses = _Uses(function, findings, 401, "before it is defined", leaks=True)
    run(uses.check(function.body))


def ssa_form(function: Function, findings: Findings) -> None:
    """Every variable is assigned once, used inside its scope, and value-producing bodies end in a yield."""
    assigned: set[int] = set()
    for var, stmt in all_definitions(function):
        if id(var) in assigned:
            findings.add(1, f"{var.name_hint!r} is assigned more than once", stmt.span)
        assigned.add(id(var))
    run(_Uses(function, findings, 6, "outside the scope that defines it", leaks=False).check(function.body))
    for stmt in statements(function.body):
        if isinstance(stmt, ForStmt | WhileStmt):
            _check_loop(stmt, findings)
        elif isinstance(stmt, IfStmt) and stmt.return_vars:
            if stmt.else_body is None:
                findings.add(3, "a branch with return variables has no else", stmt.span)
            for branch in parts(stmt):
                _check_yield(branch, len(stmt.return_vars), "branch", findings)


def _defined_by_types(function: Function) -> Iterator[Var]:
    """Variables in the types of parameters, return values and assigned variables: they count as defined."""
    types: list[object] = [var.type for var, _ in all_definitions(function)]
    for owner in (*types, *function.return_types):
        yield from (node for node in walk(owner) if isinstance(node, Var))


class _Uses:
    """A walk that knows which variables are visible, and reports uses of others."""

    def __init__(self, function: Function, findings: Findings, code: int, what: str, leaks: bool) -> None:
        self.findings = findings
        self.code = code
        self.what = what
        self.leaks = leaks
        self.visible = {id(var) for var in (*function.params, *_defined_by_types(function))}
        self.blocks: list[list[int]] = [[]]  # what became visible in the blocks around, the innermost last

    def define(self, variables: Iterable[Var]) -> None:
        self.reveal(id(var) for var in variables)

    def reveal(self, names: Iterable[int]) -> None:
        new = [name for name in names if name not in self.visible]
        self.visible.update(new)
        self.blocks[-1] += new

    def check(self, stmt: Stmt) -> Steps:
        """Check ``stmt``; what it defines is visible afterwards."""
        self.read(own_expressions(stmt), stmt)
        if isinstance(stmt, AssignStmt):
            self.define((stmt.var,))
        elif isinstance(stmt, ForStmt | WhileStmt):
            yield self.loop(stmt)
        elif isinstance(stmt, IfStmt):
            yield self.branches(stmt)
        else:
            for part in parts(stmt):
                yield self.check(part)

    def loop(self, stmt: ForStmt | WhileStmt) -> Steps:
        self.blocks.append([])
        self.define((stmt.loop_var, *stmt.iter_args) if isinstance(stmt, ForStmt) else stmt.iter_args)
        own = set(self.blocks[-1])
        if isinstance(stmt, WhileStmt):
            self.read((stmt.condition,), stmt)
        yield self.check(stmt.body)
        inner = self.leave()
        self.define(stmt.return_vars)
        if self.leaks and not stmt.return_vars:
            self.reveal(name for name in inner if name not in own)

    def branches(self, stmt: IfStmt) -> Steps:
        inner: list[int] = []
        for branch in parts(stmt):
            self.blocks.append([])
            yield self.check(branch)
            inner += self.leave()
        self.define(stmt.return_vars)
        if self.leaks and not stmt.return_vars:
            self.reveal(inner)

    def leave(self) -> list[int]:
        """Leave a block; what it defined is no longer visible."""
        inner = self.blocks.pop()
        self.visible.difference_update(inner)
        return inner

    def read(self, exprs: Iterable[Expr], stmt: Stmt) -> None:
        for var in used_variables(*exprs):
            if id(var) not in self.visible:
                self.findings.add(self.code, f"{var.name_hint!r} is used {self.what}", stmt.span)


def _check_loop(stmt: ForStmt | WhileStmt, findings: Findings) -> None:
    carries, results = len(stmt.iter_args), len(stmt.return_vars)
    if carries != results:
        findings.add(4, f"a loop has {carries} iter_args and {results} return variables", stmt.span)
    if stmt.iter_args:
        _check_yield(stmt.body, carries, "loop", findings)


def _check_yield(body: Stmt, count: int, what: str, findings: Findings) -> None:
    last = trailing_yield(body)
    if last is None:
        findings.add(3, f"the body of a {what} that produces values does not end in a yield", body.span)
    elif len(last.value) != count:
        findings.add(5, f"a yield of {len(last.value)} values in a {what} that produces {count}", last.span)
    for stmt in flat(body, IN_PLACE):
        if isinstance(stmt, YieldStmt) and stmt is not last:
            findings.add(7, f"a yield before the end of the body of a {what} that produces values", stmt.span)
