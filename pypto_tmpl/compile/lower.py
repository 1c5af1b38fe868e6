"""The one way of a program from what the user gave to the stage that is executed.

Builds, JIT kernels and ``JITFunction.lower`` go through ``lower``; the passes come in at ``pipeline_for`` and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, compiling_for, get_backend_type, is_backend_configured
from pypto_tmpl.files import write_bytes
from pypto_tmpl.ir.pass_order import BUFFERS
from pypto_tmpl.ir.stage_names import AS_WRITTEN, FRONTEND, LAST, find_stage, stage_stems
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.context import Instrument, PassContext
from pypto_tmpl.passes.diagnostics import DiagnosticCheck
from pypto_tmpl.passes.dumping import PassDumpLevel, StageDumps, Write
from pypto_tmpl.passes.instruments import CallbackInstrument
from pypto_tmpl.passes.manager import PassManager, run_pipeline
from pypto_tmpl.passes.pipeline import PassPipeline
from pypto_tmpl.passes.round_trip import make_roundtrip_instrument
from pypto_tmpl.passes.settings import DiagnosticPhase, MemoryPlanner, RuntimeKind, VerificationLevel
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

_OF_CONTEXTS = ("verification_level", "diagnostic_phase", "memory_planner", "runtime")
_REMEDY = (
    f'to run it as it is written, without passes: stage="{AS_WRITTEN}" '
    f"(in runtime_cfg, RunConfig, compile; pypto-tmpl run --stage {AS_WRITTEN})"
)


@dataclass(frozen=True, slots=True)
class PassOptions:
    """What a compilation tells the passes; what is None is as the active context, or the default, has it.

    ``stage`` is the last one that is made. Without a ``backend`` that of the process counts, else Ascend910B.
    """

    backend: BackendType | None = None
    stage: str = LAST
    strategy: OptimizationStrategy = OptimizationStrategy.Default
    verification_level: VerificationLevel | None = None
    diagnostic_phase: DiagnosticPhase | None = None
    disabled_diagnostics: frozenset[DiagnosticCheck] | None = None
    memory_planner: MemoryPlanner | None = None
    enable_pypto_l0c_double_buffer: bool | None = None
    analyze_auto_scopes_for_deps: bool = False
    runtime: RuntimeKind | None = None
    buffers: bool | None = None

    def check_context(self) -> None:
        """Raise RuntimeError for a setting that an active ``PassContext`` has already."""
        given = [name for name in _OF_CONTEXTS if getattr(self, name) is not None]
        if given and PassContext.current() is not None:
            raise RuntimeError(
                f"compile() was called with {given[0]} while a PassContext is already active. "
                f"Set the {given[0]} on the existing PassContext instead."
            )

    def check_stage(self) -> None:
        """Raise StageNameError for a stage that these passes do not make."""
        known = self.resolved()
        planner = known.memory_planner or MemoryPlanner.PYPTO
        names = pass_names(self.strategy, planner, buffers=bool(known.buffers))
        find_stage(stage_stems(names), self.stage)

    def resolved(self) -> PassOptions:
        """The options with everything that the active context, the process or the environment decides."""
        base = PassContext.current() or PassContext()
        process = get_backend_type() if is_backend_configured() else BackendType.Ascend910B
        disabled, double = self.disabled_diagnostics, self.enable_pypto_l0c_double_buffer
        if double is None:
            double = base.get_enable_pypto_l0c_double_buffer()
        return replace(
            self,
            backend=self.backend or process,
            verification_level=self.verification_level or base.get_verification_level(),
            diagnostic_phase=self.diagnostic_phase or base.get_diagnostic_phase(),
            disabled_diagnostics=frozenset(base.get_disabled_diagnostics() if disabled is None else disabled),
            memory_planner=self.memory_planner or base.get_memory_planner(),
            enable_pypto_l0c_double_buffer=double,
            runtime=self.runtime or base.get_runtime(),
            buffers=base.get_buffers() if self.buffers is None else self.buffers,
        )


@dataclass(frozen=True, slots=True)
class Dumps:
    """Where the stages of a program are written, how much of each, and by whom."""

    folder: Path
    level: PassDumpLevel
    write: Write = write_bytes


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program at a stage, and the name of that; ``values`` is the same before its tiles became buffers."""

    program: ir.Program
    stage: str
    values: ir.Program


def lower(program: ir.Program, options: PassOptions | None = None) -> ir.Program:
    """The program at the stage that the options name; see ``lowered``."""
    return lowered(program, options).program


def lowered(
    program: ir.Program,
    options: PassOptions | None = None,
    dumps: Dumps | None = None,
    instruments: Sequence[Instrument] = (),
) -> Lowered:
    """The program at the stage that the options name; ``dumps`` has all stages up to it written.

    Raises StageNameError for a stage that there is not, and whatever the passes raise, with notes that name
    the pass and say how to do without.
    """
    options = (options or PassOptions()).resolved()
    dumps = dumps or Dumps(Path(), PassDumpLevel.NONE)
    assert options.backend is not None
    kept: dict[str, ir.Program] = {}

    def keep(pass_: Pass, before: ir.Program) -> None:
        if pass_.get_name() in BUFFERS:
            kept["program"] = before

    watching = [*instruments, CallbackInstrument(before_pass=keep, name="KeepValues")]
    with compiling_for(options.backend), _context(options, watching if options.buffers else instruments):
        pipeline = pipeline_for(options)
        if not pipeline.get_passes():
            as_written = _as_written(program, dumps)
            return Lowered(as_written, FRONTEND, as_written)
        try:
            result = run_pipeline(pipeline, program, dumps.level, dumps.folder, write=dumps.write)
        except Exception as error:
            if not isinstance(error, OSError):
                error.add_note(_REMEDY)
            raise
    return Lowered(result, stage_stems(pipeline.get_pass_names())[-1], kept.get("program", result))


def pipeline_for(options: PassOptions) -> PassPipeline:
    """The passes of a compilation under the planner of the context, up to the stage of the options."""
    manager = PassManager.get_strategy(
        options.strategy, analyze_auto_scopes_for_deps=options.analyze_auto_scopes_for_deps
    )
    end = find_stage(stage_stems(manager.pass_names), options.stage)
    return PassPipeline(manager.passes[:end])


def _as_written(program: ir.Program, dumps: Dumps) -> ir.Program:
    """The program itself, which may be one that the passes refuse: nothing is verified."""
    if dumps.level is not PassDumpLevel.NONE:
        StageDumps(dumps.folder, dumps.level, write=dumps.write).stage(FRONTEND, program)
    return program


def _context(options: PassOptions, instruments: Sequence[Instrument]) -> PassContext:
    """The context of a compilation: who watches passes already goes on watching."""
    outer = PassContext.current()
    watching = [*(() if outer is None else outer.get_instruments()), *instruments]
    if options.verification_level is VerificationLevel.ROUNDTRIP:
        watching.append(make_roundtrip_instrument())
    return PassContext(
        watching,
        options.verification_level,
        options.diagnostic_phase,
        options.disabled_diagnostics or (),
        options.memory_planner or MemoryPlanner.PYPTO,
        bool(options.enable_pypto_l0c_double_buffer),
        options.runtime or RuntimeKind.TENSORMAP_AND_RINGBUFFER,
        buffers=bool(options.buffers),
    )
