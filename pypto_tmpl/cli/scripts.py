"""``pypto-tmpl exec``: scripts that were written for PyPTO."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pypto_tmpl.cli.engine_option import engine_option


@click.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  pypto-tmpl exec kernel.py -p a2a3sim        as "python kernel.py -p a2a3sim" with PyPTO installed
  mpiexec -n 2 pypto-tmpl exec --engine mpi kernel.py -d 0,1
  pypto-tmpl exec --list                      which modules and names are answered
""",
)
@click.option("--list", "listed", is_flag=True, help="List the modules and names that are answered.")
@engine_option
@click.argument("script", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def execute(script: Path | None, args: tuple[str, ...], listed: bool) -> None:
    """Run SCRIPT with ARGS; its imports of pypto and golden are answered with this project's modules.

    The exit status is the script's. Where PyPTO itself is installed, the script gets that.
    """
    from pypto_tmpl.compat import installed_pypto, run_script
    from pypto_tmpl.compat.imports import answered_names
    from pypto_tmpl.compat.scripts import describe_failure

    if listed:
        for module, names in answered_names().items():
            click.echo(f"{module}: {', '.join(names)}")
        return
    if script is None:
        raise click.UsageError("name the script to run")
    if (place := installed_pypto()) is not None:
        click.echo(f"PyPTO itself is installed and answers the script's imports: {place}", err=True)
    try:
        status = run_script(script, args)
    except Exception as error:
        click.echo(describe_failure(error, script), err=True)
        status = 1
    sys.exit(status)
