"""Strategies put to work: the passes of one, run in order and dumped."""

from __future__ import annotations

import os
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.files import make_folder, write_bytes
from pypto_tmpl.ir.stage_names import FRONTEND, stage_stem
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.catalogue import make_pass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.diagnostics import DiagnosticCheck, warnings_of
from pypto_tmpl.passes.dumping import PassDumpLevel, StageDumps, Write, coerce_dump_level
from pypto_tmpl.passes.instruments import CallbackInstrument
from pypto_tmpl.passes.pipeline import PassPipeline
from pypto_tmpl.passes.settings import DiagnosticPhase, MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

_WITH_SCOPES = "AutoDeriveTaskDependencies"


class PassManager:
    """The passes of a strategy under the planner of the context in which the manager is made.

    Raises ValueError for what is no strategy.
    """

    passes: tuple[Pass, ...]

    def __init__(self, strategy: OptimizationStrategy, *, analyze_auto_scopes_for_deps: bool = False) -> None:
        if not isinstance(strategy, OptimizationStrategy):
            raise ValueError(f"Unsupported optimization strategy: {strategy!r}")
        self.strategy = strategy
        self.analyze_auto_scopes_for_deps = analyze_auto_scopes_for_deps
        self._planner = _planner()
        self._buffers = _has_buffers()
        names = pass_names(strategy, self._planner, buffers=self._buffers)
        options = {_WITH_SCOPES: {"analyze_auto_scopes": analyze_auto_scopes_for_deps}}
        self.passes = tuple(make_pass(name, **options.get(name, {})) for name in names)

    @classmethod
    def get_strategy(
        cls,
        strategy: OptimizationStrategy = OptimizationStrategy.Default,
        *,
        analyze_auto_scopes_for_deps: bool = False,
    ) -> PassManager:
        """The manager of a strategy."""
        return cls(strategy, analyze_auto_scopes_for_deps=analyze_auto_scopes_for_deps)

    @property
    def pass_names(self) -> list[str]:
        """The names of the passes in order."""
        return [pass_.get_name() for pass_ in self.passes]

    def get_pass_names(self) -> list[str]:
        """The names of the passes in order."""
        return self.pass_names

    def run_passes(
        self,
        input_ir: ir.Program,
        dump_ir: bool | PassDumpLevel = False,
        output_dir: str | os.PathLike[str] | None = None,
        prefix: str = "pl",
    ) -> ir.Program:
        """The program after the last pass; ``dump_ir`` writes every stage into ``output_dir``.

        Raises RuntimeError under another planner of memory, or setting of buffers, than the manager was made
        under, and ValueError where there is nowhere to dump or nothing that can be dumped.
        """
        if _has_buffers() is not self._buffers:
            with_, without = ("with", "without") if self._buffers else ("without", "with")
            raise RuntimeError(f"the manager was made {with_} buffers, and the context is {without}")
        if _planner() is not self._planner:
            raise RuntimeError(
                f"the manager was made for the memory planner {self._planner.name}, and the context has "
                f"{_planner().name}"
            )
        return run_pipeline(PassPipeline(self.passes), input_ir, dump_ir, output_dir, prefix)


def run_pipeline(
    pipeline: PassPipeline,
    program: ir.Program,
    dump_ir: bool | PassDumpLevel = False,
    output_dir: str | os.PathLike[str] | None = None,
    prefix: str = "pl",
    write: Write = write_bytes,
) -> ir.Program:
    """The program after the last pass of a pipeline; ``dump_ir`` has every stage written into ``output_dir``.

    While it dumps, the context has one more instrument (``IRDump``), and warnings about what passes make
    go to ``.log`` files instead of the log.
    """
    level = coerce_dump_level(dump_ir)
    if level is PassDumpLevel.NONE:
        return pipeline.run(program)
    if output_dir is None:
        raise ValueError("output_dir is required when dumping IR")
    if not isinstance(program, ir.Program):
        raise ValueError(f"only an ir.Program can be dumped, got {type(program).__name__}")
    folder = Path(output_dir)
    make_folder(folder)
    outer = PassContext.current() or PassContext()
    dumps = StageDumps(folder, level, prefix, write)
    dumps.stage(FRONTEND, program)
    with _dumping_context(outer, dumps):
        return pipeline.run(program)


def _dumping_context(outer: PassContext, dumps: StageDumps) -> PassContext:
    """The outer context with dumps, and without its kind of runtime, which upstream does not hand on."""
    phase = outer.get_diagnostic_phase()
    checks = [c for c in DiagnosticCheck if c not in outer.get_disabled_diagnostics()]
    logged = checks if phase is DiagnosticPhase.POST_PASS else []
    position = 0

    def dump(pass_: Pass, program: ir.Program) -> None:
        nonlocal position
        position += 1
        stem = stage_stem(position, pass_.get_name())
        dumps.stage(stem, program, warnings_of(program, logged))

    return PassContext(
        [*outer.get_instruments(), CallbackInstrument(after_pass=dump, name="IRDump")],
        outer.get_verification_level(),
        DiagnosticPhase.PRE_PIPELINE if phase is DiagnosticPhase.POST_PASS else phase,
        outer.get_disabled_diagnostics(),
        outer.get_memory_planner(),
        outer.get_enable_pypto_l0c_double_buffer(),
        buffers=outer.get_buffers(),
    )


def _planner() -> MemoryPlanner:
    context = PassContext.current()
    return context.get_memory_planner() if context is not None else MemoryPlanner.PYPTO


def _has_buffers() -> bool:
    context = PassContext.current()
    return context is not None and context.get_buffers()
