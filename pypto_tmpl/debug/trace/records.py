"""What a traced script has recorded: values with the statements, iterations and lanes they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.tracing import TraceSelection, TraceSite, located_statements
from pypto_tmpl.execution.entry import functions_of
from pypto_tmpl.execution.origins import record_of as record_of_text
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text

Value = torch.Tensor | bool | int | float
CALLER = "caller"  # the lane of what runs outside a mixed kernel


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One value: the site that recorded it, and which run of it.

    ``order`` sorts the records of a run; it depends on the program only, not on how lanes took turns.
    ``call`` counts the calls of the function on its lane, ``at`` are the loop variables around, outermost
    first. ``valid`` is the valid region, None for all of the value; ``window`` the offsets of a write.
    ``part`` is the place in a tuple. ``value`` is None if it was left out because of the size limit. ``rank``
    is that of a run on several, of which ``order`` goes rank by rank.
    """

    site: int
    order: tuple[int, ...]
    call: int
    lane: str
    block: int
    at: tuple[int, ...]
    valid: tuple[int, ...] | None
    window: tuple[int, ...] | None
    part: int | None
    value: Value | None
    rank: int | None = None

    def region(self) -> Value | None:
        """The valid part of the value."""
        if self.valid is None or not isinstance(self.value, torch.Tensor):
            return self.value
        if len(self.valid) != self.value.dim():
            return self.value
        return self.value[tuple(slice(0, max(0, extent)) for extent in self.valid)]


@dataclass(frozen=True, slots=True)
class Statement:
    """What is known of the statement of a site: its IR text, its line in the script, the loops around."""

    text: str = ""
    line: int = 0
    line_text: str = ""
    loops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceFailure:
    """Where a traced run ended early, and why."""

    text: str
    place: StatementPlace | None


@dataclass
class Trace:
    """The records of one run of a script, in order; see ``TraceRecord``.

    ``changes`` has site and loop variables of each change of a tensor in memory, where these were recorded:
    a ``memory`` record numbers them from 1. ``node`` is the program that was run, ``zeroed`` are pure outputs
    that started as zeros of a shape that only their parameters tell. ``changed_by`` numbers the last change
    of each parameter.
    """

    program: str
    stage: str
    script: str
    sites: list[TraceSite]
    records: list[TraceRecord]
    statements: Mapping[int, Statement] = field(default_factory=dict)
    limit: int = 0
    failure: TraceFailure | None = None
    changes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    node: ir.Program | ir.Function | None = None
    zeroed: Mapping[str, list[int]] = field(default_factory=dict)
    changed_by: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        namespace: Mapping[str, Any],
        script: Script | str,
        node: ir.Program | ir.Function,
        *,
        stage: str = "",
        selection: TraceSelection | None = None,
        template_dirs: tuple[Path, ...] = (),
    ) -> Trace:
        """The trace of a script that was emitted for ``node`` and has run.

        Of a script of which only the text was kept, ``selection`` and ``template_dirs`` are those that it was
        emitted with; of one that is not known again, no lines are told.
        Raises: ValueError if the script records nothing.
        """
        if "_TRACE" not in namespace:
            raise ValueError("the script was emitted without trace: it records nothing")
        recorder = namespace["_TRACE"]
        sites = [TraceSite(*site) for site in namespace["_TRACE_SITES"]]
        if isinstance(script, str):
            selection = selection or TraceSelection()
            found = record_of_text(node, script, template_dirs=template_dirs, trace=selection)
            script = found or outline(script)
        known = _Statements(node, script)
        used = {found["site"] for found in recorder.records()}
        statements = {number: known.at(sites[number]) for number in sorted(used)}
        records = [record_of(found) for found in recorder.records()]
        changes = tuple((site, tuple(at)) for site, at in recorder.memory.changes)
        return cls(
            node.name,
            stage,
            script.text,
            sites,
            records,
            statements,
            recorder.limit,
            changes=changes,
            node=node,
        )

    @property
    def left_out(self) -> int:
        """How many values were not kept because of the size limit."""
        return sum(record.value is None for record in self.records)

    @cached_property
    def size(self) -> int:
        """Bytes of all tensors that were kept."""
        tensors = (record.value for record in self.records if isinstance(record.value, torch.Tensor))
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def variable(self, record: TraceRecord) -> str:
        """The name of what a record holds: of a part of a tuple ``pair[0]``."""
        name = self.sites[record.site].variable
        return name if record.part is None else f"{name}[{record.part}]"

    def place(self, record: TraceRecord) -> StatementPlace:
        """The statement that a record belongs to, and which run of it."""
        site, statement = self.sites[record.site], self.statements.get(record.site, Statement())
        return StatementPlace(
            function=site.function,
            path=site.path,
            text=statement.text,
            variable=self.variable(record),
            source=site.source,
            generated_line=statement.line,
            generated_text=statement.line_text,
            lane=record.lane,
            block=record.block,
            iteration=dict(zip(statement.loops, record.at, strict=False)),
            rank=record.rank,
        )

    def left_out_note(self) -> str:
        """What to tell about values that were left out, "" if there are none."""
        if not self.left_out:
            return ""
        return (
            f"{self.left_out} of {len(self.records)} values were left out: more than the limit of"
            f" {self.limit} bytes; select fewer, or set a higher limit"
        )


def record_of(found: Mapping[str, Any]) -> TraceRecord:
    """A record as a script keeps it, in the form of this package."""
    valid, window = (None if found[key] is None else tuple(found[key]) for key in ("valid", "window"))
    return TraceRecord(
        site=found["site"],
        order=tuple(found["order"]),
        call=found["call"],
        lane=found["lane"],
        block=found["block"],
        at=tuple(found["at"]),
        valid=valid,
        window=window,
        part=found["part"],
        value=found["value"],
        rank=found.get("rank"),
    )


class _Statements:
    """Finds the statements of sites in the IR and in the script."""

    def __init__(self, node: ir.Program | ir.Function, script: Script) -> None:
        self._script = script
        self._by_path = {
            (function.name, path): stmt
            for function in functions_of(node)
            for path, stmt in located_statements(function.body)
        }

    def at(self, site: TraceSite) -> Statement:
        """What is known of the statement of a site."""
        stmt = self._by_path.get((site.function, site.path))
        if stmt is None:
            line = self._script.first_line(site.function)
            return Statement("", line, self._text(line))
        line = self._script.heads.get(stmt, 0)
        return Statement(statement_text(stmt), line, self._text(line), tuple(self._loops(site)))

    def _text(self, line: int) -> str:
        return self._script.lines[line - 1].strip() if line else ""

    def _loops(self, site: TraceSite) -> Iterator[str]:
        parts = site.path.split("/")
        for end in range(1, len(parts) + 1):
            outer = self._by_path.get((site.function, "/".join(parts[:end])))
            is_around = end < len(parts) or site.kind == "loop"
            if isinstance(outer, ir.ForStmt) and is_around:
                yield outer.loop_var.name_hint
