"""Faults drawn by a seed in plans of memory: recorded programs in which one tile lies wrongly."""

from debug.storage_faults.drawing import Fault, draw
from debug.storage_faults.kinds import KINDS

__all__ = ["KINDS", "Fault", "draw"]
