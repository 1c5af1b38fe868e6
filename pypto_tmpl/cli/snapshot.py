"""``pypto-tmpl snapshot``: compare and update the committed golden scripts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pypto_tmpl.debug.snapshots import SnapshotCase, SnapshotResult

DUMPS, EXAMPLES, GOLDEN = Path("tests/corpus/dumps"), Path("examples"), Path("golden_scripts")


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl snapshot --check                       list what differs
  pypto-tmpl snapshot --diff swiglu_scope           show how, for one program
  pypto-tmpl snapshot --update swiglu_scope/last    accept the script emitted now

\b
Exit codes: 0 all the same (or updated), 1 something differs, 2 a case cannot be emitted.
"""
)
@click.argument("case", required=False)
@click.option("--check", "action", flag_value="check", default="check", help="List what differs (default).")
@click.option("--diff", "action", flag_value="diff", help="Show how the scripts differ.")
@click.option("--update", "action", flag_value="update", help="Rewrite the committed scripts.")
@click.option("--format", "style", type=click.Choice(["text", "json", "github"]), default="text")
@click.option("--dumps", type=click.Path(path_type=Path), default=DUMPS, show_default=True)
@click.option("--examples", type=click.Path(path_type=Path), default=EXAMPLES, show_default=True)
@click.option("--golden", type=click.Path(path_type=Path), default=GOLDEN, show_default=True)
@click.pass_context
def snapshot(
    context: click.Context,
    case: str | None,
    action: str,
    style: str,
    dumps: Path,
    examples: Path,
    golden: Path,
) -> None:
    """Compare the golden scripts with those emitted now; CASE is <program> or <program>/<stage>."""
    from pypto_tmpl.debug.snapshots import SnapshotState, find_cases, find_example_cases, unclaimed

    if action == "update" and os.environ.get("CI"):
        raise click.UsageError("golden scripts are not updated where CI is set")
    if not dumps.is_dir():
        raise click.UsageError(f"no folder {dumps}: run this in the project's folder, or give --dumps")
    cases = [*find_cases(dumps, golden), *find_example_cases(examples, golden)]
    chosen = [c for c in cases if case in (None, c.name, c.name.partition("/")[0])]
    if not chosen:
        raise click.UsageError(f"no case is named {case!r}")
    changed = broken = 0
    for result in _results(chosen):
        if isinstance(result, str):
            broken += 1
            click.echo(result, err=True)
        elif result.state is not SnapshotState.SAME:
            changed += 1
            _report(result, action, style)
    for path in unclaimed(golden, cases) if case is None else ():
        changed += 1
        _report_unclaimed(path, action, style)
    _summary(len(chosen), changed, broken, action, style)
    context.exit(2 if broken else 1 if changed and action != "update" else 0)


def _results(cases: list[SnapshotCase]) -> Iterator[SnapshotResult | str]:
    """Comparisons in order; the text of the error where a case cannot be emitted."""
    from pypto_tmpl.errors import PyptoTmplError

    show_progress = sys.stderr.isatty()
    for number, case in enumerate(cases, 1):
        if show_progress:
            click.echo(f"\r{number}/{len(cases)} {case.name:<50}", nl=False, err=True)
        try:
            yield case.compare()
        except PyptoTmplError as error:
            yield f"{case.name}: {error}"
    if show_progress:
        click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


def _report(result: SnapshotResult, action: str, style: str) -> None:
    if action == "update":
        result.update()
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
        click.echo(f"{state}: {result.case.name}")
        if action == "diff":
            click.echo(result.diff())


def _report_unclaimed(path: Path, action: str, style: str) -> None:
    if action == "update":
        path.unlink()
    state = "removed" if action == "update" else "unclaimed"
    if style == "json":
        click.echo(json.dumps({"script": path.as_posix(), "state": state}))
    elif style == "github":
        click.echo(f"::error file={path.as_posix()}::golden script without a case")
    else:
        click.echo(f"{state}: {path.as_posix()}")


def _summary(total: int, changed: int, broken: int, action: str, style: str) -> None:
    if style != "text":
        return
    what = "updated" if action == "update" else "differ"
    broken_text = f", {broken} cannot be emitted" if broken else ""
    click.echo(f"{total} golden scripts, {changed} {what}{broken_text}")
    if changed and action == "check":
        click.echo("see how: pypto-tmpl snapshot --diff      accept: pypto-tmpl snapshot --update")
