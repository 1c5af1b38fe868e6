"""``--engine``: how the ranks of host programs run, for all commands that run programs."""

from __future__ import annotations

import click

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.engines import ENGINES, THREADS, is_of_processes


def _choose(context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """Choose the engine before all else: with processes, only the first one goes on from here."""
    from pypto_tmpl.execution.choice import choose_engine

    try:
        choose_engine(None if name == THREADS else name)
    except PyptoTmplError as error:
        click.echo(str(error), err=True)
        context.exit(2)
    return name


engine_option = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=THREADS,
    show_default=True,
    is_eager=True,
    expose_value=False,
    callback=_choose,
    help="How ranks run: as threads, or each as a process that `mpiexec -n RANKS` started.",
)


def refuse_with_processes(**given: object) -> None:
    """Raise a usage error for options that need all ranks in one process, if ranks are processes."""
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if names and is_of_processes():
        raise click.UsageError(f"{', '.join(names)}: not with --engine mpi")
