"""Vector kernels that are written for whole tiles until SplitVectorKernel halves them for two lanes.

A kernel written by hand may state a split, in its attributes or at its pushes and pops, and have the code of
one lane: the pass halves it. What is popped or pushed tells: before the pass a part has the box of the whole
tile that the cube core pushes or pops, after it half of that.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.fact_model import PipeTarget

_Pipe = tuple[PipeTarget | None, int, int]  # where it leads, id, axis of the split


def pipe_id(call: ir.Call) -> int:
    """The pipe that a push or pop uses."""
    return int(call.kwargs.get("id", 0))


def split_code(call: ir.Call) -> int:
    """The split code of a push or pop, 0 to 4."""
    return int(call.kwargs.get("split", 0))


def takes_whole_tiles(cube: Iterable[ir.Call], vector: Iterable[ir.Call]) -> bool:
    """Whether the vector side has tiles of the same boxes as the cube side, although transfers split them.

    An extent of 1 is on both lanes whole at any rate, and says nothing; nor do boxes that fit neither form.
    """
    of_cube, of_vector = _boxes(cube), _boxes(vector)
    found = [
        form
        for pipe, whole in of_cube.items()
        for form in map(_form, *_paired(whole, of_vector.get(pipe, [])))
        if form is not None
    ]
    return bool(found) and all(found)


def _boxes(calls: Iterable[ir.Call]) -> dict[_Pipe, list[int]]:
    """Extents along the split axis of what each pipe carries by a split, in program order."""
    found: dict[_Pipe, list[int]] = {}
    for call in calls:
        known = facts.of_value(call)
        code = split_code(call) if known.is_transfer else 0
        if not code:
            continue
        axis = (code - 1) % 2
        type_ = call.args[0].type if known.pipe_end == "push" else call.type
        if isinstance(type_, ir.ShapedType) and axis < len(type_.shape):
            extent = constant_value(type_.shape[axis])
            if extent is not None and extent != 1:
                pipe = (known.pipe_to, pipe_id(call), axis)
                found.setdefault(pipe, []).append(extent)
    return found


def _paired(whole: list[int], parts: list[int]) -> tuple[list[int], list[int]]:
    """Extents of the ends of each transfer; the largest of each side where loops were taken apart unlike."""
    if len(whole) == len(parts):
        return whole, parts
    return ([max(whole)], [max(parts)]) if parts else ([], [])


def _form(whole: int, part: int) -> bool | None:
    """True for a tile that both ends have whole, False for one of which a lane has half."""
    if part == whole:
        return True
    return False if part == (whole + 1) // 2 else None


def awaits_halving(kernel: ir.Function, calls: Iterable[ir.Call]) -> bool:
    """Whether a vector kernel without transfers states a split and has no code of a lane's own yet."""
    attrs = kernel.attrs
    is_lane_code = bool(attrs.get("split_aiv") or attrs.get("dual_aiv_dispatch"))
    knows_lane = any(facts.of_value(call).has("lane_index") for call in calls)
    return bool(attrs.get("split")) and not is_lane_code and not knows_lane
