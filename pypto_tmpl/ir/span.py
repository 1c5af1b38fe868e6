"""Source positions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source text; lines and columns start at 1 and -1 means unknown."""

    filename: str
    begin_line: int
    begin_column: int
    end_line: int = -1
    end_column: int = -1

    @staticmethod
    def unknown() -> Span:
        """The span of a node that has no source."""
        return _UNKNOWN

    def is_valid(self) -> bool:
        """True when the begin position is known and the end, where given, does not precede it."""
        if self.begin_line <= 0 or (self.begin_column <= 0 and self.begin_column != -1):
            return False
        if self.end_line == -1 or self.end_column == -1:
            return True
        return self.end_line > 0 and (self.end_line, self.end_column) >= (self.begin_line, self.begin_column)

    def to_string(self) -> str:
        """``file:line:column``."""
        return f"{self.filename}:{self.begin_line}:{self.begin_column}"

    def __str__(self) -> str:
        return self.to_string()


_UNKNOWN = Span("", -1, -1, -1, -1)
