"""Compiling a program into a build directory: passes and their dumps, then what is generated from the result.

passes_dump/   the program before and after every pass, as text and .msgpack
torch/         the generated PyTorch script, and the record of its lines
report/        times of the stages
data/          inputs and goldens, written by the harness
manifest.json  what the build was made from, and the state of its files
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.compile.dumps import PassDumper
from pypto_tmpl.compile.entry import find_entry
from pypto_tmpl.compile.fingerprint import generator_fingerprint
from pypto_tmpl.compile.lower import lower
from pypto_tmpl.compile.options import CompileOptions
from pypto_tmpl.compile.ownership import note_unfinished, remove_earlier
from pypto_tmpl.compile.profile import Profiler
from pypto_tmpl.compile.streams import Stream, TorchScript, torch_script
from pypto_tmpl.files import make_folder
from pypto_tmpl.generated import has_no_mark, is_record, is_script, write_generated
from pypto_tmpl.runtime.manifest import FileRecord, Manifest, file_records

REPORT, DATA = "report", "data"


@dataclass(frozen=True, slots=True)
class Build:
    """A build directory and its manifest; ``program`` is what the script was made from, if it is known."""

    directory: Path
    manifest: Manifest
    program: ir.Program | None = None


def compile_program(
    program: ir.Program,
    directory: Path,
    options: CompileOptions,
    streams: Sequence[Stream] = (),
    *,
    is_lowered: bool = False,
) -> Build:
    """Compile a program into an existing directory; of what is there only an earlier build is removed.

    A program that ``is_lowered`` is taken as it is. Raises whatever the passes raise, EntryError,
    UnsupportedProgramError, and ForeignFileError where a file of others is in the way; the dumps written by
    then stay, and there is no manifest.
    """
    remove_earlier(directory)
    for folder in (REPORT, DATA):
        make_folder(directory / folder)
    dumper = PassDumper(directory, options.dump_passes)
    written: list[str] = []
    profiler = Profiler()
    try:
        with profiler.stage("passes"):
            lowered = lower(program, options.passes, dumper, is_lowered=is_lowered)
        return _build(lowered, directory, options, dumper, written, profiler, streams)
    except BaseException:
        note_unfinished(directory, [*dumper.written, *written])
        raise


def _build(
    program: ir.Program,
    directory: Path,
    options: CompileOptions,
    dumper: PassDumper,
    written: list[str],
    profiler: Profiler,
    streams: Sequence[Stream],
) -> Build:
    """Write what is generated from a program after the passes; ``written`` gets the files as they come."""
    entry = find_entry(program)
    with profiler.stage("codegen"):
        with profiler.stage("torch"):
            script = torch_script(program, entry)
        texts = {script.path: script.text, script.record_path: script.record}
        for stream in streams:
            with profiler.stage(stream.name):
                texts |= stream.emit(program, options.passes)
    marks = {script.path: is_script, script.record_path: is_record}
    for path, text in texts.items():
        mark = marks.get(path, has_no_mark)
        write_generated(directory / path, text, mark, make_folders=True)
        written.append(path)
    if options.profiling:
        written += [f"{REPORT}/{name}" for name in profiler.write(directory / REPORT)]
    records = file_records(directory, [*dumper.written, *written])
    manifest = _manifest(program.name, options, script, dumper.last, records)
    manifest.write(directory)
    return Build(directory, manifest, program)


def _manifest(
    program: str,
    options: CompileOptions,
    script: TorchScript,
    source: str | None,
    files: dict[str, FileRecord],
) -> Manifest:
    return Manifest(
        program=program,
        platform=options.platform.name,
        backend=options.platform.backend,
        entry=script.entry,
        script=script.path,
        script_large=script.large,
        source=source,
        generator=generator_fingerprint(),
        files=files,
    )
