"""Which statement gave a variable the value that another one reads, where several statements bind it."""

from __future__ import annotations

from collections import defaultdict

from pypto_tmpl import ir
from pypto_tmpl.debug.trace.records import TraceRecord
from pypto_tmpl.debug.trace.traced_stage import Place, Series, TracedStage
from pypto_tmpl.debug.trace.value_match import Comparable, same

_Binding = tuple[Series, TraceRecord]


class VariableFlow:
    """The statements of a stage that bind a variable of a name, as before SSA form several do."""

    def __init__(self, stage: TracedStage) -> None:
        self.stage = stage
        self._by_name: dict[tuple[str, str], list[Series]] = defaultdict(list)
        for series in stage.series:
            stmt = stage.statements.get(series.place)
            if series.kind == "value" and series.part is None and isinstance(stmt, ir.AssignStmt):
                self._by_name[series.place.function, stmt.var.name_hint].append(series)

    def bindings(self, function: str, var: ir.Expr | None, before: TraceRecord) -> list[_Binding]:
        """The values that a variable had up to a record of the same lane, in the order of the run.

        Nothing of a variable that one statement binds: its definition tells where its value comes from.
        """
        many = self._by_name.get((function, var.name_hint), []) if isinstance(var, ir.Var) else []
        if len(many) < 2:
            return []
        rank = self.stage.rank(before)
        found = [
            (series, record)
            for series in many
            for record in series.by_lane.get(before.lane, [])
            if self.stage.rank(record) < rank
        ]
        return sorted(found, key=lambda binding: self.stage.rank(binding[1]))

    def overwriting(
        self, function: str, var: ir.Expr | None, before: TraceRecord, wanted: Comparable
    ) -> Place | None:
        """The statement that bound a variable anew after it had the wanted value; None if none did."""
        found = self.bindings(function, var, before)
        for number, (_, record) in reversed(list(enumerate(found[:-1]))):
            value = self.stage.value(record)
            if value is not None and value.tensor.dim() and same(value, wanted):
                return found[number + 1][0].place
        return None
