"""The lines of a stage that a report points at: what failed, and the statement that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pypto_tmpl.debug.report.ir_sections import ir_sections
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.validate.results import ValidationResult
from pypto_tmpl.debug.validate.schedule import StageResult
from pypto_tmpl.execution.statement_place import StatementPlace

_SCRIPT_LINE = re.compile(r'^\s*(?:= )?File "<pypto_tmpl [^"]*>", line (\d+), in', re.MULTILINE)
_SOURCE_LINE = re.compile(r"^\s*from (.+):(\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers of lines, from 1, in the text of a stage and in its script."""

    ir: tuple[int, ...] = ()
    script: tuple[int, ...] = ()


def failure_marks(stage: StageResult) -> Marks:
    """The lines that the error of a stage came through."""
    text = "" if stage.failure is None else stage.failure.text
    places = (f"{path}:{number}" for path, number in _SOURCE_LINE.findall(text))
    ir = {number for place in places if (number := _line_of_source(stage, place))}
    return Marks(tuple(sorted(ir)), tuple(sorted({int(number) for number in _SCRIPT_LINE.findall(text)})))


def divergence_marks(result: ValidationResult, divergence: Divergence) -> Mapping[int, Marks]:
    """Where the statement that is wrong stands, by the number of its stage, and where it stood before."""
    found: dict[int, Marks] = {}
    numbers = {stage.stage.name: index for index, stage in enumerate(result.stages)}
    for name, place in (
        (divergence.last_good, divergence.good_place),
        (divergence.place_stage, divergence.place),
    ):
        if place is not None and name in numbers:
            stage = result.stages[numbers[name]]
            found[numbers[name]] = Marks(_ir_lines(stage, place), _script_lines(stage, place))
    return found


def _ir_lines(stage: StageResult, place: StatementPlace) -> tuple[int, ...]:
    """The statement's lines by its source where that is the text that is shown, else by what stands there."""
    line = _line_of_source(stage, place.source)
    if line is not None:
        return (line,)
    sections = ir_sections(stage.ir)
    own = [section for section in sections if section.name == place.function] or sections
    numbered = [(section.start + at, text) for section in own for at, text in enumerate(section.lines)]
    return _matching(numbered, place.text, place.variable)


def _line_of_source(stage: StageResult, source: str) -> int | None:
    path, _, number = source.rpartition(":")
    is_shown = path != "" and path == stage.read_from and path.endswith(".py")
    return (
        int(number)
        if is_shown and number.isdecimal() and 0 < int(number) <= stage.ir.count("\n") + 1
        else None
    )


def _script_lines(stage: StageResult, place: StatementPlace) -> tuple[int, ...]:
    """The line that a statement is known by in the script that is shown, or that of it which failed."""
    record = stage.record
    if record is None:
        return ()
    lines = record.places.get((place.function, place.path), ())
    text = place.generated_text.partition("\n")[0].strip()
    return tuple(line for line in lines if record.lines[line - 1].strip() == text) or lines[:1]


def _matching(lines: Sequence[tuple[int, str]], text: str, variable: str) -> tuple[int, ...]:
    """The numbers of the lines that are a text, else of those that assign a variable."""
    first = text.partition("\n")[0].strip()
    found = _numbers(line for line in lines if first and line[1].strip() == first)
    if found or not variable:
        return found
    assigns = re.compile(rf"\s*{re.escape(variable)}(?::.*)? = ")
    return _numbers(line for line in lines if assigns.match(line[1]))


def _numbers(lines: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    return tuple(number for number, _ in lines)
