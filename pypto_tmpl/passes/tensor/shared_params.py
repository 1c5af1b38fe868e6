"""Which parameters of functions may share storage, by what their callers in the program pass."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.tensor.families import Families

Pairs = frozenset[tuple[ir.Var, ir.Var]]


def shared_params(functions: Sequence[ir.Function]) -> dict[str, Pairs]:
    """The pairs of tensor parameters, by function, that a caller passes one tensor for, or parts of one.

    Parameters of a function that nothing in the program calls are taken to be distinct tensors.
    """
    callees = Callees(functions)
    by_name = {function.name: function for function in functions}
    found = dict.fromkeys(by_name, Pairs())
    todo = [function for function in functions if not ir.is_incore_type(function.func_type)]
    while todo:
        caller = todo.pop()
        families = Families(caller, callees, found[caller.name])
        for call in ir.walk(caller.body):
            callee = by_name.get(call.op.name) if isinstance(call, ir.Call | ir.Submit) else None
            if callee is None or not isinstance(call, ir.Call | ir.Submit):
                continue
            pairs = found[callee.name] | _passed_twice(callee, call, families)
            if pairs != found[callee.name]:
                found[callee.name] = pairs
                if not ir.is_incore_type(callee.func_type) and callee not in todo:
                    todo.append(callee)
    return found


def _passed_twice(callee: ir.Function, call: ir.Call | ir.Submit, families: Families) -> Pairs:
    first: dict[int, ir.Var] = {}
    pairs = set()
    for param, arg in zip(callee.params, call.args, strict=False):
        if isinstance(param.type, ir.TensorType):
            other = first.setdefault(families.of(arg), param)
            if other is not param:
                pairs.add((other, param))
    return Pairs(pairs)
