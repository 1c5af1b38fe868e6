"""One page on a validation or a run: stages, verdicts, IR changes, scripts and pictures of the errors."""

from pypto_tmpl.debug.report.runs import run_stage
from pypto_tmpl.debug.report.writing import write_report

__all__ = ["run_stage", "write_report"]
