"""Validation as one call: results are printed as they come, a report is written, and bad stages raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from os import PathLike
from pathlib import Path

import torch

from pypto_tmpl.compare.verdicts import Comparator
from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.report.explaining import write_explained
from pypto_tmpl.debug.report.writing import check_report, is_page, write_report
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.validate.checkpoints import CheckpointError
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult, stage_lines
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.debug.validate.validation import (
    ATOL,
    RTOL,
    Number,
    Options,
    ToleranceLike,
    Validation,
    as_tolerance,
)
from pypto_tmpl.storage.choices import DEFAULT, StorageChoice


def validate_pass_ir_codegen_results(
    ir_dir: str | PathLike[str],
    tensors: Mapping[str, torch.Tensor | Number],
    expected: Mapping[str, torch.Tensor],
    *,
    rtol: float = RTOL,
    atol: float = ATOL,
    entry: str | None = None,
    tolerances: Mapping[str, ToleranceLike] | None = None,
    comparators: Mapping[str, Comparator] | None = None,
    equal_nan: bool = False,
    widen_dtypes: bool = False,
    jobs: int | None = None,
    stop_at_first: bool = True,
    executor: Executor | None = None,
    time_limit: float | None = None,
    report: str | PathLike[str] | None = None,
    checkpoints: Mapping[str, torch.Tensor] | None = None,
    companions_first: bool = False,
    storage: StorageChoice = DEFAULT,
) -> ValidationResult:
    """Run every stage of a pass dump, or one dump, on ``tensors`` and compare with ``expected``.

    Prints a line for each tensor of each stage. The first bad stage ends the validation unless
    ``stop_at_first`` is false; ``report`` names a file for what was found: a page to look at, or plain data
    where the name ends in ``.json``. ``Options`` tells the rest.
    Raises ValidationError, an AssertionError with all that was found as ``result``, for a bad stage;
    MissingTensorError (KeyError), EntryError (ValueError), StageNotFoundError (FileNotFoundError), TypeError.
    """
    options = Options(
        rtol=rtol,
        atol=atol,
        entry=entry,
        tolerances=tolerances or {},
        comparators=comparators or {},
        equal_nan=equal_nan,
        widen_dtypes=widen_dtypes,
        jobs=jobs,
        executor=executor,
        time_limit=time_limit,
        checkpoints=checkpoints or {},
        companions_first=companions_first,
        storage=storage,
        keep_for_report=report is not None and is_page(Path(report)),
    )
    validation = Validation(ir_dir, tensors, expected, options)
    return check_stages(validation, stop_at_first, None if report is None else Path(report))


def check_stages(validation: Validation, stop_at_first: bool, report: Path | None) -> ValidationResult:
    """Print the results of a validation as they come; raise for bad ones. ``report`` is written always."""
    if report is not None:
        check_report(report)  # before the work is done
    result = ValidationResult(len(validation.stages))
    rerun = partial(_call_text, validation.options)

    def tell(stage: StageResult) -> None:
        print("\n".join(stage_lines(stage, rerun)), flush=True)

    run_stages(validation, result, tell, rerun, stop_at_first=stop_at_first, report=report)
    if result.bad:
        raise result.error(rerun)
    require_checkpoints(validation, result)
    return result


def run_stages(
    validation: Validation,
    result: ValidationResult,
    tell: Callable[[StageResult], None],
    rerun: Rerun,
    *,
    stop_at_first: bool,
    report: Path | None,
    attached: Attached | None = None,
) -> None:
    """Add the results of a validation to ``result`` and ``tell`` of each as it comes.

    ``report`` is written whatever happens, with what is known by then; ``rerun`` gives the call or command
    that repeats a check, ``attached`` what a page shows besides. Raises what is wrong with the request, which
    is wrong for every stage.
    """
    try:
        with closing(validation.results()) as results:
            for stage in results:
                if stage.failure is not None and stage.failure.error is not None:
                    raise stage.failure.error
                result.stages.append(stage)
                tell(stage)
                if stop_at_first and not stage.passed:
                    break
    finally:
        if report is not None:
            dirs = validation.options.template_dirs
            write_report(report, result, rerun, template_dirs=dirs, attached=attached)
    if report is not None:
        write_explained(report, result, rerun, validation, attached)


def require_checkpoints(validation: Validation, result: ValidationResult) -> None:
    """Refuse checkpoints of which no stage had a value. Raises: CheckpointError."""
    if any(stage.failure is not None for stage in result.stages):
        return
    met = {verdict.name for stage in result.stages for verdict in stage.verdicts}
    for name in validation.checkpoints:
        if name not in met:
            what = f"no variable of the {len(result.stages)} stages is named {name!r}, as a checkpoint is"
            raise CheckpointError(what, notes=["names are those of the source, without what passes add"])


def _call_text(options: Options, stage: Stage, tensor: str) -> str:
    """The Python call that checks one tensor at one stage again."""
    is_output = bool(tensor) and tensor not in options.checkpoints
    expected = f"{{{tensor!r}: expected[{tensor!r}]}}" if is_output else "expected"
    arguments = [repr(str(stage.path)), "tensors", expected]
    tolerance = {"rtol": (options.rtol, RTOL), "atol": (options.atol, ATOL)}
    arguments += [f"{name}={value:g}" for name, (value, default) in tolerance.items() if value != default]
    if tensor in options.tolerances:
        per_tensor = as_tolerance(options.tolerances[tensor])
        arguments.append(f"tolerances={{{tensor!r}: ({per_tensor.rtol:g}, {per_tensor.atol:g})}}")
    if tensor in options.comparators:
        arguments.append(f"comparators={{{tensor!r}: comparators[{tensor!r}]}}")
    if options.checkpoints and not is_output:
        arguments.append("checkpoints=checkpoints")
    if options.entry is not None:
        arguments.append(f"entry={options.entry!r}")
    arguments += [
        f"{name}=True" for name in ("equal_nan", "widen_dtypes", "companions_first") if getattr(options, name)
    ]
    if options.storage != DEFAULT:
        arguments.append(f"storage={options.storage!r}")
    return f"validate_pass_ir_codegen_results({', '.join(arguments)})"
