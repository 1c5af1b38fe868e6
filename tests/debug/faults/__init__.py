"""Faults drawn by a seed: real pass dumps in which one statement of one stage is made wrong."""

from debug.faults.drawing import KINDS, Fault, draw

__all__ = ["KINDS", "Fault", "draw"]
