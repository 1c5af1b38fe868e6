"""The text of a program cut into its functions, so that stages can be compared function by function."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTION = re.compile(r"(?P<indent>\s*)def (?P<name>\w+)\s*\(")
_DECORATOR = re.compile(r"\s*@pl\.function\b")
HEAD = ""  # what stands before the first function


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one function, decorators included; ``start`` is the number of the first one, from 1."""

    name: str
    start: int
    lines: tuple[str, ...]


def ir_sections(text: str) -> list[Section]:
    """The sections of a program's text, in order; together they are the text.

    A text of another form, such as one that was edited until it is no program, is a section of its own.
    """
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if _DECORATOR.match(line)]
    bounds = [0, *starts, len(lines)]
    return [
        Section(_name(lines[first:last]), first + 1, tuple(lines[first:last]))
        for first, last in zip(bounds, bounds[1:], strict=False)
        if last > first
    ]


def _name(lines: list[str]) -> str:
    found = next((match for line in lines if (match := _FUNCTION.match(line))), None)
    return found["name"] if found else HEAD
