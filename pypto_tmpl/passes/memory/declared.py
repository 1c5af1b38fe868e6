"""Buffers that a program declares and binds tiles to."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.memory.sizes import storage_bytes


@dataclass(slots=True)
class _Buffer:
    base: ir.Var
    space: MemorySpace | None
    slots: int
    slot_size: int = 0
    members: dict[int, ir.MemRef] = field(default_factory=dict)  # of constant slots


class DeclaredBuffers:
    """The declared buffers of a function: each has slots as large as the largest tile that is bound to one.

    Raises PassError for tiles of one buffer in different memory spaces, and for one without a constant shape.
    """

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        self._function = function
        self._buffers: dict[int, _Buffer] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TileType):
                self._note(stmt.var, stmt.var.type, backend)

    def is_base(self, base: ir.Var) -> bool:
        """Whether a pointer is that of a declared buffer."""
        return id(base) in self._buffers

    def size(self, base: ir.Var) -> int | None:
        """The bytes of all slots of a buffer, None where the pointer is of none."""
        buffer = self._buffers.get(id(base))
        return None if buffer is None else buffer.slots * buffer.slot_size

    def member(self, var: ir.Var) -> ir.MemRef | None:
        """The slot that a variable is bound to, None where it is bound to none."""
        declared = _declaration(var)
        if declared is None:
            return None
        buffer = self._buffers[id(declared.base_)]
        slot, size = declared.slot_index_, buffer.slot_size
        index = 0 if slot is None else constant_extent(slot)
        if index is not None and index in buffer.members:
            return buffer.members[index]
        offset: ir.Expr
        if slot is None or index is not None:
            offset = ir.ConstInt((index or 0) * size, ir.DataType.INT64, ir.Span.unknown())
        else:
            step = ir.ConstInt(size, ir.DataType.INDEX, ir.Span.unknown())
            offset = ir.Mul(slot, step, ir.DataType.INDEX, ir.Span.unknown())
        found = ir.MemRef(buffer.base, offset, size, slots=buffer.slots, slot=slot)
        if index is not None:
            buffer.members[index] = found
        return found

    def _note(self, var: ir.Var, type_: ir.TileType, backend: BackendFacts | None) -> None:
        declared = _declaration(var)
        if declared is None:
            return
        name = declared.base_.name_hint
        buffer = self._buffers.setdefault(
            id(declared.base_), _Buffer(declared.base_, type_.memory_space, declared.slot_count_)
        )
        if type_.memory_space is not buffer.space:
            spaces = " and ".join(str(s.name) for s in (buffer.space, type_.memory_space) if s is not None)
            what = f"tiles of the declared buffer {name!r} lie in {spaces}: {var.name_hint!r}"
            raise PassError(what, self._function, var)
        size = storage_bytes(type_, backend)
        if size is None:
            what = f"tile {var.name_hint!r} of the declared buffer {name!r} needs a constant shape"
            raise PassError(what, self._function, var)
        buffer.slot_size = max(buffer.slot_size, size)


def _declaration(var: ir.Var) -> ir.MemRef | None:
    memref = var.type.memref if isinstance(var.type, ir.TileType) else None
    return memref if memref is not None and memref.is_pinned_ else None
