"""The end of a tile's stay in a pipe says how the tile came out of it."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_STAMPED = ("split", "id")


class StampTfreeSplit(FunctionPass):
    """Give each tfree the split and the channel of the tpop whose tile it frees.

    Errors: a tfree of what no tpop gave, of what came out of the other pipe, or on another channel.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Stamping(function).rewrite(function)


class _Stamping(Rewriter):
    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._popped: dict[int, ir.Call] = {}

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.AssignStmt):
            pop = stmt.value if isinstance(stmt.value, ir.Call) else self._popped.get(id(stmt.value))
            if pop is not None and facts.of_value(pop).pipe_end == "pop":
                self._popped[id(stmt.var)] = pop
            return stmt
        call = stmt.expr if isinstance(stmt, ir.EvalStmt) else None
        if not isinstance(call, ir.Call) or facts.of_value(call).pipe_end != "free":
            return stmt
        return build(stmt, expr=self._stamped(call))

    def _stamped(self, free: ir.Call) -> ir.Call:
        tile = free.args[0]
        name = getattr(tile, "name_hint", "this value")
        pop = self._popped.get(id(tile))
        if pop is None:
            what = f"{free.op.name}: no tpop gave {name!r}, so that there is no slot to free"
            raise PassError(what, self._owner, free, tile)
        if facts.of_value(pop).pipe_to != facts.of_value(free).pipe_to:
            raise PassError(f"{free.op.name}: {name!r} came from {pop.op.name}", self._owner, free, tile)
        wanted = pop.kwargs.get("id", 0)
        channel = free.kwargs.get("id", wanted)
        if channel != wanted:
            what = f"{free.op.name}: {name!r} came from channel {wanted}, and is freed on channel {channel}"
            raise PassError(what, self._owner, free, tile)
        given = {key: pop.kwargs[key] for key in _STAMPED if key in pop.kwargs}
        return build(free, kwargs=ir.AttrMap({**given, **free.kwargs.without(*_STAMPED)}, of_op=True))
