"""How far a compilation is: the passes, then the assembler."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.compile.assembler import Counted
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.context import Instrument
from pypto_tmpl.passes.instruments import PassInstrument


class PassProgress(PassInstrument):
    """Knows which pass is running, and the how manyth it is; then how many texts are assembled."""

    def __init__(self) -> None:
        self._number = 0
        self._running = ""
        self._assembled = ""

    @classmethod
    def counter_in(cls, instruments: Iterable[Instrument]) -> Counted:
        """What tells those among the instruments how many texts are assembled."""
        shown = [instrument for instrument in instruments if isinstance(instrument, cls)]

        def counted(done: int, total: int) -> None:
            for progress in shown:
                progress.assembled(done, total)

        return counted

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._number += 1
        self._running = pass_.get_name()

    def assembled(self, done: int, total: int) -> None:
        """Take note of how many texts are assembled."""
        self._assembled = f"ptoas, {done} of {total} texts"

    def text(self, seconds: float) -> str:
        """``3 s, pass 12, OptimizeOrchTensors``."""
        passes = f"pass {self._number}, {self._running}" if self._number else ""
        where = self._assembled or passes
        return f"{seconds:.0f} s" + (f", {where}" if where else "")
