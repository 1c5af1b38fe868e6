"""Texts that share most of their lines, each line kept once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class LineTable:
    """The distinct lines of all texts; a text is the flat list [first, count, first, count, ...] of runs."""

    lines: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def runs(self, lines: Iterable[str]) -> list[int]:
        """Add lines and return the runs of their numbers."""
        runs: list[int] = []
        for line in lines:
            number = self._numbers.get(line)
            if number is None:
                number = self._numbers[line] = len(self.lines)
                self.lines.append(line)
            if runs and runs[-2] + runs[-1] == number:
                runs[-1] += 1
            else:
                runs += [number, 1]
        return runs
