"""The jumps of one kind out of the body of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import as_body, build, flat

NewVariable = Callable[[str, str, ir.Type, ir.Span], ir.Var]
"""Makes a variable of a base name, a role, a type and a place."""


JUMPS = (ir.BreakStmt, ir.ContinueStmt)


def jumps_in(body: ir.Stmt, kind: type[ir.Stmt] | tuple[type[ir.Stmt], ...]) -> list[ir.Stmt]:
    """The jumps of a kind that leave ``body``: those of loops inside of it do not."""
    found: list[ir.Stmt] = []
    stack = [body]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, kind):
            found.append(stmt)
        elif not isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            stack += parts(stmt)
    return found


def jumps_after(body: ir.Stmt) -> Iterator[tuple[ir.Stmt, list[ir.Var]]]:
    """Every jump out of a body with the variables that may be assigned when it comes to it."""
    stack: list[tuple[ir.Stmt, list[ir.Var]]] = [(body, [])] if jumps_in(body, JUMPS) else []
    while stack:
        stmt, assigned = stack.pop()
        if isinstance(stmt, JUMPS):
            yield stmt, assigned
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            continue
        seen = list(assigned)
        for part in parts(stmt):
            if jumps_in(part, JUMPS):
                stack.append((part, list(seen)))
            if not isinstance(stmt, ir.IfStmt):
                seen += assigned_variables(part)


def assigned_variables(body: ir.Stmt) -> Iterator[ir.Var]:
    """What a body assigns, results of its loops and branches included, in the order of the text."""
    for stmt in statements(body):
        if isinstance(stmt, ir.AssignStmt):
            yield stmt.var
        else:
            yield from getattr(stmt, "return_vars", ())


class Jumps:
    """Lowers the jumps of one kind of one loop.

    ``break`` sets its flag wherever it stands. ``continue`` sets one only where something follows the branch
    that it is inside of; a body that needs it begins by clearing it.
    """

    def __init__(
        self,
        owner: ir.Function,
        loop: ir.ForStmt | ir.WhileStmt,
        kind: type[ir.Stmt],
        new_variable: NewVariable,
        flag: ir.Var | None = None,
    ) -> None:
        self._owner = owner
        self._loop = loop
        self._kind = kind
        self._new_variable = new_variable
        self._is_break = kind is ir.BreakStmt
        self._flag = flag

    def lowered(self, at_the_end: Sequence[ir.Stmt] = ()) -> ir.Stmt:
        """The body without jumps of the kind; ``at_the_end`` stands before what it yields."""
        found = list(flat(self._loop.body))
        values: tuple[ir.Expr, ...] = ()
        if self._loop.iter_args:
            values = tuple(self._loop.iter_args)
            if found and isinstance(last := found[-1], ir.YieldStmt):
                values = last.value
                del found[-1]
        body, yielded = self._statements(found, values)
        body += at_the_end
        if self._loop.iter_args:
            body.append(ir.YieldStmt(yielded, self._loop.span))
        if self._flag is not None and not self._is_break:
            body.insert(0, _set(self._flag, False, self._loop.span))
        return as_body(body, self._loop.body.span)

    def _statements(
        self, found: list[ir.Stmt], values: tuple[ir.Expr, ...]
    ) -> tuple[list[ir.Stmt], tuple[ir.Expr, ...]]:
        """A block of the loop without jumps, and what it yields in the place of ``values``."""
        for place, stmt in enumerate(found):
            if jumps_in(stmt, self._kind):
                before, rest = found[:place], found[place + 1 :]
                break
        else:
            return list(found), values
        if isinstance(stmt, self._kind):
            return [*before, *self._jumped(stmt)], self._carries(values)
        if not isinstance(stmt, ir.IfStmt):
            what = f"a {'break' if self._is_break else 'continue'} stands in a {type(stmt).__name__}"
            raise PassError(f"{what}, which it cannot leave", self._owner, stmt)
        if stmt.return_vars:
            return [*before, self._giving(stmt, rest, values)], values
        then, other = list(flat(stmt.then_body)), list(flat(stmt.else_body or ir.SeqStmts([], stmt.span)))
        if self._ends_in_jump(then):
            other += rest
        elif self._ends_in_jump(other):
            then += rest
        else:
            return self._partly(before, stmt, rest, values)
        made, yielded = self._branch(stmt, self._statements(then, values), self._statements(other, values))
        return [*before, made], yielded

    def _giving(self, stmt: ir.IfStmt, rest: list[ir.Stmt], values: tuple[ir.Expr, ...]) -> ir.IfStmt:
        """A branch at the end that gives what the block yields: where it jumps it gives the carries."""
        is_last = not rest and list(map(id, values)) == list(map(id, stmt.return_vars))
        bodies: list[ir.Stmt] = []
        for side in (stmt.then_body, stmt.else_body):
            last = trailing_yield(side) if side is not None and is_last else None
            if side is None or last is None:
                name = stmt.return_vars[0].name_hint
                what = f"a branch that gives {name!r} leaves the loop instead"
                raise PassError(what, self._owner, stmt, stmt.return_vars[0])
            found, yielded = self._statements(list(flat(side))[:-1], last.value)
            bodies.append(as_body([*found, build(last, value=yielded)], side.span))
        return build(stmt, then_body=bodies[0], else_body=bodies[1])

    def _ends_in_jump(self, found: list[ir.Stmt]) -> bool:
        return bool(found) and isinstance(found[-1], self._kind)

    def _partly(
        self, before: list[ir.Stmt], stmt: ir.IfStmt, rest: list[ir.Stmt], values: tuple[ir.Expr, ...]
    ) -> tuple[list[ir.Stmt], tuple[ir.Expr, ...]]:
        """A branch that may jump or not, whichever way it goes: the rest is under the flag."""
        if self._flag is None and (rest or values):
            boolean = ir.ScalarType(ir.DataType.BOOL)
            self._flag = self._new_variable("continue", "tmp", boolean, stmt.span)
        then, _ = self._statements(list(flat(stmt.then_body)), ())
        other = None
        if stmt.else_body is not None:
            other = as_body(self._statements(list(flat(stmt.else_body)), ())[0], stmt.else_body.span)
        elif self._is_break:
            other = ir.SeqStmts([], stmt.span)
        made = build(stmt, then_body=as_body(then, stmt.then_body.span), else_body=other)
        if self._flag is None or not (rest or values):
            return [*before, made], values
        goes_on = ir.IfStmt(ir.not_(self._flag, stmt.span), ir.SeqStmts([], stmt.span), None, [], stmt.span)
        guarded, yielded = self._branch(goes_on, self._statements(rest, values), ([], self._carries(values)))
        return [*before, made, guarded], yielded

    def _branch(
        self,
        stmt: ir.IfStmt,
        then: tuple[list[ir.Stmt], tuple[ir.Expr, ...]],
        other: tuple[list[ir.Stmt], tuple[ir.Expr, ...]],
    ) -> tuple[ir.IfStmt, tuple[ir.Expr, ...]]:
        """A branch with these sides, and the variables that what the sides yield becomes."""
        merged: list[ir.Var] = []
        for arg, value in zip(self._loop.iter_args, then[1], strict=False):
            merged.append(self._new_variable(arg.name_hint, "phi", value.type, stmt.span))
        sides = []
        for found, values in (then, other):
            yielded = [ir.YieldStmt(values, stmt.span)] if merged or self._is_break else []
            sides.append(as_body([*found, *yielded], stmt.span))
        return build(stmt, then_body=sides[0], else_body=sides[1], return_vars=merged), tuple(merged)

    def _jumped(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        return [_set(self._flag, True, stmt.span)] if self._flag is not None else []

    def _carries(self, values: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        """What a jump leaves of the carries: as they were, where they are asked for."""
        return tuple(self._loop.iter_args) if values else ()


def _set(flag: ir.Var, value: bool, span: ir.Span) -> ir.Stmt:
    return ir.AssignStmt(flag, ir.ConstBool(value, span), span)
