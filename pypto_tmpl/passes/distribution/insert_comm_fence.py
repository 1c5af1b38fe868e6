"""Fences around what ranks write for each other."""

from __future__ import annotations

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import direct, evaluated, statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter

_REMOTE_WRITES = ("pld.tensor.put", "pld.tile.put", "pld.tensor.remote_store", "pld.tile.remote_store")
_SIGNALS = ("pld.system.notify",)
_WAIT = "pld.system.wait"
_MOST = 4
_INVALIDATE, _FENCE = "system.cacheinvalid", "system.fence"


class InsertCommFence(FunctionPass):
    """Let writes into windows reach memory before a signal tells of them, and reads behind a wait see them.

    A write into the window of this rank leaves the cache and is fenced; one into a peer's is fenced only.
    A function that is called may have written anything. Behind a wait nothing in the cache counts.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SplitIncoreOrch})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not ir.is_incore_type(function.func_type):
            return function
        windows = (param.type for param in function.params)
        if not any(isinstance(type_, ir.DistributedTensorType) for type_ in windows):
            return function
        return _Fencing(function).rewrite(function)


class _Fencing(Rewriter):
    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._next: dict[int, list[ir.Stmt]] = {}  # the statements behind one, as many as may be inserted
        for body in statements(function.body):
            stmts = direct(body) if isinstance(body, ir.SeqStmts) else ()
            for place, stmt in enumerate(stmts):
                self._next[id(stmt)] = list(stmts[place + 1 : place + 1 + _MOST])
        self._behind: list[ir.Stmt] = []

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.AssignStmt | ir.EvalStmt):
            self._behind = self._next.get(id(stmt), [])
        return stmt

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        calls = _behind(evaluated(stmt), stmt.span)
        if len(calls) <= len(self._behind) and all(map(_does, self._behind, calls)):
            return [stmt]
        return [stmt, *(ir.EvalStmt(call, stmt.span) for call in calls)]


def _does(stmt: ir.Stmt, call: ir.Call) -> bool:
    """Whether a statement is that call already, of the whole window."""
    found = evaluated(stmt)
    return isinstance(stmt, ir.EvalStmt) and ir.structural_equal(found, call)


def _behind(value: ir.Expr | None, span: ir.Span) -> list[ir.Call]:
    """What to do when a value has been evaluated."""
    if not isinstance(value, ir.Call | ir.Submit):
        return []
    fence = ops.call(_FENCE, span=span)
    if isinstance(value, ir.Submit) or isinstance(value.op, ir.GlobalVar):
        return [ops.call(_INVALIDATE, span=span), fence]
    if value.op.name == _WAIT:
        return [ops.call(_INVALIDATE, span=span)]
    if value.op.name in _SIGNALS:
        return []
    written = [value.args[place] for place in facts.of(value.op).written if place < len(value.args)]
    windows = [arg for arg in written if isinstance(arg.type, ir.DistributedTensorType)]
    if not windows:
        return []
    if value.op.name in _REMOTE_WRITES:
        return [fence]
    return [*(_written_back(window, span) for window in windows), fence]


def _written_back(window: ir.Expr, span: ir.Span) -> ir.Call:
    assert isinstance(window.type, ir.TensorType)
    shape = window.type.shape
    return ops.call(_INVALIDATE, window, ir.MakeTuple(shape, span), [0] * len(shape), span=span)
