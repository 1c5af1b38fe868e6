"""Where the tiles of a function are made and read, and whether a write comes between."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts

_LOOPS = (ir.ForStmt, ir.WhileStmt)


class Lifetimes:
    """The places where tiles are made and read.

    Places count statements in the order of the text, a statement before what is inside of it. An allocation
    is touched where its tiles are read or made, as the types of the function say.
    """

    def __init__(self, function: ir.Function) -> None:
        self._touched: dict[int, list[int]] = defaultdict(list)
        self._read: dict[int, list[int]] = defaultdict(list)
        self._made: dict[int, int] = {}
        self._start: dict[int, int] = {}
        self._end: dict[int, int] = {}
        self._around: dict[int, ir.Stmt] = {}
        todo: list[tuple[ir.Stmt, bool]] = [(function.body, False)]
        count = 0
        while todo:
            stmt, is_left = todo.pop()
            if is_left:
                self._end[id(stmt)] = count
                if isinstance(stmt, (*_LOOPS, ir.IfStmt)):
                    self._made.update((id(var), count) for var in stmt.return_vars)
                continue
            self._start[id(stmt)] = count
            self._note(stmt, count)
            if isinstance(stmt, ir.AssignStmt):
                self._made[id(stmt.var)] = count
            elif isinstance(stmt, _LOOPS):
                self._made.update((id(arg), count + 1) for arg in stmt.iter_args)
            count += 1
            todo.append((stmt, True))
            for inner in reversed(parts(stmt)):
                self._around[id(inner)] = stmt
                todo.append((inner, False))

    def later(self, stmt: ir.Stmt, base: ir.Var) -> bool:
        """Whether a statement that follows in this round of the innermost counted loop touches a base."""
        places = self._touched.get(id(base), [])
        for outer, inner in self._outwards(stmt):
            if isinstance(outer, ir.ForStmt):
                break
            if isinstance(outer, ir.SeqStmts):
                at = bisect_left(places, self._end[id(inner)])
                if at < len(places) and places[at] < self._end[id(outer)]:
                    return True
        return False

    def outlives(self, var: ir.Var, write: ir.Stmt) -> bool:
        """Whether a tile is read once more when a statement, which comes after it was made, has run.

        That is: further on, or in a later round of a loop that the tile was made before.
        """
        made, place = self._made.get(id(var), -1), self._start[id(write)]
        if made > place:
            return False
        reads = self._read.get(id(var), [])
        later = [read for read in reads if read > place]
        for outer, inner in self._outwards(write):
            start, end = self._start[id(outer)], self._end[id(outer)]
            if isinstance(outer, ir.IfStmt) and inner is outer.then_body and outer.else_body is not None:
                other = self._start[id(outer.else_body)]
                later = [read for read in later if not other <= read < end]
            comes_again = isinstance(outer, _LOOPS) and not start < made <= end
            if comes_again and any(start < read < end for read in reads):
                return True
        return bool(later)

    def extent(self, stmt: ir.Stmt) -> tuple[int, int]:
        """The places of a statement, or of the outermost loop around it."""
        loops = [outer for outer, _ in self._outwards(stmt) if isinstance(outer, _LOOPS)]
        outermost = loops[-1] if loops else stmt
        return self._start[id(outermost)], self._end[id(outermost)]

    def lives_within(self, var: ir.Var, start: int, end: int) -> bool:
        """Whether a tile is made or read between two places, or lives there."""
        return self._made.get(id(var), -1) <= end and self.last(var) >= start

    def last(self, var: ir.Var) -> int:
        """The last place where a tile is read, or where it is made."""
        reads = self._read.get(id(var), [])
        return max(self._made.get(id(var), -1), reads[-1] if reads else -1)

    def _outwards(self, stmt: ir.Stmt) -> Iterator[tuple[ir.Stmt, ir.Stmt]]:
        """The statements around a statement, the innermost first, each with the part that holds it."""
        inner = stmt
        while (outer := self._around.get(id(inner))) is not None:
            yield outer, inner
            inner = outer

    def _note(self, stmt: ir.Stmt, place: int) -> None:
        match stmt:
            case ir.AssignStmt():
                self._reads((stmt.value,), place)
                self._make((stmt.var,), place)
            case ir.EvalStmt():
                self._reads((stmt.expr,), place)
            case ir.YieldStmt() | ir.ReturnStmt():
                self._reads(stmt.value, place)
            case ir.ForStmt() | ir.WhileStmt():
                self._reads((arg.initValue for arg in stmt.iter_args), place)
                self._make(stmt.iter_args, place)
                self._make(stmt.return_vars, place)
            case ir.IfStmt():
                self._make(stmt.return_vars, place)

    def _make(self, variables: Iterable[ir.Var], place: int) -> None:
        for var in variables:
            if (base := base_of(var)) is not None:
                self._touched[id(base)].append(place)

    def _reads(self, values: Iterable[ir.Expr], place: int) -> None:
        todo = list(values)
        while todo:
            value = todo.pop()
            match value:
                case ir.Call() | ir.Submit():
                    todo += value.args
                case ir.MakeTuple():
                    todo += value.elements
                case ir.Var() if isinstance(value.type, ir.TileType):
                    self._read[id(value)].append(place)
                    if (base := base_of(value)) is not None:
                        self._touched[id(base)].append(place)


def base_of(value: ir.Expr) -> ir.Var | None:
    """The allocation that a tile lies in by its type."""
    memref = value.type.memref if isinstance(value.type, ir.TileType) else None
    return None if memref is None else memref.base_
