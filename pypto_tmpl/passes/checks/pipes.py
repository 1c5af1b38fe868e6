"""Kernels that run on one core each, and the pipes between the two cores of a cluster."""

from __future__ import annotations

from collections import Counter
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import Steps, run
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide, core_side
from pypto_tmpl.ops.op_facts import OpFacts
from pypto_tmpl.passes.checks.calls import call_of

SETUPS = ("system.aic_initialize_pipe", "system.aiv_initialize_pipe")
RESERVE = "system.reserve_buffer"
_SIDES = {ir.FunctionType.AIC: CoreSide.CUBE, ir.FunctionType.AIV: CoreSide.VECTOR}
_DIRECTIONS = {"aiv": 1, "aic": 2}
"""The bit of ``dir_mask`` of the pipe to a core."""
_POPPED_TO = {"aiv": ir.MemorySpace.Vec, "aic": ir.MemorySpace.Mat}
_Pipe = tuple[str, int]  # the core that it leads to, and its id


def mixed_kernel_expanded(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """No kernel needs both cores; pipes are set up before they are used, and their slots given back."""
    if not is_incore_type(function.func_type):
        return
    if function.func_type is ir.FunctionType.InCore and _side(function) is CoreSide.MIXED:
        what = f"the kernel {function.name!r} has work of the cube core and of a vector core"
        findings.add(0, what, function.span)
    pipes = _Pipes(function, findings)
    run(pipes.check(function.body))
    pipes.check_freed()


def _side(function: ir.Function) -> CoreSide:
    values = {id(s.var): s.value for s in statements(function.body) if isinstance(s, ir.AssignStmt)}

    def bound_to(value: ir.Expr) -> ir.Expr:
        return values.get(id(value), value)

    side = CoreSide.SHARED
    for stmt in statements(function.body):
        call = call_of(stmt)
        side = side if call is None else side.with_(core_side(call, bound_to))
    return side


class _Pipes:
    """A walk that knows which pipes are set up where it is, and which slots are taken."""

    def __init__(self, function: ir.Function, findings: Findings) -> None:
        self.findings = findings
        self.side = _SIDES.get(function.func_type)
        self.core = function.func_type.name
        self.slots: dict[_Pipe, int] = {}  # bytes of a slot, of pipes that are set up
        self.reserved: dict[int, ir.Call] = {}
        self.popped: dict[int, tuple[ir.AssignStmt, ir.Call]] = {}
        self.freed: Counter[int] = Counter()

    def check(self, stmt: ir.Stmt) -> Steps:
        """Check a statement and what is in it; what a branch or loop sets up is known in there alone."""
        call = call_of(stmt)
        if call is not None:
            self.look_at(call, stmt)
        for part in parts(stmt):
            before = dict(self.slots) if isinstance(stmt, ir.IfStmt | ir.ForStmt | ir.WhileStmt) else None
            yield self.check(part)
            self.slots = self.slots if before is None else before

    def look_at(self, call: ir.Call, stmt: ir.Stmt) -> None:
        known = facts.of_value(call)
        if call.op.name in SETUPS:
            self.check_core(call, known)
            self.set_up(call)
        elif call.op.name == RESERVE and isinstance(stmt, ir.AssignStmt):
            self.reserved[id(stmt.var)] = call
        elif known.pipe_end is not None:
            self.check_core(call, known)
            if known.pipe_end == "free":
                self.free(call)
                return
            popped = stmt.var if isinstance(stmt, ir.AssignStmt) else call
            self.check_transfer(call, known, popped if known.pipe_end == "pop" else call.args[0])
            if known.pipe_end == "pop":
                self.pop(call, known, stmt)

    def check_core(self, call: ir.Call, known: OpFacts) -> None:
        if self.side is not None and known.core != self.side.value:
            what = f"{call.op.name} is of a {known.core} core and stands in an {self.core} function"
            self.findings.add(0, what, call.span)

    def set_up(self, call: ir.Call) -> None:
        size, mask = int(call.kwargs["slot_size"]), int(call.kwargs["dir_mask"])
        for core, bit in _DIRECTIONS.items():
            if mask & bit:
                self.slots[core, _id(call)] = size
        for buffer in call.args if "slot_num" in call.kwargs else ():
            reserved = self.reserved.get(id(buffer))
            needed = size * int(call.kwargs["slot_num"])
            if reserved is not None and int(reserved.kwargs["size"]) < needed:
                name, has = reserved.kwargs["name"], reserved.kwargs["size"]
                what = f"the buffer {name!r} of {has} bytes is too small for slots of {needed} bytes"
                self.findings.add(0, what, call.span)

    def check_transfer(self, call: ir.Call, known: OpFacts, moved: ir.Expr) -> None:
        """The pipe is there, and the tile fits its slots."""
        name, tile = f"the tile {getattr(moved, 'name_hint', '')!r}", moved.type
        slot = self.slots.get((str(known.pipe_to), _id(call)))
        if slot is None:
            what = f"{call.op.name} of {name} uses pipe {_id(call)}, which nothing before it surely sets up"
            self.findings.add(0, what, call.span)
        if not isinstance(tile, ir.TileType):
            return
        extents = [constant_value(extent) for extent in tile.shape]
        if None in extents:
            self.findings.add(
                0, f"{call.op.name} transfers {name}, whose extents are no constants", call.span
            )
            return
        size = (prod(extent or 0 for extent in extents) * tile.dtype.get_bit() + 7) // 8
        if slot is not None and size > slot:
            what = f"{call.op.name} transfers {name} of {size} bytes through slots of {slot} bytes"
            self.findings.add(0, what, call.span)

    def pop(self, call: ir.Call, known: OpFacts, stmt: ir.Stmt) -> None:
        space = _POPPED_TO[str(known.pipe_to)]
        found = call.type.memory_space if isinstance(call.type, ir.TileType) else None
        if found is not space:
            where = "no memory" if found is None else found.name
            name = stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else ""
            what = f"{call.op.name} gives the tile {name!r} in {where}, not in {space.name}"
            self.findings.add(0, what, call.span)
        if isinstance(stmt, ir.AssignStmt):
            self.popped[id(stmt.var)] = stmt, call
        else:
            self.findings.add(0, f"{call.op.name} pops a tile that nothing can free", call.span)

    def free(self, call: ir.Call) -> None:
        _, pop = self.popped.get(id(call.args[0]), (None, None))
        name = getattr(call.args[0], "name_hint", "a value")
        if pop is None:
            self.findings.add(0, f"{call.op.name} frees {name!r}, which was not popped before", call.span)
            return
        self.freed[id(call.args[0])] += 1
        is_other = facts.of_value(call).pipe_to != facts.of_value(pop).pipe_to
        # A call that tells no pipe is of that of the tile: only StampTfreeSplit writes it down.
        if is_other or ("id" in call.kwargs and _id(call) != _id(pop)):
            popped = f"{pop.op.name} popped from pipe {_id(pop)}"
            what = f"{call.op.name} frees {name!r} at pipe {_id(call)}, which {popped}"
            self.findings.add(0, what, call.span)

    def check_freed(self) -> None:
        """Every tile that was popped is freed once."""
        for place, (stmt, call) in self.popped.items():
            if (count := self.freed[place]) != 1:
                what = f"the tile {stmt.var.name_hint!r} of {call.op.name} is freed {count} times, not once"
                self.findings.add(0, what, stmt.span)


def _id(call: ir.Call) -> int:
    return int(call.kwargs.get("id", 0))
