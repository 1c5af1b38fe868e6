"""``pypto-tmpl passes`` and ``pypto-tmpl lower``: which passes there are, and running them on a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pypto_tmpl import ir
from pypto_tmpl.cli.completion import pass_names as complete_pass_names
from pypto_tmpl.cli.dumps import DumpError, read_dump
from pypto_tmpl.cli.pass_options import (
    BACKEND,
    BUFFERS,
    PLANNER,
    STRATEGY,
    lowering,
    pass_context,
    strategy_passes,
)
from pypto_tmpl.errors import allowed_note


@click.command()
@STRATEGY
@PLANNER
@BUFFERS
def passes(strategy: str, planner: str, buffers: bool) -> None:
    """List the passes in the order in which they run, with the properties that they require and produce.

    A number is that of the dump which is written after the pass.
    """
    from pypto_tmpl.passes import PASSES

    for position, name in enumerate(strategy_passes(strategy, planner, buffers=buffers), 1):
        click.echo(f"{position:2}  {name}")
        for what in ("requires", "produces", "invalidates"):
            members: frozenset[ir.IRProperty] = getattr(PASSES[name], what)
            if members:
                click.echo(f"      {what} {', '.join(p.name for p in ir.IRProperty if p in members)}")


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl lower kernel.py --until FlattenCallExpr                    the program as text
  pypto-tmpl lower kernel.py --until 9 --dump passes_dump               every stage, as text and .msgpack
  pypto-tmpl lower 00_frontend.msgpack --until ConvertToSSA -o ssa.msgpack
  pypto-tmpl lower kernel.py --until Simplify --verify roundtrip

\b
Exit codes: 0 fine; 2 wrong usage, a program that cannot be read, or one that a pass or the verifier refuses.
"""
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--until",
    metavar="PASS",
    shell_complete=complete_pass_names,
    help="The last pass: a name, of which the first place counts, or a number as in `passes`.",
)
@click.option("--dump", metavar="DIR", type=click.Path(path_type=Path), help="Write every stage there.")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write the last stage here."
)
@click.option(
    "--level",
    type=click.Choice(["concise", "explicit"]),
    default="concise",
    show_default=True,
    help="Whether texts have every layout field of every tile.",
)
@BACKEND
@STRATEGY
@PLANNER
@BUFFERS
@click.option(
    "--verify",
    type=click.Choice(["none", "basic", "roundtrip"]),
    help="What is checked after every pass (default: PYPTO_VERIFY_LEVEL, else basic).",
)
@click.option("--program", metavar="NAME", help="Which program, of a kernel file that defines several.")
@click.option("--force", is_flag=True, help="Let -o replace a file that holds something else.")
def lower(file: Path, **given: Any) -> None:
    """Run passes on FILE, the dump of a program or a kernel file, from the first one up to PASS.

    The result goes to standard output as text unless --dump or -o says where it goes.
    """
    from pypto_tmpl.passes import PassPipeline, make_pass
    from pypto_tmpl.passes.dumping import PassDumpLevel
    from pypto_tmpl.passes.manager import run_pipeline

    names = strategy_passes(given["strategy"], given["planner"], buffers=given["buffers"])
    names = _chosen(names, given["until"])
    level, folder = PassDumpLevel[given["level"].upper()], given["dump"]
    node = read_dump(file, given["program"])
    if not isinstance(node, ir.Program):
        raise DumpError(f"{file.name!r} holds a function, and passes run on programs")
    with lowering(given["backend"]), pass_context(given["planner"], given["verify"]):
        pipeline = PassPipeline(map(make_pass, names))
        result = run_pipeline(pipeline, node, level if folder is not None else False, folder)
    if given["output"] is not None:
        _write(result, given["output"], level is PassDumpLevel.EXPLICIT, given["force"])
    elif folder is None:
        click.echo(_text(result, level is PassDumpLevel.EXPLICIT).encode(), nl=False)


def _chosen(names: list[str], until: str | None) -> list[str]:
    """The passes up to the one that is named, or has that number. Raises UsageError where none is that."""
    if until is None:
        return names
    if until.isdecimal() and 0 < int(until) <= len(names):
        return names[: int(until)]
    if until in names:
        return names[: names.index(until) + 1]
    note = allowed_note("passes", list(dict.fromkeys(names)), until)
    raise click.UsageError(f"--until {until}: no such pass; {note}")


def _text(program: ir.Program, is_explicit: bool) -> str:
    return ir.python_print(program, format=False, explicit_layout=is_explicit).rstrip("\n") + "\n"


def _write(program: ir.Program, path: Path, is_explicit: bool, force: bool) -> None:
    from pypto_tmpl.generated import has_no_mark, write_generated

    is_binary = path.suffix == ".msgpack"
    data = ir.serialize(program) if is_binary else _text(program, is_explicit)
    write_generated(path, data, has_no_mark, force=force)
