"""Compiling a program into a build directory: passes and their dumps, then what is generated from the result.

passes_dump/        the program before and after every pass, as text and .msgpack
torch/              the generated PyTorch script, and the record of its lines
ptoas/              the .pto texts of the kernels, and what the assembler makes of them
kernels/            the entries of the kernels, around what the assembler made
orchestration/      the C++ that launches them
kernel_config.py    which kernels there are
debug/run.py        runs the build again, on inputs that its user writes there
report/             performance hints, times of the stages
data/               inputs and goldens, written by the harness
compiled_meta.json  the parameters of the entry; distributed_meta.json where a host drives ranks
manifest.json       what the build was made from, and the state of its files

Where a program has several orchestrations, each is a build of its own in ``next_levels/``, without dumps.
Their whole has none of the files that a device needs, and runs the script of the one that calls the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.compile import debug_runner
from pypto_tmpl.compile.fingerprint import generator_fingerprint
from pypto_tmpl.compile.host import HostCode, host_code
from pypto_tmpl.compile.lower import Dumps, lowered
from pypto_tmpl.compile.meta import DISTRIBUTED, distributed_meta_text, meta_text
from pypto_tmpl.compile.meta import NAME as META
from pypto_tmpl.compile.options import CompileOptions
from pypto_tmpl.compile.ownership import note_unfinished, remove_earlier
from pypto_tmpl.compile.profile import CompileProfiler, PassTimes
from pypto_tmpl.compile.progress import PassProgress
from pypto_tmpl.compile.streams import (
    PTOAS,
    KernelTexts,
    Stream,
    assemble_texts,
    error_reports,
    kernel_texts,
    make_stream_folders,
    report_of,
)
from pypto_tmpl.domains.host import is_host
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.files import make_folder
from pypto_tmpl.generated import check_place, has_no_mark, write_generated
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.ir.stage_names import AS_WRITTEN, LAST
from pypto_tmpl.passes.context import Instrument
from pypto_tmpl.passes.instruments import HINTS, MEMORY, ReportInstrument
from pypto_tmpl.runtime.distributed import DistributedConfig
from pypto_tmpl.runtime.entry import (
    find_entry,
    orchestrations_of,
    part_of,
    result_count,
    stage_entry,
    start_of,
)
from pypto_tmpl.runtime.manifest import NAME as MANIFEST
from pypto_tmpl.runtime.manifest import FileRecord, Manifest, file_record, record_of, sub_build
from pypto_tmpl.runtime.stages import BINARY, DUMPS
from pypto_tmpl.runtime.torch_script import TorchScript, torch_script

REPORT, DATA = "report", "data"
_REPORTS = (f"{REPORT}/{HINTS}", f"{REPORT}/{MEMORY}")


@dataclass(frozen=True, slots=True)
class Build:
    """A build directory and its manifest.

    ``program`` is what the script was made from, ``given`` what was compiled, if they are known;
    ``why_no_cpp`` says why the assembler made nothing of the texts that there are for it, or nothing of use.
    ``parts`` are the builds of several orchestrations, by name.
    """

    directory: Path
    manifest: Manifest
    program: ir.Program | None = None
    given: ir.Program | None = None
    why_no_cpp: str = ""
    parts: Mapping[str, Build] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """What has an entry: a whole program, "" by name, or one of several orchestrations with what it calls.

    ``given`` is the same before the passes, if there is such a function by then. PyPTO tells its parameters
    in a file only where that ``is_told``: where it is an orchestration already.
    """

    name: str
    program: ir.Program
    entry: Entry
    results: int
    given: ir.Program | None = None
    is_told: bool = True


class _Files:
    """Writes the files of a build, and knows their states; ``dumped`` is the newest binary dump."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.records: dict[str, FileRecord] = {}
        self.dumped: str | None = None
        self._last: dict[str, tuple[bytes, FileRecord]] = {}  # by suffix: most stages are as the one before

    def dump(self, path: Path, data: bytes) -> None:
        """Write the file of a stage."""
        write_generated(path, data, has_no_mark, make_folders=True)
        last = self._last.get(path.suffix)
        record = last[1] if last is not None and last[0] is data else record_of(data)
        self._last[path.suffix] = data, record
        name = path.relative_to(self.build).as_posix()
        self.records[name] = record
        if path.suffix == BINARY:
            self.dumped = name

    def made(self, *paths: Path) -> None:
        """Take note of files that were written elsewhere."""
        self.records |= {path.relative_to(self.build).as_posix(): file_record(path) for path in paths}

    def text(self, path: str, text: str) -> None:
        """Write a file without a mark of this project."""
        write_generated(self.build / path, text, has_no_mark, make_folders=True)
        self.records[path] = record_of(text.encode())


