"""Tiles that lie in a memory of their core, and the allocations there."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.rewrite import Rewriter
from pypto_tmpl.storage.places import ALIGNMENT

ALLOC = "tile.alloc"


def aligned(size: int) -> int:
    """A number of bytes rounded up to where the next allocation may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def place_of(value: ir.Expr | None) -> ir.MemRef | None:
    """Where a tile lies on the core; None of what is no tile, or has no allocation there."""
    type_ = None if value is None else value.type
    is_tile = isinstance(type_, ir.TileType) and type_.memory_space not in (None, ir.MemorySpace.DDR)
    return type_.memref if is_tile and isinstance(type_, ir.TileType) else None


def are_apart(one: ir.MemRef, two: ir.MemRef) -> bool:
    """Whether two places are not known to begin at one byte."""
    starts = constant_extent(one.byte_offset_), constant_extent(two.byte_offset_)
    if one.base_ is not two.base_ or starts[0] != starts[1]:
        return True
    return starts[0] is None and not ir.structural_equal(one.byte_offset_, two.byte_offset_)


def space_of(value: ir.Expr) -> ir.MemorySpace:
    """The memory that a placed tile is in."""
    assert isinstance(value.type, ir.TileType) and value.type.memory_space is not None
    return value.type.memory_space


def placed(function: ir.Function) -> Iterator[tuple[ir.Var, ir.MemRef, ir.Stmt]]:
    """The tiles of a function that have an allocation, in the order of the text."""
    for var, stmt in all_definitions(function):
        memref = place_of(var)
        if memref is not None:
            yield var, memref, stmt


def allocations(function: ir.Function) -> dict[int, tuple[ir.Var, ir.Call]]:
    """The allocation statements by their variables (ids): variable and call."""
    return {
        id(stmt.var): (stmt.var, stmt.value)
        for stmt in statements(function.body)
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call) and stmt.value.op.name == ALLOC
    }


def is_pinned(call: ir.Call) -> bool:
    """Whether an allocation is one that the user has declared."""
    return bool(call.kwargs.get("pinned", False))


def size_of(call: ir.Call) -> int:
    """The bytes of an allocation statement."""
    size = call.args[1]
    assert isinstance(size, ir.ConstInt)
    return size.value


def without_unused(function: ir.Function) -> ir.Function:
    """The function without the allocations that no tile lies in."""
    used = {id(memref.base_) for _, memref, _ in placed(function)}
    unused = frozenset(allocations(function).keys() - used)
    return _Dropping(unused).rewrite(function) if unused else function


class _Dropping(Rewriter):
    def __init__(self, unused: frozenset[int]) -> None:
        super().__init__()
        self._unused = unused

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        return None if isinstance(stmt, ir.AssignStmt) and id(stmt.var) in self._unused else stmt
