"""``pypto-tmpl bisect``: the first stage, and the first statement in it, whose value is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pypto_tmpl.cli import colours
from pypto_tmpl.cli.comparison import comparison
from pypto_tmpl.cli.group import Settings
from pypto_tmpl.cli.script_options import set_script_options
from pypto_tmpl.cli.validate import checked_validation, load_options, rerun_command

if TYPE_CHECKING:
    from pypto_tmpl.debug.search.bisect import StageSearch
    from pypto_tmpl.debug.search.divergence import Divergence
    from pypto_tmpl.debug.validate.schedule import StageResult


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl bisect passes_dump --inputs data/in --expected data/out
  pypto-tmpl bisect passes_dump --inputs in --expected out --rtol 1e-3 --atol 1e-3 --scan
  pypto-tmpl bisect passes_dump --inputs in --expected out --format json
  pypto-tmpl bisect passes_dump --inputs in --expected out --report out.html

\b
Exit codes: 0 every stage is as expected; 1 a stage is wrong, and this says where; 2 wrong usage, or a
dump or tensor file that cannot be read.
"""
)
@comparison
@click.option("--scan", is_flag=True, help="Run the stages in order instead of by binary search.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write it with the stages that were run: a page to look at (.html), or plain data (.json).",
)
@click.pass_context
def bisect(context: click.Context, /, **given: Any) -> None:
    """Find the first stage of the pass dump DIR that is wrong, and the first statement in it that is."""
    from pypto_tmpl.debug.report.writing import check_report
    from pypto_tmpl.debug.search.bisect import explain, find_first_bad, is_neither
    from pypto_tmpl.debug.validate.tensors_io import load_tensors

    report: Path | None = given["report"]
    for_page = report is not None and check_report(report)
    given |= {"jobs": None, "time_limit": None}
    settings = context.obj if isinstance(context.obj, Settings) else Settings()
    set_script_options(given["script_options"])
    inputs, expected, options = load_options(settings, given, load_tensors)
    options = replace(options, keep_for_report=for_page)
    checked_validation(given["dumps"], inputs, expected, options)
    is_text = given["style"] == "text"
    progress = _told if is_text else None
    search = find_first_bad(given["dumps"], inputs, expected, options, scan=given["scan"], progress=progress)
    found = None if search.first_bad is None else explain(search, inputs, expected, options)
    if report is not None:
        _write_report(report, search, found, settings, given)
    unread = [result for result in search.results.values() if is_neither(result)]
    for result in unread:
        assert result.failure is not None
        click.echo(f"{result.stage.name} is neither right nor wrong: {result.failure.text}", err=True)
    if not is_text:
        click.echo(json.dumps(None if found is None else found.as_dict(), indent=1))
    elif found is not None:
        click.echo("\n".join(found.lines()))
    else:
        click.echo("every other stage is as expected" if unread else "every stage is as expected")
    context.exit(1 if found is not None else 2 if unread else 0)


def _write_report(
    path: Path, search: StageSearch, found: Divergence | None, settings: Settings, given: dict[str, Any]
) -> None:
    """Write a report on the stages that the search ran, in the order of the passes."""
    from pypto_tmpl.debug.report import write_report
    from pypto_tmpl.debug.stages.dumps import find_stages
    from pypto_tmpl.debug.validate.results import ValidationResult

    names = [stage.name for stage in find_stages(given["dumps"])]
    ran = [search.results[name] for name in names if name in search.results]
    rerun = partial(rerun_command, settings, given)
    dirs = settings.user_template_dirs
    write_report(path, ValidationResult(len(names), ran), rerun, divergence=found, template_dirs=dirs)


def _told(result: StageResult) -> None:
    click.echo(f"{colours.verdict(f'{result.verdict:<6}', result.passed)} {result.stage.name}")
