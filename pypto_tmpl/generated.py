"""Telling what this project wrote from what users wrote: only the former is ever replaced or removed.

A script, page or record carries a mark in its text. The mark names the project and nothing that changes, so
that no text depends on versions or places. Dumps have a form that is PyPTO's and carry none: an existing one
stays unless it is the same or the user asks for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pypto_tmpl.files import FileError, write_bytes

Mark = Callable[[bytes], bool]
JSON_MARK = {"generated_by": "pypto_tmpl"}

SCRIPT_MARK = "Emitted by pypto_tmpl: change the IR or a template, not this text."
_SCRIPT = re.compile(rb'"""(?:[^"]*?(?:\. |\r?\n))?' + re.escape(SCRIPT_MARK.encode()) + rb'(?:"""|\r?\n)')
_TEXT = re.compile(rb"// " + re.escape(SCRIPT_MARK.encode()) + rb"\r?\n")
_PAGE = re.compile(
    rb'<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta name="generator" content="pypto_tmpl">'
)
_FIRST_LINE = re.compile(rb"[^\n]*`pypto-tmpl ops (docs|stubs) --write`")
_SOURCE_LINE = re.compile(r".+:\d+", re.DOTALL)


class ForeignFileError(FileError, FileExistsError):
    """A file stands where something was to be written, and it is none of this project's."""

    slug = "not-generated"


def is_script(data: bytes) -> bool:
    """An emitted script, as its docstring says; edits below do not make it another's."""
    return _SCRIPT.match(data) is not None


def is_stream_text(data: bytes) -> bool:
    """A text of a device build that is no Python, as the comment in its first line says."""
    return _TEXT.match(data) is not None


def is_report_page(data: bytes) -> bool:
    """A page of a report."""
    return _PAGE.match(data) is not None


def is_record(data: bytes) -> bool:
    """A report or the index of a trace, in JSON."""
    found = json_in(data)
    return isinstance(found, dict) and JSON_MARK.items() <= found.items()


def is_source_map(data: bytes) -> bool:
    """Lines of a script with the source lines they were made from: nothing else looks like it."""
    found = json_in(data)
    return isinstance(found, dict) and all(
        line.isdecimal() and isinstance(place, str) and _SOURCE_LINE.fullmatch(place)
        for line, place in found.items()
    )


def is_made_of_table(data: bytes) -> bool:
    """A page or stub that ``ops ... --write`` made: its first line says so."""
    return _FIRST_LINE.match(data) is not None


def has_no_mark(data: bytes) -> bool:
    """Of files in a form that is not this project's, none can be known as its own."""
    return False


def json_in(data: bytes) -> Any:
    """What a JSON file holds; none where it is no JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def check_place(path: str | os.PathLike[str], mark: Mark, new: bytes | None = None) -> None:
    """Refuse a place where a file of somebody else would be lost.

    Free are a name without a file, a device or pipe, a file with the mark, and one that holds the ``new``
    bytes already. Raises: ForeignFileError.
    """
    target = Path(path)
    if not target.is_file():
        return
    data = target.read_bytes()
    if data == new or mark(data):
        return
    what = "this file was not written by pypto_tmpl and is left as it is"
    note = "give another name, or move the file away"
    raise ForeignFileError(what, where=os.fspath(path), notes=[note])


def write_generated(
    path: str | os.PathLike[str],
    data: str | bytes,
    mark: Mark,
    *,
    force: bool = False,
    make_folders: bool = False,
) -> None:
    """Write a file as ``write_bytes`` does, but only where ``check_place`` allows it, or with ``force``.

    Raises: ForeignFileError, FileError.
    """
    new = data.encode() if isinstance(data, str) else data
    if not force:
        check_place(path, mark, new)
    write_bytes(path, new, make_folders=make_folders)
