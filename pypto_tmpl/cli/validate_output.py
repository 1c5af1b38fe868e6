"""How ``pypto-tmpl validate`` shows what it finds: text with a table, JSON lines, annotations, a bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from pypto_tmpl.cli import colours
from pypto_tmpl.compare.tensors import worst_difference
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult, stage_dict, stage_lines
from pypto_tmpl.debug.validate.schedule import StageResult


class Output(Protocol):
    """One way to show a validation."""

    def stage(self, stage: StageResult, quiet: bool) -> str:
        """The text on one stage, which may be empty; with ``quiet`` only that on a bad one."""

    def finish(self, result: ValidationResult, interrupted: bool) -> str:
        """The text at the end."""


class TextOutput:
    """The lines of each stage as they come, and a table at the end."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> str:
        """The lines on one stage; with ``quiet`` only those on a bad one."""
        if quiet and stage.passed:
            return ""
        head, *lines = stage_lines(stage, self.rerun)
        return "\n".join([colours.verdict(head, stage.passed), *lines])

    def finish(self, result: ValidationResult, interrupted: bool) -> str:
        """The table, notes on stages that were not read from their text, and the sum."""
        rows = [_row(stage) for stage in result.stages]
        head = ("stage", "read from", "run", "verdict", "max_abs_diff", "seconds")
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [""] if rows else []
        for row in (head, *rows) if rows else ():
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            line = "  ".join(cells).rstrip()
            lines.append(colours.verdict(line, False) if row[3] not in ("verdict", "ok") else line)
        notes = [(stage.stage.name, stage.note) for stage in result.stages if stage.note]
        lines += ["", *(f"note: {name} was read from its companion: {note}" for name, note in notes)]
        return "\n".join([*lines, _summary(result, interrupted)])


def _row(stage: StageResult) -> tuple[str, ...]:
    run = f"as {stage.same_as.partition('_')[0]}" if stage.same_as else "yes" if stage.verdicts else "no"
    worst = [verdict.max_abs_diff for verdict in stage.verdicts]
    largest = f"{worst_difference(worst):.6e}" if worst else "-"
    read = Path(stage.read_from).suffix or "-"
    return stage.stage.name, read, run, stage.verdict, largest, f"{stage.seconds:.3f}"


def _summary(result: ValidationResult, interrupted: bool) -> str:
    checked = len(result.stages)
    text = f"{checked} of {result.total} stages checked"
    if interrupted:
        text = f"interrupted: {text}"
    if not result.bad:
        done = "all" if checked == result.total else "these"
        return f"{text}, {done} as expected" if checked else text
    text += f", {len(result.bad)} bad; the first bad one: {result.bad[0].stage.name}"
    if checked < result.total and not interrupted:
        text += " (--keep-going checks the rest)"
    return text


class JsonOutput:
    """One JSON object a line for each stage as it comes, and a last one that sums up."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> str:
        """The line of one stage; with ``quiet`` only that of a bad one."""
        if quiet and stage.passed:
            return ""
        again = {} if stage.passed else {"rerun": self.rerun(stage.stage, "")}
        return json.dumps(stage_dict(stage) | again)

    def finish(self, result: ValidationResult, interrupted: bool) -> str:
        """The line that sums up."""
        found: dict[str, Any] = result.as_dict()
        del found["stages"]
        return json.dumps({"summary": found | {"interrupted": interrupted}})


class GithubOutput:
    """An annotation for each bad stage, and for each text that was not read."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> str:
        """The annotation of one stage, if it has any; with ``quiet`` only that of a bad one."""
        if not stage.passed:
            _, *lines = stage_lines(stage, self.rerun)
            return _annotation("error", stage, "\n".join(lines))
        if stage.note and not quiet:
            return _annotation("notice", stage, f"read from {Path(stage.read_from).name}: {stage.note}")
        return ""

    def finish(self, result: ValidationResult, interrupted: bool) -> str:
        """The line that sums up."""
        return _summary(result, interrupted)


def _annotation(kind: str, stage: StageResult, message: str) -> str:
    """A workflow command; properties escape more characters than the message."""
    text = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    file = stage.stage.path.as_posix().replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} file={file},title={stage.stage.name}::{text}"


OUTPUTS: dict[str, Callable[[Rerun], Output]] = {
    "text": TextOutput,
    "json": JsonOutput,
    "github": GithubOutput,
}


class Progress:
    """A bar on standard error, only on a terminal; nothing elsewhere."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = stages
        self.done = 0
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty() and len(self.stages) > 1:
            from rich.console import Console
            from rich.progress import Progress as Bar

            # Not redirected: standard output may be a file. The bar steps aside for it instead.
            self.bar = Bar(
                console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self.task = self.bar.add_task(self.stages[0].name, total=len(self.stages))
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the bar away while something else is written to the terminal."""
        if self.bar is None:
            yield
            return
        self.bar.stop()
        yield
        self.bar.start()

    def advance(self) -> None:
        """One more stage is done; the bar names the one that is next."""
        self.done += 1
        if self.bar is not None:
            following = self.stages[min(self.done, len(self.stages) - 1)].name
            self.bar.update(self.task, completed=self.done, description=following)
