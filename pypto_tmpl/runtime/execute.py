"""Running a build directory on a simulated platform, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError, warn_caller
from pypto_tmpl.execution.apart import CPU
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.extents import Value
from pypto_tmpl.execution.frames import failing_line
from pypto_tmpl.execution.lines import without_source
from pypto_tmpl.execution.load import load_script_file
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.origins import LazySourceLines
from pypto_tmpl.execution.positional import bind_positional, silence_shapes
from pypto_tmpl.runtime.built_script import BuiltScript
from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.manifest import Manifest, read_manifest
from pypto_tmpl.runtime.options import CHIP_LEVEL, RuntimeOptions, runtime_options, warn_without_records
from pypto_tmpl.runtime.platforms import DEFAULT_PLATFORM, Platform, require_simulated, simulator_of
from pypto_tmpl.runtime.read_only import ChangedInput, OnChanged, ReadOnly
from pypto_tmpl.runtime.records.recording import Counting, Recording, RecordsError
from pypto_tmpl.runtime.stages import NoStageError, at_stage, on_bytes
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.stored import is_stored

_NO_RECORDS = DfxOptions()


class BackendMismatchError(PyptoTmplError, ValueError):
    """A build for one backend is run on a platform of another."""

    slug = "backend"


def execute_compiled(
    work_dir: str | os.PathLike[str],
    args: Sequence[object],
    *,
    platform: str = DEFAULT_PLATFORM,
    device_id: int = 0,
    dfx: DfxOptions = _NO_RECORDS,
    level: int = CHIP_LEVEL,
    aicpu_thread_num: int | None = None,
    **runtime_cfg: Any,
) -> None:
    """Run the program of a build directory; its outputs are written into the given tensors.

    ``args`` are contiguous CPU tensors and ctypes scalars in the order of the entry's parameters.
    ``runtime_cfg`` takes ``torch_device`` (where the simulated program computes, default ``cpu``), ``stage``
    (which stage of the passes is executed, by default the one that the build was made for), ``storage``
    (``planned`` or ``on`` for a run on the bytes of tiles, by default ``off``), the diagnostic flags, of
    which ``dfx`` has several, and the device's own options.

    Raises: TypeError for an unknown option or an argument of another kind, HardwareNeededError for a
    platform that is a device, ValueError for a directory that is no build and for arguments that do not fit;
    and whatever the program raises, its frames being lines of the generated script.
    """
    flags = {name: getattr(dfx, name) for name in dfx.enabled}
    given = {
        "platform": platform,
        "device_id": device_id,
        "level": level,
        "aicpu_thread_num": aicpu_thread_num,
    }
    options = runtime_options({**flags, **given, **runtime_cfg})
    require_simulated(options.platform)
    build = Path(work_dir)
    execute_build(build, read_manifest(build), args, options)


def require_backend(manifest: Manifest, platform: Platform) -> None:
    """Raise BackendMismatchError for a build that is for another backend than the platform's."""
    if manifest.backend != platform.backend:
        raise BackendMismatchError(
            f"the build is for {manifest.backend}, platform {platform.name!r} is {platform.backend}",
            notes=[
                f"compile the program for platform {platform.name!r},"
                f" or run it on {simulator_of(manifest.backend).name!r}"
            ],
        )


