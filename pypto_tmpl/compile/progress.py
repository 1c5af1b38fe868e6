"""How far the passes of a compilation are."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.instruments import PassInstrument


class PassProgress(PassInstrument):
    """Knows which pass is running, and the how manyth it is."""

    def __init__(self) -> None:
        self._number = 0
        self._running = ""

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._number += 1
        self._running = pass_.get_name()

    def text(self, seconds: float) -> str:
        """``3 s, pass 12, OptimizeOrchTensors``."""
        return f"{seconds:.0f} s" + (f", pass {self._number}, {self._running}" if self._number else "")
