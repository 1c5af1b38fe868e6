"""The report of a validation, with the statement that went wrong on top of the page."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.report.writing import is_page, write_report
from pypto_tmpl.debug.search.bisect import StageSearch, explain
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult
from pypto_tmpl.debug.validate.validation import Validation


def write_explained(
    path: Path,
    result: ValidationResult,
    rerun: Rerun,
    validation: Validation,
    attached: Attached | None = None,
) -> None:
    """Add the first divergence to a page that has been written; plain data stay as they are.

    For that the first bad stage and the last good one run once more, with every value recorded.
    Raises what ``write_report`` raises.
    """
    if not is_page(path) or not result.bad:
        return
    divergence: Divergence | None = None
    notes: list[tuple[str, str]] = []
    try:
        divergence = _divergence(result, validation)
    except Exception as error:  # of a script that runs on wrong values: it may be anything
        notes.append(("first divergence", f"not found: {type(error).__name__}: {error}"))
    if divergence is not None or notes:
        dirs = validation.options.template_dirs
        write_report(
            path,
            result,
            rerun,
            divergence=divergence,
            notes=notes,
            template_dirs=dirs,
            again=True,
            attached=attached,
        )


def _divergence(result: ValidationResult, validation: Validation) -> Divergence | None:
    """What is wrong in the first bad stage; None for one that cannot be read, or that hangs."""
    first = result.bad[0]
    if first.failure is not None and first.failure.kind not in ("script", "undefined", "misplaced"):
        return None
    good = [stage.stage for stage in result.stages[: result.stages.index(first)] if stage.passed]
    search = StageSearch(first, good[-1] if good else None, "scan")
    return explain(search, validation.inputs, validation.expected, validation.options)
