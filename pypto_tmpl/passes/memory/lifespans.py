"""From which statement to which the values of each allocation are in use, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import Steps, definitions, own_expressions, run, used_variables
from pypto_tmpl.passes.memory.placed_tiles import place_of, space_of


@dataclass(slots=True)
class Lifetime:
    """A tile: the statement that defines it, and the last one that reads it.

    A part of a tuple is defined by the call that gives the tuple, which writes it.
    """

    var: ir.Var
    memref: ir.MemRef
    call: ir.Call | None
    start: int
    end: int

    def overlaps(self, other: Lifetime | Group) -> bool:
        """Whether both are in use at once. The last to read one may be what defines the other."""
        return self.start < other.end and other.start < self.end


@dataclass(slots=True)
class Group:
    """The tiles of one allocation, which move together."""

    index: int
    base: ir.Var
    space: ir.MemorySpace
    members: list[Lifetime] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes of its first tile."""
        return self.members[0].memref.size_

    @property
    def start(self) -> int:
        """The first statement that defines one of its tiles."""
        return min(member.start for member in self.members)

    @property
    def end(self) -> int:
        """The last statement that reads one of its tiles."""
        return max(member.end for member in self.members)

    def overlaps(self, other: Group) -> bool:
        """Whether tiles of both are in use at once."""
        return self.start < other.end and other.start < self.end


class Lifetimes:
    """The lifetimes of the tiles that statements of a function assign, by allocation.

    What was defined before a loop and is read in it, or starts a carry of it, stays in use to its end.
    Results have no lifetime of their own: reads of them are reads of what a carry started with, or of what
    the branches have made.
    """

    def __init__(self, function: ir.Function) -> None:
        self.groups: dict[int, Group] = {}
        self.alternatives: set[frozenset[int]] = set()
        """Pairs of tiles (ids) that the two branches of an if yield as one result."""
        self.numbered: list[ir.Stmt] = []
        """The statements that have numbers, by number: those without others inside."""
        self._found: dict[int, Lifetime] = {}
        self._loops: list[int] = []  # the loops around
        self._around: dict[int, tuple[int, ...]] = {}
        self._last: list[int] = []  # by loop
        self._reads: list[tuple[ir.Var, int, tuple[int, ...]]] = []
        self._stands_for: dict[int, list[ir.Var]] = {}
        self._tuples: dict[int, tuple[ir.Call, int]] = {}  # calls that give several tiles, by their variable
        run(self._visit(function.body))
        for var, number, loops in self._reads:
            for source in self._sources(var):
                self._extend(source, number, loops)
        for lifetime in self._found.values():
            base = lifetime.memref.base_
            if id(base) not in self.groups:
                self.groups[id(base)] = Group(len(self.groups), base, space_of(lifetime.var))
            self.groups[id(base)].members.append(lifetime)

    def _visit(self, stmt: ir.Stmt) -> Steps:
        is_loop = isinstance(stmt, ir.ForStmt | ir.WhileStmt)
        if is_loop:
            self._loops.append(len(self._last))
            self._last.append(len(self.numbered))
        around, number = tuple(self._loops), len(self.numbered)
        for var in used_variables(*own_expressions(stmt)):
            self._reads.append((var, number, around))
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for carry, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
                if isinstance(carry.initValue, ir.Var):
                    self._stands_for[id(carry)] = self._stands_for[id(result)] = [carry.initValue]
        if isinstance(stmt, ir.AssignStmt):
            memref, call, made = place_of(stmt.var), None, number
            if isinstance(stmt.value, ir.Call):
                call = stmt.value
                if isinstance(stmt.var.type, ir.TupleType):
                    self._tuples[id(stmt.var)] = call, number
            elif isinstance(stmt.value, ir.TupleGetItemExpr):
                call, made = self._tuples.get(id(stmt.value.tuple), (None, number))
            if memref is not None and id(stmt.var) in self._found:  # a buffer that is written again
                self._reads.append((stmt.var, number, around))
            elif memref is not None:
                self._found[id(stmt.var)] = Lifetime(stmt.var, memref, call, made, number)
                self._around[id(stmt.var)] = around
        if not parts(stmt) and not isinstance(stmt, ir.SeqStmts):
            self.numbered.append(stmt)
        for part in parts(stmt):
            yield self._visit(part)
        if is_loop:
            self._last[self._loops.pop()] = max(len(self.numbered) - 1, 0)
        if isinstance(stmt, ir.IfStmt):
            self._note_results(stmt)

    def _note_results(self, stmt: ir.IfStmt) -> None:
        yields = [trailing_yield(part) for part in parts(stmt)]
        inside = [
            {id(var) for inner in statements(part) for var in definitions(inner)} for part in parts(stmt)
        ]
        for place, result in enumerate(stmt.return_vars):
            found = [
                value
                for each, own in zip(yields, inside, strict=True)
                if each is not None
                for value in each.value[place : place + 1]
                if isinstance(value, ir.Var) and id(value) in own
            ]
            self._stands_for[id(result)] = found
            sides = [list(self._sources(value)) for value in found]
            if len(sides) == 2:
                self.alternatives |= {frozenset((id(a), id(b))) for a in sides[0] for b in sides[1]}

    def _sources(self, var: ir.Var) -> Iterator[ir.Var]:
        todo, seen = [var], set()
        while todo:
            one = todo.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if id(one) in self._found:
                yield one
            else:
                todo += self._stands_for.get(id(one), ())

    def _extend(self, var: ir.Var, number: int, loops: tuple[int, ...]) -> None:
        own = self._around[id(var)]
        depth = len(own)
        end = self._last[loops[depth]] if len(loops) > depth and loops[:depth] == own else number
        lifetime = self._found[id(var)]
        lifetime.end = max(lifetime.end, end)
