"""``pypto-tmpl snapshot``: compare and update the committed golden scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl.cli.colours import unified_diff, verdict
from pypto_tmpl.cli.completion import case_names
from pypto_tmpl.errors import closest

if TYPE_CHECKING:
    from pypto_tmpl.debug.snapshots import SnapshotCase, SnapshotResult

DUMPS, EXAMPLES, GOLDEN = Path("tests/corpus/dumps"), Path("examples"), Path("golden_scripts")


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl snapshot --check                       list what differs
  pypto-tmpl snapshot --diff swiglu_scope           show how, for one program
  pypto-tmpl snapshot --update swiglu_scope/last    accept the script emitted now
  pypto-tmpl snapshot --update --prune              and remove emitted scripts that no case has any more

\b
Only scripts that pypto-tmpl emitted, as their docstring says, are replaced or removed.

\b
Exit codes: 0 all the same (or updated), 1 something differs, 2 a case cannot be emitted or written.
"""
)
@click.argument("case", required=False, shell_complete=case_names)
@click.option("--check", "action", flag_value="check", default="check", help="List what differs (default).")
@click.option("--diff", "action", flag_value="diff", help="Show how the scripts differ.")
@click.option("--update", "action", flag_value="update", help="Rewrite the committed scripts.")
@click.option(
    "--prune", is_flag=True, help="Remove emitted scripts that belong to no case; they are listed first."
)
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text")
@click.option("--dumps", type=click.Path(path_type=Path), default=DUMPS, show_default=True)
@click.option("--examples", type=click.Path(path_type=Path), default=EXAMPLES, show_default=True)
@click.option("--no-examples", is_flag=True, help="There are no examples; their scripts stay as they are.")
@click.option("--golden", type=click.Path(path_type=Path), default=GOLDEN, show_default=True)
@click.pass_context
def snapshot(
    context: click.Context,
    case: str | None,
    action: str,
    prune: bool,
    style: str,
    dumps: Path,
    examples: Path,
    no_examples: bool,
    golden: Path,
) -> None:
    """Compare the golden scripts with those emitted now; CASE is <program> or <program>/<stage>."""
    from pypto_tmpl.debug.snapshots import SnapshotState, find_cases, find_example_cases, in_ci, stale_scripts

    if (action == "update" or prune) and in_ci():
        raise click.UsageError("golden scripts are not updated where CI is set")
    if prune and action != "update":
        raise click.UsageError("--prune goes with --update")
    if prune and case is not None:
        raise click.UsageError("--prune looks at all cases: leave CASE out")
    cases = list(find_cases(dumps, golden))
    cases += [] if no_examples else find_example_cases(examples, golden)
    chosen = [c for c in cases if case in (None, c.name, c.name.partition("/")[0])]
    if not chosen:
        raise click.UsageError(_no_case(case, cases) if case else f"no dumps in {dumps}, no examples")
    changed = broken = 0
    for result in _results(chosen, action):
        if isinstance(result, str):
            broken += 1
            click.echo(result, err=True)
        elif result.state is not SnapshotState.SAME:
            changed += 1
            _report(result, action, style)
    stale = [] if case is not None else stale_scripts(golden, cases, examples=not no_examples)
    _report_stale(stale, prune, style)
    _summary(len(chosen), changed, broken, action, style)
    if stale and not prune and style == "text":
        click.echo(f"{len(stale)} without a case; remove them: pypto-tmpl snapshot --update --prune")
    differs = action != "update" and (changed or (stale and not prune))
    context.exit(2 if broken else 1 if differs else 0)


def _no_case(case: str, cases: list[SnapshotCase]) -> str:
    names = {name for c in cases for name in (c.name, c.name.partition("/")[0])}
    guess = closest(case, sorted(names))
    return f"no case is named {case!r}" + (f"; did you mean {guess!r}?" if guess else "")


def _results(cases: list[SnapshotCase], action: str) -> Iterator[SnapshotResult | str]:
    """Comparisons in order, after an update; the error's text where a case cannot be emitted or written."""
    from pypto_tmpl.debug.snapshots import SnapshotState
    from pypto_tmpl.errors import PyptoTmplError

    show_progress = sys.stderr.isatty()
    for number, case in enumerate(cases, 1):
        if show_progress:
            click.echo(f"\r{number}/{len(cases)} {case.name:<50}", nl=False, err=True)
        try:
            result = case.compare()
            if action == "update" and result.state is not SnapshotState.SAME:
                result.update()
            yield result
        except PyptoTmplError as error:
            yield f"{case.name}: {error}"
    if show_progress:
        click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


def _report(result: SnapshotResult, action: str, style: str) -> None:
    state = "updated" if action == "update" else result.state.value
    if style == "json":
        row = {"case": result.case.name, "script": result.case.script.as_posix(), "state": state}
        click.echo(json.dumps(row | ({"diff": result.diff(None)} if action == "diff" else {})))
    elif style == "github" and action != "update":
        update = f"pypto-tmpl snapshot --update {result.case.name}"
        click.echo(
            f"::error file={result.case.script.as_posix()}::golden script {state}; accept it by `{update}`"
        )
    else:
        click.echo(f"{verdict(state, action == 'update')}: {result.case.name}")
        if action == "diff":
            click.echo(unified_diff(result.diff().splitlines()))


def _report_stale(paths: list[Path], prune: bool, style: str) -> None:
    """List the stale scripts; then remove them, if that was asked for."""
    from pypto_tmpl.debug.snapshots import remove_stale

    state = "removed" if prune else "stale"
    for path in paths:
        if style == "json":
            click.echo(json.dumps({"script": path.as_posix(), "state": state}))
        elif style == "github" and not prune:
            click.echo(f"::error file={path.as_posix()}::golden script without a case")
        else:
            click.echo(f"{state}: {path.as_posix()}")
    if prune:
        sys.stdout.flush()
        remove_stale(paths)


def _summary(total: int, changed: int, broken: int, action: str, style: str) -> None:
    if style != "text":
        return
    what = "updated" if action == "update" else "differ"
    broken_text = f", {broken} cannot be emitted or written" if broken else ""
    click.echo(f"{total} golden scripts, {changed} {what}{broken_text}")
    if changed and action == "check":
        click.echo("see how: pypto-tmpl snapshot --diff      accept: pypto-tmpl snapshot --update")
