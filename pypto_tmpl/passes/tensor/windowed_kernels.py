"""Kernels that get windows of tensors instead of the tensors, and calls that hand them these."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.passes.tensor.calls import Calls, CallSite
from pypto_tmpl.passes.tensor.strides import packed_strides
from pypto_tmpl.passes.tensor.windows import Window, bounds, loop_ranges, windows_of
from pypto_tmpl.rewrite import Rewriter, build, clone, substitute

_STORE = "tile.store"
_OFFSETS = 1  # the place of the offsets among the operands of loads and stores


def with_windows(functions: list[ir.Function]) -> list[ir.Function]:
    """The functions, and kernels on windows, called instead of those with the attribute ``windowize``.

    Only windows that lie inside of the tensor at every call, as the bounds of loops tell, are taken.
    """
    calls = Calls(functions)
    windows = {f.name: found for f in functions if f.attrs.get("windowize") and (found := _usable(f, calls))}
    if not windows:
        return functions
    kernels = {function.name: function for function in functions}
    made = {name: _windowed(kernels[name], found) for name, found in windows.items()}
    callers = [
        function
        if ir.is_incore_type(function.func_type)
        else _Windowing(windows, kernels, made).rewrite(function)
        for function in functions
    ]
    return [*callers, *made.values()]


def _usable(function: ir.Function, calls: Calls) -> list[Window]:
    sites = calls.of(function.name)
    if not sites or not ir.is_incore_type(function.func_type):
        return []
    direct = all(isinstance(site.call, ir.Call) and isinstance(site.stmt, ir.AssignStmt) for site in sites)
    found = windows_of(function) if direct else []
    return [
        window
        for window in found
        if all(_fits(window, function, site) for site in sites)
        and (_is_read(function, window) or _is_the_result(window, function, sites, calls))
    ]


def _is_read(function: ir.Function, window: Window) -> bool:
    """Whether a kernel only reads the tensor."""
    return function.param_directions[_place(function, window)] is ParamDirection.In


def _place(function: ir.Function, window: Window) -> int:
    return next(place for place, param in enumerate(function.params) if param is window.param)


def _is_the_result(window: Window, function: ir.Function, sites: list[CallSite], calls: Calls) -> bool:
    """Whether the only result of a kernel is what it wrote into the window."""
    written = [site.argument(function, window.param) for site in sites]
    results = [calls.callees.result(site.call, 0) for site in sites]
    return len(function.return_types) == 1 and all(map(_same, written, results))


def _same(one: object, other: object) -> bool:
    return one is other


def _fits(window: Window, function: ir.Function, site: CallSite) -> bool:
    """Whether a window is inside of the tensor at a call."""
    assert isinstance(window.param.type, ir.TensorType)
    ranges = loop_ranges(site.around)
    given = dict(zip(function.params, site.call.args, strict=True))
    if not isinstance(site.argument(function, window.param), ir.Var):
        return False
    for base, size, extent in zip(window.base, window.shape, window.param.type.shape, strict=True):
        span = bounds(substitute(base, given), ranges)
        assert isinstance(extent, ir.ConstInt)
        if span.low is None or span.low < 0 or span.high is None or span.high + size > extent.value:
            return False
    return True


def _windowed(function: ir.Function, windows: list[Window]) -> ir.Function:
    made = _Narrowed(windows).rewrite(function)
    last = list(flat(made.body))[-1]
    assert isinstance(last, ir.ReturnStmt)
    types = [value.type for value in last.value]
    return clone(build(made, name=f"{function.name}__windowed", return_types=types))


class _Narrowed(Rewriter):
    """A kernel on windows: they are the types of parameters, carries and stores; offsets begin at them."""

    def __init__(self, windows: list[Window]) -> None:
        super().__init__()
        self._windows = {id(window.param): window for window in windows}
        self._relative = {call: offsets for window in windows for call, offsets in window.relative.items()}
        self._typed_like: dict[int, ir.Var] = {}

    def before(self, stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            pairs = zip(stmt.return_vars, stmt.iter_args, strict=True)
            self._typed_like |= {id(result): arg for result, arg in pairs}
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        offsets = self._relative.get(id(value))
        if offsets is None or not isinstance(value, ir.Call):
            return stmt
        moved = ir.MakeTuple(offsets, value.args[_OFFSETS].span)
        call = build(value, args=[value.args[0], moved, *value.args[_OFFSETS + 1 :]])
        return build(stmt, value=call) if isinstance(stmt, ir.AssignStmt) else build(stmt, expr=call)

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        window = self._windows.get(id(old))
        if window is not None:
            assert isinstance(typed.type, ir.TensorType)
            view = ir.TensorView(packed_strides(typed.type, len(window.shape)) or (), ir.TensorLayout.ND)
            return build(typed, type=ir.TensorType(window.shape, typed.type.dtype, None, view))
        if isinstance(typed, ir.IterArg) and isinstance(typed.type, ir.TensorType):
            return build(typed, type=typed.initValue.type)
        arg = self._typed_like.get(id(old))
        if arg is not None and isinstance(typed.type, ir.TensorType):
            return build(typed, type=self.use(arg).type)
        return typed

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.Call) and expr.op.name == _STORE:
            return build(expr, type=expr.args[2].type)
        return expr

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.var.type, ir.TensorType):
            return stmt
        var = build(stmt.var, type=stmt.value.type)
        self.bind(stmt.var, var)
        return build(stmt, var=var)


class _Windowing(Rewriter):
    """Calls with windows, and what they give put back into the tensors."""

    def __init__(
        self,
        windows: Mapping[str, list[Window]],
        kernels: Mapping[str, ir.Function],
        windowed: Mapping[str, ir.Function],
    ) -> None:
        super().__init__()
        self._windows = windows
        self._kernels = kernels
        self._windowed = windowed

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(call, ir.Call):
            return stmt
        if not isinstance(call.op, ir.GlobalVar) or call.op.name not in self._windows:
            return stmt
        kernel, windows = self._kernels[call.op.name], self._windows[call.op.name]
        made = self._windowed[kernel.name]
        args, slices = list(call.args), dict[bool, list[ir.AssignStmt]]({True: [], False: []})
        for window in windows:
            place = _place(kernel, window)
            part = _sliced(call, kernel, window)
            args[place] = part.var
            slices[_is_read(kernel, window)].append(part)
        called = build(call, op=ir.GlobalVar(made.name), args=args)
        found = [*slices[True], *slices[False]]
        if not slices[False]:
            return [*found, build(stmt, value=called)]
        called = build(called, type=made.return_types[0])
        result = ir.Var(f"{stmt.var.name_hint}__windowed", called.type, call.span)
        (written,) = slices[False]
        assert isinstance(written.value, ir.Call)
        tensor, _, offsets = written.value.args
        put = ops.call("tensor.assemble", tensor, result, offsets, span=call.span)
        return [*found, ir.AssignStmt(result, called, call.span), build(stmt, value=put)]


def _sliced(call: ir.Call, kernel: ir.Function, window: Window) -> ir.AssignStmt:
    """The window of the tensor that a call gives for a parameter."""
    tensor = call.args[_place(kernel, window)]
    assert isinstance(tensor, ir.Var)
    given = dict(zip(kernel.params, call.args, strict=True))
    offsets = ir.MakeTuple([substitute(part, given) for part in window.base], call.span)
    slice_ = ops.call("tensor.slice", tensor, list(window.shape), offsets, span=call.span)
    return ir.AssignStmt(ir.Var(f"{tensor.name_hint}__window", slice_.type, call.span), slice_, call.span)
