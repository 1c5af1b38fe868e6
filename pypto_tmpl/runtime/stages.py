"""Which stage of a build is executed: the one that it was made for, or another of its dumps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.ir.stage_names import StageNameError, find_stage
from pypto_tmpl.runtime.entry import stage_entry
from pypto_tmpl.runtime.manifest import NEXT_LEVELS, Manifest, read_manifest
from pypto_tmpl.runtime.torch_script import FOLDER, TorchScript, torch_script
from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0

DUMPS = "passes_dump"
BINARY = ".msgpack"
BYTES = "bytes"  # the folder of scripts that run on the bytes of their tiles


class NoStageError(PyptoTmplError, ValueError):
    """A build has no dump of the stage that is to be executed."""

    slug = "stage"


def at_stage(build: Path, manifest: Manifest, stage: str | None) -> Manifest:
    """The manifest of a build for the execution of one of its stages, None being what it was made for.

    The script of another stage is made from its dump, in a folder of its own, unless it is there: one that
    was edited is run as it stands. Raises NoStageError where there are no dumps, StageNameError for an
    unknown stage, and what making a script raises.
    """
    if stage is None or stage == manifest.stage:
        return manifest
    stem = _stem(build, manifest, stage)
    if stem == manifest.stage:
        return manifest
    source = f"{DUMPS}/{stem}{BINARY}"
    program = ir.deserialize_from_file(str(build / source))
    assert isinstance(program, ir.Program)
    script = torch_script(program, stage_entry(program, manifest.entry), f"{FOLDER}/{stem}")
    return replace(_with_script(build, manifest, script), source=source, stage=stem)


def on_bytes(build: Path, manifest: Manifest, program: ir.Program) -> Manifest:
    """The manifest of a build for a run of its program on the bytes of its tiles.

    The script is made in a folder beside that of the other, and is run as it stands where it is there.
    Raises what making a script raises.
    """
    folder = (PurePosixPath(manifest.script).parent / BYTES).as_posix()
    script = torch_script(
        program,
        stage_entry(program, manifest.entry),
        folder,
        storage=True,
        copy_yields=copies_yields(manifest.stage),
        placed=is_placed_at_0(functions_of(program), manifest.stage),
    )
    return _with_script(build, manifest, script)


def _with_script(build: Path, manifest: Manifest, script: TorchScript) -> Manifest:
    """The manifest with another script, which is written unless it is there."""
    if not (build / script.path).is_file():
        known = read_manifest(build)
        for path in script.write(build):
            known = known.with_file(build, path)
        known.write(build)
    return replace(manifest, entry=script.entry, script=script.path, script_large=script.large)


def _stem(build: Path, manifest: Manifest, stage: str) -> str:
    """The whole name of a stage of a build."""
    stems = sorted(path.stem for path in (build / DUMPS).glob(f"*{BINARY}"))
    try:
        known = stems or [manifest.stage]
        return known[find_stage(known, stage)]
    except StageNameError:
        if stems:
            raise
    what = f"{build} has no dumps, so that it can be run at {manifest.stage} only, not at {stage!r}"
    note = "compile it with dump_passes=True"
    if build.parent.name == NEXT_LEVELS:
        note = "it is one of several orchestrations: dumps are of all of them, compile up to that stage"
    raise NoStageError(what, notes=[note])
