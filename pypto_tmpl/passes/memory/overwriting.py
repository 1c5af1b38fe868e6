"""Which values are still needed where something is written: the test of sharing memory at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import direct, parts, statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import Steps, definitions, own_expressions, run, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.memory.placed_tiles import are_apart, place_of
from pypto_tmpl.passes.memory.places import Places

Where = Callable[[ir.Expr], "ir.MemRef | None"]
"""Where a tile lies."""


class Writing(Protocol):
    """What is told of each statement that writes a tile."""

    def __call__(self, written: ir.Var, memref: ir.MemRef, live: Live, stmt: ir.Stmt) -> None:
        """A tile is written; ``live`` are those that are read afterwards."""


class Live:
    """The tiles that are still read, by allocation."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._bits: dict[int, int] = {}
        self._by_base: dict[int, dict[int, ir.Var]] = {}
        self.mask = 0
        """A bit for each allocation in which one of them lies."""

    def bit(self, base: ir.Var) -> int:
        """The bit of an allocation."""
        return self._bits.setdefault(id(base), 1 << len(self._bits))

    def of(self, base: ir.Var) -> list[ir.Var]:
        """The tiles in an allocation."""
        return list(self._by_base.get(id(base), {}).values())

    def add(self, var: ir.Expr) -> None:
        """A tile is read."""
        memref = self._where(var) if isinstance(var, ir.Var) else None
        if memref is not None and isinstance(var, ir.Var):
            self._by_base.setdefault(id(memref.base_), {})[id(var)] = var
            self.mask |= self.bit(memref.base_)

    def remove(self, var: ir.Var) -> None:
        """A tile is defined."""
        memref = self._where(var)
        if memref is None:
            return
        own = self._by_base.get(id(memref.base_), {})
        own.pop(id(var), None)
        if not own:
            self._by_base.pop(id(memref.base_), None)
            self.mask &= ~self.bit(memref.base_)

    def variables(self) -> list[ir.Var]:
        """All of them."""
        return [var for own in self._by_base.values() for var in own.values()]


class Liveness:
    """A walk from the end of a function to its start, which tells every writing of a tile."""

    def __init__(self, function: ir.Function, where: Where, writing: Writing) -> None:
        self.live = Live(where)
        self._where = where
        self._writing = writing
        self._outer = outer_reads(function.body)
        run(self._visit(function.body, ()))

    def _visit(self, stmt: ir.Stmt, targets: tuple[ir.Var, ...]) -> Steps:
        """``targets`` are what the yield that ends this body gives values to."""
        if isinstance(stmt, ir.SeqStmts):
            for inner in reversed(direct(stmt)):
                yield self._visit(inner, targets)
        elif isinstance(stmt, ir.YieldStmt):
            self._yield(stmt, targets)
        elif isinstance(stmt, ir.AssignStmt):
            self._assign(stmt)
        elif isinstance(stmt, ir.IfStmt):
            yield self._if(stmt)
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            yield self._loop(stmt)
        else:
            self._read(stmt)
            for part in parts(stmt):
                yield self._visit(part, targets)

    def _read(self, stmt: ir.Stmt) -> None:
        for var in used_variables(*own_expressions(stmt)):
            self.live.add(var)

    def _assign(self, stmt: ir.AssignStmt) -> None:
        memref = self._where(stmt.var)
        if memref is not None and writes(stmt):
            self._writing(stmt.var, memref, self.live, stmt)
        self.live.remove(stmt.var)
        self._read(stmt)

    def _yield(self, stmt: ir.YieldStmt, targets: tuple[ir.Var, ...]) -> None:
        for target, value in reversed(list(zip(targets, stmt.value, strict=False))):
            goal, source = self._where(target), self._where(value)
            if goal is not None and (source is None or are_apart(source, goal)):
                self._writing(target, goal, self.live, stmt)
            self.live.remove(target)
            self.live.add(value)

    def _if(self, stmt: ir.IfStmt) -> Steps:
        after = self.live.variables()
        found: list[ir.Var] = []
        for part in parts(stmt):
            self._reset(after)
            yield self._visit(part, stmt.return_vars)
            found += self.live.variables()
        self._reset([*after, *found] if stmt.else_body is None else found)
        for result in stmt.return_vars:
            self.live.remove(result)
        self._read(stmt)

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> Steps:
        for result in stmt.return_vars:
            self.live.remove(result)
        around = [*self.live.variables(), *self._outer[id(stmt)]]
        self._reset([*around, *stmt.iter_args])
        yield self._visit(stmt.body, stmt.iter_args)
        self._reset(around)
        self._read(stmt)

    def _reset(self, variables: list[ir.Var]) -> None:
        for var in self.live.variables():
            self.live.remove(var)
        for var in variables:
            self.live.add(var)


