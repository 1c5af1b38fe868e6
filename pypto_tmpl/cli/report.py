"""``pypto-tmpl report``: a build directory in one page."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl.cli.comparison import TOLERANCE
from pypto_tmpl.cli.group import Settings

if TYPE_CHECKING:
    from pypto_tmpl.debug.report.attached import Attached
    from pypto_tmpl.debug.stages.dumps import Stage
    from pypto_tmpl.debug.validate.results import ValidationResult
    from pypto_tmpl.debug.validate.validation import Validation
    from pypto_tmpl.runtime.manifest import Manifest

PAGE = "report/build.html"


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl report build                        build/report/build.html
  pypto-tmpl report build -o page.html --no-run

\b
Exit codes: 0 fine; 1 a stage computes something else than expected, or its script fails; 2 wrong usage, or
no build directory.
"""
)
@click.argument("build", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write the page there (default: {PAGE} in the build).",
)
@click.option(
    "--run/--no-run",
    "is_run",
    default=True,
    help="Run every stage on the data of the build's last run, where it has saved them (default), or none.",
)
@click.option("--rtol", type=float, default=TOLERANCE, show_default=True, help="Relative, for floats.")
@click.option("--atol", type=float, default=TOLERANCE, show_default=True, help="Absolute, for floats.")
@click.pass_context
def report(
    context: click.Context, build: Path, output: Path | None, is_run: bool, rtol: float, atol: float
) -> None:
    """Show BUILD, a build directory, in one page: stages and their differences, files, memory, verdicts.

    The page needs nothing else, no network either. It has a verdict on every stage where the build holds
    inputs and goldens of a run.
    """
    from pypto_tmpl.compile.build_page import attached_to, build_manifest, stages_as_dumped
    from pypto_tmpl.debug.report.writing import check_report, is_page, write_report

    path = output or build / PAGE
    if not is_page(path):
        raise click.UsageError(f"-o {path}: the page is a .html file")
    check_report(path)
    manifest = build_manifest(build)
    attached = attached_to(build, manifest)
    settings = context.obj if isinstance(context.obj, Settings) else Settings()
    found = _validation(build, manifest, settings, rtol, atol) if is_run and manifest is not None else None
    if found is None:
        result = stages_as_dumped(build)
        again = partial(_rerun, build)
        dirs = settings.user_template_dirs
        write_report(path, result, again, template_dirs=dirs, attached=attached)
    else:
        result = _checked(build, path, found, attached)
    for stage in result.bad:
        click.echo(f"{stage.verdict} {stage.stage.name}")
    click.echo(f"report: {path}")
    context.exit(int(bool(result.bad)))


def _validation(
    build: Path, manifest: Manifest, settings: Settings, rtol: float, atol: float
) -> Validation | None:
    """The check of all stages on saved data; None where the build has no data, or no dumps."""
    from pypto_tmpl.debug.validate.validation import Options, Validation
    from pypto_tmpl.golden.saved_tensors import saved_tensors
    from pypto_tmpl.runtime.stages import DUMPS

    tensors = saved_tensors(build, manifest)
    if tensors is None or manifest.source is None:
        return None
    options = Options(
        rtol=rtol,
        atol=atol,
        entry=manifest.entry.name,
        keep_for_report=True,
        template_dirs=settings.user_template_dirs,
    )
    return Validation(build / DUMPS, *tensors, options)


def _checked(build: Path, path: Path, validation: Validation, attached: Attached) -> ValidationResult:
    from pypto_tmpl.cli.validate_output import Progress
    from pypto_tmpl.debug.checking import run_stages
    from pypto_tmpl.debug.validate.results import ValidationResult

    result = ValidationResult(len(validation.stages))
    with Progress(validation.stages) as progress:
        run_stages(
            validation,
            result,
            lambda stage: progress.advance(),
            partial(_rerun, build),
            stop_at_first=False,
            report=path,
            attached=attached,
        )
    return result


def _rerun(build: Path, stage: Stage, tensor: str) -> str:
    """The command that checks a stage again."""
    data = build / "data"
    words = ["pypto-tmpl", "validate", stage.path, "--inputs", data / "in", "--expected", data / "out"]
    return shlex.join([*map(str, words), *(["--only", tensor] if tensor else [])])
