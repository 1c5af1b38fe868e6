"""What of one function needs no statement: what nothing reads, second names, names of tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.edges import Edges
from pypto_tmpl.codegen.facts import BOXES, BodyFacts, Launch
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.regions import RuntimeRegions
from pypto_tmpl.ops import OpEntry, OpTable


class Quiet:
    """The statements of one function that say nothing to who reads a script.

    A traced script has them all: it records their values.
    """

    def __init__(self, facts: BodyFacts, table: OpTable, regions: RuntimeRegions, edges: Edges) -> None:
        self._facts, self._table = facts, table
        self._regions, self._edges = regions, edges
        self._bound_before: set[int] = set()  # statements that take a tuple apart

    def _has_companions(self, var: ir.Var) -> bool:
        """Whether ``var`` has more names than its own: of its region, or of where its cells begin."""
        return self._regions.holds(var) or self._has_start(var)

    def _has_start(self, var: ir.Var) -> bool:
        return self._edges.holds_any and bool(self._edges.held(var))

    @lazy
    def unread(self) -> frozenset[int]:
        """Identities of the variables that hold a new buffer which no op reads: at most it is workspace."""
        creates = self._table.with_trait("allocates")
        if creates.isdisjoint(self._facts.op_names) or self._facts.has_inline:
            return frozenset()
        made = Counter(
            [
                id(stmt.var)
                for stmt in self._facts.assignments
                if type(stmt.value) is ir.Call and stmt.value.op.name in creates
            ]
        )
        uses = Counter(map(id, self._workspaces())) if made else Counter[int]()
        return frozenset(var for var in made if made[var] + uses[var] == self._facts.mentions[var])

    def _workspaces(self) -> Iterator[ir.Expr]:
        names = self._facts.op_names & self._table.matching(_takes_scratch)
        for call in self._facts.calls if names else ():
            if call.op.name in names:
                for operand, arg in zip(self._table[call.op.name].operands, call.args, strict=False):
                    if operand.scratch:
                        yield arg

    def is_unread_result(self, result: ir.Var) -> bool:
        """Whether nothing names a tile or tensor that a loop leaves behind."""
        facts = self._facts
        is_named = facts.mentions[id(result)] > 1 or facts.has_inline or facts.code.has_repetitions
        return isinstance(result.type, BOXES) and not is_named

    @lazy
    def parts(self) -> Mapping[int, Mapping[int, ir.Var]]:
        """The variables of the elements of tuples, by the identity of the statement that makes one.

        The statements that take it apart follow it at once, and nothing else names the tuple.
        """
        found: dict[int, Mapping[int, ir.Var]] = {}
        for sequence in self._facts.sequences if self._facts.takes_items else ():
            for at, stmt in enumerate(sequence.stmts):
                if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, Launch):
                    taken = [*_taken(stmt.var, sequence.stmts[at + 1 :])]
                    if self._may_unpack(stmt.var, taken):
                        found[id(stmt)] = {index: part.var for index, part in taken}
                        self._bound_before.update(id(part) for _, part in taken)
        return found

    def _may_unpack(self, made: ir.Var, taken: Sequence[tuple[int, ir.AssignStmt]]) -> bool:
        if not taken or self._facts.mentions[id(made)] != 1 + len(taken) or self._has_companions(made):
            return False
        count = len(made.type.types) if isinstance(made.type, ir.TupleType) else 0
        indices, variables = {index for index, _ in taken}, {id(part.var): part.var for _, part in taken}
        is_once_each = len(indices) == len(taken) == len(variables)
        return (
            count > 1 and is_once_each and max(indices) < count
            and not any(map(self._has_companions, variables.values()))
        )  # fmt: skip

    def is_part(self, stmt: ir.AssignStmt) -> bool:
        """Whether the statement that makes a tuple, of which there are ``parts``, has bound its variable."""
        return id(stmt) in self._bound_before

    @lazy
    def moves(self) -> dict[int, tuple[Sequence[ir.Stmt], int]]:
        """The blocks of moves, by the identity of these, and where in them they stand."""
        moves = self._table.with_trait("moves")
        return {
            id(stmt.value): (sequence.stmts, at)
            for sequence in (() if moves.isdisjoint(self._facts.op_names) else self._facts.sequences)
            for at, stmt in enumerate(sequence.stmts)
            if isinstance(stmt, ir.AssignStmt)
            and isinstance(stmt.value, ir.Call)
            and stmt.value.op.name in moves
        }

    def may_share_name(self, var: ir.Var, value: ir.Expr) -> bool:
        """Whether ``var`` may go by the names of what a move gives it: neither gets another value.

        All that names it follows in the same block, so the move has run, and the operand is what it was.
        """
        if id(value) not in self.moves or not isinstance(value, ir.Call) or self._has_start(var):
            return False
        source, values = value.args[0], self._facts.values
        if type(source) is not ir.Var or len(values.get(id(source), ())) > 1 or len(values[id(var)]) > 1:
            return False
        if self._regions.holds(var) and not self._regions.holds(source):
            return False
        block, start = self.moves[id(value)]
        if isinstance(self._facts.body, ir.SeqStmts) and block is self._facts.body.stmts:
            return True  # no block of the function goes on outside of its outermost one
        here = self._facts.block(block).naming(id(var), start)
        return len(here) + 1 == self._facts.mentions[id(var)]


def _takes_scratch(entry: OpEntry) -> bool:
    return any(operand.scratch for operand in entry.operands)


def _taken(made: ir.Var, following: Sequence[ir.Stmt]) -> Iterator[tuple[int, ir.AssignStmt]]:
    """The statements, right behind that of a tuple, that take an element of it and have no comments."""
    for stmt in following:
        if not isinstance(stmt, ir.AssignStmt) or stmt.leading_comments:
            return
        if not isinstance(stmt.value, ir.TupleGetItemExpr) or stmt.value.tuple is not made:
            return
        yield stmt.value.index, stmt
