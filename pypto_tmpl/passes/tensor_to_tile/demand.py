"""Which tensors of a kernel have to be tiles, and which of them in the cube core's buffer."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.passes.tensor_to_tile.plans import operand_index, tile_operands

_PRODUCTS = ("tensor.matmul", "tensor.matmul_acc")
_KEEPING_MEMORY = ("tensor.slice", "tensor.reshape", "tensor.reinterpret_view", "tensor.set_validshape")


class Demand:
    """What ops make of the variables of a kernel, followed back to where the values come from."""

    def __init__(self, body: ir.Stmt) -> None:
        self._sources: dict[int, list[ir.Expr]] = {}
        self._results: dict[int, list[ir.Var]] = {}
        self._uses: dict[int, int] = {}
        self._products: dict[int, int] = {}
        tiles: list[ir.Expr] = []
        for stmt in statements(body):
            for read in own_reads(stmt):
                self._uses[id(read)] = self._uses.get(id(read), 0) + 1
            for var, source in flows(stmt):
                self._sources.setdefault(id(var), []).append(source)
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(value, ir.Call):
                tiles += tile_operands(value)
                self._note_products(value)
            if isinstance(stmt, ir.AssignStmt):
                self._note_views(stmt)
        self._tiles = self._traced(tiles)

    def needs_tile(self, var: ir.Expr) -> bool:
        """Whether an op takes the variable, or what it becomes, as a tile."""
        return id(var) in self._tiles

    def feeds_products(self, var: ir.Var) -> bool:
        """Whether all that is done to the variable is to multiply matrices with it, or with views of it."""
        todo, seen = [var], {id(var)}
        while todo:
            found = todo.pop()
            views = self._results.get(id(found), [])
            uses = self._products.get(id(found), 0) + len(views)
            if uses == 0 or uses < self._uses.get(id(found), 0):
                return False
            todo += [view for view in views if id(view) not in seen]
            seen.update(map(id, views))
        return True

    def _note_products(self, call: ir.Call) -> None:
        if call.op.name in _PRODUCTS:
            for name in ("lhs", "rhs"):
                operand = call.args[operand_index(call, name)]
                self._products[id(operand)] = self._products.get(id(operand), 0) + 1

    def _note_views(self, stmt: ir.AssignStmt) -> None:
        value = stmt.value
        source = value
        if isinstance(value, ir.Call) and value.op.name in _KEEPING_MEMORY:
            source = value.args[0]
        if isinstance(source, ir.Var):
            self._results.setdefault(id(source), []).append(stmt.var)

    def _traced(self, tiles: list[ir.Expr]) -> set[int]:
        found: set[int] = set()
        todo = list(tiles)
        while todo:
            value = todo.pop()
            if id(value) not in found:
                found.add(id(value))
                todo += self._sources.get(id(value), [])
        return found


def flows(stmt: ir.Stmt) -> Iterator[tuple[ir.Var, ir.Expr]]:
    """The variables that a statement binds to values of others."""
    if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var):
        yield stmt.var, stmt.value
    elif isinstance(stmt, ir.IfStmt):
        for side in (stmt.then_body, stmt.else_body):
            yield from zip(stmt.return_vars, yielded(side) if side else (), strict=False)
    elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
        for arg, result, value in zip(stmt.iter_args, stmt.return_vars, yielded(stmt.body), strict=False):
            yield result, arg
            yield arg, arg.initValue
            yield arg, value
