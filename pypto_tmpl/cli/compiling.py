"""``pypto-tmpl compile``: from a kernel file or a dump to a build directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pypto_tmpl import ir
from pypto_tmpl.cli.compile_options import compile_cfg, compile_knobs_options
from pypto_tmpl.cli.dumps import read_dump
from pypto_tmpl.cli.kernel_files import KernelFileError, jit_program_of
from pypto_tmpl.errors import PyptoTmplError


@click.command(
    "compile",
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  pypto-tmpl compile kernel.py
  pypto-tmpl compile kernel.py:Scale --platform a5sim --profiling
  pypto-tmpl compile kernel.py --build-dir build --stage OutlineIncoreScopes
  pypto-tmpl compile passes_dump/00_frontend.msgpack --planner dsa_rp --verify roundtrip
  pypto-tmpl compile kernel.py -- --rows 128         what is behind -- is for the file

\b
NAME is that of a program, of the variable that holds it, or of a @pl.jit function. The arguments of a JIT
function are what make_inputs() gives, or what its annotations say; else the file is run, and each run of
the function ends with its build.

\b
Exit codes: 0 fine; 2 wrong usage, a program that cannot be read, or one that cannot be compiled.
""",
)
@click.argument("source", metavar="FILE[:NAME]")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@compile_knobs_options
def compile_file(source: str, args: tuple[str, ...], **given: Any) -> None:
    """Compile FILE, a kernel file or the dump of a program, into a build directory.

    A dump that is named as that of a stage after a pass is taken as it is: no passes run.
    """
    from pypto_tmpl.ir.stage_names import pass_of

    path, name = _file_and_name(source)
    cfg = compile_cfg(given)
    try:
        node: ir.Program | ir.Function | None = read_dump(path, name)
    except PyptoTmplError as error:
        if path.suffix != ".py" or not path.is_file():
            raise
        name, node = _of_jit(path, name, error)
    if node is not None and args:
        what = f"{path} is not run, so that it takes no arguments and {args[0]!r} is no option of compile"
        raise click.UsageError(what)
    if node is None:
        builds = _built_by_running(path, name, args, cfg)
    else:
        program = node if isinstance(node, ir.Program) else ir.Program([node], node.name, node.span)
        builds = [_built(program, cfg, is_lowered=bool(pass_of(path.stem)))]
    for build in builds:
        click.echo("\n".join(_told(build)))


def _file_and_name(source: str) -> tuple[Path, str | None]:
    """``FILE:NAME`` in two; a file whose name has a colon in it goes before that."""
    head, colon, name = source.rpartition(":")
    if colon and name.isidentifier() and not Path(source).exists():
        return Path(head), name
    return Path(source), None


def _of_jit(path: Path, name: str | None, error: PyptoTmplError) -> tuple[str, ir.Program | None]:
    """A JIT function of a file that defines no program; raises why it has none where it has neither."""
    try:
        return jit_program_of(path, name)
    except KernelFileError as found:
        found.notes += (f"as a program: {error.what.splitlines()[0]}",)
        raise


def _built(program: ir.Program, cfg: dict[str, Any], *, is_lowered: bool) -> Path:
    """Compile a program; the build directory."""
    from pypto_tmpl.backend import get_backend_type, is_backend_configured
    from pypto_tmpl.compile.api import require_backend_of_process
    from pypto_tmpl.compile.build import check_program, compile_program
    from pypto_tmpl.compile.directory import make_build_directory
    from pypto_tmpl.compile.options import compile_options
    from pypto_tmpl.compile.ownership import UNFINISHED
    from pypto_tmpl.golden.progress import live_passes

    if is_backend_configured():
        cfg = {"backend_type": get_backend_type(), **cfg}
    try:
        options = compile_options(cfg)
        require_backend_of_process(options)
    except PyptoTmplError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    check_program(program, options)
    directory = make_build_directory(program.name, options.output_dir)
    try:
        with live_passes("compile") as progress:
            compile_program(program, directory, options, is_lowered=is_lowered, instruments=[progress])
    except PyptoTmplError as error:
        error.notes += tuple(getattr(error, "__notes__", ()))
        if (directory / UNFINISHED).is_file():
            error.notes += (f"what was written until then: {directory}",)
        raise
    return directory


def _built_by_running(path: Path, name: str | None, args: tuple[str, ...], cfg: dict[str, Any]) -> list[Path]:
    """Run a file, each run of the function ending with its build; the build directories."""
    from pypto_tmpl.compat.scripts import describe_failure, script_result
    from pypto_tmpl.golden.overrides import Overrides, overriding

    output_dir = cfg.pop("output_dir", None)
    platform = cfg.pop("platform", None)
    overrides = Overrides(
        platform,
        build_dir=output_dir,
        compile_cfg=cfg,
        compile_only=True,
        kernel=name,
        stage=cfg.pop("stage", None),
    )
    with overriding(overrides):
        try:
            script_result(path, args)
        except Exception as error:
            raise KernelFileError(f"{path} cannot be run:\n{describe_failure(error, path)}") from None
    if not overrides.runs:
        what = f"{path} does not say with which arguments {name!r} is to be compiled"
        notes = [
            "annotate its parameters with shapes and dtypes, define make_inputs(), or run it in the file"
        ]
        raise KernelFileError(what, notes=notes)
    for result in overrides.runs:
        if not result.passed:
            raise KernelFileError(f"{name} cannot be compiled: {result.error}")
    return [result.work_dir for result in overrides.runs if result.work_dir is not None]


def _told(build: Path) -> Iterator[str]:
    """What is told of a build: where it is, its stages, what it lacks, and its times if it has them."""
    from pypto_tmpl.compile.build import REPORT
    from pypto_tmpl.compile.profile import STEM
    from pypto_tmpl.debug.stages.dumps import find_stages
    from pypto_tmpl.passes.instruments import HINTS
    from pypto_tmpl.runtime.manifest import read_manifest, sub_build
    from pypto_tmpl.runtime.stages import DUMPS

    manifest = read_manifest(build)
    yield f"build: {build}"
    yield f"program: {manifest.program}, for {manifest.platform} ({manifest.backend})"
    for name in manifest.orchestrations:
        yield f"orchestration: {name}, in {build / sub_build(name)}"
    if manifest.script:
        yield f"script: {build / manifest.script}, made from {manifest.stage}"
    stages = find_stages(build / DUMPS) if manifest.source is not None else []
    texts = [stage.path.read_bytes() for stage in stages]
    changed = [
        stage.name for stage, now, before in zip(stages[1:], texts[1:], texts, strict=False) if now != before
    ]
    yield f"stages: {len(stages)}" + (f", {len(changed)} of them change the program:" if stages else "")
    yield from (f"  {name}" for name in changed)
    yield from (f"{stream}: {note}" for stream, note in manifest.streams.items())
    if (build / REPORT / HINTS).is_file():
        yield f"hints: {build / REPORT / HINTS}"
    times = build / REPORT / f"{STEM}.txt"
    if f"{REPORT}/{STEM}.txt" in manifest.files:
        yield times.read_text(encoding="utf-8").rstrip("\n")
