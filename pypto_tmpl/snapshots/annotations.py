"""Differences as annotations of a pull request, in the form of GitHub's workflow commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl.snapshots.patch import FilePatch
from pypto_tmpl.snapshots.program_hunks import is_in_program
from pypto_tmpl.snapshots.results import SnapshotResult

TITLE = "golden script"


def annotation_lines(differing: Sequence[tuple[SnapshotResult, FilePatch]]) -> Iterator[str]:
    """One annotation for every difference, at its first line in the committed script.

    Scripts that differ in the same way throughout share one, since GitHub shows few of them.
    """
    alike: dict[object, list[tuple[SnapshotResult, FilePatch]]] = {}
    for result, patch in differing:
        key = tuple(hunk.change for hunk in patch.hunks) if patch.old is not None else result.case.name
        alike.setdefault(key, []).append((result, patch))
    for (result, patch), *others in alike.values():
        accept = f"pypto-tmpl snapshot --update{'' if others else f' {result.case.name}'}"
        more = f", as {len(others)} more do" if others else ""
        message = f"{TITLE} {result.state.value}{more}; accept it by `{accept}`"
        yield _annotation(patch.name, _line(patch), message)


def stale_annotation(name: str) -> str:
    """The annotation of a script that belongs to no case."""
    return _annotation(
        name, 1, f"{TITLE} without a case; remove it by `pypto-tmpl snapshot --update --prune`"
    )


def _line(patch: FilePatch) -> int:
    """The first line of the program that differs, or else the first line that does."""
    if patch.old is None or not patch.hunks:
        return 1
    inside = [hunk for hunk in patch.hunks if is_in_program(patch, hunk)]
    return (inside or patch.hunks)[0].first_line


def _annotation(name: str, line: int, message: str) -> str:
    return f"::error file={_property(name)},line={line},title={TITLE}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
