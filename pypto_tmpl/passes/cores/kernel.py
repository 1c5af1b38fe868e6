"""What passes over cores know of a kernel: sides, definitions, what encloses what, how values flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from typing import TypeAlias, TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.verifier.walking import definitions, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide, core_side, side_of_space
from pypto_tmpl.passes.outline.dataflow import own_reads, stored_into
from pypto_tmpl.passes.structure.yields import results

Loop: TypeAlias = ir.ForStmt | ir.WhileStmt
OTHER = {CoreSide.CUBE: CoreSide.VECTOR, CoreSide.VECTOR: CoreSide.CUBE}
"""The core on the other side of the pipes."""
NOTIFY = "pld.system.notify"
"""Counts, so that it must run once: on one core, and on one lane of those that do the same."""


class Kernel:
    """One function in kernel form, looked at once; passes ask it and never change it."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.statements = list(statements(function.body))
        self.number = {id(stmt): place for place, stmt in enumerate(self.statements)}
        self.parent: dict[int, ir.Stmt] = {}
        self.defined_by: dict[int, ir.Stmt] = {}
        self.values: dict[int, ir.Expr] = {}
        for stmt in self.statements:
            self.parent |= {id(part): stmt for part in parts(stmt)}
            self.defined_by |= {id(var): stmt for var in definitions(stmt)}
            if isinstance(stmt, ir.AssignStmt):
                self.values[id(stmt.var)] = stmt.value
        self._sides = self._found_sides()

    def side(self, stmt: ir.Stmt | None = None) -> CoreSide:
        """Where a statement runs, or the whole kernel: all that is inside taken together."""
        return self._sides[id(self.function.body if stmt is None else stmt)]

    def value(self, expr: ir.Expr) -> ir.Expr:
        """What a variable is assigned; any other expression itself."""
        return self.values.get(id(expr), expr)

    def around(self, stmt: ir.Stmt) -> Iterator[ir.Stmt]:
        """The statements around one, the innermost first."""
        outer = self.parent.get(id(stmt))
        while outer is not None:
            yield outer
            outer = self.parent.get(id(outer))

    def end(self, stmt: ir.Stmt) -> int:
        """The number of the last statement that is inside of one, or is it."""
        return self.number[id(stmt)] + sum(1 for _ in statements(stmt)) - 1

    def sibling_behind(self, stmt: ir.Stmt, other: ir.Stmt) -> ir.Stmt | None:
        """The statement behind one, in the same body, that is or holds another."""
        body = self.parent.get(id(stmt))
        if not isinstance(body, ir.SeqStmts):
            return None
        inner = other
        for outer in self.around(other):
            if outer is body:
                return inner if self.number[id(inner)] > self.number[id(stmt)] else None
            inner = outer
        return None

    def _found_sides(self) -> dict[int, CoreSide]:
        """By statement (id). The core that has the result of a loop or branch takes part in it."""
        sides: dict[int, CoreSide] = {}
        for stmt in reversed(self.statements):  # what is inside comes first
            call = evaluated_call(stmt)
            side = core_side(call, self.value) if call is not None else CoreSide.SHARED
            for part in parts(stmt):
                side = side.with_(sides[id(part)])
            if side in OTHER and OTHER[side] in map(
                _side_of_result, stmt.return_vars if _gives(stmt) else ()
            ):
                side = CoreSide.MIXED
                sides |= {id(part): side for part in parts(stmt)}
            sides[id(stmt)] = side
        return sides


def _gives(stmt: ir.Stmt) -> TypeGuard[ir.IfStmt | ir.ForStmt | ir.WhileStmt]:
    """Whether a statement has results."""
    return isinstance(stmt, ir.IfStmt | ir.ForStmt | ir.WhileStmt)


def _side_of_result(var: ir.Var) -> CoreSide:
    """The core in whose memory a tile lies; anything else is shared."""
    return side_of_space(var.type.memory_space) if isinstance(var.type, ir.TileType) else CoreSide.SHARED


def evaluated_call(stmt: ir.Stmt) -> ir.Call | None:
    """The call that a statement evaluates; calls stand by themselves in kernels."""
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    return value if isinstance(value, ir.Call) else None


def is_free(stmt: ir.Stmt) -> bool:
    """Whether a statement may go where nothing reads what it gives."""
    if not isinstance(stmt, ir.AssignStmt) or isinstance(stmt.value, ir.Submit):
        return False
    if not isinstance(stmt.value, ir.Call):
        return True
    known = facts.of_value(stmt.value)
    return (known.has("quiet") or known.has("counts")) and not known.written


def controls(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The variables that say whether, and how often, what is inside of a statement runs."""
    if isinstance(stmt, ir.ForStmt):
        yield from used_variables(stmt.start, stmt.stop, stmt.step)
    elif isinstance(stmt, ir.WhileStmt | ir.IfStmt):
        yield from used_variables(stmt.condition)


class TensorParams:
    """Which parameter a tensor is a version of, through stores, loops and branches."""

    def __init__(self, function: ir.Function) -> None:
        self._params = {id(param): param for param in function.params}
        self._found: dict[int, ir.Var] = {}
        self._mixed: set[int] = set()  # carries that are now this tensor, now that
        while True:
            before = len(self._mixed)
            self._walk(function.body)
            if len(self._mixed) == before:
                break

    def of(self, var: ir.Expr) -> ir.Var | None:
        """The parameter, None where there is no one."""
        return self._params.get(id(var)) or self._found.get(id(var))

    def _walk(self, body: ir.Stmt) -> None:
        self._found = {}
        todo: list[tuple[ir.Stmt, bool]] = [(body, True)]
        while todo:
            stmt, enters = todo.pop()
            if not enters:
                self._leave(stmt)
                continue
            if isinstance(stmt, ir.AssignStmt):
                self._note(stmt.var, stored_into(stmt.value) or stmt.value)
            for arg in getattr(stmt, "iter_args", ()):
                self._note(arg, arg.initValue)
            todo.append((stmt, False))
            todo += [(part, True) for part in reversed(parts(stmt))]

    def _leave(self, stmt: ir.Stmt) -> None:
        for variables, values in results(stmt):
            origins = [self.of(value) for value in values]
            if all(origin is origins[0] for origin in origins):
                self._note(variables[-1], values[0])
            elif isinstance(variables[0], ir.IterArg) and origins[0] is not None:
                self._mixed.add(id(variables[0]))

    def _note(self, var: ir.Var, value: ir.Expr) -> None:
        found = self.of(value)
        if found is not None and id(var) not in self._mixed:
            self._found[id(var)] = found


class Flows:
    """What becomes of variables: the others that are computed of them, what they control, who reads them."""

    def __init__(self, kernel: Kernel, cut: Container[int] = ()) -> None:
        """Nothing flows through the statements ``cut`` (ids)."""
        self.into: dict[int, list[ir.Var]] = defaultdict(list)
        self.controlled: dict[int, list[ir.Stmt]] = defaultdict(list)
        self.readers: dict[int, list[ir.Stmt]] = defaultdict(list)
        for stmt in kernel.statements:
            for var in own_reads(stmt):
                self.readers[id(var)].append(stmt)
                if isinstance(stmt, ir.AssignStmt) and id(stmt) not in cut:
                    self.into[id(var)].append(stmt.var)
            for var in controls(stmt):
                self.controlled[id(var)].append(stmt)
            for variables, values in results(stmt):
                for value in values:
                    self.into[id(value)] += variables
