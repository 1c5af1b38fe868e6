"""The report on one run: its outputs, its program and its script, to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pypto_tmpl.compare.tensors import Rules
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.compile.build import DATA, Build
from pypto_tmpl.debug.report import run_stage, write_report
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.golden.knobs import Knobs
from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.golden.validation import Check
from pypto_tmpl.golden.values import RunValues
from pypto_tmpl.runtime.manifest import NAME as MANIFEST


@dataclass(slots=True)
class FinishedRun:
    """What is known of a run at its end; an early failure leaves parts of it empty."""

    program: str = ""
    build: Build | None = None
    values: RunValues | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)
    stacked: Sequence[str] = ()  # outputs that hold the parts of all ranks


def write_run_report(path: Path, run: FinishedRun, outcome: RunResult, knobs: Knobs) -> None:
    """Write the report on a run, in the form that the name of the file asks for.

    Raises: ReportError for the name of another form, FileError where the file cannot be written.
    """
    title = run.program or "run"
    if run.build is not None:
        title = f"{run.build.manifest.program} on {run.build.manifest.platform}"
    rerun = _rerun(outcome.work_dir)
    write_report(path, _as_stage(run, outcome, knobs), lambda _stage, _tensor: rerun, title=title)


def _as_stage(run: FinishedRun, outcome: RunResult, knobs: Knobs) -> ValidationResult:
    source, ir, script = _texts(run.build)
    is_compared = bool(run.checks) and run.values is not None
    error = "" if outcome.passed or is_compared else f"{outcome.error}\n\n{outcome.traceback or ''}".rstrip()
    return run_stage(
        run.program or "run",
        source,
        actual=run.values.outputs() if is_compared and run.values else {},
        expected=(run.values.expected or {}) if is_compared and run.values else {},
        rules=Rules(
            Tolerance(knobs.rtol, knobs.atol), equal_nan=knobs.equal_nan, stacked=frozenset(run.stacked)
        ),
        decided={name: (check.passed, _message(check)) for name, check in run.checks.items()},
        error=error,
        seconds=outcome.execution_time or 0.0,
        ir=ir,
        script=script,
    )


def _message(check: Check) -> str:
    """What a comparator says; the default rule says what the report tells anyway."""
    return "" if check.label is None else f"{check.label}: {check.message}"


def _texts(build: Build | None) -> tuple[Path, str, str]:
    """The file that the program was read from, its text, and its script, as far as they are there."""
    if build is None:
        return Path("run"), "", ""
    manifest = build.manifest
    source = build.directory / (manifest.source or manifest.script)
    text = source.with_suffix(".py") if manifest.source else None
    script = build.directory / manifest.script
    ir, code = ("" if f is None or not f.is_file() else f.read_text("utf-8") for f in (text, script))
    return (text if ir and text else source), ir, code


def _rerun(work_dir: Path | None) -> str:
    """The call that runs the same build again, on the same data if they were saved."""
    if work_dir is None:
        return "golden.run(program, specs, golden_fn)"
    has_data = (work_dir / DATA / MANIFEST).is_file()
    data = f", golden_data={str(work_dir / DATA)!r}" if has_data else ", golden_fn"
    return f"golden.run(program, specs{data}, runtime_dir={str(work_dir)!r})"
