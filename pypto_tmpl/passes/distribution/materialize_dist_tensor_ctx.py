"""Contexts of windows: made by the host, handed down as parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_tmpl import ir, ops
from pypto_tmpl.domains.host import is_call_of
from pypto_tmpl.ir import ArgDirection, IRProperty, ParamDirection
from pypto_tmpl.ops.returned_parameters import ReturnedParameters, Versions
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.checks.contexts import GET_CONTEXT
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Names, Rewriter, base_name, build

_DOMAINS = frozenset({IRProperty.CommDomainScopesMaterialized})


class MaterializeDistTensorCtx(ProgramPass):
    """Append to every function below the host one context for each window that it is given.

    The host gets the contexts from its windows right before each call; a function hands on its own
    parameter for the window that an argument is a version of. What asked for a context below the host
    reads the parameter instead.
    """

    __slots__ = ()
    requires = _DOMAINS | {IRProperty.ReturnParamsExplicit}
    produces = _DOMAINS | {IRProperty.DistTensorCtxMaterialized}

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = list(program.functions.values())
        windows = {function.name: list(_windows(function)) for function in functions}
        if not any(windows.values()):
            return program
        given = ReturnedParameters(functions)
        return build(program, functions=[_with_contexts(one, windows, given) for one in functions])


def _windows(function: ir.Function) -> Iterator[int]:
    """The parameters of a function below the host that are windows, where it has no contexts yet."""
    has_contexts = any(isinstance(param.type, ir.CommCtxType) for param in function.params)
    if function.level is not ir.Level.HOST and not has_contexts:
        for place, param in enumerate(function.params):
            if isinstance(param.type, ir.DistributedTensorType):
                yield place


def _with_contexts(
    function: ir.Function, windows: Mapping[str, list[int]], returned: ReturnedParameters
) -> ir.Function:
    names = Names.of(function)
    contexts: dict[int, ir.Var] = {}
    for place in windows[function.name]:
        param = function.params[place]
        name = names.unique(f"{base_name(param.name_hint)}_ctx")
        contexts[id(param)] = ir.Var(name, ir.CommCtxType(), param.span)
    handing = _OnHost if function.level is ir.Level.HOST else _Below
    function = handing(function, windows, contexts, names, returned).rewrite(function)
    directions = [ParamDirection.In] * len(contexts)
    return build(
        function,
        params=[*function.params, *contexts.values()],
        param_directions=[*function.param_directions, *directions],
    )


class _Handing(Rewriter):
    """Appends contexts to the arguments of calls."""

    def __init__(
        self,
        function: ir.Function,
        windows: Mapping[str, list[int]],
        contexts: Mapping[int, ir.Var],
        names: Names,
        returned: ReturnedParameters,
    ) -> None:
        super().__init__()
        self._owner = function
        self._callees = windows
        self._contexts = contexts
        self._names = names
        self._versions = Versions(function, returned, through_views=True)

    def context_of(self, window: ir.Expr, call: ir.Call | ir.Submit) -> ir.Expr:
        """The context of an argument."""
        raise NotImplementedError

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call | ir.Submit) or not isinstance(expr.op, ir.GlobalVar):
            return expr
        places = self._callees.get(expr.op.name)
        if not places:
            return expr
        if places[-1] >= len(expr.args):
            what = f"the call of {expr.op.name!r} does not give all windows, which its contexts come behind"
            raise PassError(what, self._owner, expr)
        contexts = [self.context_of(expr.args[place], expr) for place in places]
        return build(expr, args=[*expr.args, *contexts], attrs=_with_scalars(expr.attrs, len(contexts)))


def _with_scalars(attrs: ir.AttrMap, count: int) -> ir.AttrMap:
    """The attributes of a call that has more scalars at its end."""
    key = "arg_directions"
    if key not in attrs:
        return attrs
    return attrs.with_(**{key: [*attrs[key], *[ArgDirection.Scalar] * count]})


class _OnHost(_Handing):
    def context_of(self, window: ir.Expr, call: ir.Call | ir.Submit) -> ir.Expr:
        base = base_name(window.name_hint) if isinstance(window, ir.Var) else "window"
        value = ops.call(GET_CONTEXT, window, span=call.span)
        context = ir.Var(self._names.unique(f"{base}_ctx"), value.type, call.span)
        self.emit(ir.AssignStmt(context, value, call.span))
        return context


class _Below(_Handing):
    def context_of(self, window: ir.Expr, call: ir.Call | ir.Submit) -> ir.Expr:
        param = self._versions.parameter(window)
        context = self._contexts.get(id(param)) if param is not None else None
        if context is None:
            name = repr(window.name_hint) if isinstance(window, ir.Var) else "an argument"
            what = f"{call.op.name}: {name} is not known to be one of the windows that the function is given"
            raise PassError(what, self._owner, call)
        return context

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.Call) and is_call_of(expr, GET_CONTEXT):
            return self.context_of(expr.args[0], expr)
        return super().expression(expr)
