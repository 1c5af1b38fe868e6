"""Collectives of the host, as one dispatch on each device of their domain."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir, ops
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.domains.device_sets import Windows
from pypto_tmpl.domains.host import WORLD_SIZE, collective_of, is_host
from pypto_tmpl.ir import DataType, IRProperty
from pypto_tmpl.ir.bodies import evaluated, statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.distribution.collective_checks import Checked, check
from pypto_tmpl.rewrite import Rewriter, as_body, build

_DOMAINS = frozenset({IRProperty.CommDomainScopesMaterialized})


class LowerHostTensorCollectives(ProgramPass):
    """Turn a collective of the host into calls of its builtin form: one for each device, in ascending order.

    Where all devices take part, a loop makes the calls. What the collective gave is the operand that it
    returns, which is bound to the name of the result.
    """

    __slots__ = ()
    requires = _DOMAINS
    produces = _DOMAINS

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = list(program.functions.values())
        lowered = [
            _Lowering(function, functions, context.backend).rewrite(function)
            if is_host(function)
            else function
            for function in functions
        ]
        return build(program, functions=lowered)


class _Lowering(Rewriter):
    def __init__(
        self, function: ir.Function, functions: Iterable[ir.Function], backend: BackendFacts | None
    ) -> None:
        super().__init__()
        self._backend = backend
        self._owner = function
        self._windows = Windows(function, functions)
        self._devices: dict[int, tuple[int, ...]] = {}  # of each allocation
        for stmt in statements(function.body):
            if isinstance(stmt, ir.CommDomainScopeStmt):
                self._devices |= {id(slot.base): stmt.devices for slot in stmt.slots}
        self._found: Checked | None = None
        self._results: dict[int, ir.WindowBuffer] = {}

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        value = evaluated(stmt)
        self._found = None
        if isinstance(value, ir.Call) and collective_of(value) is not None:
            self._found = check(self._owner, value, self._windows, self._devices, self._backend)
            if isinstance(stmt, ir.AssignStmt) and (window := self._windows.window_of(value)) is not None:
                assert isinstance(window.type, ir.DistributedTensorType)
                if window.type.window_buffer is not None:
                    self._results[id(stmt.var)] = window.type.window_buffer
        return stmt

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        buffer = self._results.get(id(old))
        return typed if buffer is None else build(typed, type=build(typed.type, window_buffer=buffer))

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        value, found = evaluated(stmt), self._found
        if found is None or not isinstance(value, ir.Call):
            return stmt
        made = _dispatches(value, found)
        if isinstance(stmt, ir.AssignStmt):
            made.append(build(stmt, value=_returned(value)))
        return made


def _returned(call: ir.Call) -> ir.Expr:
    place = facts.of(call.op).returned
    assert place is not None
    return call.args[place]


def _dispatches(call: ir.Call, found: Checked) -> list[ir.Stmt]:
    span = call.span

    def number(value: int) -> ir.ConstInt:
        return ir.ConstInt(value, DataType.INT64, span)

    if found.devices:
        return [_dispatch(call, found, number(device)) for device in found.devices]
    device = ir.Var("r", ir.ScalarType(DataType.INT64), span)
    body = as_body([_dispatch(call, found, device)], span)
    ranks = ops.call(WORLD_SIZE, span=span)
    return [ir.ForStmt(device, number(0), ranks, number(1), [], body, [], span)]


def _dispatch(call: ir.Call, found: Checked, device: ir.Expr) -> ir.Stmt:
    form = found.form
    values = {"dtype": found.dtype, "core_num": 1, **call.kwargs}
    keywords = {name: values[name] for name in form.keywords}
    made = ops.call(form.builtin, *call.args, span=call.span, result_type=_returned(call).type, **keywords)
    attrs = {**keywords, "device": device, "arg_directions": form.arg_directions}
    if "core_num" in attrs:  # an integer here, where the attributes of launches hold an expression
        attrs["core_num"] = keywords["core_num"]
    return ir.EvalStmt(build(made, attrs=ir.AttrMap(attrs, of_op=True)), call.span)
