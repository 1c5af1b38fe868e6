"""What the page of a build shows beside its stages: files, and what kernels use of the memories of a core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.debug.report.line_table import LineTable

STYLES = ("memory.css",)
SCRIPTS = ("memory_text.js", "memory_picture.js", "memory_view.js", "extras.js")


@dataclass(frozen=True, slots=True)
class Attached:
    """``title`` is what the page is about, ``facts`` are labels and texts for the head.

    ``files`` are paths and texts, ``kernels`` plain data as those of the page on memory, at the stage that
    ``memory_of`` says.
    """

    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    files: Sequence[tuple[str, str]] = ()
    kernels: Sequence[Mapping[str, Any]] = ()
    memory_of: str = ""

    def data(self, lines: LineTable) -> list[dict[str, Any]]:
        """The entries of the list behind the stages; the texts go to the lines that all texts share."""
        found: list[dict[str, Any]] = []
        if self.kernels:
            count = len(self.kernels)
            about = f"{count} kernel{'' if count == 1 else 's'}, {self.memory_of}"
            found.append({"name": "Memory", "about": about})
        for path, text in self.files:
            own = text.splitlines()
            about = f"{len(own)} line{'' if len(own) == 1 else 's'}"
            found.append({"name": path, "about": about, "lines": lines.runs(own)})
        return found
