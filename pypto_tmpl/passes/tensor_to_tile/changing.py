"""Parameters of a kernel of which a copy of the beginning would be no use."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.tensor_to_tile.demand import Demand, flows
from pypto_tmpl.passes.tensor_to_tile.directions import written_tensors
from pypto_tmpl.passes.tensor_to_tile.storage import Storage, closure


def changing_params(function: ir.Function, storage: Storage, demand: Demand) -> set[int]:
    """The parameters (ids) that are read, by any name, where they may have been written, by any name.

    Names are what renamings, branches and carries make of a parameter; what it becomes by being written is
    another value, which is not asked about. Those returned by another name belong to
    them. Parameters that come together in a variable are all in memory, or all tiles.
    """
    names = _names_of_params(function)
    stale = (
        _written_before_reads(function, storage)
        | _written_as_copies(function, demand)
        | _returned(function, set(names))
    )
    changing: set[int] = set()
    while new := {param for param, found in names.items() if found & stale} - changing:
        changing |= new
        stale = stale.union(*(names[param] for param in new))
    return changing


def _names_of_params(function: ir.Function) -> dict[int, set[int]]:
    becomes: dict[int, set[int]] = {}
    for stmt in statements(function.body):
        for var, source in flows(stmt):
            becomes.setdefault(id(source), set()).add(id(var))
    tensors = (param for param in function.params if isinstance(param.type, ir.TensorType))
    return {id(param): closure(id(param), becomes) for param in tensors}


def _written_before_reads(function: ir.Function, storage: Storage) -> set[int]:
    """The variables (ids) that are read after, or in a loop with, a write to their storage."""
    params = set(map(id, function.params))
    found: set[int] = set()
    written: set[int] = set()  # families
    for stmt in statements(function.body):
        targets = list(written_tensors(stmt))
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            inside = (target for part in statements(stmt.body) for target in written_tensors(part))
            written.update(id(storage.sharing(target)) for target in inside)
        for var in own_reads(stmt):
            is_returned = isinstance(stmt, ir.ReturnStmt) and id(var) in params
            is_read = not is_returned and all(var is not target for target in targets)
            if is_read and isinstance(var.type, ir.TensorType) and id(storage.sharing(var)) in written:
                found.add(id(var))
        written.update(id(storage.sharing(target)) for target in targets)
    return found


def _returned(function: ir.Function, params: set[int]) -> set[int]:
    """Other names of parameters alone that are returned: later writes of callers show there."""
    sources: dict[int, set[int]] = {}
    for stmt in statements(function.body):
        for var, source in flows(stmt):
            sources.setdefault(id(var), set()).add(id(source))
    values = (
        value for stmt in statements(function.body) if isinstance(stmt, ir.ReturnStmt) for value in stmt.value
    )
    return {
        id(value)
        for value in values
        if id(value) in sources
        and all(name in params or name in sources for name in closure(id(value), sources))
    }


def _written_as_copies(function: ir.Function, demand: Demand) -> set[int]:
    """The variables (ids) that are written, and would be copies: other names of which ops need tiles."""
    params = set(map(id, function.params))
    targets = (target for stmt in statements(function.body) for target in written_tensors(stmt))
    return {id(target) for target in targets if demand.needs_tile(target)} - params
