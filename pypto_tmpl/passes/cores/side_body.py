"""The body of one side of a mixed kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.passes.cores.replacing import Replacing
from pypto_tmpl.passes.cores.share import Share
from pypto_tmpl.passes.cores.transfers import Transfer
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.rewrite import build


class SideBody(Replacing):
    """Keeps what is the share of a core, and puts the ends of pipes in the place of what crosses."""

    def __init__(
        self,
        share: Share,
        transfers: Mapping[int, Transfer],
        before: Mapping[int, list[ir.Stmt]],
        after: Mapping[int, list[ir.Stmt]],
    ) -> None:
        super().__init__()
        self._share, self._transfers = share, transfers
        self._before, self._after = before, after
        for version, param in share.versions.items():
            self.bind(version, param)

    def replaced(self, stmt: ir.Stmt) -> Iterable[ir.Stmt]:
        return [*self._before.get(id(stmt), ()), *self._own(stmt), *self._after.get(id(stmt), ())]

    def _own(self, stmt: ir.Stmt) -> Sequence[ir.Stmt]:
        if (transfer := self._transfers.get(id(stmt))) is not None:
            is_consumer = transfer.consumer is self._share.side
            return transfer.popped() if is_consumer else [transfer.pushed()]
        if isinstance(stmt, ir.YieldStmt | ir.SeqStmts):
            return [stmt]
        if id(stmt) not in self._share.kept:
            return []
        if isinstance(stmt, ir.IfStmt):
            return [self._branch(stmt)]
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            return [self._loop(stmt)]
        return [stmt]

    def _branch(self, stmt: ir.IfStmt) -> ir.Stmt:
        places = self._places(stmt, len(stmt.return_vars))
        sides = [
            self._with_places(side, places) for side in (stmt.then_body, stmt.else_body) if side is not None
        ]
        else_body = sides[1] if len(sides) > 1 else None
        results = [stmt.return_vars[place] for place in places]
        return build(stmt, then_body=sides[0], else_body=else_body, return_vars=results)

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> ir.Stmt:
        places = self._places(stmt, len(stmt.iter_args))
        return build(
            stmt,
            iter_args=[stmt.iter_args[place] for place in places],
            return_vars=[stmt.return_vars[place] for place in places],
            body=self._with_places(stmt.body, places),
        )

    def _places(self, stmt: ir.Stmt, count: int) -> list[int]:
        return [place for place in range(count) if (id(stmt), place) in self._share.positions]

    @staticmethod
    def _with_places(body: ir.Stmt, places: list[int]) -> ir.Stmt:
        values = yielded(body)
        if len(places) == len(values):
            return body
        return with_yield(body, [values[place] for place in places])

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        is_empty_branch = isinstance(stmt, ir.IfStmt) and stmt.else_body is not None
        if is_empty_branch and isinstance(stmt, ir.IfStmt) and _is_empty(stmt.else_body):
            return build(stmt, else_body=None)
        return stmt


def _is_empty(body: ir.Stmt | None) -> bool:
    return isinstance(body, ir.SeqStmts) and not body.stmts
