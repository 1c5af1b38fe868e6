"""Strategies: which passes run in which order."""

from __future__ import annotations

from enum import Enum, unique

from pypto_tmpl.ir.pass_order import pass_order
from pypto_tmpl.passes.settings import MemoryPlanner


@unique
class OptimizationStrategy(Enum):
    """Lists of passes; ``DebugTileOptimization`` leaves out what lowers tensors, for kernels of tiles."""

    Default = "Default"
    DebugTileOptimization = "DebugTileOptimization"


def pass_names(strategy: OptimizationStrategy, planner: MemoryPlanner, *, buffers: bool = False) -> list[str]:
    """The passes of a strategy, in order, with which a planner of memory goes; ``buffers`` come last."""
    lowers_tensors = strategy is not OptimizationStrategy.DebugTileOptimization
    return pass_order(planner.name, lowers_tensors=lowers_tensors, buffers=buffers)
