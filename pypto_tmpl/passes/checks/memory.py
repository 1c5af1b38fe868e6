"""Where tiles lie in the memories of a core."""

from __future__ import annotations

from collections import defaultdict

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE


def allocated_memory_addr(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """Tiles and reserved buffers of a kernel have addresses, and end within the memory of the core.

    The slot of a declared buffer may be chosen at run time; its last one counts.
    """
    if not is_incore_type(function.func_type):
        return
    ends: dict[ir.MemorySpace, int] = defaultdict(int)
    for stmt in statements(function.body):
        call = call_of(stmt)
        if call is not None and call.op.name == RESERVE:
            start = int(call.kwargs.get("base", -1))
            if start < 0:
                findings.add(0, f"the buffer {call.kwargs['name']!r} has no address", stmt.span)
            is_cube = function.func_type is ir.FunctionType.AIC
            space = ir.MemorySpace.Mat if is_cube else ir.MemorySpace.Vec
            ends[space] = max(ends[space], start + int(call.kwargs["size"]))
    for var, stmt in all_definitions(function):
        type_ = var.type
        if not isinstance(type_, ir.TileType) or type_.memref is None:
            continue
        if type_.memory_space in (None, ir.MemorySpace.DDR):
            continue
        place = _address(type_.memref)
        if place is None or place[0] < 0:
            findings.add(0, f"the tile {var.name_hint!r} has no address in {_name(type_)}", stmt.span)
        else:
            ends[type_.memory_space] = max(ends[type_.memory_space], place[1])
    for space, end in ends.items():
        limit = None if backend is None else backend.capacity(space)
        if limit is not None and end > limit:
            what = f"{space.name} buffer usage ({end} bytes) exceeds platform limit ({limit} bytes)"
            findings.add(0, f"{what} in the kernel {function.name!r}", function.span)


def _address(memref: ir.MemRef) -> tuple[int, int] | None:
    """The first byte of a buffer and the one past its end; None where no number tells."""
    offset = memref.byte_offset_
    if isinstance(offset, ir.ConstInt):
        return offset.value, offset.value + memref.size_
    if isinstance(offset, ir.Add) and isinstance(offset.left, ir.ConstInt):
        return offset.left.value, offset.left.value + memref.size_ * memref.slot_count_
    if memref.slot_count_ > 1:  # slots from the first byte on: nothing is added to where one lies in them
        return 0, memref.size_ * memref.slot_count_
    return None


def _name(type_: ir.TileType) -> str:
    return "" if type_.memory_space is None else type_.memory_space.name
