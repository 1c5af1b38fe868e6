"""The manifest of a build directory: what it was made from, and the state of every file in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pypto_tmpl import __version__
from pypto_tmpl.domains.host import REQUIRED
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import Entry, EntryError, Parameter
from pypto_tmpl.generated import json_in, write_generated

NAME = "manifest.json"
NEXT_LEVELS = "next_levels"
SCHEMA = 2


class ManifestError(PyptoTmplError, ValueError):
    """A directory that is no build, or whose manifest cannot be read."""

    slug = "manifest"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Size and SHA-256 of a file as the build wrote it."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a build holds.

    ``script`` is the generated script, ``script_large`` are functions in it whose ops are large. ``source``
    is the binary dump it was made from, if the build has one, and ``stage`` which stage that is. ``results``
    is how many values the entry returns; ``streams`` says why what PyPTO generates is not there;
    ``device_ids`` are those that ranks run on, if they were named. Paths are relative to the build, with
    slashes. Each of several ``orchestrations`` is a build of its own, in ``sub_build``. Their whole has the
    entry and the script of the one that calls the others, and neither where there is no such one.
    """

    program: str
    platform: str
    backend: str
    entry: Entry
    script: str
    script_large: tuple[str, ...]
    source: str | None
    stage: str
    results: int
    generator: str
    files: dict[str, FileRecord]
    streams: dict[str, str] = field(default_factory=dict)
    device_ids: tuple[int, ...] | None = None
    orchestrations: tuple[str, ...] = ()
    tool: str = f"pypto_tmpl {__version__}"

    def write(self, build: Path) -> None:
        """Write the manifest into a build directory. Raises ForeignFileError where another file is there."""
        params = [
            {"name": p.name, "direction": p.direction, "dtype": p.dtype, "shape": p.shape and list(p.shape)}
            for p in self.entry.parameters
        ]
        data = {
            "schema": SCHEMA,
            "tool": self.tool,
            "generator": self.generator,
            "program": self.program,
            "platform": self.platform,
            "backend": self.backend,
            "entry": {"function": self.entry.name, "params": params, "results": self.results},
            "script": {
                "path": self.script,
                "entry": self.entry.script_name,
                "large": list(self.script_large),
                "stage": self.stage,
                "source": self.source,
            },
            "streams": self.streams,
            **({} if self.device_ids is None else {"device_ids": list(self.device_ids)}),
            **({"orchestrations": list(self.orchestrations)} if self.orchestrations else {}),
            "files": {
                path: {"bytes": record.bytes, "sha256": record.sha256}
                for path, record in sorted(self.files.items())
            },
        }
        text = json.dumps(data, indent=2) + "\n"
        write_generated(build / NAME, text, is_manifest, make_folders=True)

    def require_entry(self, build: Path) -> None:
        """Raise EntryError for several orchestrations none of which calls the others: what is run is open."""
        if not self.script:
            names = ", ".join(self.orchestrations)
            raise EntryError(
                f"{build} has several orchestrations: {names}",
                notes=[f"run one of them: {sub_build(name)}" for name in self.orchestrations],
            )

    def with_file(self, build: Path, path: str) -> Manifest:
        """The manifest with a file's state as it is now."""
        return replace(self, files=self.files | {path: file_record(build / path)})


def sub_build(orchestration: str) -> str:
    """The folder of one of several orchestrations in a build."""
    return f"{NEXT_LEVELS}/{orchestration}"


def is_manifest(data: bytes) -> bool:
    """The manifest of a build, of whatever version."""
    found = json_in(data)
    tool = found.get("tool") if isinstance(found, dict) else None
    return isinstance(tool, str) and tool.startswith("pypto_tmpl ")


def read_manifest(build: Path) -> Manifest:
    """The manifest of a build directory. Raises ManifestError for a directory that has none."""
    path = build / NAME
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = f"{build} is no complete build: it has no {NAME}"
        raise ManifestError(what, notes=["a build that failed or was interrupted leaves none"]) from None
    except (OSError, ValueError) as error:
        raise ManifestError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise ManifestError(f"{path} has schema {found!r}, expected {SCHEMA}: compile the program again")
    try:
        return _manifest(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ManifestError(f"{path} is damaged: {type(error).__name__} {error}") from None


def read_required(build: Path) -> list[str]:
    """The callbacks that a build lists as those which its runs have to be given. Raises ManifestError."""
    path = build / REQUIRED
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(f"{path} cannot be read: {error}") from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ManifestError(f"{path} is no list of names: compile the program again")
    return names


def _manifest(data: dict[str, Any]) -> Manifest:
    return Manifest(
        program=data["program"],
        platform=data["platform"],
        backend=data["backend"],
        entry=Entry(
            data["entry"]["function"],
            data["script"]["entry"],
            tuple(map(_parameter, data["entry"]["params"])),
        ),
        script=data["script"]["path"],
        script_large=tuple(data["script"].get("large", ())),
        source=data["script"]["source"],
        stage=data["script"]["stage"],
        results=data["entry"]["results"],
        streams=data["streams"],
        generator=data["generator"],
        files={path: FileRecord(f["bytes"], f["sha256"]) for path, f in data["files"].items()},
        device_ids=tuple(data["device_ids"]) if "device_ids" in data else None,
        orchestrations=tuple(data.get("orchestrations", ())),
        tool=data["tool"],
    )


def _parameter(data: dict[str, Any]) -> Parameter:
    shape = data["shape"]
    return Parameter(
        data["name"], data["direction"], data["dtype"], None if shape is None else tuple(shape), shape is None
    )


def record_of(data: bytes) -> FileRecord:
    """The state of a file that has been written with this content."""
    return FileRecord(len(data), hashlib.sha256(data).hexdigest())


def file_record(path: Path) -> FileRecord:
    """The state of a file now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileRecord(file.tell(), digest.hexdigest())


def file_records(build: Path, paths: Iterable[str]) -> dict[str, FileRecord]:
    """The states of files of a build."""
    return {path: file_record(build / path) for path in paths}