def check_program(program: ir.Program, options: CompileOptions) -> None:
    """Refuse what cannot be compiled, before a directory is made for it; several orchestrations can.

    Raises EntryError for a program that cannot be run here, StageNameError for a stage that there is not, and
    RuntimeError for a setting that the active ``PassContext`` has.
    """
    options.passes.check_context()
    options.passes.check_stage()
    for part in [part_of(program, name) for name in orchestrations_of(program)] or [program]:
        find_entry(part)
    options.check_devices(program)


def compile_program(
    program: ir.Program,
    directory: Path,
    options: CompileOptions,
    streams: Sequence[Stream] = (),
    *,
    is_lowered: bool = False,
    instruments: Sequence[Instrument] = (),
) -> Build:
    """Compile a program into an existing directory; of what is there only an earlier build is removed.

    A program that ``is_lowered`` is taken as it is. ``instruments`` watch the passes. Raises whatever the
    passes raise, EntryError, UnsupportedProgramError, RuntimeError for a setting that the active
    ``PassContext`` has, and ForeignFileError where a file of others is in the way; the dumps written by then
    stay, and there is no manifest.
    """
    check_program(program, options)
    remove_earlier(directory)
    for name in _REPORTS:
        check_place(directory / name, has_no_mark)
    for folder in (REPORT, DATA):
        make_folder(directory / folder)
    files = _Files(directory)
    try:
        with collector_paused():
            return _build(program, files, options, streams, is_lowered, instruments)
    except BaseException:
        note_unfinished(directory, files.records)
        raise


def _build(
    given: ir.Program,
    files: _Files,
    options: CompileOptions,
    streams: Sequence[Stream],
    is_lowered: bool,
    instruments: Sequence[Instrument],
) -> Build:
    """Write everything; ``files`` gets to know of it as it comes."""
    directory, outer = files.build, CompileProfiler.current()
    profiler = CompileProfiler() if outer is None else outer
    backend = BackendType[options.platform.backend]
    passes = replace(options.passes, stage=AS_WRITTEN) if is_lowered else options.passes
    dumps = Dumps(directory / DUMPS, options.dump_passes, files.dump)
    watching = [PassTimes(profiler), ReportInstrument(directory / REPORT), *instruments]
    with profiler.stage("passes"):
        made = lowered(given, passes, dumps, watching)
    files.made(*(directory / name for name in _REPORTS if (directory / name).is_file()))
    program, names = made.program, orchestrations_of(made.program)
    parts = [_part(name, given, program) for name in names] or [_whole(given, program)]
    with profiler.stage("codegen"):
        with profiler.stage("torch"):
            scripts = [torch_script(part.program, part.entry) for part in parts]
        kernels = KernelTexts()
        if passes.stage == LAST:
            planner = passes.resolved().memory_planner
            kernels = kernel_texts(
                made.values, backend, planner, options.knobs,
                skip_ptoas=options.skip_ptoas, timed=profiler.stage,
            )  # fmt: skip
        for path, text in kernels.texts.items():
            files.text(path, text)
        if not options.skip_ptoas and kernels.texts:
            with profiler.stage("ptoas"):
                assemble_texts(
                    kernels, directory, backend,
                    dump_passes=bool(options.knobs.get("dump_ptoas_passes")),
                    counted=PassProgress.counter_in(instruments),
                )  # fmt: skip
            files.made(*kernels.assembled.values(), *kernels.dumped)
        host = HostCode()
        if passes.stage == LAST:
            with profiler.stage("orchestration_codegen"):
                run_time = passes.resolved().runtime
                host = host_code(made.values, backend, kernels, run_time, skip_ptoas=options.skip_ptoas)
        texts = dict(host.texts)
        for stream in streams:
            with profiler.stage(stream.name):
                texts |= stream.emit(program, options.knobs)
    reports = error_reports(kernels.errors | host.errors, made.values)
    texts |= {path: report_of(errors) for path, errors in reports.items()}
    missing = make_stream_folders(
        directory,
        skip_ptoas=options.skip_ptoas,
        is_last=passes.stage == LAST,
        made={PTOAS: kernels.note(made.values), **host.notes, **{stream.name: "" for stream in streams}},
        orchestrations=names,
    )
    for path, text in texts.items():
        files.text(path, text)
    whole = Manifest(
        program=given.name,
        platform=options.platform.name,
        backend=options.platform.backend,
        entry=Entry("", "", ()),
        script="",
        script_large=(),
        source=files.dumped,
        stage=made.stage,
        results=0,
        generator=generator_fingerprint(),
        files={},
        streams=missing,
        device_ids=options.device_ids,
        orchestrations=tuple(names),
    )
    found = {
        part.name: _write_part(part, script, files, whole, options.knobs.get("distributed_config"))
        for part, script in zip(parts, scripts, strict=True)
    }
    manifest = _of_several(whole, found, start_of(program)) if names else found[""].manifest
    if options.profiling and outer is None:
        files.made(*(directory / REPORT / name for name in profiler.write_report(directory / REPORT)))
    manifest = replace(manifest, files=files.records)
    manifest.write(directory)
    why_no_cpp = kernels.why_no_cpp or host.odd_cpp
    return Build(directory, manifest, program, given, why_no_cpp, found if names else {})


