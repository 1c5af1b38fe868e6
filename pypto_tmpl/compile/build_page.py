"""What a page on a build shows: its stages as they were dumped, its files, the memories of its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.compile.build import DATA, REPORT
from pypto_tmpl.compile.ownership import UNFINISHED
from pypto_tmpl.compile.profile import STEM
from pypto_tmpl.compile.reuse import file_state
from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.stages.dumps import Stage, StageNotFoundError, find_stages
from pypto_tmpl.debug.stages.preparation import read_program
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import is_record, json_in
from pypto_tmpl.passes.memory.usage import has_storage, memory_use
from pypto_tmpl.runtime.manifest import NAME, Manifest, read_manifest, sub_build
from pypto_tmpl.runtime.stages import DUMPS
from pypto_tmpl.storage.stored import planned_by

SHOWN = (".py", ".cpp", ".h", ".pto", ".txt", ".log", ".json")
_LARGEST = 4_000_000  # bytes of a file: a page with more of it is none that a browser likes
_FIRST = ("kernel_config.py", "orchestration", "sub_workers", "kernels", "ptoas", "torch", REPORT, DUMPS)
_FOLDERS_OF_RUNS = (DATA, "dfx_outputs", "cache")


def build_manifest(build: Path) -> Manifest | None:
    """The manifest of a build; None for one that failed, of which there is what was written until then.

    Raises ManifestError for a directory that is neither.
    """
    if not (build / NAME).is_file() and (build / UNFINISHED).is_file():
        return None
    return read_manifest(build)


def stages_as_dumped(build: Path) -> ValidationResult:
    """The stages of a build with their texts, none of them run, and the times of passes if it has them."""
    seconds = _pass_times(build)
    try:
        stages = find_stages(build / DUMPS)
    except StageNotFoundError:
        return ValidationResult(0)
    found = [_as_dumped(stage, seconds.get(number, 0.0)) for number, stage in enumerate(stages)]
    return ValidationResult(len(found), found)


def attached_to(build: Path, manifest: Manifest | None) -> Attached:
    """What the page of a build shows beside its stages."""
    memory = _memory(build, manifest)
    return Attached(
        build.resolve().name if manifest is None else manifest.program,
        tuple(_facts(build, manifest)),
        tuple(_files(build)),
        memory,
        "" if manifest is None else f"after {manifest.stage}",
    )


def _as_dumped(stage: Stage, seconds: float) -> StageResult:
    content = stage.read()
    text = (content.text or b"").decode("utf-8-sig", "replace")
    if content.text is None:
        try:
            text = ir.python_print(read_program(content), format=False)
        except PyptoTmplError as error:
            text = str(error)
    return StageResult(stage, read_from=str(stage.path), seconds=seconds, ir=text, is_run=False)


def _pass_times(build: Path) -> Mapping[int, float]:
    """Seconds of the passes by the numbers of their stages, where the build was profiled."""
    path = build / REPORT / f"{STEM}.json"
    data = json_in(path.read_bytes()) if path.is_file() else None
    stages: list[dict[str, Any]] = data.get("stages", []) if isinstance(data, dict) else []
    passes: list[dict[str, Any]] = next(
        (stage["children"] for stage in stages if stage["name"] == "passes"), []
    )
    return {number: found["seconds"] for number, found in enumerate(passes, 1)}


def _facts(build: Path, manifest: Manifest | None) -> Iterator[tuple[str, str]]:
    yield "build", str(build)
    if manifest is None:
        yield "unfinished", "the compilation failed: these are the stages until then"
        return
    yield "program", manifest.program
    if manifest.orchestrations:
        yield "orchestrations", "\n".join(map(sub_build, manifest.orchestrations))
    if manifest.script:
        params = ", ".join(f"{param.name}: {param.direction}" for param in manifest.entry.parameters)
        yield "entry", f"{manifest.entry.name}({params})"
    yield "compiled for", f"{manifest.platform} ({manifest.backend})"
    if manifest.script:
        yield "executed", f"{manifest.script}, made from {manifest.stage}"
    yield from manifest.streams.items()
    states = {path: file_state(build / path, record) for path, record in manifest.files.items()}
    if changed := [f"{path}: {state}" for path, state in sorted(states.items()) if state is not None]:
        yield "not as built", "\n".join(changed)


def _files(build: Path) -> Iterator[tuple[str, str]]:
    """The texts of a build that are no dumps, what is generated for a device first."""
    found = [path for path in build.rglob("*") if path.is_file() and path.suffix in SHOWN]
    for path in sorted(found, key=lambda path: _place(path.relative_to(build))):
        name = path.relative_to(build)
        is_dump = name.parts[0] == DUMPS and path.suffix != ".log"
        if is_dump or name.parts[0] in _FOLDERS_OF_RUNS or path.stat().st_size > _LARGEST:
            continue
        data = path.read_bytes()
        if not is_record(data):
            yield name.as_posix(), data.decode("utf-8", "replace")


def _place(name: Path) -> tuple[int, str]:
    rank = _FIRST.index(name.parts[0]) if name.parts[0] in _FIRST else len(_FIRST)
    return rank, name.as_posix()


def _memory(build: Path, manifest: Manifest | None) -> list[dict[str, Any]]:
    """What the kernels use of their memories at the stage that is executed, as far as it has addresses."""
    if manifest is None or manifest.source is None or not (build / manifest.source).is_file():
        return []
    try:
        program = ir.deserialize_from_file(str(build / manifest.source))
    except PyptoTmplError:
        return []
    if not isinstance(program, ir.Program) or not has_storage(program):
        return []
    placed = planned_by(manifest.stage) == "addresses"
    kernels = memory_use(program, facts_of(BackendType[manifest.backend]), placed=placed)
    return [kernel.as_dict() for kernel in kernels if all(space.is_placed for space in kernel.spaces)]
