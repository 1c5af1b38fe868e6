"""``ir.compile`` and ``runtime.run``: compiling a program in one call."""

from __future__ import annotations

import os
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, get_backend_type, is_backend_configured
from pypto_tmpl.compile.assembler import PtoasMissingWarning
from pypto_tmpl.compile.build import check_program, compile_program
from pypto_tmpl.compile.compiled_program import CompiledProgram, started
from pypto_tmpl.compile.directory import make_build_directory
from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.compile.options import CompileOptions, compile_options
from pypto_tmpl.domains.host import is_host
from pypto_tmpl.errors import warn_caller
from pypto_tmpl.passes.dumping import PassDumpLevel
from pypto_tmpl.passes.strategies import OptimizationStrategy
from pypto_tmpl.runtime.config import RunConfig


def compile(
    program: ir.Program,
    output_dir: str | os.PathLike[str] | None = None,
    strategy: OptimizationStrategy = OptimizationStrategy.Default,
    dump_passes: bool | PassDumpLevel = True,
    backend_type: BackendType = BackendType.Ascend910B,
    skip_ptoas: bool = False,
    verification_level: Any = None,
    diagnostic_phase: Any = None,
    disabled_diagnostics: Any = None,
    memory_planner: Any = None,
    enable_pypto_l0c_double_buffer: bool | None = None,
    profiling: bool = False,
    platform: str | None = None,
    distributed_config: Any = None,
    analyze_auto_scopes_for_deps: bool = False,
    emit_source_loc: bool | None = None,
    dump_ptoas_passes: bool = False,
    runtime: Any = None,
    *,
    stage: str | int | None = None,
    buffers: bool | None = None,
) -> CompiledProgram:
    """Compile a program into a build directory: pass dumps, PyTorch script, manifest.

    ``output_dir`` is that directory; None makes ``build_output/<program>_<time>``. ``platform`` goes before
    ``backend_type``. The passes run up to ``stage``, which is what calls execute: None or "last" are all,
    "frontend" is none, a pass or a number is up to there; with ``buffers`` the last one is LowerToBuffers.

    Raises: TypeError for what is no program, ValueError for an unknown platform, or one of another backend
    than ``backend.set_backend_type`` chose, RuntimeError for a setting that the active ``PassContext`` has,
    EntryError, StageNameError, all before a directory is made; UnsupportedProgramError, and what the passes
    raise.
    """
    if not isinstance(program, ir.Program):
        raise TypeError(f"compile takes an ir.Program, got {type(program).__name__}")
    given = {
        "output_dir": None if output_dir is None else os.fspath(output_dir),
        "strategy": strategy,
        "dump_passes": dump_passes,
        "backend_type": backend_type,
        "skip_ptoas": skip_ptoas,
        "verification_level": verification_level,
        "diagnostic_phase": diagnostic_phase,
        "disabled_diagnostics": disabled_diagnostics,
        "memory_planner": memory_planner,
        "enable_pypto_l0c_double_buffer": enable_pypto_l0c_double_buffer,
        "profiling": profiling,
        "platform": platform,
        "distributed_config": distributed_config,
        "analyze_auto_scopes_for_deps": analyze_auto_scopes_for_deps,
        "emit_source_loc": emit_source_loc,
        "dump_ptoas_passes": dump_ptoas_passes,
        "runtime": runtime,
        "stage": stage,
        "buffers": buffers,
    }
    options = compile_options({name: value for name, value in given.items() if value is not None})
    require_backend_of_process(options)
    check_program(program, options)
    directory = make_build_directory(program.name, options.output_dir)
    build = compile_program(program, directory, options)
    if build.why_no_cpp:
        warn_caller(f"{build.why_no_cpp}; skip_ptoas=True does without", PtoasMissingWarning)
    is_distributed = any(map(is_host, program.functions.values()))
    return DistributedCompiledProgram(build) if is_distributed else CompiledProgram(build)


def require_backend_of_process(options: CompileOptions) -> None:
    """Raise ValueError for a compilation for another backend than that of the process."""
    if is_backend_configured() and get_backend_type().name != options.platform.backend:
        chosen = get_backend_type().name
        raise ValueError(f"Backend type already set to {chosen}, cannot change to {options.platform.backend}")


def compile_as(program: ir.Program, config: RunConfig) -> CompiledProgram:
    """Compile a program as a ``RunConfig`` says."""
    return compile(program, **compile_knobs(config))


def compile_knobs(config: RunConfig) -> dict[str, Any]:
    """The knobs of ``compile`` that a ``RunConfig`` has fields for."""
    return {
        "output_dir": config.save_kernels_dir,
        "strategy": config.strategy,
        "dump_passes": config.dump_passes,
        "diagnostic_phase": config.diagnostic_phase,
        "disabled_diagnostics": config.disabled_diagnostics,
        "memory_planner": config.memory_planner,
        "profiling": config.compile_profiling,
        "platform": config.platform,
        "distributed_config": config.distributed_config,
        "analyze_auto_scopes_for_deps": config.analyze_auto_scopes_for_deps,
        "dump_ptoas_passes": config.dump_ptoas_passes,
        "stage": config.stage,
    }


def run(program: ir.Program, *tensors: Any, config: RunConfig | None = None) -> CompiledProgram:
    """Compile a program and, unless there are no tensors or the config only generates code, call it."""
    config = config or RunConfig()
    compiled = compile_as(program, config)
    if tensors and not config.codegen_only:
        started(compiled)(*tensors, config=config)
    return compiled
