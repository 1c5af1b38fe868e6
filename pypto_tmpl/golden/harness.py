"""The phases of one run, in order, and what becomes of an error in any of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from pypto_tmpl import ir
from pypto_tmpl.compile.build import DATA, REPORT, Build, check_program, compile_program
from pypto_tmpl.compile.directory import make_build_directory
from pypto_tmpl.compile.options import CompileOptions, compile_options, with_run_fields
from pypto_tmpl.compile.reuse import reuse_build
from pypto_tmpl.debug.stages.storage import wrong_places
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.stacked import stacked_tensors
from pypto_tmpl.golden.broken_pass import BrokenPass, find_broken_pass
from pypto_tmpl.golden.console import Console
from pypto_tmpl.golden.data import DataReader, DataWriter, changed_data
from pypto_tmpl.golden.errors import HarnessError, failed_result
from pypto_tmpl.golden.knobs import Knobs, check_names, other_names
from pypto_tmpl.golden.progress import live_line, live_passes
from pypto_tmpl.golden.ranks import check_devices, check_ranks, parts_of_nobody
from pypto_tmpl.golden.report import FinishedRun, write_run_report
from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.golden.sources import ProgramSource
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.golden.validation import check_outputs, raise_for
from pypto_tmpl.golden.values import RunValues, from_data, generate
from pypto_tmpl.runtime.built_script import BuiltScript
from pypto_tmpl.runtime.dfx import DfxOptions
from pypto_tmpl.runtime.entry import find_entry
from pypto_tmpl.runtime.execute import execute_build, require_backend
from pypto_tmpl.runtime.manifest import file_record
from pypto_tmpl.runtime.options import RuntimeOptions, runtime_options
from pypto_tmpl.runtime.platforms import require_simulated, simulator_of
from pypto_tmpl.runtime.read_only import ChangedInput
from pypto_tmpl.runtime.records.task_count import expected_tasks
from pypto_tmpl.runtime.stages import at_stage
from pypto_tmpl.storage.choices import DEFAULT, StorageChoice
from pypto_tmpl.storage.stored import is_placed_at_0, is_stored

_NOT_SET = ("", "0", "false", "False")
_SKIPPED = "validation skipped: no golden_fn or golden_data"
_ON_BYTES = "this was the run on the bytes of the tiles; the one by values is right"


@dataclass(frozen=True, slots=True)
class _RunOnBytes:
    """A second run of a program that is ``placed``: what its outputs begin with, and how it runs."""

    placed: ir.Program
    starts: Mapping[str, torch.Tensor]
    options: RuntimeOptions


class Harness:
    """One call of ``run`` or ``run_jit``."""

    def __init__(self, source: ProgramSource, knobs: Knobs) -> None:
        self._source = source
        self._knobs = knobs
        self._console = Console()
        self._began: float | None = None
        self._work_dir: Path | None = None
        self._data: DataWriter | None = None
        self._program_name = ""
        self._finished = FinishedRun()
        self._changed: list[ChangedInput] = []
        self._storage: StorageChoice = DEFAULT

    def execute(self) -> RunResult:
        """Go through the phases; an error of any of them becomes a failed result."""
        try:
            self._knobs.check_combination()
        except Exception as error:
            return self._failed(error)
        return self._reported(self._ended())

    def _ended(self) -> RunResult:
        self._began = time.perf_counter()
        try:
            note = self._phases()
        except Exception as error:
            return self._failed(error)
        seconds = self._seconds()
        self._console.line(f"PASS ({seconds:.2f}s{', ' if note else ''}{note})")
        return RunResult(True, execution_time=seconds, work_dir=self._work_dir)

    def _reported(self, outcome: RunResult) -> RunResult:
        """Write the report that was asked for; a run whose report cannot be written has failed."""
        path, self._finished.program = self._knobs.report, self._program_name
        if path is None:
            return outcome
        try:
            write_run_report(path, self._finished, outcome, self._knobs)
        except PyptoTmplError as error:
            if outcome.passed:
                return failed_result(error, "report", outcome.execution_time, self._work_dir)
            outcome.error = f"{outcome.error}\nthe report was not written: {error.what}"
        return outcome

    def _failed(self, error: Exception) -> RunResult:
        phase = self._console.phase
        with suppress(OSError):
            self._note_result(f"failed: {phase}")
        seconds = self._seconds() if self._began is not None else None
        return failed_result(error, phase, seconds, self._work_dir)

    def _seconds(self) -> float:
        assert self._began is not None
        return time.perf_counter() - self._began

    def _phases(self) -> str:
        """All phases; returns what the last line says beside the time."""
        knobs = self._knobs
        knobs.check_specs()
        is_jit = self._source.is_jit
        runtime_cfg = with_run_fields(knobs.runtime_cfg, knobs.compile_cfg if is_jit else None)
        options = runtime_options(runtime_cfg)
        compile_opts = compile_options(
            knobs.compile_cfg,
            (knobs.runtime_cfg or {}).get("platform"),
            run_stage=options.stage,
            is_jit=is_jit,
        )
        compile_only = knobs.compile_only or (compile_opts.codegen_only and knobs.runtime_dir is None)
        if ignored := knobs.ignored(compile_only and not knobs.golden_only):
            self._console.line(ignored)
        if knobs.golden_only:
            return self._only_goldens(compile_opts)
        if not compile_only:
            require_simulated(options.platform)
            check_devices(compile_opts.device_ids)
        if knobs.runtime_dir is None:
            build = self._compile(compile_opts)
        else:
            build = self._reuse(knobs.runtime_dir, options.stage)
        options = replace(options, stage=None)  # the build is at it
        self._finished.build = build
        if compile_only:
            return ""
        self._console.phase = "arguments"
        if runtime_cfg.get("platform") is None:
            options = replace(options, platform=simulator_of(build.manifest.backend))
        require_backend(build.manifest, options.platform)
        params = [param.name for param in build.manifest.entry.parameters]
        check_names(knobs.specs, params, build.manifest.entry.name)
        if renamed := other_names(knobs.specs, params):
            self._console.detail(f"specs go by position: {renamed}")
        if build.manifest.device_ids is None:
            check_ranks(build.program, _first_extents(knobs.specs, params))
        values = self._finished.values = self._values()
        self._storage = options.storage or DEFAULT
        placed = None
        if self._storage == "both":
            placed = None if values.expected is None else _placed_program(build)
            options = replace(options, storage="off")
        starts = {} if placed is None else values.starts()
        self._run(build, values, options)
        planned = replace(options, storage="planned", dfx=DfxOptions())
        again = None if placed is None else _RunOnBytes(placed, starts, planned)
        return self._validated(build, values, again)

    # Compiling

    def _compile(self, options: CompileOptions) -> Build:
        with self._console.stage("compile"):
            program = self._source.program()
            self._program_name = program.name
            find_entry(program)
            check_program(program, options)
            self._work_dir = make_build_directory(program.name, options.output_dir)
            with live_passes("compile") as progress:
                build = compile_program(
                    program,
                    self._work_dir,
                    options,
                    is_lowered=self._source.is_lowered,
                    instruments=[progress],
                )
            build.manifest.require_entry(self._work_dir)
            return build

    def _reuse(self, runtime_dir: Path, stage: str | None) -> Build:
        self._console.phase = "runtime_dir"
        if not runtime_dir.is_dir():
            raise HarnessError(f"runtime_dir does not exist: {runtime_dir}")
        self._work_dir = runtime_dir.resolve()
        what = "JIT compile" if self._source.is_jit else "compile"
        self._console.line(f"runtime_only: skipping {what}, using {runtime_dir}")
        reused = reuse_build(self._work_dir)
        self._program_name = reused.build.manifest.program
        findings = [*map(str, reused.findings), *map(str, self._stale_data())]
        for finding in findings:
            self._console.detail(finding)
        if not findings:
            self._console.detail(
                f"nothing is missing or was edited: {len(reused.build.manifest.files)} files"
            )
        manifest = at_stage(self._work_dir, reused.build.manifest, stage)
        if manifest is not reused.build.manifest:
            self._console.detail(f"stage: {manifest.stage}")
        return replace(reused.build, manifest=manifest)

    def _stale_data(self) -> list[object]:
        """Saved data of the reused build that is not as it was; data that is read is told of when it is."""
        assert self._work_dir is not None
        folder = self._work_dir / DATA
        given = self._knobs.golden_data
        return [] if given is not None and given.resolve() == folder else list(changed_data(folder))

    # Inputs and goldens

    def _values(self) -> RunValues:
        knobs = self._knobs
        if knobs.golden_data is not None:
            return self._replayed(knobs.golden_data)
        with self._console.stage("generate inputs"):
            values = generate(knobs.specs)
            self._start_saving()
            if self._data is not None:
                self._data.inputs(values.values)
        if knobs.golden_fn is not None:
            with self._console.stage("compute golden"):
                values.compute_golden(knobs.golden_fn)
                if self._data is not None and values.expected is not None:
                    self._data.goldens(values.expected, knobs.golden_fn, finished=knobs.golden_only)
        return values

    def _replayed(self, folder: Path) -> RunValues:
        with self._console.stage("generate inputs"):
            data = DataReader(folder).load(self._knobs.specs, self._knobs.golden_fn)
            self._console.detail(f"cache hit: {folder / 'in'}")
            values = from_data(self._knobs.specs, data.inputs)
            for note in data.input_notes:
                self._console.detail(note)
        with self._console.stage("compute golden"):
            self._console.detail(f"cache hit: {folder / 'out'}")
            values.expect(data.goldens)
            for note in data.golden_notes:
                self._console.detail(note)
        return values

    def _start_saving(self) -> None:
        """Save data from here on if it is to be saved; a line says so where it is not for its size."""
        assert self._work_dir is not None
        wanted, note = self._knobs.data_decision()
        if note:
            self._console.detail(note)
        if wanted:
            self._data = DataWriter(self._work_dir / DATA, self._program_name, self._knobs.specs)

    def _only_goldens(self, options: CompileOptions) -> str:
        runtime_dir = self._knobs.runtime_dir
        if runtime_dir is not None and not runtime_dir.is_dir():
            raise HarnessError(f"runtime_dir does not exist: {runtime_dir}")
        self._program_name = self._source.name
        self._work_dir = make_build_directory(self._program_name, runtime_dir or options.output_dir)
        self._values()
        return f"golden only: {self._work_dir / DATA}"

    # Running and comparing

    def _run(self, build: Build, values: RunValues, options: RuntimeOptions) -> None:
        with self._console.stage("runtime"):
            values.assert_apart()
            try:
                written = self._executed(build, values, options)
            except TimeoutError:  # the stages before it would take as long
                raise
            except Exception as error:
                for line in _of_pass(self._broken_pass(build, values)):
                    error.add_note(line)
                raise
            for path in written:
                self._console.detail(f"wrote {path.relative_to(build.directory).as_posix()}")
        if os.environ.get("PYPTO_BENCH", "") not in _NOT_SET:
            with self._console.stage("benchmark"):
                why = "no device-domain spans (sim platform or non-profiling build)"
                text = f"effective_us unavailable: {why}"
                if self._knobs.runtime_dir is not None:
                    text = "benchmark skipped: no live CompiledProgram (runtime_dir replay)"
                self._console.detail(text)

    def _executed(self, build: Build, values: RunValues, options: RuntimeOptions) -> list[Path]:
        known = build.directory / REPORT / "tasks.json"
        with live_line("runtime", known, expected=lambda: _expected_tasks(build)) as on_task:
            return execute_build(
                build.directory,
                build.manifest,
                values.arguments(),
                options,
                build.program,
                on_task,
                must_agree=True,
                on_changed=self._changed.append,
            )

    def _broken_pass(self, build: Build, values: RunValues) -> BrokenPass | None:
        """The pass that broke a wrong run; None where it, or what the run began with, is not known."""
        try:
            before = self._before(values)
            if before is None:
                return None
            return find_broken_pass(build, before, values.expected, self._knobs, self._storage)
        except Exception as error:  # the run has failed already, and that is what counts
            what = str(error).partition("\n")[0]
            self._console.detail(f"which pass broke it cannot be told: {type(error).__name__}: {what}")
            return None

    def _before(self, values: RunValues) -> Mapping[str, torch.Tensor] | None:
        """The values that a run began with: as they were saved, or as it has left them."""
        folder = self._knobs.golden_data or (None if self._data is None else self._data.folder)
        if folder is not None:
            return from_data(
                self._knobs.specs, DataReader(folder).load(self._knobs.specs, None).inputs
            ).values
        return None if self._changed else values.before()

    def _changed_inputs(self, build: Build, values: RunValues) -> list[str]:
        """What is said of inputs that the run has changed; specs go by position, and outputs may change."""
        params = [param.name for param in build.manifest.entry.parameters]
        outputs = {
            param for param, spec in zip(params, values.specs, strict=True) if spec.name in values.outputs()
        }
        return [str(found) for found in self._changed if found.name not in outputs]

    def _validated(self, build: Build, values: RunValues, on_bytes: _RunOnBytes | None) -> str:
        changed = self._changed_inputs(build, values)
        if values.expected is None:
            if changed:
                self._console.phase = "validate"
                raise_for({}, changed)
            return _SKIPPED
        knobs = self._knobs
        with self._console.stage("validate"):
            unused = sorted(set(knobs.compare_fn or ()) - set(values.outputs()))
            if unused:
                self._console.detail(f"compare_fn has comparators of what is no output: {', '.join(unused)}")
            self._compare(build, values, changed)
            if on_bytes is not None:
                self._compare_on_bytes(build, values, on_bytes)
        self._note_result("passed")
        return ""

    def _compare(
        self, build: Build, values: RunValues, changed: Sequence[str], placed: ir.Program | None = None
    ) -> None:
        """Compare the outputs; what is ``placed`` has run on the bytes of its tiles, after one by values."""
        knobs = self._knobs
        values.assert_apart()
        assert values.expected is not None
        self._finished.stacked = _stacked_specs(build, values)
        self._finished.checks = check_outputs(
            values.outputs(),
            values.expected,
            knobs.rtol,
            knobs.atol,
            knobs.compare_fn,
            values.inputs(),
            equal_nan=knobs.equal_nan,
            only_wrong=placed is not None,
            stacked=self._finished.stacked,
        )
        for text in changed:
            self._console.detail(text)
        told: list[str] = []
        broken: BrokenPass | None = None
        if not all(check.passed for check in self._finished.checks.values()):
            broken = self._broken_pass(build, values)
            told = [] if placed is None else _wrong_on_bytes(build, placed)
            told += parts_of_nobody(build.manifest.device_ids, values.outputs(), self._finished.stacked)
        for text in [*([] if broken is None else broken.lines()), *told]:
            self._console.detail(text)
        raise_for(self._finished.checks, [*changed, *_of_pass(broken), *told])

    def _compare_on_bytes(self, build: Build, values: RunValues, on_bytes: _RunOnBytes) -> None:
        """Run once more from the same values, on the bytes of the tiles, and compare."""
        values.restart(on_bytes.starts)
        try:
            self._executed(build, values, on_bytes.options)
        except Exception as error:
            broken = self._broken_pass(build, values)
            for line in [*_of_pass(broken), *_wrong_on_bytes(build, on_bytes.placed)]:
                error.add_note(line)
            raise
        self._compare(build, values, self._changed_inputs(build, values), on_bytes.placed)

    def _note_result(self, text: str) -> None:
        if self._data is not None:
            self._data.result(text)


def _of_pass(broken: BrokenPass | None) -> list[str]:
    """What the error of a run says of the pass that broke it; nothing where no pass did."""
    return [] if broken is None or not broken.is_of_a_pass else list(broken.lines())


def _placed_program(build: Build) -> ir.Program | None:
    """The program of a build, if it runs on the bytes of its tiles; not where the script was edited."""
    manifest = build.manifest
    if file_record(build.directory / manifest.script) != manifest.files.get(manifest.script):
        return None
    program = BuiltScript(build.directory, manifest, build.program).program
    is_placed = program is not None and is_stored(functions_of(program), "both", manifest.stage)
    return program if is_placed else None


def _wrong_on_bytes(build: Build, program: ir.Program) -> list[str]:
    """What is wrong with the places of tiles, behind the line that says that a run was on their bytes."""
    placed = is_placed_at_0(functions_of(program), build.manifest.stage)
    return [_ON_BYTES, *wrong_places(program, placed=placed)]


def _first_extents(specs: Sequence[TensorSpec | ScalarSpec], params: Sequence[str]) -> dict[str, int]:
    """The first extents of tensors, by the parameters that they are given for."""
    pairs = zip(specs, params, strict=True)
    return {param: spec.shape[0] for spec, param in pairs if isinstance(spec, TensorSpec) and spec.shape}


def _stacked_specs(build: Build, values: RunValues) -> list[str]:
    """The specs of tensors that hold the parts of all ranks; specs go by position."""
    program = build.program
    stacked = frozenset() if program is None else stacked_tensors(functions_of(program))
    pairs = zip(values.specs, build.manifest.entry.parameters, strict=True)
    return [spec.name for spec, param in pairs if param.name in stacked]


def _expected_tasks(build: Build) -> int | None:
    """How many tasks a build will launch, as far as its program tells."""
    return None if build.program is None else expected_tasks(build.program, build.manifest.entry.name)
