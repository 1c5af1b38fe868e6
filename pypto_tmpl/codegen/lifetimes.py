"""Which copies of windows nobody can tell from views: those that are read before anything may be written.

A load copies, since a later store may change what it has read. Where every use of the copy, and of the views
of it, follows in the same block before the first such statement, or within it before it writes, a view of the
tensor has the same cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, code_nodes
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.storage import WrittenTiles, shared_operands, written_operand
from pypto_tmpl.ops import OpEntry, OpTable

_UNKNOWN_EFFECTS = (ir.Submit, ir.InlineStmt, ir.ScopeStmt)
_OTHERS = (ir.TileType, ir.ArrayType)  # what holds cells and is no tensor


class Views:
    """The copies of one function that may be views."""

    def __init__(self, facts: BodyFacts, table: OpTable, written: WrittenTiles) -> None:
        self._facts, self._table, self._written = facts, table, written
        self._loud: dict[bool, set[int]] = {}

    def may_be_view(self, call: ir.Call) -> bool:
        """Whether what ``call`` copies may be shown instead."""
        place = self._blocks.get(id(call))
        if place is None:
            return False
        block, start = place
        shown = self._uses(call, block, start)
        if shown is None:
            return False
        is_tile = isinstance(call.args[0].type, ir.TileType)
        last = max([at for at, _ in shown])
        if not self._are_quiet(block[start:last], is_tile):
            return False
        parts = [part for at, part in shown if at == last]
        return self._are_quiet(block[last : last + 1], is_tile) or self._reads_first(
            block[last], parts, is_tile
        )

    @lazy
    def _blocks(self) -> dict[int, tuple[Sequence[ir.Stmt], int]]:
        """The block that each copy stands in, and where."""
        found: dict[int, tuple[Sequence[ir.Stmt], int]] = {}
        ops = {name for name in self._facts.op_names if self._table.facts(name).copies_window}
        copies = {id(call) for call in self._facts.calls if call.op.name in ops} if ops else set()
        for sequence in self._facts.sequences if copies else ():
            for at, stmt in enumerate(sequence.stmts):
                if type(stmt) is ir.AssignStmt and id(stmt.value) in copies:
                    found.setdefault(id(stmt.value), (sequence.stmts, at))
        if len(found) < len(copies):
            self._find_others(copies, found)
        return found

    def _find_others(self, copies: set[int], found: dict[int, tuple[Sequence[ir.Stmt], int]]) -> None:
        """Add the places of copies that no statement of a sequence assigns by themselves."""
        places = list(self._places())
        for block, at, value in places:
            if id(value) in copies:
                found.setdefault(id(value), (block, at))
        for block, at, value in places if len(found) < len(copies) else ():
            for node in code_nodes(value):
                if id(node) in copies:
                    found.setdefault(id(node), (block, at))

    def _places(self) -> Iterator[tuple[Sequence[ir.Stmt], int, ir.Call]]:
        """Calls that are assigned, with block and place of the assignment, which may be a block by itself."""
        for sequence in self._facts.sequences:
            for at, stmt in enumerate(sequence.stmts):
                if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call):
                    yield sequence.stmts, at, stmt.value
        for stmt in self._facts.assignments:
            if isinstance(stmt.value, ir.Call):
                yield (stmt,), 0, stmt.value

    def _uses(self, call: ir.Call, block: Sequence[ir.Stmt], start: int) -> list[tuple[int, ir.Expr]] | None:
        """Where in its block the cells of a copy are used and as what, None where they are handed on."""
        first = block[start]
        assert isinstance(first, ir.AssignStmt)
        shown = [(start, first.var)] if self._shows(first.value, call) else []
        uses: list[tuple[int, ir.Expr]] = [(start, call)]
        while shown:
            begin, name = shown.pop()
            if name in self._written or len(self._facts.values[id(name)]) != 1:
                return None
            places = self._facts.block(block).naming(id(name), begin)
            rest = self._facts.mentions[id(name)] - 1 - len(places)  # its own assignment is one
            for at in dict.fromkeys(places):
                uses.append((at, name))
                user = block[at]
                if not isinstance(user, ir.AssignStmt):
                    return None  # used in a block of its own, or handed on
                if self._shows(user.value, name):
                    shown.append((at, user.var))
            if rest:
                return None
        return uses

    def _reads_first(self, stmt: ir.Stmt, parts: list[ir.Expr], is_tile: bool) -> bool:
        """Whether an op writes at the end of a statement what was computed of the parts before."""
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if not isinstance(value, ir.Call) or self._table.get(value.op.name) is None:
            return False
        values = [arg for arg in value.args if not _is_number(arg)]
        return not any(self._shows(arg, part) for arg in values for part in parts) and all(
            self._computes(node, is_tile) for node in code_nodes(value) if node is not value
        )

    def _shows(self, value: ir.Expr, part: ir.Expr) -> bool:
        """Whether a value may show cells of a part of it."""
        if value is part:
            return True
        if isinstance(value, ir.Var):
            return False
        if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
            return not isinstance(value.type, ir.ScalarType)
        if self._table.facts(value.op.name).may_show_operand:
            return bool(value.args) and self._shows(value.args[0], part)
        return any(self._shows(operand, part) for operand in shared_operands(value, self._table))

    def _are_quiet(self, stmts: Sequence[ir.Stmt], is_tile: bool) -> bool:
        """Whether nothing that statements do can change a tensor, or a tile, here or on another core."""
        loud = self._loud.get(is_tile)
        if loud is None:
            loud = self._loud[is_tile] = self._find_loud(is_tile)
        return not loud or not self._facts.any_below(stmts, loud)

    def _find_loud(self, is_tile: bool) -> set[int]:
        """The nodes of the body, by identity, that may change a tensor, or a tile."""
        facts = self._facts
        ops = facts.op_names - self._table.matching(_is_harmless)
        found = {
            id(call) for call in facts.calls if call.op.name in ops and not self._computes(call, is_tile)
        }
        found.update(map(id, facts.function_calls))
        if facts.scopes or facts.has_inline or facts.launches is not facts.calls:
            found.update(id(node) for node in facts.code.nodes if isinstance(node, _UNKNOWN_EFFECTS))
        return found

    def _computes(self, node: ir.IRNode, is_tile: bool) -> bool:
        if not isinstance(node, ir.Call):
            return not isinstance(node, _UNKNOWN_EFFECTS)
        entry = None if isinstance(node.op, ir.GlobalVar) else self._table.get(node.op.name)
        if entry is None or "quiet" not in entry.traits:
            return False
        target = written_operand(entry, node)
        return target is None or isinstance(target.type, ir.ArrayType if is_tile else _OTHERS)


def _is_harmless(entry: OpEntry) -> bool:
    """Whether no call of an op changes anything that is there."""
    return "quiet" in entry.traits and not entry.writes


def _is_number(value: ir.Expr) -> bool:
    """Whether a value is a scalar or a row of some."""
    if isinstance(value, ir.MakeTuple):
        return all(_is_number(element) for element in value.elements)
    return isinstance(value.type, ir.ScalarType)
