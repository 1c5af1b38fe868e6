"""Compiling and running programs under PyPTO's path ``pypto.runtime.runner``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.api import compile as compile_into
from pypto_tmpl.compile.api import run
from pypto_tmpl.golden.validation import validate_golden
from pypto_tmpl.passes import DiagnosticCheckSet, DiagnosticPhase, MemoryPlanner
from pypto_tmpl.passes.dumping import PassDumpLevel
from pypto_tmpl.passes.strategies import OptimizationStrategy
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.execute import execute_compiled

_DfxOpts = DfxOptions


@dataclass
class RunResult:
    """Outcome of a test run; ``str()`` is ``PASS: name (1.23s)`` or ``FAIL: name - error``."""

    passed: bool
    test_name: str = ""
    error: str | None = None
    execution_time: float | None = None
    profile: Any = None

    def __str__(self) -> str:
        text = ("PASS" if self.passed else "FAIL") + (f": {self.test_name}" if self.test_name else "")
        if not self.passed:
            return f"{text} - {self.error}" if self.error else text
        return text if self.execution_time is None else f"{text} ({self.execution_time:.2f}s)"


def compile_program(
    program: Any,
    work_dir: Path,
    *,
    strategy: OptimizationStrategy,
    backend_type: BackendType,
    dump_passes: bool | PassDumpLevel = False,
    dump_ptoas_passes: bool = False,
    diagnostic_phase: DiagnosticPhase | None = None,
    disabled_diagnostics: DiagnosticCheckSet | None = None,
    profiling: bool = False,
    analyze_auto_scopes_for_deps: bool = False,
    memory_planner: MemoryPlanner | None = None,
    enable_pypto_l0c_double_buffer: bool | None = None,
) -> None:
    """Compile a program into a directory, as ``ir.compile`` does."""
    compile_into(
        program,
        str(work_dir),
        strategy,
        dump_passes,
        backend_type,
        diagnostic_phase=diagnostic_phase,
        disabled_diagnostics=disabled_diagnostics,
        memory_planner=memory_planner,
        enable_pypto_l0c_double_buffer=enable_pypto_l0c_double_buffer,
        profiling=profiling,
        analyze_auto_scopes_for_deps=analyze_auto_scopes_for_deps,
        dump_ptoas_passes=dump_ptoas_passes,
    )


def validate_persisted_outputs(work_dir: Path, rtol: float, atol: float) -> None:
    """Compare ``data/actual/*.pt`` of a build with ``data/out/*.pt``; what a golden has as NaN is not asked.

    Raises FileNotFoundError where either is missing, AssertionError where they differ.
    """
    data = Path(work_dir) / "data"
    goldens = {path.stem: path for path in sorted((data / "out").glob("*.pt"))}
    if not goldens:
        raise FileNotFoundError(f"no goldens in {data / 'out'}")
    outputs, expected = {}, {}
    for name, path in goldens.items():
        outputs[name] = torch.load(data / "actual" / f"{name}.pt", weights_only=True)
        expected[name] = torch.load(path, weights_only=True)
        if expected[name].is_floating_point() and expected[name].shape == outputs[name].shape:
            expected[name] = torch.where(
                expected[name].isnan(), outputs[name].to(expected[name].dtype), expected[name]
            )
    validate_golden(outputs, expected, rtol, atol)


__all__ = [
    "TYPE_CHECKING",
    "RunConfig",
    "RunResult",
    "compile_program",
    "execute_compiled",
    "run",
    "validate_persisted_outputs",
]
