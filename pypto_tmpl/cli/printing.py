"""``pypto-tmpl print`` and ``pypto-tmpl diff``: dumps as text, and where two of them differ."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl.cli.colours import verdict
from pypto_tmpl.cli.dumps import read_dump

if TYPE_CHECKING:
    from pypto_tmpl.ir.structural import Difference


@click.command(
    "print",
    epilog="""\b
Examples:
  pypto-tmpl print 22_after_ExpandMixedKernel.msgpack             as text
  pypto-tmpl print 00_frontend.py --msgpack -o 00_frontend.msgpack
  pypto-tmpl print 00_frontend.msgpack --level explicit           with every layout field
""",
)
@click.argument("dump", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--msgpack", "binary", is_flag=True, help="Write the binary form; needs --output or a pipe.")
@click.option(
    "--level",
    type=click.Choice(["concise", "explicit"]),
    default="concise",
    show_default=True,
    help="Whether to write every layout field of every tile.",
)
@click.option("--format", "formatted", is_flag=True, help="Format with black at line length 200.")
@click.option("--prefix", default="pl", show_default=True, help="Name that the language is imported as.")
@click.option("--force", is_flag=True, help="Replace FILE where it holds something else.")
def print_dump(
    dump: Path, output: Path | None, binary: bool, level: str, formatted: bool, prefix: str, force: bool
) -> None:
    """Print DUMP (text or binary form) as text, or write its binary form."""
    from pypto_tmpl import ir
    from pypto_tmpl.generated import has_no_mark, write_generated
    from pypto_tmpl.ir.printer import python_print

    if not prefix.isidentifier():
        raise click.UsageError(f"--prefix is a name, not {prefix!r}")
    node = read_dump(dump)
    if binary:
        if output is None and sys.stdout.isatty():
            raise click.UsageError("the binary form is not for a terminal: give --output")
        data = ir.serialize(node)
        if output is None:
            sys.stdout.buffer.write(data)
        else:
            write_generated(output, data, has_no_mark, force=force)
        return
    text = python_print(node, prefix=prefix, format=formatted, explicit_layout=level == "explicit")
    text = text.rstrip("\n") + "\n"
    if output is None:
        click.echo(text.encode(), nl=False)  # UTF-8 and the line ends it has, whatever the locale
    else:
        write_generated(output, text, has_no_mark, force=force)


@click.command(
    epilog="""\b
Example:
  pypto-tmpl diff 22_after_ExpandMixedKernel.py 22_after_ExpandMixedKernel.msgpack

\b
Exit codes: 0 structurally equal, 1 different, 2 a dump cannot be read.
"""
)
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="Only the exit code.")
@click.option("--first", "only_first", is_flag=True, help="Only the first difference.")
@click.pass_context
def diff(context: click.Context, first: Path, second: Path, quiet: bool, only_first: bool) -> None:
    """Compare two dumps by structure: names, positions and comments do not count.

    Every difference is told with the lines that it stands in; statements that one of them lacks are told as
    such, and those after them are compared.
    """
    from pypto_tmpl import ir

    left, right = read_dump(first), read_dump(second)
    found = ir.structural_differences(left, right, enable_auto_mapping=True)
    differences = list(islice(found, 1 if quiet or only_first else None))
    if not quiet:
        for difference in differences:
            click.echo(_told(difference, *ir.printed_lines(left, right, difference)))
        if len(differences) != 1:
            click.echo(f"{len(differences)} differences" if differences else "structurally equal")
    context.exit(1 if differences else 0)


def _told(difference: Difference, left: str, right: str) -> str:
    """A difference with the lines of both; of sequences of statements those without a partner follow."""
    from pypto_tmpl import ir

    if isinstance(difference.left, tuple) and any(isinstance(part, ir.Stmt) for part in difference.left):
        return click.style(str(difference), bold=True)
    sides = (verdict(f"  left:  {left}", False), verdict(f"  right: {right}", True))
    return "\n".join([click.style(str(difference), bold=True), *sides])
