"""``pypto-tmpl options``: the debug options that emitted scripts have."""

from __future__ import annotations

import textwrap

import click

WIDTH = 100


@click.command(
    epilog="""\b
A script has those that it is emitted with:
  pypto-tmpl gen 00_frontend.msgpack --option race_check --option schedule_seed=7
  pypto-tmpl validate passes_dump --inputs in --expected out --option race_check
  PYPTO_TMPL_RACE_CHECK=1 pypto-tmpl run kernel.py
  torch_codegen(program, options={"race_check": True, "schedule_seed": 7})

\b
and their values can be set once it has been executed:
  pypto_tmpl.debug.set_options(namespace, schedule_seed=8)
"""
)
def options() -> None:
    """List the debug options of emitted scripts: name, default, environment variable, meaning."""
    from pypto_tmpl.execution.options import script_options

    for option in script_options().values():
        click.echo(f"{option.name}  (default {option.default}; {option.variable})")
        click.echo(textwrap.fill(option.meaning, WIDTH, initial_indent="    ", subsequent_indent="    "))
