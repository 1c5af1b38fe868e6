"""The strides of the tensor that an argument of a kernel is, or will be, a window of."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir
from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.passes.tensor.calls import Calls, CallSite
from pypto_tmpl.rewrite import Rewriter, build

_ASSEMBLE, _SLICE, _STORE = "tensor.assemble", "tensor.slice", "tile.store"


def with_assembled_strides(functions: list[ir.Function]) -> list[ir.Function]:
    """Out parameters whose results are assembled into a larger tensor have the strides of that.

    Where there are several, those of the last one in the text count.
    """
    calls = Calls(functions)
    found: dict[int, tuple[ir.Expr, ...]] = {}
    for function in functions:
        if ir.is_incore_type(function.func_type):
            continue
        for stmt in statements(function.body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(value, ir.Call) and value.op.name == _ASSEMBLE:
                param = _written_param(value.args[1], calls)
                strides = _strides(value.args[0], param) if param is not None else None
                if param is not None and strides is not None:
                    found[id(param)] = strides
    return [_with_strides(function, found) for function in functions]


def with_sliced_strides(functions: list[ir.Function]) -> list[ir.Function]:
    """In parameters that are given windows, of the same strides at every call, have these strides."""
    calls = Calls(functions)
    found: dict[int, tuple[ir.Expr, ...]] = {}
    for function in functions:
        if not ir.is_incore_type(function.func_type):
            continue
        for param, direction in zip(function.params, function.param_directions, strict=True):
            if direction is ParamDirection.In and _has_no_strides(param):
                strides = [_sliced(site, function, param, calls) for site in calls.of(function.name)]
                first = strides[0] if strides else None
                if first is not None and all(other and same_extents(first, other) for other in strides):
                    found[id(param)] = first
    return [_with_strides(function, found) for function in functions]


def _written_param(source: ir.Expr, calls: Calls) -> ir.Var | None:
    """The Out parameter of a kernel that a variable was written through."""
    result = calls.result(source)
    if result is None:
        return None
    call, index = result
    callee = calls.functions.get(call.op.name)
    written = calls.callees.result(call, index)
    if callee is None or written is None or not ir.is_incore_type(callee.func_type):
        return None
    pairs = zip(callee.params, callee.param_directions, call.args, strict=False)
    return next((p for p, way, arg in pairs if arg is written and way is ParamDirection.Out), None)


def _sliced(site: CallSite, callee: ir.Function, param: ir.Var, calls: Calls) -> tuple[ir.Expr, ...] | None:
    """The strides of the window that a call, no launch of a task, gives for a parameter."""
    if isinstance(site.call, ir.Submit):
        return None
    value = calls.value(site.argument(callee, param))
    if not isinstance(value, ir.Call) or value.op.name != _SLICE:
        return None
    return _strides(value.args[0], param)


def _has_no_strides(param: ir.Var) -> bool:
    return isinstance(param.type, ir.TensorType) and param.type.tensor_view is None


def _strides(parent: ir.Expr, param: ir.Var) -> tuple[ir.Expr, ...] | None:
    if not isinstance(parent.type, ir.TensorType) or not isinstance(param.type, ir.TensorType):
        return None
    return packed_strides(parent.type, len(param.type.shape))


def packed_strides(type_: ir.TensorType, rank: int) -> tuple[ir.Expr, ...] | None:
    """The last ``rank`` strides of a tensor that is packed; None where they are not known, or not so many."""
    extents = [constant_extent(extent) for extent in type_.shape]
    step, found = 1, list[ir.Expr]()
    for extent in reversed(extents[-rank:]):
        found.append(ir.ConstInt(step, ir.DataType.INDEX, ir.Span.unknown()))
        if extent is None:
            return None
        step *= extent
    return tuple(reversed(found)) if len(extents) >= rank else None


def _with_strides(function: ir.Function, strides: Mapping[int, tuple[ir.Expr, ...]]) -> ir.Function:
    if not any(id(param) in strides for param in function.params):
        return function
    return _Strided(strides).rewrite(function)


class _Strided(Rewriter):
    """Parameters with strides, and what stores into them give."""

    def __init__(self, strides: Mapping[int, tuple[ir.Expr, ...]]) -> None:
        super().__init__()
        self._strides = strides
        self._typed: set[int] = set()

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        strides = self._strides.get(id(old))
        if strides is None:
            return typed
        assert isinstance(typed.type, ir.TensorType)
        return build(typed, type=build(typed.type, tensor_view=ir.TensorView(strides, ir.TensorLayout.ND)))

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.Call) and expr.op.name == _STORE:
            return build(expr, type=expr.args[2].type)
        return expr

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value, ir.Call):
            return stmt
        if stmt.value.op.name != _STORE or stmt.var.type == stmt.value.type:
            return stmt
        var = build(stmt.var, type=stmt.value.type)
        self.bind(stmt.var, var)
        return build(stmt, var=var)
