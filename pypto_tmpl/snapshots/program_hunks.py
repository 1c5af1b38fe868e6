"""Whether a difference is one of the program, or only of what stands around it in a script."""

from __future__ import annotations

from pypto_tmpl.codegen.layout import program_lines
from pypto_tmpl.snapshots.patch import FilePatch, Hunk


def is_in_program(patch: FilePatch, hunk: Hunk) -> bool:
    """Whether a hunk changes a line of the program, on either side."""
    for text, numbers in zip((patch.old, patch.new), hunk.changed_lines(), strict=True):
        program = program_lines((text or "").split("\n")) if numbers else range(0)
        if any(number - 1 in program for number in numbers):
            return True
    return False
