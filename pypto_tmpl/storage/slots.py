"""The slots of pipes: where tiles that come out of one lie, in the memory of the core that pops them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import OpTable
from pypto_tmpl.ops.whole_tiles import pipe_id

_BUFFERS = {"cube": "v2c_consumer_buf", "vector": "c2v_consumer_buf"}  # operands: what a core pops from


@dataclass(frozen=True, slots=True)
class SlotRing:
    """The slots of one pipe, which its tiles take in turn: each from its pop on to its tfree."""

    buffer: ir.Var
    offset: ir.ConstInt  # of the first slot; 0 in a buffer that has no address yet
    size: int  # bytes of a slot
    count: int
    reserved: int  # bytes of the buffer

    @property
    def room(self) -> int:
        """The bytes of all slots."""
        return self.size * self.count


class SlotRings:
    """The pipes from which a function pops, as far as it says where their slots are."""

    def __init__(self, function: ir.Function, table: OpTable) -> None:
        self._table = table
        buffers: dict[int, tuple[ir.Var, ir.Call]] = {}
        found: dict[int, SlotRing] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call):
                entry = table.get(stmt.value.op.name)
                if entry is not None and "base" in entry.kwarg_names:
                    buffers[id(stmt.var)] = (stmt.var, stmt.value)
            elif isinstance(stmt, ir.EvalStmt) and isinstance(stmt.expr, ir.Call):
                ring = self._declared(stmt.expr, buffers)
                if ring is not None:
                    found.setdefault(pipe_id(stmt.expr), ring)
        self._rings: Mapping[int, SlotRing] = found

    def __iter__(self) -> Iterator[SlotRing]:
        return iter(self._rings.values())

    def of(self, call: ir.Expr | None) -> SlotRing | None:
        """The slots that a pop takes or a tfree gives back; None of others and of untold slots."""
        if not isinstance(call, ir.Call) or self._table.facts(call.op.name).pipe_end not in ("pop", "free"):
            return None
        return self._rings.get(pipe_id(call))

    def _declared(self, call: ir.Call, buffers: Mapping[int, tuple[ir.Var, ir.Call]]) -> SlotRing | None:
        """The slots that a call declares for what its own core pops."""
        entry = self._table.get(call.op.name)
        name = None if entry is None else _BUFFERS.get(entry.core)
        if entry is None or name not in entry.operand_names:
            return None
        at = entry.operand_names.index(name)
        var, buffer = buffers.get(id(call.args[at]) if at < len(call.args) else 0, (None, None))
        count = call.kwargs.get("local_slot_num") or call.kwargs.get("slot_num")
        size = call.kwargs.get("slot_size")
        if var is None or buffer is None or not count or not size:
            return None
        base, reserved = buffer.kwargs.get("base", -1), buffer.kwargs["size"]
        offset = ir.ConstInt(max(int(base), 0), ir.DataType.INT64, var.span)
        return SlotRing(var, offset, int(size), int(count), int(reserved))
