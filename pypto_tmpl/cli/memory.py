"""``pypto-tmpl memory``: what the kernels of a program use of the memories of their cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl import ir
from pypto_tmpl.cli.dumps import DumpError, read_dump
from pypto_tmpl.cli.pass_options import BACKEND, PLANNER, STRATEGY, lowering, pass_context, strategy_passes

if TYPE_CHECKING:
    from pypto_tmpl.passes.memory.usage import KernelUse
    from pypto_tmpl.storage.stored import Planned

_PLACES, _STORES = "AllocateMemoryAddr", "MaterializeSemanticAliases"
"""The pass up to which a program is lowered, and the one where the planner leaves addresses to others."""


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl memory passes_dump/49_after_MaterializeValidShapeSymbols.py --backend Ascend910B
  pypto-tmpl memory kernel.py --backend Ascend950 --html memory.html
  pypto-tmpl memory passes_dump/35_after_AllocateMemoryAddr.py --check

\b
Exit codes: 0 fine; 1 something is wrong with the plan (--check); 2 wrong usage, a program that cannot be
read, or one that a pass refuses, as where a memory is too small.
"""
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write a picture there: addresses against statements, as a page that needs nothing else.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Also list what is wrong with the plan, such as tiles that are read when others have their bytes.",
)
@BACKEND
@STRATEGY
@PLANNER
@click.option("--program", metavar="NAME", help="Which program, of a kernel file that defines several.")
def memory(
    file: Path,
    page: Path | None,
    check: bool,
    backend: str | None,
    strategy: str,
    planner: str,
    program: str | None,
) -> None:
    """Show what each kernel of FILE uses of each memory: how much of how much, and which tiles share it.

    FILE is a dump of a stage that has allocations, or a program before: that is lowered first, as `lower`
    does. Limits are those of the backend.
    """
    from pypto_tmpl.backend import chosen_facts
    from pypto_tmpl.passes.memory.report import report_text
    from pypto_tmpl.passes.memory.usage import has_storage, memory_use
    from pypto_tmpl.storage.stored import planned_by

    if page is not None:
        _check_page(page)
    node = read_dump(file, program)
    if not isinstance(node, ir.Program):
        raise DumpError(f"{file.name!r} holds a function, and kernels are those of programs")
    with lowering(backend), pass_context(planner):
        shown, planned = _after(file), planned_by(file.stem)
        if not has_storage(node):
            node, shown = _lowered(node, strategy_passes(strategy, planner))
            planned = "addresses" if shown == _PLACES else "allocations"
        facts = chosen_facts()
        kernels = memory_use(node, facts, placed=planned == "addresses")
    click.echo(report_text(shown, "" if facts is None else facts.name, kernels).encode(), nl=False)
    if page is not None:
        _write_page(page, file, "" if facts is None else facts.name, kernels)
    if check and not _is_sound(node, kernels, planned):
        raise click.exceptions.Exit(1)


def _is_sound(node: ir.Program, kernels: list[KernelUse], planned: Planned) -> bool:
    """Whether nothing is wrong with a plan; what is wrong is printed."""
    from pypto_tmpl.passes.memory.checking import plan_problems

    problems = plan_problems(
        node, kernels, copies_yields=planned == "allocations", placed=planned == "addresses"
    )
    for problem in problems:
        click.echo(f"wrong: {problem}")
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    click.echo(count if problems else "check: tiles are where they are read")
    return not problems


def _lowered(node: ir.Program, names: list[str]) -> tuple[ir.Program, str]:
    """A program with allocations, and the pass that it is after."""
    from pypto_tmpl.passes import PassPipeline, make_pass

    last = _PLACES if _PLACES in names else _STORES
    chosen = names[: names.index(last) + 1]
    return PassPipeline(map(make_pass, chosen)).run(node), last


def _after(file: Path) -> str:
    """The pass whose dump a file is, as its name says."""
    _, is_stage, name = file.stem.partition("_after_")
    return name if is_stage else file.stem


def _check_page(page: Path) -> None:
    from pypto_tmpl.debug.report.memory_page import check_memory_page

    check_memory_page(page)


def _write_page(page: Path, file: Path, backend: str, kernels: list[KernelUse]) -> None:
    from pypto_tmpl.debug.report.memory_page import write_memory_page

    for kernel in kernels:
        for space in kernel.spaces:
            if not space.is_placed:
                what = f"the allocations of {kernel.name!r} in {space.space.name} have no addresses to draw"
                raise DumpError(what, notes=[f"give a stage after {_PLACES}, or one before InitMemRef"])
    data = {"kernels": [kernel.as_dict() for kernel in kernels]}
    write_memory_page(page, data, title=file.name, backend=backend)
