"""Compiling a program into a build directory: passes and their dumps, then what is generated from the result.

passes_dump/   the program before and after every pass, as text and .msgpack
torch/         the generated PyTorch script
report/        times of the stages
data/          inputs and goldens, written by the harness
manifest.json  what the build was made from, and the state of its files
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.compile.dumps import PassDumper, PassObserver
from pypto_tmpl.compile.entry import find_entry
from pypto_tmpl.compile.fingerprint import generator_fingerprint
from pypto_tmpl.compile.options import CompileOptions
from pypto_tmpl.compile.profile import Profiler
from pypto_tmpl.compile.streams import Stream, TorchScript, torch_script
from pypto_tmpl.files import write_text
from pypto_tmpl.runtime.manifest import NAME as MANIFEST
from pypto_tmpl.runtime.manifest import (
    Entry,
    FileRecord,
    Manifest,
    ManifestError,
    file_records,
    read_manifest,
)

REPORT, DATA = "report", "data"


class Pipeline(Protocol):
    """The passes: returns the program after the last one and tells the observer of every one."""

    def __call__(
        self, program: ir.Program, observer: PassObserver, knobs: Mapping[str, Any]
    ) -> ir.Program: ...


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
    pipeline: Pipeline | None = None,
    streams: Sequence[Stream] = (),
) -> Build:
    """Compile a program into an existing directory; what an earlier build left there is removed.

    Without a pipeline the program is taken as it is, at whatever stage. Raises whatever the passes raise,
    EntryError, UnsupportedProgramError; the dumps written by then stay, and there is no manifest.
    """
    _remove_earlier(directory)
    for folder in (REPORT, DATA):
        (directory / folder).mkdir(exist_ok=True)
    profiler, dumper = Profiler(), PassDumper(directory, options.dump_passes)
    with profiler.stage("passes"):
        dumper.frontend(program)
        if pipeline is not None:
            program = pipeline(program, dumper, options.passes)
    entry = find_entry(program)
    with profiler.stage("codegen"):
        with profiler.stage("torch"):
            script = torch_script(program, entry)
        texts = {script.path: script.text}
        for stream in streams:
            with profiler.stage(stream.name):
                texts |= stream.emit(program, options.passes)
    for path, text in texts.items():
        write_text(directory / path, text)
    written = [*dumper.written, *texts]
    if options.profiling:
        written += [f"{REPORT}/{name}" for name in profiler.write(directory / REPORT)]
    manifest = _manifest(program.name, options, entry, script, dumper.last, file_records(directory, written))
    manifest.write(directory)
    return Build(directory, manifest, program)


def _manifest(
    program: str,
    options: CompileOptions,
    entry: Entry,
    script: TorchScript,
    source: str | None,
    files: dict[str, FileRecord],
) -> Manifest:
    return Manifest(
        program=program,
        platform=options.platform.name,
        backend=options.platform.backend,
        entry=entry,
        script=script.path,
        script_entry=script.entry,
        script_large=script.large,
        source=source,
        generator=generator_fingerprint(),
        files=files,
    )


def _remove_earlier(directory: Path) -> None:
    """Remove the files of an earlier build, which would pass for files of this one."""
    try:
        earlier = read_manifest(directory)
    except ManifestError:
        return
    for path in earlier.files:
        target = (directory / path).resolve()
        if target.is_relative_to(directory):
            target.unlink(missing_ok=True)
    (directory / MANIFEST).unlink(missing_ok=True)
