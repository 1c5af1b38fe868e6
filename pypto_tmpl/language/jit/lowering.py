"""Where the pass pipeline comes in."""

from __future__ import annotations

from pypto_tmpl import ir


def lowered(program: ir.Program) -> ir.Program:
    """The program after the passes: as long as there is no pipeline, the program as it is."""
    return program
