"""The lines of a script as tracebacks, pdb and inspect show them: with the source lines of its statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsIndex, overload

from pypto_tmpl.errors import PyptoTmplError

_MARK = "  # from "


class ScriptLines(list[str]):
    """Lines of a script for linecache, which hands them on as they are asked for.

    Source lines are looked up no sooner than that: most scripts run without being shown.
    """

    def __init__(self, script: str, sources: Mapping[str, str]) -> None:
        super().__init__(script.splitlines(keepends=True))
        self._sources = sources

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> str | list[str]:
        numbers = range(len(self))[index]
        return self._shown(numbers) if isinstance(numbers, int) else [self._shown(i) for i in numbers]

    def _shown(self, number: int) -> str:
        line = super().__getitem__(number)
        try:
            source = self._sources.get(str(number + 1))
        except PyptoTmplError:  # the source is gone; a report of an error cannot do with another one
            source = None
        return line if source is None else f"{line.rstrip()}{_MARK}{source}\n"


def without_source(line: str | None) -> str:
    """A line of a script as it was executed, given how a traceback has it."""
    return (line or "").partition(_MARK)[0].strip()
