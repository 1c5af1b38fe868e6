"""``pypto-tmpl gen``: a script from a dump."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pypto_tmpl.cli.dumps import read_dump
from pypto_tmpl.cli.group import Settings
from pypto_tmpl.cli.script_options import given_options, script_option

if TYPE_CHECKING:
    from pypto_tmpl import ir
    from pypto_tmpl.codegen.options import ScriptOptions
    from pypto_tmpl.codegen.script import PreambleMode


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl gen 22_after_ExpandMixedKernel.msgpack            the script on standard output
  pypto-tmpl gen 00_frontend.msgpack -o frontend.py            into a file
  pypto-tmpl gen kernel.py --program Softmax                   of a kernel file with several programs
  pypto-tmpl gen 00_frontend.msgpack --check-shapes --no-format
  pypto-tmpl gen 00_frontend.msgpack -o frontend.py --source-map
  pypto-tmpl gen 00_frontend.msgpack --option poison --option schedule_seed=7
  pypto-tmpl gen 35_after_AllocateMemoryAddr.msgpack --storage
"""
)
@click.argument("dump", type=click.Path(path_type=Path))
@click.option("--program", metavar="NAME", help="Which program, of a kernel file that defines several.")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write the script here."
)
@click.option("--check-shapes", is_flag=True, help="Check type, dtype and static extents at run time.")
@click.option(
    "--comments/--no-comments",
    default=True,
    help="End lines that bind a tile or tensor in its type (the default), unless shapes are checked.",
)
@click.option("--source-comments", is_flag=True, help="Put the source line of a statement above it.")
@click.option("--format/--no-format", "formatted", default=True, help="Format with black (the default).")
@click.option(
    "--preamble",
    type=click.Choice(["script", "import", "full"]),
    default="script",
    help="Carry the helpers that are used (the default), import them from pypto_tmpl, or carry all.",
)
@click.option("--storage", is_flag=True, help="Make tiles views of the bytes where they are placed.")
@click.option(
    "--source-map",
    is_flag=True,
    help="Write the source lines beside the script, as .map.json; reports of its run then name them.",
)
@script_option
@click.option("--trace", is_flag=True, help="Make the script record what its statements compute, in _TRACE.")
@click.option("--force", is_flag=True, help="Replace FILE also where it is none that pypto-tmpl emitted.")
@click.pass_obj
def gen(
    settings: Settings,
    dump: Path,
    program: str | None,
    output: Path | None,
    check_shapes: bool,
    comments: bool,
    source_comments: bool,
    formatted: bool,
    preamble: PreambleMode,
    storage: bool,
    source_map: bool,
    script_options: tuple[str, ...],
    trace: bool,
    force: bool,
) -> None:
    """Emit the PyTorch script of DUMP, the dump of a program after any pass, or a kernel file.

    A kernel file that imports more than the language is run, up to its `if __name__ == "__main__"`.
    """
    from pypto_tmpl.debug.torch_codegen import emit_script
    from pypto_tmpl.execution.origins import source_map_path, write_source_map
    from pypto_tmpl.generated import check_place, is_script, is_source_map, write_generated

    if source_map and output is None:
        raise click.UsageError("--source-map writes beside the script: say where that goes with -o FILE")
    node = read_dump(dump, program)
    options = given_options((*script_options, "source_map_file") if source_map else script_options)
    script = emit_script(
        node,
        check_shapes,
        format=formatted,
        preamble=preamble,
        template_dirs=settings.user_template_dirs,
        trace=trace,
        comments=comments,
        source_comments=source_comments,
        options=_stored(options, node, dump.stem) if storage else options,
    )
    if output is None:
        click.echo(script.text.encode(), nl=False)  # UTF-8 and the line ends it has, whatever the locale
    else:
        if source_map:
            check_place(source_map_path(output), is_source_map)
        write_generated(output, script.text, is_script, force=force)
        if source_map:
            write_source_map(output, script.sources)


def _stored(options: ScriptOptions, node: ir.Program | ir.Function, stage: str) -> ScriptOptions:
    """The options of a script on bytes: the name of a dump tells what is planned by then, as elsewhere."""
    from pypto_tmpl.codegen.options import stored
    from pypto_tmpl.execution.entry import functions_of
    from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0

    placed = is_placed_at_0(functions_of(node), stage)
    return stored(options, copy_yields=copies_yields(stage), placed=placed)
