"""Where in a function tiles of an allocation are read or written."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts


class Touched:
    """The places of a function that read or write an allocation, as its types say.

    Places count statements in the order of the text, a statement before what is inside of it.
    """

    def __init__(self, function: ir.Function) -> None:
        self._places: dict[int, list[int]] = defaultdict(list)
        self._start: dict[int, int] = {}
        self._end: dict[int, int] = {}
        self._around: dict[int, ir.Stmt] = {}
        todo: list[tuple[ir.Stmt, bool]] = [(function.body, False)]
        count = 0
        while todo:
            stmt, is_left = todo.pop()
            if is_left:
                self._end[id(stmt)] = count
                continue
            self._start[id(stmt)] = count
            for base in _bases(stmt):
                self._places[id(base)].append(count)
            count += 1
            todo.append((stmt, True))
            for inner in reversed(parts(stmt)):
                self._around[id(inner)] = stmt
                todo.append((inner, False))

    @staticmethod
    def lies_on(value: ir.Expr, base: ir.Var) -> bool:
        """Whether a tile lies in an allocation."""
        return isinstance(value.type, ir.TileType) and _base(value) is base

    def later(self, stmt: ir.Stmt, base: ir.Var) -> bool:
        """Whether a statement that follows in this round of the innermost counted loop touches a base."""
        places = self._places.get(id(base), [])
        inner: ir.Stmt = stmt
        while (outer := self._around.get(id(inner))) is not None and not isinstance(outer, ir.ForStmt):
            if isinstance(outer, ir.SeqStmts):
                at = bisect_left(places, self._end[id(inner)])
                if at < len(places) and places[at] < self._end[id(outer)]:
                    return True
            inner = outer
        return False


def _bases(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The allocations that a statement touches, what is inside of it left out."""
    match stmt:
        case ir.AssignStmt():
            values: Iterable[ir.Expr] = (stmt.var, stmt.value)
        case ir.EvalStmt():
            values = (stmt.expr,)
        case ir.YieldStmt() | ir.ReturnStmt():
            values = stmt.value
        case ir.ForStmt() | ir.WhileStmt():
            values = (*stmt.iter_args, *stmt.return_vars)
        case ir.IfStmt():
            values = stmt.return_vars
        case _:
            values = ()
    todo = list(values)
    while todo:
        value = todo.pop()
        match value:
            case ir.Call() | ir.Submit():
                todo += value.args
            case ir.MakeTuple():
                todo += value.elements
            case _ if (base := _base(value)) is not None:
                yield base


def _base(value: ir.Expr) -> ir.Var | None:
    memref = value.type.memref if isinstance(value.type, ir.TileType) else None
    return None if memref is None else memref.base_
