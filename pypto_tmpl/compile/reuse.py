"""Taking up an earlier build: every file that is stale or missing is named, with what is done about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pypto_tmpl import ir
from pypto_tmpl.compile.build import Build
from pypto_tmpl.compile.fingerprint import generator_fingerprint
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.kept_record import record_path
from pypto_tmpl.runtime.entry import part_of
from pypto_tmpl.runtime.manifest import FileRecord, Manifest, file_record, read_manifest
from pypto_tmpl.runtime.torch_script import torch_script


class StaleBuildError(PyptoTmplError, ValueError):
    """A build that cannot be run any more; the notes name every stale or missing file."""

    slug = "stale-build"


@dataclass(frozen=True, slots=True)
class Finding:
    """A file that is not as the build left it, and what is done."""

    path: str
    state: str
    done: str

    def __str__(self) -> str:
        return f"{self.path}: {self.state}; {self.done}"


@dataclass(frozen=True, slots=True)
class Reused:
    """An earlier build that can be run, and what is to be said about its files."""

    build: Build
    findings: tuple[Finding, ...]


def reuse_build(directory: Path) -> Reused:
    """Take up the build in a directory.

    A script that is missing is generated again from the build's last dump; one that was edited is run as it
    stands; edited dumps have no effect. Raises ManifestError for a directory that is no build,
    StaleBuildError when the script is missing and there is no intact dump to make it from, EntryError for one
    of several orchestrations none of which calls the others.
    """
    manifest = read_manifest(directory)
    manifest.require_entry(directory)
    states = {path: file_state(directory / path, record) for path, record in manifest.files.items()}
    changed = {path: state for path, state in states.items() if state is not None}
    findings = [
        Finding(path, state, _nothing_done(path, manifest))
        for path, state in changed.items()
        if path != manifest.script
    ]
    state = changed.get(manifest.script)
    if state is None:
        findings += _made_by_another(manifest)
    elif (directory / manifest.script).is_file():
        findings.append(Finding(manifest.script, state, "the edited script is run"))
    else:
        manifest, done = _generate_again(directory, manifest, changed, findings)
        findings.append(done)
    return Reused(Build(directory, manifest), tuple(sorted(findings, key=lambda finding: finding.path)))


def file_state(path: Path, record: FileRecord) -> str | None:
    """How a file differs from what was recorded of it, or None."""
    if not path.is_file():
        return "missing"
    size = path.stat().st_size
    if size < record.bytes:
        return f"truncated or edited ({size} of {record.bytes} bytes)"
    if size != record.bytes or file_record(path) != record:
        return "edited"
    return None


def _nothing_done(path: str, manifest: Manifest) -> str:
    if path.startswith("passes_dump/"):
        return f"not used, {manifest.script} is what runs"
    if path == record_path(PurePosixPath(manifest.script)).as_posix():
        return "made again when it is needed"
    return "not used"


def _made_by_another(manifest: Manifest) -> Iterator[Finding]:
    if manifest.generator != generator_fingerprint():
        state = f"made by other templates or another generator ({manifest.tool})"
        yield Finding(manifest.script, state, "run as it is, compile again to renew it")


def _generate_again(
    directory: Path, manifest: Manifest, changed: dict[str, str], findings: list[Finding]
) -> tuple[Manifest, Finding]:
    source = manifest.source
    if source is None or source in changed:
        ordered = sorted(findings, key=lambda finding: finding.path)
        reason = "the build has no pass dumps" if source is None else f"{source} is {changed[source]}"
        raise StaleBuildError(
            f"{manifest.script} is missing and cannot be generated again: {reason}",
            notes=[*(f"{f.path}: {f.state}" for f in ordered), "compile the program again"],
        )
    program = ir.deserialize_from_file(str(directory / source))
    assert isinstance(program, ir.Program)
    if manifest.orchestrations:
        program = part_of(program, manifest.entry.name)
    script = torch_script(program, manifest.entry, PurePosixPath(manifest.script).parent.as_posix())
    written = list(script.write(directory))
    done = f"generated again from {source}"
    if file_record(directory / script.path) != manifest.files[manifest.script]:
        done += ", with another text than the build had"
    current = replace(
        manifest,
        entry=script.entry,
        script_large=script.large,
        generator=generator_fingerprint(),
    )
    for path in written:
        current = current.with_file(directory, path)
    current.write(directory)
    return current, Finding(script.path, "missing", done)
