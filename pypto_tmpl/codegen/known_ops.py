"""What the op table says of an op, as calls of it ask again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.call_texts import CallTexts
from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.ops import KwargSpec, OpEntry, OpTable


@dataclass(frozen=True, slots=True)
class KnownOp:
    """What the table says of an op, looked up once."""

    entry: OpEntry
    is_executable: bool
    keywords: Mapping[str, KwargSpec]
    dtypes: frozenset[str]
    scratch: tuple[bool, ...]  # by operand
    heeds_start: bool
    lays: bool
    unpacks: bool
    writes_late: bool  # it reads all of its operands before it writes, or writes none
    writes_freely: bool  # nothing of a call tells that it may not write what it does
    is_pop: bool
    is_of_host: bool  # only host orchestrators have it
    target: int  # the first operand that it writes, -1 if there is none

    @classmethod
    def of(cls, entry: OpEntry) -> KnownOp:
        traits = frozenset(entry.traits)
        return cls(
            entry,
            entry.is_executable,
            {spec.name: spec for spec in entry.kwargs},
            frozenset(entry.dtypes),
            tuple(operand.scratch for operand in entry.operands),
            heeds_start="heeds_start" in traits,
            lays="lays" in traits,
            unpacks="unpacks" in traits,
            writes_late=not entry.writes or "reads_first" in traits,
            writes_freely="lays" not in traits and "atomic" not in entry.kwarg_names,
            is_of_host="host_runtime" in traits,
            is_pop=entry.pipe is not None and entry.pipe.end == "pop",
            target=entry.operand_names.index(entry.writes[0]) if entry.writes else -1,
        )

    def takes(self, type_: ir.Type) -> bool:
        """Whether operands and results may have a type, as far as its dtype is concerned."""
        if isinstance(type_, ir.ShapedType):
            return type_.dtype.name in self.dtypes
        return not isinstance(type_, ir.ScalarType) or type_.dtype.name in TORCH_NAMES


class KnownOps:
    """The ops of a table with their macros, as calls in any function ask for them."""

    def __init__(self, table: OpTable, macros: OpMacros) -> None:
        self.table = table
        self.macros = macros
        self.texts = CallTexts()
        self._known: dict[str, KnownOp] = {}

    def find(self, name: str) -> KnownOp | None:
        """What the table says of an op, None for an op that it does not have."""
        known = self._known.get(name)
        if known is None and (entry := self.table.get(name)) is not None:
            known = self._known[name] = KnownOp.of(entry)
        return known