def execute_build(
    build: Path,
    manifest: Manifest,
    args: Sequence[object],
    options: RuntimeOptions,
    program: ir.Program | None = None,
    on_task: Callable[[], None] | None = None,
    must_agree: bool = False,
    on_changed: OnChanged | None = None,
) -> list[Path]:
    """Run a build whose manifest has been read; see ``execute_compiled``. Returns the records it wrote.

    Arguments whose shapes do not go together are refused if they ``must_agree``, else warned of. An argument
    that the program only reads, but that the run has changed, is told to ``on_changed``, or by a warning.

    ``on_task`` is called whenever a task is launched.
    What the program raises gets notes with the generated line and, where it can be told from ``program`` or
    from the dump in the build, the source line.
    """
    require_backend(manifest, options.platform)
    manifest.require_entry(build)
    chosen = at_stage(build, manifest, options.stage)
    if chosen is not manifest:
        manifest, program = chosen, None
    values = bind_positional(manifest.entry, args, must_agree=must_agree)
    script = BuiltScript(build, manifest, program)
    if options.storage in ("planned", "on"):
        manifest = _on_bytes(build, manifest, script.program, options.storage)
        script = BuiltScript(build, manifest, script.program)
    elif options.storage == "both":
        raise ValueError("storage is 'both', and one run is by values or on bytes; choices: planned, on, off")
    recording = _recording(build, manifest, options, script, on_task)
    namespace = load_script_file(
        script.path,
        manifest.entry.script_name,
        LazySourceLines(script.sources),
        None if recording is None else recording.mark,
    )
    silence_shapes(namespace)
    if "_ranks" in namespace:
        namespace["_ranks"].device_ids = manifest.device_ids
    if recording is not None:
        recording.attach(namespace)
    warn_without_records(options.dfx)
    try:
        loaded = LoadedScript(namespace, manifest.entry, manifest.script_large)
        before = run_in_place(loaded, values, options.torch_device)
    except Exception as error:
        for note in script_places(error, script):
            error.add_note(note)
        raise
    finally:
        written = [] if recording is None else recording.write()
    for found in before.changed(lambda: script.program):
        (on_changed or warn_of_change)(found)
    for remark in () if recording is None else recording.remarks:
        warn_caller(remark, UserWarning)
    return written


def _on_bytes(build: Path, manifest: Manifest, program: ir.Program | None, choice: StorageChoice) -> Manifest:
    """The manifest of a run on bytes, or the one given for a program whose tiles have no places."""
    if program is None:
        what = f"{build} has no intact dump of the program, which a run on bytes is made from"
        raise NoStageError(what, notes=["compile it with dump_passes=True"])
    if not is_stored(functions_of(program), choice, manifest.stage):
        return manifest
    return on_bytes(build, manifest, program)


def run_in_place(loaded: LoadedScript, values: Sequence[Value], device: torch.device = CPU) -> ReadOnly:
    """Run the entry of a loaded script, which writes into its arguments; what the others were before."""
    before = ReadOnly(loaded.entry, values)
    loaded.call_in_place(values, device)
    return before


def warn_of_change(found: ChangedInput) -> None:
    """Warn of an argument that was changed at the line that called the program."""
    warn_caller(str(found), UserWarning)


def _recording(
    build: Path,
    manifest: Manifest,
    options: RuntimeOptions,
    script: BuiltScript,
    on_task: Callable[[], None] | None,
) -> Recording | Counting | None:
    """What records the run, if a flag asks for that, or only tells of its tasks.

    Raises RecordsError for flags and a build without its program; tasks are not told of then.
    """
    is_recorded = any(name != "enable_scope_stats" for name in options.dfx.enabled)
    if not is_recorded and on_task is None:
        return None
    program = script.program
    if not is_recorded:
        return None if program is None or on_task is None else Counting(program, script.record, on_task)
    if program is None:
        what = f"tasks cannot be recorded: {build} has no intact dump of the program"
        raise RecordsError(what, notes=["compile it with dump_passes=True"])
    recording = Recording(build, manifest.backend, options.dfx, program, script.record, on_task)
    for note in recording.notes:
        warn_caller(note, UserWarning)
    return recording


def script_places(error: Exception, script: BuiltScript) -> Iterator[str]:
    """Where in the script an error came from, and where in the source."""
    line = failing_line(error, str(script.path), script.known)
    if line is None or line.lineno is None:
        return
    yield f"  --> {script.path}:{line.lineno}: {without_source(line.line)}"
    place = script.sources().get(str(line.lineno))
    if place is not None:
        yield f"  source: {place}"
