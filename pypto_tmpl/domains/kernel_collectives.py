"""What a collective needs in a kernel, where the signal is the program's and there is one block."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.domains.host import ALL_REDUCE, COLLECTIVES
from pypto_tmpl.ir.extents import constant_extent


def collective_problem(call: ir.Call) -> str | None:
    """Why a call is no collective of a kernel, None where it is one, or is none at all.

    Signals are [NR, 1], of a ring [2 * (NR - 1), NR]; an extent that is not constant may be any.
    """
    form = COLLECTIVES.get(call.op.name)
    if form is None:
        return None
    if len(call.args) <= form.signal:
        return "requires an explicit signal outside host orchestrator functions"
    if call.kwargs.get("core_num", 1) != 1:
        return "core_num > 1 is supported only in a HOST orchestrator"
    signal = call.args[form.signal]
    if call.op.name == ALL_REDUCE and call.kwargs.get("mode", "mesh") == "ring":
        return _ring_problem(signal)
    problem = _column_problem("signal", signal)
    for place in form.followers:  # beside the signal, what has a cell for what each rank has sent
        if problem is None and place != form.signal:
            problem = _column_problem("recv_counts", call.args[place])
    return problem


def _column_problem(name: str, cells: ir.Expr) -> str | None:
    assert isinstance(cells.type, ir.TensorType)
    shape = cells.type.shape
    if len(shape) != 2:
        return f"{name} must be 2D [NR, 1], got rank {len(shape)}"
    columns = constant_extent(shape[1])
    return None if columns in (1, None) else f"{name} shape[1] must be 1 (one cell per rank), got {columns}"


def _ring_problem(signal: ir.Expr) -> str | None:
    assert isinstance(signal.type, ir.TensorType)
    shape = signal.type.shape
    if len(shape) != 2:
        return f"signal must be 2D [2*(NR-1), NR], got rank {len(shape)}"
    rows, ranks = map(constant_extent, shape)
    if rows is not None and ranks is not None and rows != 2 * (ranks - 1):
        return f"signal shape[0] ({rows}) must equal 2*(NR-1) = {2 * (ranks - 1)} for NR = {ranks}"
    return None
