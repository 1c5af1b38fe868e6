"""``pypto-tmpl run``: a kernel file under the golden harness, with knobs from the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl.cli import colours
from pypto_tmpl.cli.engine_option import engine_option
from pypto_tmpl.cli.script_options import script_option, set_script_options
from pypto_tmpl.cli.storage_option import storage_option
from pypto_tmpl.cli.time_limit import limited

if TYPE_CHECKING:
    from pypto_tmpl.golden.overrides import Overrides
    from pypto_tmpl.golden.result import RunResult
    from pypto_tmpl.storage.choices import StorageChoice


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  pypto-tmpl run kernel.py                                     on the platform a2a3sim
  pypto-tmpl run kernel.py --platform a5sim --seed 7
  pypto-tmpl run kernel.py --stage frontend                    as it is written, without passes
  pypto-tmpl run kernel.py --golden-data build_output/Scale_20260101_120000/data
  pypto-tmpl run kernel.py --build-dir build --time-limit 60
  pypto-tmpl run kernel.py --report wrong.html --batch 4       options of others are for the script
  pypto-tmpl run kernel.py -- --seed 4                         as is all behind --
  mpiexec -n 4 pypto-tmpl run kernel.py --engine mpi           a process for each of 4 ranks

\b
FILE calls golden.run or golden.run_jit; or it defines PROGRAM, OUTPUTS, make_inputs and golden, and
-d 0,1 behind it names the devices of a program of several ranks.

\b
Exit codes: 0 every run passed; 1 a run failed or took too long, or the script did; 2 wrong usage,
a file with nothing to run, or a file of somebody else in the way; 130 interrupted.
""",
)
@click.option(
    "-p",
    "--platform",
    type=click.Choice(["a2a3sim", "a5sim", "a2a3", "a5"]),
    default="a2a3sim",
    show_default=True,
    help="Run for this platform, whatever the file says.",
)
@click.option(
    "--golden-data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Inputs and goldens of an earlier run, instead of new ones.",
)
@click.option(
    "--save-data/--no-save-data", default=None, help="Save inputs and goldens (default: up to 1 GiB)."
)
@click.option(
    "--stage",
    metavar="STAGE",
    help="What is executed: frontend (as written), last, a pass, or its number (default: last).",
)
@click.option("--seed", type=int, metavar="N", help="Seed of torch's default generator, for random inputs.")
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a report on the run (.html, .json), on the first that failed if there are several.",
)
@click.option(
    "--build-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Build here, over what is there (default: a new folder in build_output/). "
    "Further runs of one file get DIR_2, DIR_3, ...",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End what runs longer, such as an endless loop, as a failure (default: no limit).",
)
@click.option(
    "--export-kernel-insight",
    is_flag=True,
    help="After a good run, write how long the statements of the kernels take, into the build directory.",
)
@storage_option
@engine_option
@script_option
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(
    file: Path,
    args: tuple[str, ...],
    platform: str,
    golden_data: Path | None,
    save_data: bool | None,
    stage: str | None,
    seed: int | None,
    report: Path | None,
    build_dir: Path | None,
    time_limit: float | None,
    export_kernel_insight: bool,
    storage: StorageChoice,
    script_options: tuple[str, ...],
) -> None:
    """Run the kernel of FILE: compile it, compute its golden, execute it, compare."""
    from pypto_tmpl.debug.report.writing import check_report
    from pypto_tmpl.golden.overrides import Overrides

    if report is not None:
        check_report(report)  # before anything runs
    if stage is not None:
        _check_stage(stage)
    set_script_options(script_options)
    overrides = Overrides(platform, golden_data, save_data, stage, seed, report, build_dir, storage)
    with limited(time_limit):
        status = _run(file, args, overrides)
    for result in overrides.runs:
        click.echo(colours.verdict(str(result).partition("\n")[0], result.passed))
        for what, place in _places(result):
            click.echo(f"{what}: {place}")
        if export_kernel_insight and result.passed and result.work_dir is not None:
            click.echo(f"kernel insight: {_insight_of(result.work_dir)}")
    if report is not None and overrides.runs:
        click.echo(f"report: {report}")
    if any(result.is_blocked for result in overrides.runs):
        sys.exit(2)
    has_failed = any(not result.passed for result in overrides.runs)
    sys.exit(status or int(has_failed))


def _check_stage(stage: str) -> None:
    """Raise StageNameError for a stage that no compilation has, before anything runs."""
    from pypto_tmpl.ir.stage_names import find_stage, stage_stems
    from pypto_tmpl.passes.manager import PassManager

    find_stage(stage_stems(PassManager.get_strategy().pass_names), stage)


def _insight_of(build: Path) -> str:
    """Where the timelines of a build's kernels are, or why there are none: the run itself is as it was."""
    from pypto_tmpl.runtime.insight import InsightError, export_insights

    try:
        return str(export_insights(build).root)
    except InsightError as error:
        return error.without_slug()


def _places(result: RunResult) -> Iterator[tuple[str, Path]]:
    """Where a run has left its build and the emitted script, as far as it came."""
    from pypto_tmpl.runtime.manifest import NAME, read_manifest

    if result.work_dir is None:
        return
    yield "build", result.work_dir
    if (result.work_dir / NAME).is_file():
        yield "script", result.work_dir / read_manifest(result.work_dir).script


def _run(file: Path, args: tuple[str, ...], overrides: Overrides) -> int:
    """Run the script, and its kernel where it did not do that itself; the exit status.

    Raises: HarnessError for a script that neither runs a kernel nor defines what to run.
    """
    from pypto_tmpl.compat.scripts import command_line, describe_failure, script_result
    from pypto_tmpl.golden.errors import HarnessError
    from pypto_tmpl.golden.kernel_files import run_kernel_file
    from pypto_tmpl.golden.overrides import overriding

    with overriding(overrides):
        try:
            status, names = script_result(file, args)
        except Exception as error:
            click.echo(describe_failure(error, file), err=True)
            return 1
        if status or overrides.runs:
            return status
        try:
            with command_line(str(file), args):
                result = run_kernel_file(names, args)
        except HarnessError:
            raise
        except Exception as error:
            click.echo(describe_failure(error, file), err=True)
            return 1
    if not result.passed:
        click.echo(result.error or "")
    return 0
