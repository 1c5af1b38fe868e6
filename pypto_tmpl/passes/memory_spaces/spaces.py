"""In which memory space each tile of a kernel lies."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory_spaces.demand import Demand, lies_where
from pypto_tmpl.passes.structure.yields import yielded

_KEYWORD = "target_memory"


class Spaces:
    """The memory spaces of the tiles of one kernel.

    A call says where its result lies, or the result lies where its first operand does. A carry lies where the
    values lie that it takes round by round; only one that the rounds do not tell lies where it begins. A
    buffer that such a carry begins with is created there: nothing of it has been written yet. Where values
    that come together lie in different spaces, they meet in one to which all of them can be moved.
    """

    def __init__(self, function: ir.Function) -> None:
        self._owner = function
        self._known: dict[int, MemorySpace] = {}
        self._stated: list[tuple[ir.Var, MemorySpace]] = []
        self._followers: dict[int, list[ir.Var]] = {}
        self._buffers: set[int] = set()
        self._carries: list[tuple[ir.IterArg, ir.Expr]] = []
        self._branches: list[tuple[ir.Var, list[ir.Expr]]] = []
        demand = Demand(function.body)
        for stmt in statements(function.body):
            self._note(stmt, demand)
        met: dict[int, tuple[ir.Var, MemorySpace]] = {}
        while found := self._solve(met):
            met |= found

    def of(self, value: ir.Expr) -> MemorySpace | None:
        """The memory space of a tile; None for what is none, or where nothing tells."""
        if not isinstance(value.type, ir.TileType):
            return None
        return self._known.get(id(value), value.type.memory_space)

    def _note(self, stmt: ir.Stmt, demand: Demand) -> None:
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
            self._note_assignment(stmt.var, stmt.value, demand)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for carry, result, value in zip(
                stmt.iter_args, stmt.return_vars, yielded(stmt.body), strict=False
            ):
                if isinstance(carry.type, ir.TileType):
                    self._carries.append((carry, value))
                    self._follow(value, carry)
                    self._follow(carry, result)
        elif isinstance(stmt, ir.IfStmt):
            sides = [yielded(side) for side in (stmt.then_body, stmt.else_body) if side is not None]
            for place, var in enumerate(stmt.return_vars):
                values = [found[place] for found in sides if len(found) > place]
                if isinstance(var.type, ir.TileType):
                    self._branches.append((var, values))
                    for value in values:
                        self._follow(value, var)

    def _note_assignment(self, var: ir.Var, value: ir.Expr, demand: Demand) -> None:
        source = lies_where(value)
        if source is not None:
            self._follow(source, var)
        if source is not None or not isinstance(value, ir.Call):
            return
        known = facts.of_value(value)
        if known.has("allocates"):
            self._buffers.add(id(var))
        asked = value.kwargs.get(_KEYWORD)
        if not isinstance(asked, MemorySpace):
            asked = MemorySpace.__members__.get(known.result_memory or "")
        self._stated.append((var, asked or self.of(var) or demand.of(var, known)))

    def _follow(self, source: ir.Expr, var: ir.Var) -> None:
        """``var`` lies where ``source`` does."""
        self._followers.setdefault(id(source), []).append(var)

    def _solve(self, met: dict[int, tuple[ir.Var, MemorySpace]]) -> dict[int, tuple[ir.Var, MemorySpace]]:
        """Find all spaces, given where some values meet; returns where others do that lie apart."""
        self._known.clear()
        buffers = set(self._buffers)
        for var, space in (*met.values(), *self._stated):
            self._set(var, space)
        for carry, _ in self._carries:  # outer loops first: inner ones begin with what these carry
            begins = self.of(carry.initValue)
            if id(carry) not in self._known and begins is not None:
                self._set(carry, begins)
        for carry, _ in self._carries:
            goes_on = self.of(carry)
            if id(carry.initValue) in buffers and goes_on is not None:
                buffers.discard(id(carry.initValue))
                self._known[id(carry.initValue)] = goes_on
        return {
            id(var): (var, self._meeting(var, spaces))
            for var, spaces in self._joined()
            if id(var) not in met and len(spaces) > 1
        }

    def _joined(self) -> Iterator[tuple[ir.Var, set[MemorySpace]]]:
        """What several values come together in, with the spaces that these lie in."""
        joins = [*self._branches, *((carry, [carry.initValue, value]) for carry, value in self._carries)]
        for var, values in joins:
            yield var, {space for value in values if (space := self.of(value)) is not None}

    def _meeting(self, var: ir.Var, spaces: set[MemorySpace]) -> MemorySpace:
        """The space to which tiles can be moved from all of these."""
        if not spaces <= {MemorySpace.Vec, MemorySpace.Mat, MemorySpace.Acc}:
            names = " and in ".join(sorted(space.name for space in spaces))
            what = f"the values of {var.name_hint!r} lie in {names}, from where they cannot come together"
            raise PassError(what, self._owner, var)
        return MemorySpace.Mat if MemorySpace.Mat in spaces else MemorySpace.Vec

    def _set(self, var: ir.Var, space: MemorySpace) -> None:
        todo = [var]
        while todo:
            found = todo.pop()
            if id(found) not in self._known:
                self._known[id(found)] = space
                todo += self._followers.get(id(found), ())
