"""The lines of one function: the body as it grows, and what is hoisted before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pypto_tmpl import ir
from pypto_tmpl.streams.spelling import place_text

_STEP = "  "


class Writer:
    """Collects lines with their indentation and source locations.

    A text of several operations has one a line; a line that begins with a space goes on with the operation
    before it and is printed as it is.
    """

    def __init__(self, with_places: bool) -> None:
        self._with_places = with_places
        self.body: list[str] = []
        self._depth = 1
        self.span = ir.Span.unknown()

    def line(self, text: str) -> None:
        """Operations, each with the location of what is being lowered."""
        self.body += self.located(text, self.span, _STEP * self._depth)

    def structure(self, text: str) -> None:
        """A line without a location, such as the head of a loop."""
        self.body.append(f"{_STEP * self._depth}{text}")

    def located(self, text: str, span: ir.Span, indentation: str = _STEP) -> list[str]:
        """Operations as lines."""
        lines = text.split("\n")
        place = place_text(span) if self._with_places else ""
        found: list[str] = []
        for index, line in enumerate(lines):
            goes_on = index + 1 < len(lines) and lines[index + 1].startswith(" ")
            start = line if line.startswith(" ") else indentation + line
            found.append(start if goes_on else start + place)
        return found

    @contextmanager
    def region(self) -> Iterator[None]:
        """The lines of a nested region."""
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def at(self, span: ir.Span) -> Iterator[None]:
        """Lower something that has this span."""
        outer = self.span
        self.span = span
        yield
        self.span = outer

    @contextmanager
    def within(self, span: ir.Span) -> Iterator[None]:
        """Lower a part of the statement at hand; its span counts where it lies inside of the statement's."""
        outer = self.span
        inside = (
            span.is_valid()
            and span.filename == outer.filename
            and span.begin_line >= outer.begin_line
            and span.end_line <= outer.end_line
        )
        with self.at(span if inside else outer):
            yield
