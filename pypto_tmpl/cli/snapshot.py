"""``pypto-tmpl snapshot``: compare and update the committed scripts of a repository."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from pypto_tmpl.cli.completion import case_names
from pypto_tmpl.errors import PyptoTmplError, closest

if TYPE_CHECKING:
    from pypto_tmpl.cli.snapshot_output import Output
    from pypto_tmpl.snapshots.cases import SnapshotCase
    from pypto_tmpl.snapshots.config import Config
    from pypto_tmpl.snapshots.results import SnapshotResult


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl snapshot init                          write a first configuration
  pypto-tmpl snapshot --check                       list what differs
  pypto-tmpl snapshot --diff swiglu_scope           show how, for one program
  pypto-tmpl snapshot --diff --format patch         the whole patch, for `git apply`
  pypto-tmpl snapshot --diff --html changes.html    side by side, in a browser
  pypto-tmpl snapshot --update swiglu_scope/last    accept the script emitted now
  pypto-tmpl snapshot --update --prune              and remove emitted scripts that no case has any more

\b
Cases stand in [tool.pypto-tmpl.snapshots] of pyproject.toml, or in pypto-tmpl.toml, of this folder
or one above it. Only scripts that pypto-tmpl emitted, as their docstring says, are replaced or removed.

\b
Exit codes: 0 all the same (or updated), 1 something differs, 2 the configuration is broken, or a case
cannot be emitted or written: then nothing is written.
"""
)
@click.argument("case", required=False, shell_complete=case_names)
@click.option("--check", "action", flag_value="check", default="check", help="List what differs (default).")
@click.option(
    "--diff", "action", flag_value="diff", help="Show how the scripts differ; recurring changes once."
)
@click.option("--update", "action", flag_value="update", help="Rewrite the committed scripts.")
@click.option(
    "--prune", is_flag=True, help="Remove emitted scripts that belong to no case; they are listed first."
)
@click.option("--format", "style", type=click.Choice(["text", "json", "github", "patch"]), default="text")
@click.option(
    "--html", metavar="FILE", type=click.Path(path_type=Path), help="With --diff: write a page on it as well."
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file with the configuration.",
)
@click.pass_context
def snapshot(
    context: click.Context,
    case: str | None,
    action: str,
    prune: bool,
    style: str,
    html: Path | None,
    config_file: Path | None,
) -> None:
    """Compare the committed scripts with those emitted now; CASE is the name of one, or of a folder of them.

    `snapshot init` writes a first configuration.
    """
    from pypto_tmpl.cli.snapshot_output import Output
    from pypto_tmpl.snapshots.cases import INIT, find_cases
    from pypto_tmpl.snapshots.config import find_config, read_config
    from pypto_tmpl.snapshots.page import check_page, write_page

    if case == INIT:
        _init(context)
        return
    _check_usage(case, action, prune, style, html)
    if html is not None:
        check_page(html)
    config = find_config(Path.cwd()) if config_file is None else read_config(config_file)
    cases = find_cases(config)
    chosen = _chosen(cases, case)
    differing, problems = _compared(chosen, action == "update")
    output = Output(config, action, style)
    output.results(differing)
    stale = _stale(output, config, cases, prune) if case is None else 0
    if html is not None:
        write_page(html, [output.patch(result) for result in differing], len(chosen))
    output.summary(len(chosen), len(differing), problems, stale)
    differs = action != "update" and (differing or stale)
    context.exit(2 if problems else 1 if differs else 0)


def _check_usage(case: str | None, action: str, prune: bool, style: str, html: Path | None) -> None:
    """Refuse options that do not go together. Raises UsageError."""
    from pypto_tmpl.snapshots.places import in_ci

    if (action == "update" or prune) and in_ci():
        raise click.UsageError("golden scripts are not updated where CI is set")
    if prune and action != "update":
        raise click.UsageError("--prune goes with --update")
    if prune and case is not None:
        raise click.UsageError("--prune looks at all cases: leave CASE out")
    if style == "patch" and action != "diff":
        raise click.UsageError("--format patch goes with --diff")
    if html is not None and action != "diff":
        raise click.UsageError("--html goes with --diff")


def _init(context: click.Context) -> None:
    """Write a first configuration. Raises UsageError where it is given options, which it has none of."""
    from pypto_tmpl.snapshots.first_config import write_first_config

    for name in context.params:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name != "case":
            raise click.UsageError("init takes no options")
    written = write_first_config(Path.cwd())
    click.echo(f"{'added to' if written.is_added else 'written'}: {written.file.name}")
    found, still_open = len(written.kernels), sum(bool(kernel.arguments) for kernel in written.kernels)
    click.echo(f"kernels found: {found}" + (f", {still_open} of them need arguments" if still_open else ""))
    click.echo("look at it, then: pypto-tmpl snapshot --update")


def _chosen(cases: list[SnapshotCase], case: str | None) -> list[SnapshotCase]:
    """The cases that are meant: all, one, or those of a folder. Raises UsageError where there is none."""
    chosen = [found for found in cases if case is None or f"{found.name}/".startswith(f"{case}/")]
    if not chosen:
        names = {name for found in cases for name in (found.name, found.name.partition("/")[0])}
        guess = closest(str(case), sorted(names))
        raise click.UsageError(f"no case is named {case!r}" + (f"; did you mean {guess!r}?" if guess else ""))
    return chosen


def _compared(cases: list[SnapshotCase], is_updating: bool) -> tuple[list[SnapshotResult], int]:
    """What differs, and is then written if that is wanted; and the number of cases that cannot be emitted.

    These are told at once, and where there are any nothing is written: an update ends with exit code 2.
    """
    from pypto_tmpl.snapshots.results import SnapshotState, update

    results: list[SnapshotResult] = []
    problems = 0
    for outcome in _outcomes(cases):
        if isinstance(outcome, str):
            problems += 1
            click.echo(outcome, err=True)
        elif outcome.state is not SnapshotState.SAME:
            results.append(outcome)
    if is_updating and problems:
        raise click.exceptions.Exit(2)
    if is_updating:
        update(results)
    return results, problems


def _outcomes(cases: list[SnapshotCase]) -> Iterator[SnapshotResult | str]:
    """The comparisons in order; what is to be said where a case cannot be emitted."""
    from pypto_tmpl.snapshots.results import compare

    show_progress = sys.stderr.isatty()
    for number, case in enumerate(cases, 1):
        if show_progress:
            click.echo(f"\r{number}/{len(cases)} {case.name:<50}", nl=False, err=True)
        try:
            yield compare(case)
        except PyptoTmplError as error:
            yield f"{case.name}: {error}\n   = case of {case.place}"
    if show_progress:
        click.echo("\r" + " " * 60 + "\r", nl=False, err=True)


def _stale(output: Output, config: Config, cases: list[SnapshotCase], prune: bool) -> int:
    """List the scripts that belong to no case, then remove them if that is wanted; how many stay."""
    from pypto_tmpl.snapshots.places import remove_emitted
    from pypto_tmpl.snapshots.results import stale_scripts

    stale = stale_scripts(config, cases)
    output.stale(stale, prune)
    if prune:
        sys.stdout.flush()
        remove_emitted(stale)
    return 0 if prune else len(stale)
