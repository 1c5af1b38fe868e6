"""Whose the files of a build directory are: only what an earlier build made there is removed or replaced."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pypto_tmpl.files import FileError, remove_file
from pypto_tmpl.generated import JSON_MARK, check_place, is_record, is_script, write_generated
from pypto_tmpl.runtime.manifest import NAME as MANIFEST
from pypto_tmpl.runtime.manifest import FileRecord, file_record, file_records, is_manifest

UNFINISHED = "unfinished.json"


def remove_earlier(directory: Path) -> None:
    """Remove the files of an earlier build, which would pass for files of this one.

    They are those that its manifest lists, or the list that a failed one left, as they were written; a script
    may have been edited. Files that became another's stay. Raises ForeignFileError where another file has the
    name of the manifest, and FileError, before anything is removed, where one cannot be.
    """
    found: list[Path] = []
    for name, mark in ((MANIFEST, is_manifest), (UNFINISHED, is_record)):
        place = directory / name
        check_place(place, mark)
        if not place.is_file():
            continue
        for path, record in _records(place):
            target = (directory / path).resolve()
            if target.is_relative_to(directory.resolve()) and _is_as_written(target, record):
                found.append(target)
        found.append(place)
    for folder in sorted({path.parent for path in found}):
        if not os.access(folder, os.W_OK):
            what = "the earlier build cannot be replaced: its folder is read-only"
            raise FileError(what, where=str(folder), notes=["give another output_dir"])
    for file in found:
        remove_file(file)


def note_unfinished(directory: Path, paths: Iterable[str]) -> None:
    """List what a build wrote until it failed, so that the next one knows it as its own.

    Where even that cannot be written, as on a full disk, it is removed.
    """
    there = [path for path in paths if (directory / path).is_file()]
    files = {path: asdict(record) for path, record in file_records(directory, there).items()}
    if not files:
        return
    text = json.dumps(JSON_MARK | {"files": files}, indent=2) + "\n"
    try:
        write_generated(directory / UNFINISHED, text, is_record)
    except FileError:
        for path in there:
            (directory / path).unlink(missing_ok=True)


def _records(place: Path) -> list[tuple[str, FileRecord]]:
    """The files that a manifest or list names, without those that it does not tell properly."""
    data: Any = json.loads(place.read_bytes() or b"{}")
    files = data.get("files")
    found = []
    for path, record in files.items() if isinstance(files, dict) else ():
        if isinstance(record, dict) and {"bytes", "sha256"} <= record.keys():
            found.append((path, FileRecord(record["bytes"], record["sha256"])))
    return found


def _is_as_written(path: Path, record: FileRecord) -> bool:
    if not path.is_file():
        return False
    return file_record(path) == record or is_script(path.read_bytes())
