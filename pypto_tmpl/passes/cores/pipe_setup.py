"""The statements at the top of both sides that set up the pipes between them."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.bodies import as_body, flat, statements
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import evaluated_call
from pypto_tmpl.rewrite import build

TO_VECTOR, TO_CUBE = 1, 2
SLOTS = 2
_SETUPS = ("system.aic_initialize_pipe", "system.aiv_initialize_pipe")


def is_set_up(body: Iterable[ir.Stmt]) -> bool:
    """Whether a kernel sets its pipes up itself."""
    calls = map(evaluated_call, body)
    return any(call is not None and call.op.name in _SETUPS for call in calls)


def check_slots(side: ir.Function, kernel: ir.Function) -> None:
    """Raise PassError where a side takes a tile while it holds as many as the pipe has slots."""
    slots = kernel.attrs.get("slot_num", SLOTS)
    held = 0  # all that a body pops it frees
    for stmt in statements(side.body):
        end = facts.of_value(evaluated_call(stmt)).pipe_end
        if end == "pop" and held >= slots:
            what = f"a core takes another tile while it reads {held}, as many as the pipe has slots"
            error = PassError(f"{what}: none could come", kernel, stmt)
            error.add_note(
                "a greater slot_num of the kernel gives it more; so does reading a tile for less long"
            )
            raise error
        held += {"pop": 1, "free": -1}.get(end or "", 0)


def with_setup(
    function: ir.Function, side: CoreSide, kernel: ir.Function, directions: int, slot: int
) -> ir.Function:
    """A side of ``kernel`` with buffers and a pipe for tiles of up to ``slot`` bytes in ``directions``."""
    count = kernel.attrs.get("slot_num", SLOTS)
    span = kernel.span
    found: list[ir.Stmt] = []
    ends: dict[int, ir.Expr] = {}
    for direction, word, consumer in ((TO_CUBE, "v2c", CoreSide.CUBE), (TO_VECTOR, "c2v", CoreSide.VECTOR)):
        if not directions & direction:
            ends[direction] = ir.ConstInt(0, DataType.INT32, span)
            continue
        name = f"{kernel.name}_{word}_slot_buffer"
        if consumer is side:
            call = ops.call("system.reserve_buffer", span=span, name=name, size=slot * count, base=-1)
            var = ir.Var(name, call.type, span)
        else:
            peer = f"{kernel.name}_{'aic' if consumer is CoreSide.CUBE else 'aiv'}"
            call = ops.call("system.import_peer_buffer", span=span, name=name, peer_func=peer)
            var = ir.Var(f"{name}_import", call.type, span)
        ends[direction] = var
        found.append(ir.AssignStmt(var, call, span))
    op = _SETUPS[0] if side is CoreSide.CUBE else _SETUPS[1]
    keywords = {"dir_mask": directions, "slot_size": slot, "slot_num": count}
    found.append(ir.EvalStmt(ops.call(op, ends[TO_VECTOR], ends[TO_CUBE], span=span, **keywords), span))
    body = list(flat(function.body))
    first = evaluated_call(body[0]) if body else None
    at = 1 if facts.of_value(first).has("lane_index") else 0
    return build(function, body=as_body([*body[:at], *found, *body[at:]], function.body.span))
