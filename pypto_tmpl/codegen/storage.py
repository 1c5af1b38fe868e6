"""Which names of tiles may stand for one storage that some op writes."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import LAUNCHES, BodyFacts
from pypto_tmpl.ops import OpEntry, OpTable
from pypto_tmpl.ops.typing.words import resolve_result

_SAME_STORAGE = "first_tile"  # the memory rule of ops whose result is, or may be a view of, an operand


def written_operand(entry: OpEntry, call: ir.Call) -> ir.Expr | None:
    """The first operand that an op writes, which is its result as well; None for an op that writes none."""
    for name in entry.writes:
        position = entry.operand_names.index(name)
        if position < len(call.args):
            return call.args[position]
    return None


def _writes(entry: OpEntry) -> bool:
    return bool(entry.writes)


class WrittenTiles:
    """The tiles that an op of a function may write in place, under whatever name."""

    def __init__(self, facts: BodyFacts, table: OpTable) -> None:
        self._table, self._facts = table, facts
        self._written: set[int] = set()
        pending: list[ir.Expr] = []
        writing = facts.op_names & table.matching(_writes)
        for call in facts.calls if writing else ():
            target = written_operand(table[call.op.name], call) if call.op.name in writing else None
            if target is not None and isinstance(target.type, ir.TileType):
                pending.append(target)
        while pending:
            tile = pending.pop()
            if id(tile) not in self._written:
                self._written.add(id(tile))
                pending += self._sources(tile)

    def __contains__(self, value: ir.Expr) -> bool:
        return id(value) in self._written

    def copies(self, move: ir.Call, target: ir.Expr | None) -> bool:
        """Whether a move copies: its target may be written, or its operand or what that is a view of."""
        if target is not None and target in self:
            return True
        seen: set[int] = set()
        pending: list[ir.Expr] = list(move.args[:1]) if self._written else []
        while pending:
            value = pending.pop()
            if value in self:
                return True
            if id(value) not in seen:
                seen.add(id(value))
                pending += self._sources(value)
        return False

    def _sources(self, value: ir.Expr) -> list[ir.Expr]:
        """What a value may be, or be a view of."""
        if isinstance(value, ir.Call):
            return shared_operands(value, self._table)
        if isinstance(value, ir.TupleGetItemExpr):
            return [value.tuple]
        if isinstance(value, ir.MakeTuple):
            return list(value.elements)
        return self._facts.values.get(id(value), [])


def shared_operands(call: ir.Call, table: OpTable) -> list[ir.Expr]:
    """The operand that may share its storage with the result, if there is one; no views of tensors."""
    entry = table.get(call.op.name)
    if entry is None:
        return []
    if entry.returns is not None:
        return [
            arg for name, arg in zip(entry.operand_names, call.args, strict=False) if name == entry.returns
        ]
    if resolve_result(entry).memory != _SAME_STORAGE:
        return []
    return [arg for arg in call.args if isinstance(arg.type, ir.TileType)][:1]


class ChangingTiles:
    """The tiles of one function whose storage an op may yet write, be it under another name or elsewhere.

    A tile that crosses a pipe is copied only if it is one of these.
    """

    def __init__(self, function: ir.Function, facts: BodyFacts, table: OpTable) -> None:
        self._table = table
        self._neighbours: dict[int, list[ir.Expr]] = {}
        seeds: list[ir.Expr] = [var for var in function.params if isinstance(var.type, ir.TileType)]
        for target, value in facts.flows:
            self._connect(target, value)
            if isinstance(value, LAUNCHES) and isinstance(value.op, ir.GlobalVar):
                seeds.append(target)
        for launch in facts.launches:
            if isinstance(launch.op, ir.GlobalVar):
                seeds += launch.args
            else:
                seeds += self._written_operand(launch)
        self._changing = self._reachable(seeds)

    def may_change(self, value: ir.Expr) -> bool:
        """Whether the storage of ``value`` may be written."""
        if isinstance(value, ir.Var):
            return id(value) in self._changing
        return any(self.may_change(operand) for operand in self._shared(value))

    def _connect(self, target: ir.Expr, value: ir.Expr) -> None:
        for source in [value] if isinstance(value, ir.Var) else self._shared(value):
            self._neighbours.setdefault(id(target), []).append(source)
            self._neighbours.setdefault(id(source), []).append(target)
            if not isinstance(source, ir.Var):
                self._connect(source, source)

    def _shared(self, value: ir.Expr) -> list[ir.Expr]:
        """The values whose storage ``value``, which is no variable, may have."""
        if isinstance(value, ir.TupleGetItemExpr):
            return [value.tuple]
        if isinstance(value, ir.MakeTuple):
            return list(value.elements)
        if not isinstance(value, ir.Call):
            return []
        if self._table.facts(value.op.name).has("may_return_operand"):
            return list(value.args[:1])
        return shared_operands(value, self._table)

    def _written_operand(self, call: ir.Call | ir.Submit) -> list[ir.Expr]:
        entry = self._table.get(call.op.name)
        if entry is None or not isinstance(call, ir.Call):
            return []
        target = written_operand(entry, call)
        return [] if target is None else [target]

    def _reachable(self, seeds: list[ir.Expr]) -> set[int]:
        found: set[int] = set()
        pending = list(seeds)
        while pending:
            tile = pending.pop()
            if id(tile) not in found:
                found.add(id(tile))
                pending += self._neighbours.get(id(tile), ())
        return found
