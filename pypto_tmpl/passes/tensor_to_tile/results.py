"""Results of kernels that became tiles: parameters that they are stored into, and buffers at the calls."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import FunctionType, ParamDirection
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat, substitute

_WRAPPERS = (FunctionType.Group, FunctionType.Spmd)


def with_stores(function: ir.Function) -> ir.Function:
    """A kernel that stores the tiles it returned into parameters, and returns these."""
    body = list(flat(function.body))
    returned = body[-1] if body and isinstance(body[-1], ir.ReturnStmt) else ir.ReturnStmt((), function.span)
    if body and body[-1] is returned:
        del body[-1]
    _refuse_early_returns(function, body)
    values, params = list(returned.value), list[ir.Var]()
    for place, value in enumerate(values):
        if not isinstance(value.type, ir.TileType):
            continue
        type_ = _tensor_type(function, place, value.type)
        span = returned.span
        param = ir.Var(f"ret{len(params)}__out", type_, span)
        store = ops.call("tile.store", value, [0] * len(type_.shape), param, span=span)
        stored = ir.Var(f"ret{len(params)}__store", store.type, span)
        body.append(ir.AssignStmt(stored, store, span))
        params.append(param)
        values[place] = stored
    return _with_params(
        build(
            function,
            return_types=function.return_types or [value.type for value in values],
            body=as_body([*body, build(returned, value=values)], function.body.span),
        ),
        params,
    )


def _refuse_early_returns(function: ir.Function, body: list[ir.Stmt]) -> None:
    for stmt in (inner for outer in body for inner in statements(outer)):
        if isinstance(stmt, ir.ReturnStmt) and stmt.value:
            raise PassError("a kernel returns values at its end only", function, stmt)


def _tensor_type(function: ir.Function, place: int, tile: ir.TileType) -> ir.TensorType:
    """The type of the parameter for a result, which callers can make a buffer of."""
    declared = function.return_types[place] if function.return_types else None
    type_ = declared if isinstance(declared, ir.TensorType) else ir.TensorType(tile.shape, tile.dtype)
    known = {id(node) for param in function.params for node in (param, *ir.walk(param.type))}
    if type_.tensor_view is not None:
        what = f"result {place} has a view ({type_.tensor_view}), a new buffer has none"
        raise PassError(what, function, function)
    for node in (node for extent in type_.shape for node in ir.walk(extent)):
        if isinstance(node, ir.Var) and id(node) not in known:
            what = f"result {place} has an extent that callers do not know: {node.name_hint}"
            raise PassError(what, function, function, node)
    return type_


def _with_params(function: ir.Function, params: list[ir.Var]) -> ir.Function:
    if not params:
        return function
    return build(
        function,
        params=[*function.params, *params],
        param_directions=[*function.param_directions, *[ParamDirection.Out] * len(params)],
    )


def with_buffers(functions: list[ir.Function], before: Mapping[str, ir.Function]) -> list[ir.Function]:
    """The functions with what kernels take now handed to them: created, or taken by groups themselves."""
    added = {
        function.name: function.params[len(before[function.name].params) :]
        for function in functions
        if len(function.params) > len(before[function.name].params)
    }
    found = {function.name: function for function in functions}
    todo = [function for function in functions if function.func_type in _WRAPPERS]
    while todo:
        ready = next((f for f in todo if not (_called(f) & {other.name for other in todo})), todo[0])
        todo.remove(ready)
        handing = _Handing({name: found[name] for name in added}, added, creates=False)
        found[ready.name] = _with_params(handing.rewrite(ready), handing.params)
        if handing.params:
            added[ready.name] = tuple(handing.params)
    kernels = {name: found[name] for name in added}
    for function in functions:
        if not ir.is_incore_type(function.func_type) and function.func_type not in _WRAPPERS:
            found[function.name] = _Handing(kernels, added, creates=True).rewrite(function)
    return [found[function.name] for function in functions]


def _called(function: ir.Function) -> set[str]:
    return {node.name for node in ir.walk(function.body) if isinstance(node, ir.GlobalVar)}


class _Handing(Rewriter):
    """Hands a buffer for each parameter that was added to the functions called."""

    def __init__(
        self, callees: Mapping[str, ir.Function], added: Mapping[str, tuple[ir.Var, ...]], *, creates: bool
    ) -> None:
        super().__init__()
        self.params: list[ir.Var] = []
        self._callees = callees
        self._added = added
        self._creates = creates

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call | ir.Submit) or expr.op.name not in self._callees:
            return expr
        if not isinstance(expr.op, ir.GlobalVar):
            return expr
        callee = self._callees[expr.op.name]
        given = dict(zip(callee.params, expr.args, strict=False))
        buffers: list[ir.Expr] = []
        for param in self._added[callee.name]:
            type_ = substitute(param.type, given)
            assert isinstance(type_, ir.TensorType)
            buffers.append(self._buffer(param, type_, expr.span))
        return build(expr, args=[*expr.args, *buffers])

    def _buffer(self, param: ir.Var, type_: ir.TensorType, span: ir.Span) -> ir.Var:
        if not self._creates:
            self.params.append(ir.Var(f"ret{len(self.params)}__out", type_, span))
            return self.params[-1]
        shape = ir.MakeTuple(type_.shape, span)
        create = ops.call("tensor.create", shape, dtype=type_.dtype, layout=ir.TensorLayout.ND, span=span)
        buffer = ir.Var(param.name_hint, create.type, span)
        self.emit(ir.AssignStmt(buffer, create, span))
        return buffer
