"""On which core of a cluster a call runs: the cube core, a vector core, either of them, or both in turn."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from pypto_tmpl import ir
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.op_facts import OpFacts


class CoreSide(Enum):
    """Where a call or statement runs."""

    SHARED = "shared"
    CUBE = "cube"
    VECTOR = "vector"
    MIXED = "mixed"

    def with_(self, other: CoreSide) -> CoreSide:
        """Where both together run: what is shared goes along."""
        if CoreSide.SHARED in (self, other):
            return other if self is CoreSide.SHARED else self
        return self if self is other else CoreSide.MIXED


_BY_CORE_TYPE = {
    "aic": CoreSide.CUBE, "aic_only": CoreSide.CUBE, "aiv": CoreSide.VECTOR, "aiv_only": CoreSide.VECTOR,
}  # fmt: skip
_SHARED_SPACES = (ir.MemorySpace.DDR, ir.MemorySpace.ScalarLocal, None)


def side_of_space(space: ir.MemorySpace | None) -> CoreSide:
    """The core that has a memory space of its own."""
    if space in _SHARED_SPACES:
        return CoreSide.SHARED
    return CoreSide.VECTOR if space is ir.MemorySpace.Vec else CoreSide.CUBE


def core_side(call: ir.Call, bound_to: Callable[[ir.Expr], ir.Expr] = lambda value: value) -> CoreSide:
    """Where a call runs, by the ``core`` of its op; a function or an op that nobody knows is shared.

    ``bound_to`` gives the value of a variable: what comes from the other core does not cross once more.
    """
    known = facts.of_value(call)
    match known.core:
        case "cube" | "vector" | "shared" | "mixed":
            side = CoreSide(known.core)
        case "move":
            side = _side_of_move(call, bound_to)
        case "core_type":
            side = _BY_CORE_TYPE.get(str(call.kwargs.get("core_type", "")), CoreSide.SHARED)
        case "spaces":
            side = _side_by_spaces(call, known)
        case None:
            side = CoreSide.SHARED
    is_free = side is CoreSide.SHARED and known.core in ("spaces", "move", None)
    return CoreSide.VECTOR if is_free and call.attrs.get("core_placement") == "aiv" else side


def _side_of_move(call: ir.Call, bound_to: Callable[[ir.Expr], ir.Expr]) -> CoreSide:
    source, target = (side_of_space(_space(node)) for node in (call.args[0], call))
    crossed = facts.of_value(bound_to(call.args[0]))
    if crossed.pipe_end == "pop" or crossed.core == "mixed":
        return target
    if CoreSide.SHARED not in (source, target) and source is not target:
        return CoreSide.MIXED
    return source


def _side_by_spaces(call: ir.Call, known: OpFacts) -> CoreSide:
    """By the result's space, else by that of the first tile."""
    if known.result_memory is not None and isinstance(call.type, ir.TileType):
        return side_of_space(_space(call))
    tile = next((arg for arg in call.args if isinstance(arg.type, ir.TileType)), None)
    return CoreSide.SHARED if tile is None else side_of_space(_space(tile))


def _space(node: ir.Expr) -> ir.MemorySpace | None:
    return node.type.memory_space if isinstance(node.type, ir.TileType) else None