def _whole(given: ir.Program, made: ir.Program) -> _Part:
    """The one part of a program that has an entry."""
    entry = find_entry(given)
    return _Part("", made, stage_entry(made, entry), result_count(given, entry), given)


def _part(name: str, given: ir.Program, made: ir.Program) -> _Part:
    """What one of several orchestrations starts; passes may have made it of another function."""
    program = part_of(made, name)
    entry = find_entry(program)
    as_written = given.get_function(name)
    if as_written is None:
        return _Part(name, program, entry, result_count(program, entry), is_told=False)
    own = part_of(given, name)
    as_given = find_entry(own)
    is_told = as_written.func_type is ir.FunctionType.Orchestration
    return _Part(name, program, stage_entry(program, as_given), result_count(own, as_given), own, is_told)


def _of_several(whole: Manifest, parts: Mapping[str, Build], start: str | None) -> Manifest:
    """The manifest of a whole, which is run by the script of the part that calls the others."""
    if start is None:
        return whole
    part = parts[start].manifest
    path = f"{sub_build(start)}/{part.script}"
    return replace(whole, entry=part.entry, script=path, script_large=part.script_large, results=part.results)


def _write_part(
    part: _Part, script: TorchScript, files: _Files, whole: Manifest, devices: DistributedConfig | None
) -> Build:
    """Write what calls of a part need; one of several gets its manifest, and its program where dumps are.

    ``devices`` are those that a host was compiled for.
    """
    folder = f"{sub_build(part.name)}/" if part.name else ""
    directory, source = files.build / folder, whole.source
    for path in script.write(directory):
        files.made(directory / path)
    if part.name and source is not None:
        source = f"{PurePosixPath(script.path).with_suffix(BINARY)}"
        files.dump(directory / source, ir.serialize(part.program))
    manifest = replace(
        whole,
        entry=script.entry,
        script=script.path,
        script_large=script.large,
        source=source,
        results=part.results,
        orchestrations=(),
    )
    function = part.program.get_function(part.entry.name)
    if function is not None and is_host(function):
        files.text(DISTRIBUTED, distributed_meta_text(manifest, function, devices))
    elif part.is_told:
        files.text(f"{folder}{META}", meta_text(manifest))
    runner = files.build / debug_runner.PATH
    if not part.name and debug_runner.is_wanted() and not runner.exists():  # an edited one stays
        files.text(debug_runner.PATH, debug_runner.runner_text(manifest))
    if part.name:
        own = {path: record for path, record in files.records.items() if path.startswith(folder)}
        manifest = replace(manifest, files={path.removeprefix(folder): own[path] for path in own})
        manifest.write(directory)
        files.made(directory / MANIFEST)
    return Build(directory, manifest, part.program, part.given)
