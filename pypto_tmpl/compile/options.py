"""``compile_cfg``: the knobs of a compilation, in the names of ``ir.compile`` and of ``RunConfig``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile.lower import PassOptions
from pypto_tmpl.domains.host import is_host
from pypto_tmpl.execution.choice import choose_engine
from pypto_tmpl.ir.stage_names import LAST
from pypto_tmpl.passes.diagnostics import DiagnosticCheck
from pypto_tmpl.passes.dumping import PassDumpLevel, coerce_dump_level
from pypto_tmpl.passes.settings import DiagnosticPhase, MemoryPlanner, RuntimeKind, VerificationLevel
from pypto_tmpl.passes.strategies import OptimizationStrategy
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.dfx import OLD_DFX_FLAGS, current_name
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.runtime.options import RUNTIME_KNOBS, KnobError, MultiCardError, refuse_unknown, stage_name
from pypto_tmpl.runtime.platforms import (
    DEFAULT_PLATFORM,
    PLATFORMS,
    Platform,
    check_platform,
    find_platform,
)

# Those of the assembler and of device code (emit_source_loc, block_dim, ...) are for their streams.
COMPILE_KNOBS = (
    "output_dir",
    "strategy",
    "dump_passes",
    "backend_type",
    "skip_ptoas",
    "verification_level",
    "diagnostic_phase",
    "disabled_diagnostics",
    "memory_planner",
    "enable_pypto_l0c_double_buffer",
    "buffers",
    "profiling",
    "platform",
    "distributed_config",
    "analyze_auto_scopes_for_deps",
    "emit_source_loc",
    "dump_ptoas_passes",
    "runtime",
    "block_dim",
    "stage",
)
_FLAGS = (
    "skip_ptoas",
    "enable_pypto_l0c_double_buffer",
    "profiling",
    "analyze_auto_scopes_for_deps",
    "emit_source_loc",
    "dump_ptoas_passes",
    "codegen_only",
)
_MEMBERS: Mapping[str, type[Enum]] = {
    "strategy": OptimizationStrategy,
    "verification_level": VerificationLevel,
    "diagnostic_phase": DiagnosticPhase,
    "memory_planner": MemoryPlanner,
    "runtime": RuntimeKind,
}
# What RunConfig calls otherwise.
_RUN_CONFIG_NAMES = {"save_kernels_dir": "output_dir", "compile_profiling": "profiling"}
_ARGUMENTS = {"rtol": "rtol", "atol": "atol", "golden_data_dir": "golden_data"}  # of run_jit itself
_RUN_CONFIG_KNOBS = (*(f.name for f in fields(RunConfig) if f.name not in _ARGUMENTS), *OLD_DFX_FLAGS)
JIT_COMPILE_KNOBS = tuple(dict.fromkeys((*COMPILE_KNOBS, *_RUN_CONFIG_KNOBS)))
_RUN_FIELDS = tuple(name for name in _RUN_CONFIG_KNOBS if name in RUNTIME_KNOBS)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Checked ``compile_cfg``; ``knobs`` are those that were given, for streams to look at.

    ``codegen_only``: the build is all that is wanted. ``device_ids`` are those that ranks run on.
    """

    platform: Platform
    output_dir: Path | None
    dump_passes: PassDumpLevel
    profiling: bool
    codegen_only: bool
    skip_ptoas: bool
    passes: PassOptions
    knobs: Mapping[str, Any]
    device_ids: tuple[int, ...] | None = None

    def check_devices(self, program: ir.Program) -> None:
        """Refuse devices for a program that has no use for them.   Raises: MultiCardError."""
        if self.device_ids is not None and not any(map(is_host, program.functions.values())):
            notes = ["the program has no host that drives ranks, as @pl.jit.host is one"]
            raise MultiCardError("compile_cfg names a distributed_config", notes=notes)


