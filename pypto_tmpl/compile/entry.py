"""The entry of a program: which function it is, and what its parameters take."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.execution.entry import EntryError, base_name, select_entry
from pypto_tmpl.runtime.manifest import Entry, EntryParam


def find_entry(program: ir.Program) -> Entry:
    """The entry of a program: the function that ``debug.select_entry`` finds.

    Raises EntryError where that is not clear, and for a program that drives several cards.
    """
    for driver in program.functions.values():
        if driver.level is not None and driver.level.value > ir.Level.CHIP.value:
            what = f"entry {driver.name!r} of level {driver.level.name} drives several cards"
            raise EntryError(what, notes=["programs run on one simulated card"])
    function = select_entry(program)
    params = zip(function.params, function.param_directions, strict=True)
    return Entry(function.name, tuple(_param(function, var, direction) for var, direction in params))


def _param(function: ir.Function, var: ir.Var, direction: ir.ParamDirection) -> EntryParam:
    name = base_name(var.name_hint)
    if isinstance(var.type, ir.TensorType) and not isinstance(var.type, ir.DistributedTensorType):
        shape = tuple(_extent(dim) for dim in var.type.shape)
        return EntryParam(name, direction.name, var.type.dtype.name, shape)
    if isinstance(var.type, ir.ScalarType):
        return EntryParam(name, direction.name, var.type.dtype.name, None)
    kind = type(var.type).__name__.removesuffix("Type")
    what = f"parameter {name!r} of the entry {function.name!r} is a {kind}"
    raise EntryError(what, notes=["parameters of an entry: Tensor, Scalar"])


def _extent(dim: ir.Expr) -> int | str | None:
    if isinstance(dim, ir.ConstInt):
        return dim.value
    return dim.name_hint if isinstance(dim, ir.Var) else None
