"""Signals of sums over ranks for which the program gives none."""

from __future__ import annotations

from itertools import count

from pypto_tmpl import ir, ops
from pypto_tmpl.domains.host import (
    ALL_REDUCE,
    ALLOCATION,
    WINDOW,
    WORLD_SIZE,
    in_loops,
    is_call_of,
    is_host,
)
from pypto_tmpl.ir import DataType
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_PREFIX = "__allreduce"


class SynthesizeAllReduceSignals(ProgramPass):
    """Give each ``allreduce(data)`` of the host a window of signal cells of its own, one per rank and core.

    Windows are made before the ranks start, once for each call in the text: a call in a loop would
    need a new one in each round.
    """

    __slots__ = ()

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        numbers = count()
        functions = [
            _Synthesizing(function, numbers).rewrite(function) if is_host(function) else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


class _Synthesizing(Rewriter):
    def __init__(self, function: ir.Function, numbers: count[int]) -> None:
        super().__init__()
        self._owner = function
        self._numbers = numbers
        self._looped = {id(stmt) for stmt, looped in in_loops(function.body) if looped}

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if id(stmt) in self._looped:
            self._refuse(stmt)
        return stmt

    def _refuse(self, stmt: ir.Stmt) -> None:
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        values = stmt.value if isinstance(stmt, ir.ReturnStmt) else (value,)
        for call in values:
            if isinstance(call, ir.Call) and _needs_signal(call):
                what = (
                    f"{ALL_REDUCE} without an explicit signal is not supported inside a for/while loop on the"
                    f" HOST rail: give the sum of {_name(call.args[0])} a signal that is made before the loop"
                )
                raise PassError(what, self._owner, call)

    def part(self, owner: object, value: object) -> object:
        if not is_call_of(value, ALL_REDUCE) or isinstance(owner, ir.AssignStmt | ir.EvalStmt):
            return value
        assert isinstance(value, ir.Call)
        if not isinstance(owner, ir.ReturnStmt):
            what = (
                f"{ALL_REDUCE} of {_name(value.args[0])} must be a direct assignment, expression statement,"
                " or return value before allreduce signal synthesis."
            )
            raise PassError(what, self._owner, value)
        number = next(self._numbers)
        result = ir.Var(f"{_PREFIX}_result_{number}", value.type, value.span)
        call = self._with_signal(value, number) if _needs_signal(value) else value
        self.emit(ir.AssignStmt(result, call, value.span))
        return result

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.AssignStmt) and _needs_signal(stmt.value):
            assert isinstance(stmt.value, ir.Call)
            return build(stmt, value=self._with_signal(stmt.value, next(self._numbers)))
        if isinstance(stmt, ir.EvalStmt) and _needs_signal(stmt.expr):
            assert isinstance(stmt.expr, ir.Call)
            return build(stmt, expr=self._with_signal(stmt.expr, next(self._numbers)))
        return stmt

    def _with_signal(self, call: ir.Call, number: int) -> ir.Call:
        if call.kwargs.get("mode", "mesh") != "mesh":
            what = f'{ALL_REDUCE} mode="{call.kwargs["mode"]}" requires an explicit signal'
            raise PassError(f"{what}; {_name(call.args[0])} has none", self._owner, call)
        span = call.span
        cores = ir.ConstInt(call.kwargs.get("core_num", 1), DataType.INT64, span)
        cell = ir.ConstInt(DataType.INT32.get_byte(), DataType.INT64, span)
        ranks = self._let(WORLD_SIZE.rpartition(".")[2], number, ops.call(WORLD_SIZE, span=span))
        lanes = ir.Mul(ranks, cores, DataType.INT64, span)
        size = ir.Mul(lanes, cell, DataType.INT64, span)
        name = f"{_PREFIX}_signal_buf_{number}"
        buffer = self._let("buf", number, ops.call(ALLOCATION, size, name=name, span=span))
        shape = ir.MakeTuple([ranks, cores], span)
        window = ops.call(WINDOW, buffer, shape, dtype=DataType.INT32, span=span)
        signal = self._let("", number, window)
        return build(call, args=[*call.args, signal])

    def _let(self, what: str, number: int, value: ir.Expr) -> ir.Var:
        name = "_".join(filter(None, (f"{_PREFIX}_signal", what, str(number))))
        var = ir.Var(name, value.type, value.span)
        self.emit(ir.AssignStmt(var, value, value.span))
        return var


def _needs_signal(value: ir.Expr) -> bool:
    return isinstance(value, ir.Call) and is_call_of(value, ALL_REDUCE) and len(value.args) == 1


def _name(value: ir.Expr) -> str:
    return repr(value.name_hint) if isinstance(value, ir.Var) else "a value"
