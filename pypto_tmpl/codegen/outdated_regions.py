"""Tiles and tensors that are read after a scalar that their valid region names has changed.

The type of such a value names the variable, not what it was when the value was made. Programs in SSA form
have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, code_of
from pypto_tmpl.codegen.static_regions import static_region

_MAX_STEPS = 1_000_000  # what takes more has more statements than the emitter writes


def names_of_region(value: ir.Expr) -> frozenset[int]:
    """The variables that the region of a value names by its type, by identity."""
    extents = static_region(value.type) or ()
    names = [code_of(extent).names for extent in extents if not isinstance(extent, ir.ConstInt)]
    return frozenset(name for found in names for name in found)


class OutdatedRegions:
    """What is read of one function's values while their regions are outdated.

    ``read`` has the variables by identity, ``readers`` the values and statements that read one.
    """

    def __init__(self, function: ir.Function, facts: BodyFacts) -> None:
        self.read: set[int] = set()
        self.readers: list[ir.IRNode] = []
        self._users: dict[int, set[int]] = {}  # of a scalar: the variables whose regions name it
        partial = [v for v in (*function.params, *facts.bound) if static_region(v.type) is not None]
        named = [(id(var), names_of_region(var)) for var in partial]
        changing = set(map(id, facts.bound)) if any(names for _, names in named) else set()
        for var, names in named:
            for scalar in names & changing:
                self._users.setdefault(scalar, set()).add(var)
        self._outdated: set[int] = set()
        self._at_heads: dict[int, set[int]] = {}  # outdated at the beginning of some round of a loop
        self._loops: list[set[int]] = []
        self._is_done = not self._users
        while not self._is_done:
            self._is_done = True
            self.readers.clear()
            self._outdated.clear()
            self._follow(function.body)

    def _follow(self, body: ir.Stmt) -> None:
        todo: list[ir.Stmt | Callable[[], None]] = [body]
        for _ in range(_MAX_STEPS):
            if not todo:
                return
            step = todo.pop()
            if not isinstance(step, ir.Stmt):
                step()
            elif isinstance(step, ir.SeqStmts):
                todo += reversed(step.stmts)
            elif isinstance(step, ir.IfStmt):
                self._reads([step.condition])
                todo += self._branches(step)
            elif isinstance(step, ir.ForStmt | ir.WhileStmt):
                todo += self._loop(step)
            elif isinstance(step, ir.ScopeStmt):
                todo.append(step.body)
            else:
                self._plain(step)

    def _plain(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.AssignStmt):
            self._reads([stmt.value])
            self._bind([stmt.var])
        elif isinstance(stmt, ir.BreakStmt | ir.ContinueStmt):
            if self._loops:
                self._loops[-1] |= self._outdated
        else:
            self._reads([stmt])

    def _branches(self, stmt: ir.IfStmt) -> list[ir.Stmt | Callable[[], None]]:
        before, after_then = set(self._outdated), set[int]()

        def turn() -> None:
            after_then.update(self._outdated)
            self._outdated = before

        def join() -> None:
            self._outdated |= after_then
            self._bind(stmt.return_vars)

        return [join, *([] if stmt.else_body is None else [stmt.else_body]), turn, stmt.then_body]

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> list[ir.Stmt | Callable[[], None]]:
        self._reads([arg.initValue for arg in stmt.iter_args])
        head = self._at_heads.setdefault(id(stmt), set())
        self._loops.append(head)
        self._outdated |= head
        counter = [stmt.loop_var] if isinstance(stmt, ir.ForStmt) else []
        self._bind([*counter, *stmt.iter_args])
        if isinstance(stmt, ir.WhileStmt):
            self._reads([stmt.condition])

        def leave() -> None:
            known = len(head)
            head.update(self._loops.pop() | self._outdated)
            self._is_done = self._is_done and len(head) == known
            self._outdated |= head
            self._bind(stmt.return_vars)

        return [leave, stmt.body]

    def _reads(self, nodes: Iterable[ir.IRNode]) -> None:
        """Note which outdated variables ``nodes`` read."""
        for node in nodes if self._outdated else ():
            found = self._outdated.intersection(code_of(node).names)
            if found:
                self.read |= found
                self.readers.append(node)

    def _bind(self, targets: Iterable[ir.Var]) -> None:
        """Have variables take new values, all at once."""
        keys = [id(var) for var in targets]
        for key in keys:
            self._outdated |= self._users.get(key, set())
        self._outdated.difference_update(keys)
