"""The base of every error of the project: what, where, what is allowed, what to do next."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pypto_tmpl.resources import template_root


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a file; prints as ``path:line``, with the path seen from the project's folder."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: a searchable slug, what is wrong, where, and lines that say what is allowed."""

    slug: str
    what: str
    where: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"error[{self.slug}]: {self.what}"]
        if self.where:
            lines.append(f"  --> {self.where}")
        lines += [f"   = {note}" for note in self.notes]
        return "\n".join(lines)


class PyptoTmplError(Exception):
    """An error of the project; its text is laid out as a diagnostic.

    Subclasses set ``slug`` and also inherit the builtin their caller may expect, such as ValueError.
    """

    slug: ClassVar[str] = "error"

    def __init__(
        self, what: str = "", *, slug: str | None = None, where: str = "", notes: Iterable[str] = ()
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.notes = tuple(notes)
        self.error_slug = slug or type(self).slug

    @property
    def diagnostic(self) -> Diagnostic:
        """The error as plain data."""
        return Diagnostic(self.error_slug, self.what, self.where, self.notes)

    def __str__(self) -> str:
        return str(self.diagnostic)

    def without_slug(self) -> str:
        """The text of the error where the name of its class stands before it."""
        where = [f"  --> {self.where}"] if self.where else []
        return "\n".join([self.what, *where, *(f"   = {note}" for note in self.notes)])


def allowed_note(title: str, allowed: Sequence[str], wrong: str = "") -> str:
    """``title: a, b, c``, and the closest of them when ``wrong`` is likely a slip of one."""
    note = f"{title}: {', '.join(allowed) if allowed else 'none'}"
    guess = closest(wrong, allowed)
    return f"{note}; did you mean {guess!r}?" if guess else note


def closest(wrong: str, candidates: Iterable[str]) -> str | None:
    """The candidate ``wrong`` was most likely meant to be, or none."""
    matches = difflib.get_close_matches(wrong, list(candidates), n=1, cutoff=0.6)
    return matches[0] if matches else None


def shown_path(path: Path) -> str:
    """The path seen from the folder that holds ``templates/``; as given when it lies elsewhere."""
    try:
        return path.relative_to(template_root().parent).as_posix()
    except ValueError:
        return path.as_posix()


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of this package that led here."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
