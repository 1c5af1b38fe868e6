"""The entry of a program: which function it is, and what its parameters take."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.debug.entry import EntryError, base_name
from pypto_tmpl.runtime.manifest import Entry, EntryParam

_ENTRY_TYPES = (ir.FunctionType.Orchestration, ir.FunctionType.Opaque)


def find_entry(program: ir.Program) -> Entry:
    """The entry of a program.

    It is the only orchestration function; else the only opaque function; else the only function there is
    (of several orchestration or opaque ones those that no other calls). Raises EntryError naming the
    candidates, and for an entry that drives several cards.
    """
    function = _entry_function(program)
    if function.level is not None and function.level.value > ir.Level.CHIP.value:
        what = f"entry {function.name!r} of level {function.level.name} drives several cards"
        raise EntryError(what, notes=["programs run on one simulated card"])
    params = zip(function.params, function.param_directions, strict=True)
    return Entry(function.name, tuple(_param(function, var, direction) for var, direction in params))


def _entry_function(program: ir.Program) -> ir.Function:
    functions = list(program.functions.values())
    called = _called_names(functions)
    for kind in _ENTRY_TYPES:
        found = [function for function in functions if function.func_type is kind]
        if len(found) > 1:
            found = [function for function in found if function.name not in called]
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(program, found)
    if len(functions) == 1:
        return functions[0]
    raise _ambiguous(program, functions)


def _called_names(functions: Iterable[ir.Function]) -> set[str]:
    """Names of the functions that another one calls or submits."""
    return {
        node.op.name
        for function in functions
        for node in ir.walk(function)
        if isinstance(node, ir.Call | ir.Submit) and node.op.name != function.name
    }


def _ambiguous(program: ir.Program, found: Iterable[ir.Function]) -> EntryError:
    names = ", ".join(function.name for function in found)
    what = f"program {program.name!r} has no single entry function"
    return EntryError(what, notes=[f"candidates: {names or 'none'}"])


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