def compile_options(
    cfg: Mapping[str, object] | None,
    run_platform: object = None,
    *,
    run_stage: str | None = None,
    is_jit: bool = False,
) -> CompileOptions:
    """The options of a ``compile_cfg``.

    ``run_platform`` is the platform of the run: for ``run`` the default of the knob ``platform``, for
    ``run_jit`` it goes before the knob. ``run_stage`` is the stage that is going to be executed, and goes
    before the knob ``stage``. With ``is_jit`` the fields of RunConfig are knobs too. The engine that a
    ``distributed_config`` names is that of this process from now on.
    Raises KnobError (a TypeError) for a knob that does not exist, ValueError or TypeError for a value that
    a knob does not take.
    """
    found = dict(cfg or {})
    for name in _ARGUMENTS if is_jit else ():
        if name in found:
            raise KnobError(
                f"compile_cfg has {name!r}, which decides nothing there: give run_jit the argument "
                f"{_ARGUMENTS[name]}"
            )
    refuse_unknown("compile_cfg", found, JIT_COMPILE_KNOBS if is_jit else COMPILE_KNOBS)
    for theirs, ours in _RUN_CONFIG_NAMES.items():
        value = found.pop(theirs, None)
        if value is not None:
            found.setdefault(ours, value)
    devices = found.get("distributed_config")
    if devices is not None and not isinstance(devices, DistributedConfig):
        what = f"compile_cfg names a distributed_config that is a {type(devices).__name__}"
        raise MultiCardError(what, notes=["write pypto_tmpl.runtime.DistributedConfig(device_ids=[0, 1])"])
    for name in _FLAGS:
        if not isinstance(found.get(name), bool | int | None):
            raise TypeError(f"{name} must be a bool, got {found[name]!r}")
    output_dir = found.get("output_dir")
    if output_dir is not None and not isinstance(output_dir, str | Path):
        raise TypeError(f"output_dir must be a str or Path, got {type(output_dir).__name__}")
    platform = _platform(found, run_platform, is_jit)
    if devices is not None:
        choose_engine(devices.engine, devices.device_ids)
    return CompileOptions(
        platform=platform,
        output_dir=None if output_dir is None else Path(output_dir),
        dump_passes=coerce_dump_level(found.get("dump_passes", True)),
        profiling=bool(found.get("profiling", False)),
        codegen_only=bool(found.get("codegen_only", False)),
        skip_ptoas=bool(found.get("skip_ptoas", False)),
        passes=_pass_options(found, BackendType[platform.backend], run_stage),
        knobs={name: found[name] for name in COMPILE_KNOBS if name in found},
        device_ids=None if devices is None else tuple(devices.device_ids),
    )


def _pass_options(cfg: Mapping[str, Any], backend: BackendType, run_stage: str | None) -> PassOptions:
    for name, kind in _MEMBERS.items():
        if cfg.get(name) is not None and not isinstance(cfg[name], kind):
            allowed = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
            raise TypeError(f"{name} must be one of {allowed}, got {cfg[name]!r}")
    stage = cfg.get("stage") if run_stage is None else run_stage
    _check_diagnostics(cfg.get("disabled_diagnostics"))
    disabled, double = cfg.get("disabled_diagnostics"), cfg.get("enable_pypto_l0c_double_buffer")
    buffers = cfg.get("buffers")
    return PassOptions(
        backend=backend,
        stage=LAST if stage is None else stage_name(stage),
        strategy=cfg.get("strategy") or OptimizationStrategy.Default,
        verification_level=cfg.get("verification_level"),
        diagnostic_phase=cfg.get("diagnostic_phase"),
        disabled_diagnostics=None if disabled is None else frozenset(disabled),
        memory_planner=cfg.get("memory_planner"),
        enable_pypto_l0c_double_buffer=None if double is None else bool(double),
        analyze_auto_scopes_for_deps=bool(cfg.get("analyze_auto_scopes_for_deps", False)),
        runtime=cfg.get("runtime"),
        buffers=None if buffers is None else bool(buffers),
    )


def _check_diagnostics(disabled: object) -> None:
    """Raise TypeError for what is no set of checks."""
    checks = list(disabled) if isinstance(disabled, Iterable) else [disabled]
    if disabled is not None and not all(isinstance(check, DiagnosticCheck) for check in checks):
        allowed = ", ".join(f"DiagnosticCheck.{check.name}" for check in DiagnosticCheck)
        raise TypeError(f"disabled_diagnostics must be a set of {allowed}, got {disabled!r}")


def with_run_fields(
    runtime_cfg: Mapping[str, object] | None, compile_cfg: Mapping[str, object] | None
) -> dict[str, object]:
    """A ``runtime_cfg`` with the fields of RunConfig in a ``compile_cfg`` that say how to run.

    What ``runtime_cfg`` has, under whatever name, goes before them.
    """
    own = dict(runtime_cfg or {})
    names = {current_name(name) for name in own}
    found = {
        n: v for n, v in dict(compile_cfg or {}).items() if n in _RUN_FIELDS and current_name(n) not in names
    }
    return {**found, **own}


def _platform(cfg: Mapping[str, object], run_platform: object, is_jit: bool) -> Platform:
    own = cfg.get("platform")
    if own is not None:
        check_platform(own)
    wanted = run_platform if own is None or (is_jit and run_platform is not None) else own
    if wanted is not None:
        return find_platform(wanted)
    backend = cfg.get("backend_type")
    if backend is None:
        return PLATFORMS[DEFAULT_PLATFORM]
    name = getattr(backend, "name", backend)
    for platform in PLATFORMS.values():
        if platform.backend == name and platform.is_simulated:
            return platform
    names = sorted({platform.backend for platform in PLATFORMS.values()})
    raise ValueError(f"backend_type must be one of {', '.join(names)}, got {backend!r}")
