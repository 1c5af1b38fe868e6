"""The first thing in a pass dump that is wrong: the stage, the statement, and why it counts as wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pypto_tmpl.execution.statement_place import StatementPlace
from pypto_tmpl.storage.overwrites import OverwriteFacts

Kind = Literal["statement", "bytes", "rejected", "kernel", "tensor"]
_KINDS: Mapping[Kind, str] = {
    "statement": "the first value that differs",
    "bytes": "the first statement that reads bytes which hold something else, though all values are right",
    "rejected": "the statement that fails",
    "kernel": "no value in it matches: the narrowest place known is this kernel",
    "tensor": "no value matches: the narrowest place known is this tensor",
}


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """What a value looks like: its type, the extents of its valid region, and what its cells hold.

    ``index`` is the cell in which the two values of a divergence differ most, ``at_index`` what is there.
    """

    dtype: str
    shape: tuple[int, ...]
    valid: tuple[int, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    nonfinite: int = 0
    index: tuple[int, ...] | None = None
    at_index: float | None = None

    def line(self) -> str:
        """The summary in one line."""
        parts = [f"{self.dtype} {list(self.shape)}"]
        if self.valid is not None and self.valid != self.shape:
            parts.append(f"valid {list(self.valid)}")
        if self.minimum is not None and self.maximum is not None and self.mean is not None:
            parts.append(f"min {self.minimum:.6g}, max {self.maximum:.6g}, mean {self.mean:.6g}")
        if self.nonfinite:
            parts.append(f"{self.nonfinite} cells are NaN or infinite")
        if self.index is not None and self.at_index is not None:
            parts.append(f"at {list(self.index)}: {self.at_index:.9g}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the first bad stage of a pass dump goes wrong.

    ``last_good`` is the stage before it, "" if there is none. ``search`` says how the stage was found.
    ``place`` is in the stage ``place_stage``: the bad one, or the good one for a statement that got lost.
    ``good`` and ``bad`` summarise the value that the last good stage has and the one found instead;
    ``good_place`` is where the former was computed. ``writer`` is the statement that has overwritten what the
    one at ``place`` reads, or writes it too late. ``evidence`` are the reasons, one a line. Where a run on
    the bytes of tiles is wrong and that by values is not, ``good`` is what is read by values, ``bad`` what is
    read on bytes, and ``overwrite`` tells of these bytes, as far as the program says who has written them.
    """

    first_bad: str
    last_good: str
    search: str
    kind: Kind
    place: StatementPlace
    place_stage: str
    good_place: StatementPlace | None = None
    good: ValueSummary | None = None
    bad: ValueSummary | None = None
    tensor: str = ""
    cells: str = ""
    evidence: tuple[str, ...] = ()
    writer: StatementPlace | None = None
    overwrite: OverwriteFacts | None = None

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield f"first bad stage: {self.first_bad} (last good: {self.last_good or 'none'}; {self.search})"
        where = f"{self.place.function}, {self.place.path}" if self.place.path else self.place.function
        lost = f"; it is in {self.place_stage}, but not here" if self.place_stage != self.first_bad else ""
        yield f"{_KINDS[self.kind]}: {where}{lost}"
        yield from _place_lines(self.place)
        if self.overwrite is not None:
            yield f"    bytes: {self.overwrite.text}"
        if self.tensor:
            yield f"    tensor: {self.tensor}{f', {self.cells}' if self.cells else ''}"
        if self.good is not None:
            yield f"    good value: {self.good.line()}"
        if self.bad is not None:
            yield f"    bad value:  {self.bad.line()}"
        if self.good_place is not None and self.good_place.text:
            yield f"    in {self.last_good}: {self.good_place.function}: {self.good_place.text}"
        yield from (f"    because: {reason}" for reason in self.evidence)
        if self.writer is not None:
            yield f"    written by: {self.writer.function}, {self.writer.path}"
            yield from (f"    {line}" for line in _place_lines(self.writer))

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def _place_lines(place: StatementPlace) -> Iterator[str]:
    if place.text:
        yield f"    statement: {place.text}"
    if place.variable:
        yield f"    variable: {place.variable}"
    if place.source:
        yield f"    source: {place.source}"
    if place.generated_line:
        yield f"    generated: line {place.generated_line}: {place.generated_text}"
    run = [] if place.rank is None else [f"rank {place.rank}"]
    run += [f"{name}={value}" for name, value in place.iteration.items()]
    if place.lane not in ("", "caller"):
        run.append(f"lane {place.lane}")
    if place.block:
        run.append(f"block {place.block}")
    if run:
        yield f"    run: {', '.join(run)}"
