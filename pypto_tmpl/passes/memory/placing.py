"""Variables with other storage."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir
from pypto_tmpl.rewrite import Rewriter, build


def with_storage(function: ir.Function, storage: Mapping[int, ir.MemRef]) -> ir.Function:
    """A function in which variables, known by ``id``, lie in these ranges; calls keep the types they have."""
    return Placing(storage).rewrite(function) if storage else function


class Placing(Rewriter):
    """Gives variables, known by ``id``, these ranges where they are bound."""

    def __init__(self, storage: Mapping[int, ir.MemRef]) -> None:
        super().__init__()
        self._storage = storage

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        memref = self._storage.get(id(old))
        return typed if memref is None else build(typed, type=build(typed.type, memref=memref))
