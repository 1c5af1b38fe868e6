"""Watching passes: verifying, calling back, warning, timing, reporting."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.backend import chosen_facts
from pypto_tmpl.files import make_folder, write_text
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.diagnostics import LOGGER, DiagnosticCheck, DiagnosticCheckSet, log_warnings
from pypto_tmpl.passes.memory.report import report_text
from pypto_tmpl.passes.memory.usage import memory_use
from pypto_tmpl.passes.performance import PERF_HINTS, hint_lines, perf_hints_of
from pypto_tmpl.passes.properties import get_structural_properties, verify_properties, with_checks
from pypto_tmpl.passes.settings import DiagnosticPhase, VerificationMode

Callback = Callable[[Pass, ir.Program], None]
_PLACES = "AllocateMemoryAddr"
HINTS, MEMORY = "perf_hints.log", f"memory_after_{_PLACES}.txt"
"""The files of a folder for reports."""


class PassInstrument:
    """Base of what a ``PassContext`` tells of every pass."""

    name: str = ""

    def get_name(self) -> str:
        """What the instrument is called, its class unless it has a name."""
        return self.name or type(self).__name__

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        """The program that a pass is about to transform."""

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        """The program that a pass has made."""

    def after_pipeline(self, program: ir.Program) -> None:
        """The program that a pipeline has made."""


class CallbackInstrument(PassInstrument):
    """Calls Python functions before and after every pass, with the pass and the program."""

    def __init__(
        self,
        before_pass: Callback | None = None,
        after_pass: Callback | None = None,
        name: str = "CallbackInstrument",
    ) -> None:
        self._before, self._after = before_pass, after_pass
        self.name = name

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        if self._before is not None:
            self._before(pass_, program)

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        if self._after is not None:
            self._after(pass_, program)


class VerificationInstrument(PassInstrument):
    """Verifies what passes need and make, and what holds at every stage, as far as there are checks."""

    def __init__(self, mode: VerificationMode) -> None:
        self.mode = mode

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        if self.mode in (VerificationMode.BEFORE, VerificationMode.BEFORE_AND_AFTER):
            wanted = get_structural_properties().union_with(pass_.get_required_properties())
            verify_properties(with_checks(wanted), program, pass_.get_name())

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        if self.mode in (VerificationMode.AFTER, VerificationMode.BEFORE_AND_AFTER):
            wanted = get_structural_properties().union_with(pass_.get_produced_properties())
            verify_properties(with_checks(wanted), program, pass_.get_name())


class DiagnosticInstrument(PassInstrument):
    """Logs the warnings of every program that a pass makes; ``checks`` are all unless given."""

    def __init__(self, checks: Iterable[DiagnosticCheck] | None = None) -> None:
        self.checks = DiagnosticCheckSet(DiagnosticCheck if checks is None else checks)

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        log_warnings(program, self.checks, pass_.get_name())


class ReportInstrument(PassInstrument):
    """Writes reports into a folder, which is made for the first of them.

    ``memory_after_AllocateMemoryAddr.txt`` tells what kernels use of the memories of their cores. What could
    be faster is appended to ``perf_hints.log``, and logged how much that is: hints are looked for in what a
    pipeline makes, on the chosen backend, unless the context has no phase for findings or has them disabled.
    """

    def __init__(self, output_dir: str | os.PathLike[str]) -> None:
        self._output_dir = Path(output_dir)

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        if pass_.get_name() != _PLACES:
            return
        facts = chosen_facts()
        if kernels := memory_use(program, facts, placed=True):
            make_folder(self._output_dir)
            text = report_text(_PLACES, "" if facts is None else facts.name, kernels)
            write_text(self._output_dir / MEMORY, text)

    def after_pipeline(self, program: ir.Program) -> None:
        context = PassContext.current() or PassContext()
        if context.get_diagnostic_phase() is DiagnosticPhase.NONE:
            return
        wanted = DiagnosticCheckSet(PERF_HINTS).difference(context.get_disabled_diagnostics())
        hints = perf_hints_of(program, wanted)
        if not hints:
            return
        make_folder(self._output_dir)
        path = self._output_dir / HINTS
        before = path.read_text() if path.exists() else ""
        write_text(path, before + "".join(f"{line}\n" for line in hint_lines(hints)))
        LOGGER.info("%d performance hints in %s", len(hints), path)

    def get_output_dir(self) -> str:
        """The folder for reports."""
        return str(self._output_dir)


class TimingInstrument(PassInstrument):
    """Measures every pass; ``seconds`` has the passes in the order in which they ran."""

    def __init__(self) -> None:
        self.seconds: list[tuple[str, float]] = []
        self._began = 0.0

    def before_pass(self, pass_: Pass, program: ir.Program) -> None:
        self._began = time.perf_counter()

    def after_pass(self, pass_: Pass, program: ir.Program) -> None:
        self.seconds.append((pass_.get_name(), time.perf_counter() - self._began))
