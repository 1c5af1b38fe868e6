"""``pypto-tmpl export-kernel-insight``: timelines of the statements of a build's kernels."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl export-kernel-insight build_output/Softmax_20261201_120000
  pypto-tmpl export-kernel-insight --build-dir BUILD --func main_incore_0

\b
Exit codes: 0 all exported; 1 the build cannot be run; 2 some kernels were not called.
"""
)
@click.argument("build", required=False, type=click.Path(path_type=Path))
@click.option("--build-dir", type=click.Path(path_type=Path), help="The build directory, as BUILD.")
@click.option("--func", "functions", multiple=True, metavar="NAME", help="Only this kernel; repeatable.")
@click.option("--list-funcs", is_flag=True, help="List the kernels with their .pto texts, and run nothing.")
@click.option(
    "--output-root", type=click.Path(path_type=Path), help="Where the export's folder goes [BUILD]."
)
@click.option("--name", help="The first part of that folder's name [kernel_insight_all_funcs].")
@click.pass_context
def export_kernel_insight(
    context: click.Context,
    build: Path | None,
    build_dir: Path | None,
    functions: tuple[str, ...],
    list_funcs: bool,
    output_root: Path | None,
    name: str | None,
) -> None:
    """Run a BUILD on the simulated platform and write, for each kernel, how long its statements take.

    The times are those of the simulation in PyTorch, by the host's clock. Inputs are those of data/in, zeros
    where a run saved none.
    """
    from pypto_tmpl.errors import PyptoTmplError
    from pypto_tmpl.runtime.insight import NAME, export_insights, kernel_sources, kernel_texts
    from pypto_tmpl.runtime.manifest import read_manifest

    if (build is None) == (build_dir is None):
        raise click.UsageError("give the build directory, once: BUILD or --build-dir")
    folder = build or build_dir
    assert folder is not None
    try:
        if list_funcs:
            manifest = read_manifest(folder)
            texts = kernel_texts(folder, manifest)
            for func in sorted(kernel_sources(folder, manifest).values()):
                click.echo(f"{func}\t{texts.get(func, '')}")
            return
        run = export_insights(folder, functions=functions, output_root=output_root, name=name or NAME)
    except PyptoTmplError as error:
        click.echo(f"error: {error.without_slug()}", err=True)
        context.exit(1)
    click.echo(f"RUN_ROOT {run.root}")
    click.echo(f"EXPORTED {len(run.exports) - len(run.failed)}/{len(run.exports)}")
    if run.failed:
        failed = (f"{export.func}:{export.status}" for export in run.failed)
        click.echo(f"FAILED_FUNCS {','.join(failed)}")
        context.exit(2)
