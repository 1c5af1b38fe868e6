"""``pypto-tmpl options``: the debug options that emitted scripts have."""

from __future__ import annotations

import textwrap

import click

WIDTH = 100


@click.command(
    epilog="""\b
Set them in a script that has been executed:
  namespace["_OPTIONS"].race_check = True
  pypto_tmpl.debug.set_options(namespace, race_check=True, schedule_seed=7)

\b
or for scripts that start from now on:
  PYPTO_TMPL_RACE_CHECK=1 python run_my_script.py
  pypto-tmpl validate passes_dump --inputs in --expected out --option race_check=1

\b
They do not change what is emitted.
"""
)
def options() -> None:
    """List the debug options of emitted scripts: name, default, environment variable, meaning."""
    from pypto_tmpl.execution.options import script_options

    for option in script_options().values():
        click.echo(f"{option.name}  (default {option.default}; {option.variable})")
        click.echo(textwrap.fill(option.meaning, WIDTH, initial_indent="    ", subsequent_indent="    "))
