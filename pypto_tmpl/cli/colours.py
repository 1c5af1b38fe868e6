"""Colours of verdicts and differences; ``click.echo`` takes them out again where no terminal shows them."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

GOOD, BAD = "green", "red"


def are_refused() -> bool:
    """Whether the user wants none (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def verdict(text: str, passed: bool) -> str:
    """A verdict, or a line that ends in one."""
    return click.style(text, fg=GOOD if passed else BAD)


def unified_diff(lines: Iterable[str]) -> str:
    """The lines of a unified diff, those that are new green and those that are gone red."""
    return "\n".join(map(_diff_line, lines))


def _diff_line(line: str) -> str:
    if line.startswith(("+++", "---")):
        return click.style(line, bold=True)
    if line.startswith("@@"):
        return click.style(line, fg="cyan")
    return verdict(line, line[0] == "+") if line[:1] in ("+", "-") else line
