"""The context of a pipeline: what it is told, and who watches it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts, chosen_facts
from pypto_tmpl.passes.diagnostics import DiagnosticCheck, DiagnosticCheckSet
from pypto_tmpl.passes.settings import (
    DiagnosticPhase,
    MemoryPlanner,
    RuntimeKind,
    VerificationLevel,
    get_default_diagnostic_phase,
    get_default_verification_level,
)

QUIET = (DiagnosticCheck.UnusedControlFlowResult,)


class Instrument(Protocol):
    """What a context tells of passes and pipelines; ``PassInstrument`` is the base of those there are."""

    def get_name(self) -> str:
        """What the instrument is called."""

    def before_pass(self, pass_: Any, program: ir.Program) -> None:
        """The program that a pass is about to transform."""

    def after_pass(self, pass_: Any, program: ir.Program) -> None:
        """The program that a pass has made."""

    def after_pipeline(self, program: ir.Program) -> None:
        """The program that a pipeline has made."""


class PassContext:
    """Settings of a pipeline and its instruments; ``with`` makes them the current ones of the thread.

    A level or phase of None is that of the environment. With ``buffers``, strategies end in LowerToBuffers.
    """

    _stacks = threading.local()

    def __init__(
        self,
        instruments: Iterable[Instrument] = (),
        verification_level: VerificationLevel | None = None,
        diagnostic_phase: DiagnosticPhase | None = None,
        disabled_diagnostics: Iterable[DiagnosticCheck] = QUIET,
        memory_planner: MemoryPlanner = MemoryPlanner.PYPTO,
        enable_pypto_l0c_double_buffer: bool = False,
        runtime: RuntimeKind = RuntimeKind.TENSORMAP_AND_RINGBUFFER,
        *,
        buffers: bool = False,
    ) -> None:
        self._instruments = list(instruments)
        self._verification_level = verification_level or get_default_verification_level()
        self._diagnostic_phase = diagnostic_phase or get_default_diagnostic_phase()
        self._disabled_diagnostics = DiagnosticCheckSet(disabled_diagnostics)
        self._memory_planner = memory_planner
        self._enable_pypto_l0c_double_buffer = enable_pypto_l0c_double_buffer
        self._runtime = runtime
        self._buffers = bool(buffers)

    @classmethod
    def current(cls) -> PassContext | None:
        """The innermost context of the thread that is entered, None outside of all."""
        stack = cls._stack()
        return stack[-1] if stack else None

    @classmethod
    def _stack(cls) -> list[PassContext]:
        if not hasattr(cls._stacks, "entered"):
            cls._stacks.entered = []
        entered: list[PassContext] = cls._stacks.entered
        return entered

    def __enter__(self) -> Self:
        self._stack().append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack().pop()

    @property
    def backend(self) -> BackendFacts | None:
        """The facts of the backend of the process, None where none is chosen."""
        return chosen_facts()

    def get_instruments(self) -> list[Instrument]:
        """Who watches the passes."""
        return list(self._instruments)

    def get_verification_level(self) -> VerificationLevel:
        """How much is verified."""
        return self._verification_level

    def get_diagnostic_phase(self) -> DiagnosticPhase:
        """When warnings are looked for."""
        return self._diagnostic_phase

    def get_disabled_diagnostics(self) -> DiagnosticCheckSet:
        """What is not warned of."""
        return self._disabled_diagnostics

    def get_memory_planner(self) -> MemoryPlanner:
        """Who gives tiles their addresses."""
        return self._memory_planner

    def get_enable_pypto_l0c_double_buffer(self) -> bool:
        """Whether products alternate between two accumulators."""
        return self._enable_pypto_l0c_double_buffer

    def get_runtime(self) -> RuntimeKind:
        """What runs the orchestration."""
        return self._runtime

    def get_buffers(self) -> bool:
        """Whether strategies end in LowerToBuffers."""
        return self._buffers
