"""``pypto-tmpl validate``: run every stage of a pass dump and compare it with golden outputs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pypto_tmpl.cli.comparison import TOLERANCE, comparison
from pypto_tmpl.cli.engine_option import engine_option, refuse_with_processes
from pypto_tmpl.cli.group import Settings
from pypto_tmpl.cli.script_options import set_script_options
from pypto_tmpl.cli.storage_option import storage_words
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.execution.engines import is_of_processes

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from pypto_tmpl.debug.stages.dumps import Stage
    from pypto_tmpl.debug.validate.results import ValidationResult
    from pypto_tmpl.debug.validate.schedule import StageResult
    from pypto_tmpl.debug.validate.validation import Options, Validation

INTERRUPTED = 130


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl validate passes_dump --inputs data/in --expected data/out
  pypto-tmpl validate passes_dump --inputs in --expected out --rtol 1e-3 --atol 1e-3 --keep-going
  pypto-tmpl validate passes_dump --inputs in --expected out --tolerance idx=0,1
  pypto-tmpl validate passes_dump --inputs in --expected out --keep-going --report out.html
  pypto-tmpl validate passes_dump/22_after_ExpandMixedKernel.py --inputs in --expected out --only out

\b
PATH is a folder with a file for each tensor (<name>.pt, .npy or .safetensors), or a file that holds
several. A pure output that is not among the inputs starts as zeros.

\b
Exit codes: 0 every stage is as expected; 1 a stage computes something else, or its script fails;
2 a stage cannot be read, or wrong usage; 130 interrupted.
"""
)
@comparison
@click.option(
    "--checkpoints",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Expected intermediates, by the names of variables.",
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Worker processes (default: the cores).")
@click.option("--keep-going", is_flag=True, help="Check all stages, not only up to the first bad one.")
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="A stage that takes longer to read, or to run, is bad.",
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what was found: a page to look at (.html), or plain data (.json).",
)
@engine_option
@click.option("-q", "--quiet", is_flag=True, help="Show only what is wrong, and the table.")
@click.pass_context
def validate(context: click.Context, /, **given: Any) -> None:
    """Run each stage of the pass dump DIR (or one file of it) and compare what it computes with goldens."""
    from pypto_tmpl.cli.validate_output import OUTPUTS, Progress
    from pypto_tmpl.debug.checking import require_checkpoints, run_stages
    from pypto_tmpl.debug.report.writing import check_report
    from pypto_tmpl.debug.validate.results import ValidationResult

    settings = context.obj if isinstance(context.obj, Settings) else Settings()
    refuse_with_processes(**{name: given[name] for name in ("jobs", "time_limit", "checkpoints")})
    if is_of_processes():
        given["jobs"] = 1
    report: Path | None = given["report"]
    for_page = report is not None and check_report(report)
    set_script_options(given["script_options"])
    validation = _validation(settings, given, for_page)
    rerun = partial(rerun_command, settings, given)
    output = OUTPUTS[given["style"]](rerun)
    result = ValidationResult(len(validation.stages))
    interrupted = False
    try:
        with Progress(validation.stages) as progress:

            def tell(stage: StageResult) -> None:
                if text := output.stage(stage, given["quiet"]):
                    with progress.hidden():
                        click.echo(text)
                progress.advance()

            run_stages(validation, result, tell, rerun, stop_at_first=not given["keep_going"], report=report)
    except KeyboardInterrupt:
        interrupted = True
    click.echo(output.finish(result, interrupted))
    if not interrupted and not result.bad:
        require_checkpoints(validation, result)
    context.exit(INTERRUPTED if interrupted else _exit_code(result))


def _exit_code(result: ValidationResult) -> int:
    failures = [stage.failure for stage in result.bad]
    if not failures:
        return 0
    return 2 if all(failure is not None and failure.kind == "unreadable" for failure in failures) else 1


def _validation(settings: Settings, given: dict[str, Any], for_page: bool) -> Validation:
    from pypto_tmpl.debug.validate.tensors_io import load_tensors

    inputs, expected, options = load_options(settings, given, load_tensors)
    return checked_validation(given["dumps"], inputs, expected, replace(options, keep_for_report=for_page))


def checked_validation(
    dumps: Path, inputs: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], options: Options
) -> Validation:
    """The validation that a command line asks for; options that do not fit are wrong usage."""
    from pypto_tmpl.debug.validate.validation import Validation

    try:
        return Validation(dumps, inputs, expected, options)
    except PyptoTmplError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def load_options(
    settings: Settings, given: dict[str, Any], load_tensors: Callable[[Path], dict[str, torch.Tensor]]
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor], Options]:
    """The tensors and options that a command line names; ``given`` gets the names of its checkpoints."""
    from pypto_tmpl.debug.validate.validation import Options

    inputs, expected = load_tensors(given["inputs"]), load_tensors(given["expected"])
    for name in given["only"]:
        if name not in expected:
            note = allowed_note("expected tensors", list(expected), name)
            raise click.UsageError(f"--only {name}: no such tensor; {note}")
    if given["only"]:
        expected = {name: expected[name] for name in given["only"]}
    try:
        options = Options(
            rtol=given["rtol"],
            atol=given["atol"],
            entry=given["entry"],
            tolerances=dict(map(_tolerance, given["tolerances"])),
            equal_nan=given["equal_nan"],
            widen_dtypes=given["widen_dtypes"],
            jobs=given["jobs"],
            time_limit=given["time_limit"],
            template_dirs=settings.user_template_dirs,
            storage=given["storage"],
        )
    except PyptoTmplError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if given.get("checkpoints") is not None:
        options = replace(options, checkpoints=load_tensors(given["checkpoints"]))
        given["checkpoint_names"] = frozenset(options.checkpoints)
    return inputs, expected, options


def _tolerance(text: str) -> tuple[str, tuple[float, float]]:
    name, _, values = text.partition("=")
    rtol, _, atol = values.partition(",")
    try:
        return name, (float(rtol), float(atol or rtol))
    except ValueError:
        raise click.UsageError(f"--tolerance {text}: expected NAME=RTOL or NAME=RTOL,ATOL") from None


def rerun_command(settings: Settings, given: dict[str, Any], stage: Stage, tensor: str) -> str:
    """The command that checks one tensor at one stage again."""
    words = ["pypto-tmpl"]
    for folder in settings.user_template_dirs:
        words += ["--template-dir", str(folder)]
    words += ["validate", str(stage.path), "--inputs", str(given["inputs"]), "--expected"]
    words.append(str(given["expected"]))
    checkpoint_names = given.get("checkpoint_names", ())
    if checkpoint_names and (not tensor or tensor in checkpoint_names):
        words += ["--checkpoints", str(given["checkpoints"])]
    for name in [tensor] if tensor and tensor not in checkpoint_names else given["only"]:
        words += ["--only", name]
    if given["entry"] is not None:
        words += ["--entry", given["entry"]]
    if given["time_limit"] is not None:
        words += ["--time-limit", f"{given['time_limit']:g}"]
    for name in ("rtol", "atol"):
        words += [f"--{name}", f"{given[name]:g}"] if given[name] != TOLERANCE else []
    for text in given["tolerances"]:
        words += ["--tolerance", text] if not tensor or text.startswith(f"{tensor}=") else []
    words += storage_words(given["storage"])
    words += [word for text in given["script_options"] for word in ("--option", text)]
    words += [f"--{name.replace('_', '-')}" for name in ("equal_nan", "widen_dtypes") if given[name]]
    return shlex.join(words)