def writes(stmt: ir.AssignStmt) -> bool:
    """Whether an assignment writes the memory of its tile: no second name, and no view, does."""
    return isinstance(stmt.value, ir.Call) and facts.of(stmt.value.op).view_of is None


def outer_reads(body: ir.Stmt) -> Mapping[int, list[ir.Var]]:
    """What each loop (id) reads of the tiles that are defined outside of it."""
    found: dict[int, list[ir.Var]] = {}
    run(_outer_reads(body, found, {}, {}))
    return found


def _outer_reads(
    stmt: ir.Stmt, found: dict[int, list[ir.Var]], read: dict[int, ir.Var], defined: dict[int, ir.Var]
) -> Steps:
    for var in used_variables(*own_expressions(stmt)):
        if isinstance(var.type, ir.TileType):
            read[id(var)] = var
    if not isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        defined.update((id(var), var) for var in definitions(stmt))
        for part in parts(stmt):
            yield _outer_reads(part, found, read, defined)
        return
    inner_read: dict[int, ir.Var] = {}
    inner_defined: dict[int, ir.Var] = {id(var): var for var in stmt.iter_args}
    yield _outer_reads(stmt.body, found, inner_read, inner_defined)
    found[id(stmt)] = [var for key, var in inner_read.items() if key not in inner_defined]
    read.update((id(var), var) for var in found[id(stmt)])
    defined.update((id(var), var) for var in stmt.return_vars)


def misplaced(function: ir.Function) -> tuple[ir.Var, ir.Expr, ir.Stmt] | None:
    """A tile that should lie where another value does and lies elsewhere, that value, and the statement."""
    places = Places(function)
    for stmt in statements(function.body):
        is_part = isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call)
        is_name = isinstance(stmt, ir.AssignStmt)
        for var, value in _handed_on(stmt):
            one, two = place_of(var), place_of(value)
            if one is None or two is None:
                continue
            if one.base_ is not two.base_ or (not is_part and are_apart(one, two)):
                return var, value, stmt
            if not is_name and places.floats(value):
                return var, value, stmt
    return None


def _handed_on(stmt: ir.Stmt) -> Iterator[tuple[ir.Var, ir.Expr]]:
    """Tiles that are other names of values, or of parts of them."""
    if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        yield from ((carry, carry.initValue) for carry in stmt.iter_args)
        yield from zip(stmt.return_vars, stmt.iter_args, strict=True)
        yield from _yielded(stmt.iter_args, stmt.body)
    elif isinstance(stmt, ir.IfStmt):
        for part in parts(stmt):
            yield from _yielded(stmt.return_vars, part)
    elif isinstance(stmt, ir.AssignStmt):
        yield from ((stmt.var, value) for value in handed_on_by(stmt))


def _yielded(variables: Sequence[ir.Var], body: ir.Stmt) -> Iterator[tuple[ir.Var, ir.Expr]]:
    end = trailing_yield(body)
    return zip(variables, () if end is None else end.value, strict=False)


def handed_on_by(stmt: ir.AssignStmt) -> list[ir.Expr]:
    """The operands in whose memory an assignment leaves its tile: of views, in-place ops and second names."""
    if not isinstance(stmt.value, ir.Call):
        return [stmt.value]
    said = facts.of(stmt.value.op)
    return [stmt.value.args[at] for at in (said.view_of, said.returned) if at is not None]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """A tile that is read later, what is written where it lies, and the statement that writes."""

    tile: ir.Var
    written: ir.Var
    stmt: ir.Stmt


def overwritten(function: ir.Function, where: Where = place_of) -> list[Overwritten]:
    """The tiles of a function that are written over before they are read for the last time, in text order.

    ``where`` says where tiles lie, if not as their types do.
    """
    found: list[Overwritten] = []

    def writing(written: ir.Var, memref: ir.MemRef, live: Live, stmt: ir.Stmt) -> None:
        for var in live.of(memref.base_):
            place = where(var)
            if var is not written and place is not None and ir.MemRef.may_alias(place, memref):
                found.append(Overwritten(var, written, stmt))

    Liveness(function, where, writing)
    return found[::-1]
