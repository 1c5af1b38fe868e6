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
    since = _written_since(storage)
    found: set[int] = set()
    for number, place in enumerate(storage.places):
        targets = set(map(id, written_tensors(place.stmt)))
        for var in own_reads(place.stmt):
            is_returned = isinstance(place.stmt, ir.ReturnStmt) and id(var) in params
            if is_returned or id(var) in targets or not isinstance(var.type, ir.TensorType):
                continue
            if since.get(id(storage.sharing(var)), number + 1) <= number:
                found.add(id(var))
    return found


def _written_since(storage: Storage) -> dict[int, int]:
    """From which place on the families (ids) of tensors count as written: after a write, or in its loops."""
    since: dict[int, int] = {}
    number_of: dict[int, int] = {}
    for number, place in enumerate(storage.places):
        number_of[id(place.stmt)] = number
        first = number_of[id(place.loops[0])] if place.loops else number + 1
        for target in written_tensors(place.stmt):
            since.setdefault(id(storage.sharing(target)), first)
    return since


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
