"""What the commands that compare stages with goldens share: the dumps, the tensors, the tolerances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pypto_tmpl.cli.script_options import script_option
from pypto_tmpl.cli.storage_option import storage_option

TOLERANCE = 5e-2

_Command = TypeVar("_Command", bound=Callable[..., Any])

_PARAMETERS = (
    click.argument("dumps", metavar="DIR", type=click.Path(path_type=Path)),
    click.option(
        "--inputs", required=True, metavar="PATH", type=click.Path(path_type=Path), help="The inputs."
    ),
    click.option(
        "--expected", required=True, metavar="PATH", type=click.Path(path_type=Path), help="Golden outputs."
    ),
    click.option("--entry", metavar="NAME", help="The function to run, where it is not clear."),
    click.option("--rtol", type=float, default=TOLERANCE, show_default=True, help="Relative, for floats."),
    click.option("--atol", type=float, default=TOLERANCE, show_default=True, help="Absolute, for floats."),
    click.option(
        "--tolerance",
        "tolerances",
        multiple=True,
        metavar="NAME=RTOL[,ATOL]",
        help="Tolerance of one tensor, of any dtype. May be given several times.",
    ),
    click.option("--only", multiple=True, metavar="NAME", help="Compare only this tensor, or these."),
    click.option("--equal-nan", is_flag=True, help="Take NaN as equal to NaN."),
    click.option("--widen-dtypes", is_flag=True, help="Compare tensors of two dtypes by value."),
    storage_option,
    script_option,
)


def comparison(command: _Command) -> _Command:
    """Add the argument DIR and the options that say what is compared with what, and how closely."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command
