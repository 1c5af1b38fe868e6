"""Parameters of a function to which some call of the program gives one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch
from pypto_tmpl.codegen.kernels import KernelMap
from pypto_tmpl.ops import OpTable

Naming: TypeAlias = Mapping[ir.Var, ir.Var]
"""Of each parameter that has the tensor of an earlier one, that one."""


def namings(
    kernels: KernelMap, table: OpTable, function: ir.Function, around: frozenset[str] = frozenset()
) -> list[Naming]:
    """The ways in which calls make parameters one tensor; the first is that all are different ones."""
    found: list[Naming] = [{}]
    if function.name in around:
        return found
    for caller in kernels.functions.values():
        calls = [
            node for node in kernels.facts[caller.name].function_calls if kernels.callee(node) is function
        ]
        for outer in namings(kernels, table, caller, around | {function.name}) if calls else ():
            tensors = _tensors(caller, kernels.facts[caller.name].flows, table)
            for call in calls:
                naming = _naming(function, call, tensors, outer)
                if naming not in found:
                    found.append(naming)
    return found


def _naming(function: ir.Function, call: Launch, tensors: Mapping[ir.Var, ir.Var], outer: Naming) -> Naming:
    """Which parameters the call gives the tensor of an earlier one."""
    first: dict[ir.Var, ir.Var] = {}
    naming: dict[ir.Var, ir.Var] = {}
    for param, arg in zip(function.params, call.args, strict=False):
        if not isinstance(arg, ir.Var) or not isinstance(param.type, ir.TensorType):
            continue
        tensor = arg
        while tensor in tensors:
            tensor = tensors[tensor]
        owner = first.setdefault(outer.get(tensor, tensor), param)
        if owner is not param:
            naming[param] = owner
    return naming


def _tensors(
    caller: ir.Function, flows: list[tuple[ir.Var, ir.Expr]], table: OpTable
) -> dict[ir.Var, ir.Var]:
    """The variable whose whole tensor another one is: its only value, or the operand that an op yields."""
    found: dict[ir.Var, ir.Var] = {}
    unclear = set(caller.params)
    for target, value in flows:
        source = _yielded(value, table)
        if source is target:
            continue
        if source is None or found.get(target, source) is not source:
            unclear.add(target)
        else:
            found[target] = source
    known = {target: source for target, source in found.items() if target not in unclear}
    return {target: source for target, source in known.items() if not _returns_to(target, known)}


def _yielded(value: ir.Expr, table: OpTable) -> ir.Var | None:
    entry = table.get(value.op.name) if isinstance(value, ir.Call) else None
    if isinstance(value, ir.Call) and entry is not None and entry.returns is not None:
        value = value.args[entry.operand_names.index(entry.returns)]
    return value if isinstance(value, ir.Var) else None


def _returns_to(target: ir.Var, known: Mapping[ir.Var, ir.Var]) -> bool:
    """Whether following the variables leads in a circle."""
    seen = {target}
    while (target := known.get(target, target)) not in seen:
        seen.add(target)
    return target in known
