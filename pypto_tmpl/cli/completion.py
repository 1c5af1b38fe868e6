"""What shells complete beyond commands, options and files: names of ops, passes and snapshot cases."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from pypto_tmpl.cli.group import Settings


def op_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The ops whose names begin like that, or have it after a dot, with what they do."""
    from pypto_tmpl.ops import load_table

    given = context.find_root().params.get("template_dirs")
    table = load_table(Settings(tuple(given or ())).template_dirs)
    ops = [entry for entry in table.values() if entry.name.startswith(typed)]
    ops = ops or [entry for entry in table.values() if entry.name.partition(".")[2].startswith(typed)]
    return [CompletionItem(entry.name, help=entry.summary) for entry in ops]


def pass_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The passes whose names begin like that."""
    from pypto_tmpl.passes import PASSES

    return [CompletionItem(name) for name in PASSES if name.startswith(typed)]


def case_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The golden scripts and the programs that they are of: all of one program once it is spelt out."""
    from pypto_tmpl.errors import PyptoTmplError
    from pypto_tmpl.snapshots.cases import find_cases
    from pypto_tmpl.snapshots.config import find_config, read_config

    given = context.params.get("config_file")
    try:
        names = [case.name for case in find_cases(read_config(given) if given else find_config(Path.cwd()))]
    except PyptoTmplError:  # the command says it
        return []
    return [CompletionItem(name) for name in _matching(names, typed)]


def _matching(names: Iterable[str], typed: str) -> list[str]:
    found = [name for name in names if name.startswith(typed)]
    programs = dict.fromkeys(name.partition("/")[0] for name in found)
    return found if "/" in typed or len(programs) == 1 else list(programs)
