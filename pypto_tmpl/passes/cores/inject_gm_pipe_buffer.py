"""Pipes between cores run through global memory where the hardware has no other way."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType, FunctionType, IRProperty, ParamDirection, TensorLayout
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_PARAM = "__gm_pipe_buffer"
_BUFFER = "gm_pipe_buffer"
_INITIALIZE = ("system.aic_initialize_pipe", "system.aiv_initialize_pipe")
_SHAPE = (1,)
_WRAPPERS = (FunctionType.Group, FunctionType.Spmd)
_BASE = frozenset({IRProperty.SSAForm, IRProperty.MixedKernelExpanded, IRProperty.NormalizedStmtStructure})


class InjectGMPipeBuffer(ProgramPass):
    """Hand a buffer to every function that opens a pipe, created by the orchestration before each call.

    Of one element only: the run time makes it as large as it has to be. Only backends whose cores exchange
    tiles through global memory need it.
    """

    __slots__ = ()
    requires = _BASE
    produces = _BASE

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        backend = context.backend
        if backend is None or not backend.requires.gm_pipe_buffer:
            return program
        params = _parameters(program)
        if not params:
            return program
        functions = [_Handing(function, params).rewrite(function) for function in program.functions.values()]
        return build(program, functions=[_with_param(function, params) for function in functions])


def _parameters(program: ir.Program) -> dict[str, ir.Var]:
    """The new parameter of each function that opens a pipe, or that calls one which does."""
    callers: dict[str, list[ir.Function]] = {}
    todo: list[ir.Function] = []
    for function in program.functions.values():
        for node in ir.walk(function.body):
            if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
                callers.setdefault(node.op.name, []).append(function)
            elif isinstance(node, ir.Call) and node.op.name in _INITIALIZE and not _has_param(function):
                todo.append(function)
    found: dict[str, ir.Var] = {}
    while todo:
        function = todo.pop()
        if function.name not in found:
            type_ = ir.TensorType(_SHAPE, DataType.FP32)
            found[function.name] = ir.Var(_PARAM, type_, function.span)
            todo += (caller for caller in callers.get(function.name, ()) if _takes_buffers(caller))
    return found


def _has_param(function: ir.Function) -> bool:
    return any(param.name_hint == _PARAM for param in function.params)


def _takes_buffers(function: ir.Function) -> bool:
    """Whether its callers hand it the buffer, instead of it making one."""
    return ir.is_incore_type(function.func_type) or function.func_type in _WRAPPERS


def _with_param(function: ir.Function, params: Mapping[str, ir.Var]) -> ir.Function:
    if function.name not in params:
        return function
    return build(
        function,
        params=[*function.params, params[function.name]],
        param_directions=[*function.param_directions, ParamDirection.Out],
    )


class _Handing(Rewriter):
    """Appends the buffer to the arguments of calls."""

    def __init__(self, function: ir.Function, params: Mapping[str, ir.Var]) -> None:
        super().__init__()
        self._params = params
        self._owner = function
        self._own = params.get(function.name)
        self._count = 0

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call | ir.Submit) or not isinstance(expr.op, ir.GlobalVar):
            return expr
        if expr.op.name not in self._params:
            return expr
        return build(expr, args=[*expr.args, self._own or self._created()])

    def _created(self) -> ir.Var:
        span = self._owner.span
        create = ops.call(
            "tensor.create",
            list(_SHAPE),
            dtype=DataType.FP32,
            layout=TensorLayout.ND,
            manual_dep=True,
            span=span,
        )
        buffer = ir.Var(f"{_BUFFER}_{self._count}", create.type, span)
        self._count += 1
        self.emit(ir.AssignStmt(buffer, create, span))
        return buffer
