"""In which memory space each tile of a kernel lies."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.memory_spaces.demand import Demand
from pypto_tmpl.passes.structure.yields import yielded

_KEYWORD = "target_memory"
_INHERITED = "first_tile"


class Spaces:
    """The memory spaces of the tiles of one kernel, and the buffers that have to lie in another one.

    A call says where its result lies, or the result lies where its first operand does. A carry lies where the
    values lie that it takes round by round; only one that the rounds do not tell lies where it begins. A
    buffer that such a carry begins with is created there: nothing of it has been written yet.
    """

    def __init__(self, function: ir.Function) -> None:
        self._known: dict[int, MemorySpace] = {}
        self._followers: dict[int, list[ir.Var]] = {}
        self._buffers: set[int] = set()
        self._phis: list[tuple[ir.Var, list[ir.Expr]]] = []
        loops: list[ir.ForStmt | ir.WhileStmt] = []
        demand = Demand(function.body)
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
                self._note_assignment(stmt, demand)
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                loops.append(stmt)
                for arg, result, value in _carries(stmt):
                    self._note_same(arg, value)
                    self._note_same(result, arg)
            elif isinstance(stmt, ir.IfStmt):
                for place, var in enumerate(stmt.return_vars):
                    self._note_branches(var, place, stmt)
        for loop in loops:  # outer ones first: inner ones begin with what they carry
            for arg, _, _ in _carries(loop):
                if id(arg) not in self._known and (space := self.of(arg.initValue)) is not None:
                    self._set(arg, space)
        for loop in loops:
            for arg, _, _ in _carries(loop):
                self._begin_in(arg)

    def of(self, value: ir.Expr) -> MemorySpace | None:
        """The memory space of a tile; None for what is none, or where nothing tells."""
        if not isinstance(value.type, ir.TileType):
            return None
        return self._known.get(id(value), value.type.memory_space)

    def of_branches(self) -> Iterator[tuple[ir.Var, list[MemorySpace]]]:
        """The results of branches, each with the spaces that its values lie in."""
        for var, values in self._phis:
            found = dict.fromkeys(space for value in values if (space := self.of(value)) is not None)
            yield var, list(found)

    def _note_assignment(self, stmt: ir.AssignStmt, demand: Demand) -> None:
        var, value = stmt.var, stmt.value
        if not isinstance(value, ir.Call):
            self._note_same(var, value)
            return
        known = facts.of_value(value)
        if known.result_memory == _INHERITED and value.args:
            first = next((arg for arg in value.args if isinstance(arg.type, ir.TileType)), value.args[0])
            self._note_same(var, first)
            return
        if known.has("allocates"):
            self._buffers.add(id(var))
        self._set(var, _stated(value, known.result_memory) or self.of(var) or demand.of(var, known))

    def _note_same(self, var: ir.Var, source: ir.Expr) -> None:
        """``var`` lies where ``source`` does."""
        self._followers.setdefault(id(source), []).append(var)
        if id(source) in self._known:
            self._set(var, self._known[id(source)])

    def _note_branches(self, var: ir.Var, place: int, stmt: ir.IfStmt) -> None:
        sides = [side for side in (stmt.then_body, stmt.else_body) if side is not None]
        values = [found[place] for side in sides if len(found := yielded(side)) > place]
        if isinstance(var.type, ir.TileType):
            self._phis.append((var, values))
            for value in values:
                self._note_same(var, value)

    def _begin_in(self, carry: ir.IterArg) -> None:
        """Have a new buffer lie where the carry does that begins with it."""
        start, space = carry.initValue, self.of(carry)
        if id(start) in self._buffers and space is not None and self.of(start) is not space:
            self._buffers.discard(id(start))
            self._known[id(start)] = space

    def _set(self, var: ir.Var, space: MemorySpace) -> None:
        todo = [var]
        while todo:
            found = todo.pop()
            if id(found) not in self._known:
                self._known[id(found)] = space
                todo += self._followers.get(id(found), ())


def _stated(call: ir.Call, rule: str | None) -> MemorySpace | None:
    """The space that a call itself says, by its keyword or because its op knows no other."""
    asked = call.kwargs.get(_KEYWORD)
    if isinstance(asked, MemorySpace):
        return asked
    return MemorySpace.__members__.get(rule or "")


def _carries(
    loop: ir.ForStmt | ir.WhileStmt,
) -> Iterator[tuple[ir.IterArg, ir.Var, ir.Expr]]:
    """The tiles that a loop carries: carry, result, and what a round yields."""
    for carry in zip(loop.iter_args, loop.return_vars, yielded(loop.body), strict=False):
        if isinstance(carry[0].type, ir.TileType):
            yield carry
