"""Which copies of windows nobody can tell from views: those that are read before anything may be written.

A load copies, since a later store may change what it has read. Where every use of the copy, and of the views
of it, follows in the same block before the first such statement, or within it before it writes, a view of the
tensor has the same cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, code_nodes
from pypto_tmpl.codegen.storage import WrittenTiles, shared_operands, written_operand
from pypto_tmpl.ops import OpTable

COPIES = frozenset({"tile.load", "tensor.slice", "tile.extract"})
_MAY_SHOW = COPIES | {
    "tensor.reshape", "tensor.view", "tensor.reinterpret_view", "tensor.transpose", "tile.move", "tile.cast",
    "tensor.cast",
}  # fmt: skip
_COMPUTES = frozenset(
    {
        "elementwise", "unary", "division", "bitwise", "compare", "partial", "broadcast", "broadcast_columns",
        "cast", "reduce", "arg_reduce", "matmul", "matmul_mx", "generate", "padding", "shape", "memory",
        "elements", "gather", "sort_gather", "array",
    }
)  # fmt: skip


class Views:
    """The copies of one function that may be views."""

    def __init__(
        self, function: ir.Function, facts: BodyFacts, table: OpTable, written: WrittenTiles
    ) -> None:
        self._table, self._written = table, written
        self._mentions: Counter[int] = Counter()
        self._mentions_in: dict[int, Counter[int]] = {}  # of statements that were asked about
        self._assigned: dict[int, int] = {}
        self._blocks: dict[int, tuple[list[ir.Stmt], int]] = {}  # call -> the block it stands in, and where
        self._quiet: dict[tuple[int, bool], bool] = {}
        for node in code_nodes(function.body):  # a block before its statements
            if isinstance(node, ir.SeqStmts):
                self._note(list(node.stmts))
            elif isinstance(node, ir.AssignStmt):
                self._note([node])  # which may be a block
                self._assigned[id(node.var)] = self._assigned.get(id(node.var), 0) + 1
        if any(call.op.name in COPIES for call in facts.calls):
            self._mentions = _counted(function.body)

    def may_be_view(self, call: ir.Call) -> bool:
        """Whether what ``call`` copies may be shown instead."""
        if id(call) not in self._blocks:
            return False
        block, start = self._blocks[id(call)]
        shown = self._uses(call, block, start)
        if shown is None:
            return False
        is_tile = isinstance(call.args[0].type, ir.TileType)
        last = max(shown, key=lambda use: use[0])[0]
        if not all(self._is_quiet(stmt, is_tile) for stmt in block[start:last]):
            return False
        parts = [part for at, part in shown if at == last]
        return self._is_quiet(block[last], is_tile) or self._reads_first(block[last], parts, is_tile)

    def _note(self, block: list[ir.Stmt]) -> None:
        for at, stmt in enumerate(block):
            value = getattr(stmt, "value", None)
            if isinstance(stmt, ir.AssignStmt) and isinstance(value, ir.Call):
                for node in code_nodes(value):
                    if isinstance(node, ir.Call) and node.op.name in COPIES:
                        self._blocks.setdefault(id(node), (block, at))

    def _uses(self, call: ir.Call, block: list[ir.Stmt], start: int) -> list[tuple[int, ir.Expr]] | None:
        """Where in its block the cells of a copy are used and as what, None where they are handed on."""
        first = block[start]
        assert isinstance(first, ir.AssignStmt)
        shown = [(start, first.var)] if self._shows(first.value, call) else []
        uses: list[tuple[int, ir.Expr]] = [(start, call)]
        while shown:
            begin, name = shown.pop()
            if name in self._written or self._assigned.get(id(name)) != 1:
                return None
            rest = self._mentions[id(name)] - 1  # its own assignment
            for at in range(begin + 1, len(block)):
                if not rest:
                    break
                count = self._mentioned(block[at])[id(name)]
                if not count:
                    continue
                uses.append((at, name))
                rest, user = rest - count, block[at]
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
        if value.op.name in _MAY_SHOW:
            return any(self._shows(operand, part) for operand in value.args[:1])
        return any(self._shows(operand, part) for operand in shared_operands(value, self._table))

    def _is_quiet(self, stmt: ir.Stmt, is_tile: bool) -> bool:
        """Whether nothing that a statement does can change a tensor, or a tile, here or on another core."""
        found = self._quiet.get((id(stmt), is_tile))
        if found is None:
            found = all(self._computes(node, is_tile) for node in code_nodes(stmt))
            self._quiet[id(stmt), is_tile] = found
        return found

    def _computes(self, node: ir.IRNode, is_tile: bool) -> bool:
        if isinstance(node, ir.Submit | ir.InlineStmt | ir.ScopeStmt):
            return False
        if not isinstance(node, ir.Call):
            return True
        entry = None if isinstance(node.op, ir.GlobalVar) else self._table.get(node.op.name)
        if entry is None or self._table.family_of(entry.name) not in _COMPUTES:
            return False
        target = written_operand(entry, node)
        others = ir.ArrayType if is_tile else ir.TileType | ir.ArrayType
        return target is None or isinstance(target.type, others)

    def _mentioned(self, stmt: ir.Stmt) -> Counter[int]:
        found = self._mentions_in.get(id(stmt))
        if found is None:
            found = self._mentions_in[id(stmt)] = _counted(stmt)
        return found


def _is_number(value: ir.Expr) -> bool:
    """Whether a value is a scalar or a row of some."""
    if isinstance(value, ir.MakeTuple):
        return all(_is_number(element) for element in value.elements)
    return isinstance(value.type, ir.ScalarType)


def _counted(root: ir.IRNode) -> Counter[int]:
    """How often code names each variable; what blocks share counts once."""
    counts: Counter[int] = Counter()
    seen: set[int] = set()
    pending: list[ir.IRNode] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ir.Var):
            counts[id(node)] += 1
        if id(node) not in seen:
            seen.add(id(node))
            pending += _code_children(node)
    return counts


def _code_children(node: ir.IRNode) -> Iterable[ir.IRNode]:
    """The parts of a node; those of a name are its type's, and no mention."""
    return () if isinstance(node, ir.Var) and not isinstance(node, ir.IterArg) else ir.children(node)
