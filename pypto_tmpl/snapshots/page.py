"""A page that shows how scripts differ, side by side; what many share stands there once."""

from __future__ import annotations

import base64
import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path

import jinja2
from markupsafe import Markup

from pypto_tmpl.generated import check_place, is_report_page, write_generated
from pypto_tmpl.overlays import all_folders
from pypto_tmpl.snapshots.patch import Change, FilePatch, Hunk, grouped
from pypto_tmpl.snapshots.program_hunks import is_in_program

PAGE, STYLE = "report/snapshots.html.jinja", "report/snapshots.css"
_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.5  # lines less alike are shown without marks on what differs in them

Parts = list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of both sides: numbers and texts, in parts of which some differ; None where a side has none."""

    old_number: int | None
    old: Parts | None
    new_number: int | None
    new: Parts | None
    is_changed: bool


@dataclass(frozen=True, slots=True)
class ShownHunk:
    """A hunk with its header, and whether the program or only helpers change in it."""

    header: str
    in_program: bool
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: the scripts that it is about, and what changes in them."""

    names: list[str]
    state: str
    hunks: list[ShownHunk]


def check_page(path: Path) -> None:
    """Refuse a place where a file of somebody else would be lost. Raises ForeignFileError."""
    check_place(path, is_report_page)


def write_page(path: Path, patches: Sequence[FilePatch], total: int) -> None:
    """Write the page on how ``patches`` differ, of ``total`` scripts. Raises ForeignFileError, FileError."""
    write_generated(path, page_text(patches, total).encode("utf-8", "replace"), is_report_page)


def page_text(patches: Sequence[FilePatch], total: int) -> str:
    """The HTML of the page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(all_folders()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    assert environment.loader is not None
    style = "\n" + environment.loader.get_source(environment, STYLE)[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template(PAGE).render(
        sections=sections(patches),
        differing=len(patches),
        total=total,
        style=Markup(style),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
    )


def sections(patches: Sequence[FilePatch]) -> list[Section]:
    """What scripts share, largest first, then each script with what it alone changes."""
    changes = grouped(patches)
    shared = [change for change in changes if change.file_count > 1]
    found = [_shared_section(change) for change in shared]
    for patch in patches:
        own = [change for change in changes if change.file_count == 1 and change.first[0] is patch]
        hunks = [hunk for change in own for _, hunk in change.places]
        if hunks:
            shown = [_shown(patch, hunk) for hunk in sorted(hunks, key=lambda hunk: hunk.old)]
            found.append(Section([patch.name], _state(patch), shown))
    return found


def _shared_section(change: Change) -> Section:
    names = list(dict.fromkeys(patch.name for patch, _ in change.places))
    patch, hunk = change.first
    return Section(names, _state(patch), [_shown(patch, hunk)])


def _state(patch: FilePatch) -> str:
    return "new" if patch.old is None else "gone" if patch.new is None else "changed"


def _shown(patch: FilePatch, hunk: Hunk) -> ShownHunk:
    return ShownHunk(hunk.header, is_in_program(patch, hunk), list(_rows(hunk)))


def _rows(hunk: Hunk) -> Iterator[Row]:
    old_number, new_number = hunk.old, hunk.new
    for is_same, run in groupby(hunk.lines, key=lambda line: line[0] == " "):
        lines = [(line[0], line[1:].rstrip("\n")) for line in run]
        gone = [text for sign, text in lines if sign != "+"]
        came = [text for sign, text in lines if sign != "-"]
        for old, new in zip_longest(gone, came):
            numbers = (None if old is None else old_number, None if new is None else new_number)
            old_parts, new_parts = _parts(old, new)
            yield Row(numbers[0], old_parts, numbers[1], new_parts, not is_same)
            old_number += old is not None
            new_number += new is not None


def _parts(old: str | None, new: str | None) -> tuple[Parts | None, Parts | None]:
    """Both lines in parts, with those that differ known as such."""
    if old is None or new is None:
        return (None if old is None else [(old, False)]), (None if new is None else [(new, False)])
    words: list[list[str]] = [_WORD.findall(line) for line in (old, new)]
    matcher = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [(old, False)], [(new, False)]
    sides: tuple[Parts, Parts] = ([], [])
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        for side, text in zip(sides, (words[0][old_start:old_end], words[1][new_start:new_end]), strict=True):
            if text:
                side.append(("".join(text), tag != "equal"))
    return sides
