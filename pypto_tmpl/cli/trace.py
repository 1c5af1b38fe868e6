"""``pypto-tmpl trace``: record what a stage computes, and compare two such records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pypto_tmpl.cli.group import Settings

if TYPE_CHECKING:
    from pypto_tmpl.debug.trace.diff import TraceDiff
    from pypto_tmpl.debug.trace.records import Trace

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class _DumpOrCommand(click.Group):
    """A group whose first argument is a dump unless it names a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the subcommand that traces before the name of a dump."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


class _Size(click.ParamType[int]):
    """Bytes, or a number with K, M or G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        text = str(value).upper().removesuffix("B")
        number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS and text else (text, "")
        try:
            size = int(float(number) * _UNITS[unit])
        except ValueError:
            size = 0
        if size < 1:
            self.fail(f"{value!r} is no size; sizes are 500000, 64M, 2G", param, ctx)
        return size


@click.group(
    cls=_DumpOrCommand,
    epilog="""\b
Examples:
  pypto-tmpl trace passes_dump/22_after_ExpandMixedKernel.py --inputs in --out trace_22
  pypto-tmpl trace passes_dump/00_frontend.py --inputs in --out trace_00 --name 'resid*' --last 2
  pypto-tmpl trace diff trace_00 trace_22
""",
    subcommand_metavar="DUMP --inputs PATH --out FOLDER | diff A B",
)
def trace() -> None:
    """Record the values that the statements of DUMP compute, or compare two records (diff)."""


@trace.command("run", short_help="Record what a dump computes.")
@click.argument("dump", type=click.Path(path_type=Path))
@click.option("--inputs", required=True, metavar="PATH", type=click.Path(path_type=Path), help="The inputs.")
@click.option(
    "--expected",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Shapes of pure outputs, where those of the parameters are not meant.",
)
@click.option("--out", required=True, metavar="FOLDER", type=click.Path(path_type=Path), help="Write here.")
@click.option("--entry", metavar="NAME", help="The function to run, where it is not clear.")
@click.option("--name", "names", multiple=True, metavar="GLOB", help="Only variables of such names.")
@click.option("--kernel", "kernels", multiple=True, metavar="GLOB", help="Only functions of such names.")
@click.option(
    "--statement",
    "statements",
    multiple=True,
    metavar="PLACE",
    help="Only this statement: file:line of the source, a line, or kernel:body/2.",
)
@click.option("--first", type=click.IntRange(1), metavar="N", help="Only the first N runs of a statement.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the last N runs of a statement.")
@click.option(
    "--limit", type=_Size(), default="1G", show_default=True, help="Values beyond this size are counted only."
)
@click.pass_obj
def run(settings: Settings, /, **given: Any) -> None:
    """Run DUMP and write what its statements compute into a folder."""
    from pypto_tmpl.codegen.tracing import TraceSelection
    from pypto_tmpl.debug.trace.run import TraceError, trace_dump
    from pypto_tmpl.debug.trace.store import check_trace_folder, save_trace
    from pypto_tmpl.debug.validate.tensors_io import load_tensors

    check_trace_folder(given["out"])
    picked = {key: given[key] for key in ("names", "kernels", "statements", "first", "last", "limit")}
    found = trace_dump(
        given["dump"],
        load_tensors(given["inputs"]),
        TraceSelection(**picked),
        expected=load_tensors(given["expected"]) if given["expected"] else None,
        entry=given["entry"],
        template_dirs=settings.user_template_dirs,
    )
    if not found.records and found.failure is None:
        raise TraceError(f"nothing in {found.stage} matches the selection", notes=_selected(given))
    save_trace(found, given["out"])
    click.echo(_summary(found, given["out"]))
    for name, shape in found.zeroed.items():
        click.echo(f"note: the output {name!r} is not among the inputs: it starts as zeros {shape}", err=True)
    if found.left_out_note():
        click.echo(f"note: {found.left_out_note()}", err=True)
    if found.failure is not None:
        click.echo(f"the script failed; the values before that are there\n{found.failure.text}", err=True)
        raise SystemExit(1)


def _selected(given: dict[str, Any]) -> list[str]:
    """What was asked for, by option."""
    asked = {"--name": given["names"], "--kernel": given["kernels"], "--statement": given["statements"]}
    return [f"{option} {value}" for option, values in asked.items() for value in values]


def _summary(found: Trace, folder: Path) -> str:
    if not found.records:
        return f"no values of {found.stage} were recorded"
    names = {found.variable(record) for record in found.records}
    lanes = sorted({record.lane for record in found.records})
    return (
        f"{len(found.records)} values of {len(names)} names ({found.size} bytes) of {found.stage} in"
        f" {folder}; lanes: {', '.join(lanes)}"
    )


@trace.command(short_help="Compare two recorded runs.")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--rtol", type=float, default=1e-5, show_default=True, help="Relative, for floats.")
@click.option("--atol", type=float, default=1e-5, show_default=True, help="Absolute, for floats.")
@click.option("--all", "show_all", is_flag=True, help="Show names without a difference too.")
@click.pass_context
def diff(context: click.Context, first: Path, second: Path, rtol: float, atol: float, show_all: bool) -> None:
    """Compare the traces FIRST and SECOND; name the first value that differs.

    Exit codes: 0 all values agree, 1 some differ, 2 a trace cannot be read.
    """
    from pypto_tmpl.compare.tensors import Rules
    from pypto_tmpl.compare.tolerance import Tolerance
    from pypto_tmpl.debug.trace.diff import diff_traces
    from pypto_tmpl.debug.trace.store import load_trace

    rules = Rules(Tolerance(rtol, atol), equal_nan=True)
    found = diff_traces(load_trace(first), load_trace(second), rules)
    click.echo("\n".join(_table(found, show_all)))
    context.exit(0 if found.is_same else 1)


def _table(found: TraceDiff, show_all: bool) -> list[str]:
    head = ("name", "function", "values", "differ", "max_abs_diff", "note")
    rows = [
        (r.name, r.function, str(r.compared), str(r.differing), f"{r.max_abs_diff:.6e}", r.note)
        for r in found.rows
        if show_all or r.differing or r.note
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows) if rows else ():
        lines.append("  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip())
    if found.first is None:
        compared = sum(row.compared for row in found.rows)
        return [*lines, f"all {compared} values that both traces have agree"]
    first = found.first
    lines += ["", f"first value that differs: {first.name}, in {first.right.function}"]
    for title, place in (("first trace", first.left), ("second trace", first.right)):
        lines.append(f"    {title}: {place.text or place.generated_text}")
        where = [place.source, f"generated line {place.generated_line}" if place.generated_line else ""]
        runs = [] if place.rank is None else [f"rank {place.rank}"]
        runs += [f"{name}={value}" for name, value in place.iteration.items()] + [f"lane {place.lane}"]
        lines.append(f"        at {', '.join([word for word in where if word] + runs)}")
    return [*lines, f"    {first.verdict.line()}", *(f"    {line}" for line in first.verdict.details())]
