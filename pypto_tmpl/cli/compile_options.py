"""The knobs of a compilation as options of the command line; those not given are left to the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pypto_tmpl.cli.pass_options import STRATEGIES
from pypto_tmpl.ir.enums import BackendType

if TYPE_CHECKING:
    from pypto_tmpl.runtime.distributed import DistributedConfig

_Command = TypeVar("_Command", bound=Callable[..., Any])

_PARAMETERS = (
    click.option(
        "--build-dir",
        "output_dir",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="Build here, over what is there (default: a new folder in build_output/).",
    ),
    click.option(
        "-p", "--platform", type=click.Choice(["a2a3sim", "a5sim", "a2a3", "a5"]), help="What it is for."
    ),
    click.option(
        "--backend",
        "backend_type",
        type=click.Choice([*BackendType.__members__]),
        help="The same by the backend; --platform goes before it.",
    ),
    click.option(
        "--stage",
        metavar="STAGE",
        help="The last stage that is made: frontend (as written), last, a pass, or its number.",
    ),
    click.option("--strategy", type=click.Choice(STRATEGIES), help="Which passes."),
    click.option(
        "--planner",
        "memory_planner",
        type=click.Choice(["PYPTO", "PTOAS", "DSA_RP"], case_sensitive=False),
        help="Who plans memory.",
    ),
    click.option(
        "--dump-passes",
        type=click.Choice(["none", "concise", "explicit"]),
        help="The texts of the stages: none, short ones, or with every field of layouts.",
    ),
    click.option(
        "--verify",
        "verification_level",
        type=click.Choice(["none", "basic", "roundtrip"]),
        help="What is checked after every pass.",
    ),
    click.option(
        "--diagnostics",
        "diagnostic_phase",
        type=click.Choice(["none", "pre_pipeline", "post_pass", "post_pipeline"]),
        help="When warnings and hints are looked for.",
    ),
    click.option(
        "--disable",
        "disabled_diagnostics",
        multiple=True,
        metavar="CHECK",
        help="A warning or hint to do without. May be given several times.",
    ),
    click.option("--skip-ptoas", is_flag=True, default=None, help="Leave .pto texts to no assembler."),
    click.option(
        "--l0c-double-buffer",
        "enable_pypto_l0c_double_buffer",
        is_flag=True,
        default=None,
        help="Keep two accumulators of a pipelined loop.",
    ),
    click.option("--buffers", is_flag=True, default=None, help="End in LowerToBuffers."),
    click.option(
        "--auto-scope-deps",
        "analyze_auto_scopes_for_deps",
        is_flag=True,
        default=None,
        help="Derive dependencies of tasks in automatic scopes, too.",
    ),
    click.option(
        "--source-loc/--no-source-loc",
        "emit_source_loc",
        default=None,
        help="Whether .pto texts name the lines of the source.",
    ),
    click.option(
        "--dump-ptoas-passes",
        is_flag=True,
        default=None,
        help="Keep what the passes of the assembler make, in ptoas_passes/.",
    ),
    click.option(
        "--runtime",
        type=click.Choice(["tensormap_and_ringbuffer", "host_build_graph"], case_sensitive=False),
        help="Which run time the host code is for.",
    ),
    click.option(
        "--distributed-config",
        metavar="IDS",
        help="The devices that the ranks of a program run on, such as 0,1.",
    ),
    click.option("--profiling", is_flag=True, default=None, help="Keep and print the times of the passes."),
)


def compile_knobs_options(command: _Command) -> _Command:
    """Add an option for each knob of a compilation."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


def compile_cfg(given: Mapping[str, Any]) -> dict[str, Any]:
    """The ``compile_cfg`` of the options that were given. Raises UsageError for an unknown check."""
    from pypto_tmpl.passes.diagnostics import DiagnosticCheck
    from pypto_tmpl.passes.dumping import PassDumpLevel
    from pypto_tmpl.passes.settings import DiagnosticPhase, MemoryPlanner, RuntimeKind, VerificationLevel
    from pypto_tmpl.passes.strategies import OptimizationStrategy

    found = {name: value for name, value in given.items() if value not in (None, ())}
    members: Mapping[str, Any] = {
        "backend_type": BackendType,
        "strategy": OptimizationStrategy,
        "memory_planner": MemoryPlanner,
        "dump_passes": PassDumpLevel,
        "verification_level": VerificationLevel,
        "diagnostic_phase": DiagnosticPhase,
        "runtime": RuntimeKind,
    }
    for name, kind in members.items():
        if name in found:
            by_name = {member.name.upper(): member for member in kind}
            found[name] = by_name[found[name].upper()]
    if "distributed_config" in found:
        found["distributed_config"] = _devices(found["distributed_config"])
    checks = {check.name: check for check in DiagnosticCheck}
    for name in found.get("disabled_diagnostics", ()):
        if name not in checks:
            raise click.UsageError(f"--disable {name}: no such check; checks: {', '.join(checks)}")
    if "disabled_diagnostics" in found:
        found["disabled_diagnostics"] = frozenset(checks[name] for name in found["disabled_diagnostics"])
    return found


def _devices(ids: str) -> DistributedConfig:
    from pypto_tmpl.runtime.distributed import DistributedConfig

    try:
        return DistributedConfig([int(one) for one in ids.split(",")])
    except ValueError as error:
        raise click.UsageError(f"--distributed-config {ids}: {error}") from None
