"""How ``pypto-tmpl validate`` shows what it finds: text with a table, JSON lines, annotations, a bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import click

from pypto_tmpl.debug.results import Rerun, ValidationResult, stage_dict, stage_lines
from pypto_tmpl.debug.schedule import StageResult
from pypto_tmpl.debug.stages import Stage


class Output(Protocol):
    """One way to show a validation."""

    def stage(self, stage: StageResult, quiet: bool) -> None:
        """Show one stage; with ``quiet`` only what is wrong with it."""

    def finish(self, result: ValidationResult, interrupted: bool) -> None:
        """Show what was found in all."""


class TextOutput:
    """The lines of each stage as they come, and a table at the end."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> None:
        """Show one stage; with ``quiet`` only a bad one."""
        if not (quiet and stage.passed):
            click.echo("\n".join(stage_lines(stage, self.rerun)))

    def finish(self, result: ValidationResult, interrupted: bool) -> None:
        """Show the table and what follows from it."""
        rows = [_row(stage) for stage in result.stages]
        head = ("stage", "read from", "run", "verdict", "max_abs_diff", "seconds")
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        click.echo()
        for row in (head, *rows):
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            line = "  ".join(cells).rstrip()
            click.echo(click.style(line, fg="red") if row[3] in _BAD else line)
        click.echo()
        for stage in result.stages:
            if stage.note:
                click.echo(f"note: {stage.stage.name} was read from its companion: {stage.note}")
        click.echo(_summary(result, interrupted))


_BAD = ("wrong", "unreadable", "failed")


def _row(stage: StageResult) -> tuple[str, ...]:
    run = f"as {stage.same_as.partition('_')[0]}" if stage.same_as else "yes" if stage.verdicts else "no"
    if stage.failure is not None:
        verdict = "failed" if stage.failure.kind == "script" else "unreadable"
    else:
        verdict = "ok" if stage.passed else "wrong"
    worst = [verdict.max_abs_diff for verdict in stage.verdicts]
    largest = f"{max(worst, key=lambda diff: (diff != diff, diff)):.6e}" if worst else "-"
    read = Path(stage.read_from).suffix or "-"
    return stage.stage.name, read, run, verdict, largest, f"{stage.seconds:.3f}"


def _summary(result: ValidationResult, interrupted: bool) -> str:
    checked = len(result.stages)
    text = f"{checked} of {result.total} stages checked"
    if interrupted:
        text = f"interrupted: {text}"
    if not result.bad:
        return f"{text}, all as expected" if checked else text
    text += f", {len(result.bad)} bad; the first bad one: {result.bad[0].stage.name}"
    if checked < result.total and not interrupted:
        text += " (--keep-going checks the rest)"
    return text


class JsonOutput:
    """One JSON object a line for each stage as it comes, and a last one that sums up."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> None:
        """Write the line of one stage; with ``quiet`` only of a bad one."""
        if not (quiet and stage.passed):
            again = {} if stage.passed else {"rerun": self.rerun(stage.stage, "")}
            click.echo(json.dumps(stage_dict(stage) | again))

    def finish(self, result: ValidationResult, interrupted: bool) -> None:
        """Write the line that sums up."""
        found: dict[str, Any] = result.as_dict()
        del found["stages"]
        click.echo(json.dumps({"summary": found | {"interrupted": interrupted}}))


class GithubOutput:
    """An annotation for each bad stage, and for each text that was not read."""

    def __init__(self, rerun: Rerun) -> None:
        self.rerun = rerun

    def stage(self, stage: StageResult, quiet: bool) -> None:
        """Write the annotation of one stage, if it has any; with ``quiet`` only for a bad one."""
        file = stage.stage.path.as_posix()
        if not stage.passed:
            _, *lines = stage_lines(stage, self.rerun)
            click.echo(f"::error file={file},title={stage.stage.name}::{_escaped(lines)}")
        elif stage.note and not quiet:
            note = _escaped([f"read from {Path(stage.read_from).name}: {stage.note}"])
            click.echo(f"::notice file={file},title={stage.stage.name}::{note}")

    def finish(self, result: ValidationResult, interrupted: bool) -> None:
        """Write the line that sums up."""
        click.echo(_summary(result, interrupted))


def _escaped(lines: Sequence[str]) -> str:
    """Lines as the message of a workflow command."""
    return "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


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
