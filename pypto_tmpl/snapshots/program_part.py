"""Which lines of a script are the program, and which are run-time helpers."""

from __future__ import annotations

from pypto_tmpl.snapshots.patch import FilePatch, Hunk

_HELPERS_START = "# Run-time helpers follow"


def program_lines(lines: list[str]) -> range:
    """The numbers, from 0, of the lines that are the program: its functions, up to the helpers.

    Nothing else knows how a script is laid out.
    """
    start = next((number for number, line in enumerate(lines) if line.startswith("def ")), 0)
    stop = next((number for number, line in enumerate(lines) if line.startswith(_HELPERS_START)), len(lines))
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return range(start, stop)


def program_part(script: str) -> str:
    """The lines of a script that are the program, as text."""
    lines = script.splitlines()
    return "".join(f"{lines[number]}\n" for number in program_lines(lines))


def is_in_program(patch: FilePatch, hunk: Hunk) -> bool:
    """Whether a hunk changes a line of the program, on either side."""
    for text, numbers in zip((patch.old, patch.new), hunk.changed_lines(), strict=True):
        program = program_lines((text or "").split("\n")) if numbers else range(0)
        if any(number - 1 in program for number in numbers):
            return True
    return False
