"""What the op table says of an op, as calls of it ask again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.ops import KwargSpec, OpEntry, OpTable


@dataclass(frozen=True, slots=True)
class KnownOp:
    """What the table says of an op, looked up once."""

    entry: OpEntry
    keywords: Mapping[str, KwargSpec]
    heeds_start: bool
    writes_late: bool  # it reads all of its operands before it writes, or writes none

    @classmethod
    def of(cls, entry: OpEntry) -> KnownOp:
        heeds_start = "heeds_start" in entry.traits
        writes_late = not entry.writes or "reads_first" in entry.traits
        return cls(entry, {spec.name: spec for spec in entry.kwargs}, heeds_start, writes_late)


class KnownOps:
    """The ops of a table with their macros, as calls in any function ask for them."""

    def __init__(self, table: OpTable, macros: OpMacros) -> None:
        self.table = table
        self.macros = macros
        self._known: dict[str, KnownOp] = {}

    def find(self, name: str) -> KnownOp | None:
        """What the table says of an op, None for an op that it does not have."""
        known = self._known.get(name)
        if known is None and (entry := self.table.get(name)) is not None:
            known = self._known[name] = KnownOp.of(entry)
        return known
