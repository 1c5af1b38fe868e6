"""Symbols that only the valid part of a parameter names, as parameters of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.ir import ArgDirection, FunctionType, ParamDirection
from pypto_tmpl.ir.extents import same_extent
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.rewrite import Rewriter, build

_WRAPPERS = (FunctionType.Group, FunctionType.Spmd)


class _Slot(NamedTuple):
    """An axis of a parameter."""

    place: int
    axis: int


_Symbols = dict[ir.Var, list[_Slot]]


class MaterializeValidShapeSymbols(ProgramPass):
    """Hand kernels, as leading scalars, the extents that only the valid part of a parameter tells.

    A tensor brings its dimensions along, but not how much of it is valid. The calls pass the extent of
    what they give.
    """

    __slots__ = ()

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        symbols = {function.name: _symbols(function) for function in program.functions.values()}
        if not any(symbols.values()):
            return program
        functions = [
            _with_symbols(_Handing(function, symbols).rewrite(function), list(symbols[function.name]))
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


def _symbols(function: ir.Function) -> _Symbols:
    """The symbols that a kernel has no value of, each with where it is the extent; in order of first use."""
    if not ir.is_incore_type(function.func_type) and function.func_type not in _WRAPPERS:
        return {}
    known = {id(param) for param in function.params}
    for param in function.params:
        if isinstance(param.type, ir.TensorType):
            known |= {id(extent) for extent in param.type.shape}
    found: _Symbols = {}
    compound: list[tuple[ir.Var, ir.Var]] = []
    for place, param in enumerate(function.params):
        for axis, extent in enumerate(_stated_part(param.type)):
            if isinstance(extent, ir.Var):
                if id(extent) not in known:
                    found.setdefault(extent, []).append(_Slot(place, axis))
            else:
                compound += [(var, param) for var in _variables(extent) if id(var) not in known]
    for var, param in compound:
        if var not in found:
            what = (
                f"{var.name_hint!r} is part of a valid extent of {param.name_hint!r} only in an expression:"
                " no argument tells its value; name it alone in a valid extent, or pass it as a scalar"
            )
            raise PassError(what, function, param)
    return found


def _variables(extent: ir.Expr) -> Iterator[ir.Var]:
    return (node for node in ir.walk(extent) if isinstance(node, ir.Var))


def _stated_part(type_: ir.Type) -> tuple[ir.Expr, ...]:
    """The valid extents that the type of a tensor names; none where all of it is valid."""
    view = type_.tensor_view if isinstance(type_, ir.TensorType) else None
    return () if view is None else view.valid_shape


def _valid_shape(type_: ir.Type) -> tuple[ir.Expr, ...]:
    """The valid extents of a tensor: all of it where the type names no part."""
    if not isinstance(type_, ir.TensorType):
        return ()
    return _stated_part(type_) or type_.shape


def _with_symbols(function: ir.Function, symbols: list[ir.Var]) -> ir.Function:
    directions = [ParamDirection.In] * len(symbols)
    return build(
        function,
        params=[*symbols, *function.params],
        param_directions=[*directions, *function.param_directions],
    )


class _Handing(Rewriter):
    """Puts the extents before the arguments of calls."""

    def __init__(self, function: ir.Function, symbols: Mapping[str, _Symbols]) -> None:
        super().__init__()
        self._owner = function
        self._symbols = symbols

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if not isinstance(expr, ir.Call | ir.Submit) or not isinstance(expr.op, ir.GlobalVar):
            return expr
        symbols = self._symbols.get(expr.op.name)
        if not symbols:
            return expr
        values = [self._value(expr, symbol, slots) for symbol, slots in symbols.items()]
        attrs = expr.attrs
        if "arg_directions" in attrs:
            scalars = [ArgDirection.Scalar] * len(values)
            attrs = attrs.with_(arg_directions=[*scalars, *attrs["arg_directions"]])
        return build(expr, args=[*values, *expr.args], attrs=attrs)

    def _value(self, call: ir.Call | ir.Submit, symbol: ir.Var, slots: list[_Slot]) -> ir.Expr:
        """The extent of the arguments that the symbol stands for."""
        found = []
        for place, axis in slots:
            extents = _valid_shape(call.args[place].type) if place < len(call.args) else ()
            if axis >= len(extents):
                what = f"the call of {call.op.name!r} gives no tensor whose extent {symbol.name_hint!r} is"
                raise PassError(what, self._owner, call, symbol)
            found.append(extents[axis])
        for other in found[1:]:
            if not same_extent(found[0], other):
                what = (
                    f"the call of {call.op.name!r} gives {symbol.name_hint!r} contradictory values:"
                    f" {ir.python_print(found[0])} and {ir.python_print(other)}"
                )
                raise PassError(what, self._owner, call, symbol)
        return found[0]
