"""In which memory space the tiles of a kernel are wanted."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.op_facts import OpFacts


class Demand:
    """The space that the ops of a body want each tile in; another one than Vec counts more than that.

    What is wanted of a result that lies where its operand lies is wanted of the operand.
    """

    def __init__(self, body: ir.Stmt) -> None:
        self._wanted: dict[int, MemorySpace] = {}
        backwards: dict[int, ir.Expr] = {}
        for stmt in statements(body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(stmt, ir.AssignStmt) and (source := lies_where(stmt.value)) is not None:
                backwards[id(stmt.var)] = source
            if isinstance(value, ir.Call):
                for arg, spaces in zip(value.args, facts.of_value(value).operand_memory, strict=False):
                    if spaces:
                        self._note(arg, spaces[0], backwards)

    def of(self, var: ir.Var, known: OpFacts) -> MemorySpace:
        """Where a tile is made that does not say so; what the matrix unit loads passes through Mat."""
        wanted = self._wanted.get(id(var), MemorySpace.Vec)
        return MemorySpace.Mat if known.has("loads") and wanted is not MemorySpace.Vec else wanted

    def _note(self, value: ir.Expr, space: MemorySpace, backwards: dict[int, ir.Expr]) -> None:
        found: ir.Expr | None = value
        while found is not None:
            before = self._wanted.get(id(found))
            if before is space or before not in (None, MemorySpace.Vec):
                return
            self._wanted[id(found)] = space
            found = backwards.get(id(found))


def lies_where(value: ir.Expr) -> ir.Expr | None:
    """What a value lies where it does: a variable itself, the first tile of a call whose op says so."""
    if not isinstance(value, ir.Call):
        return value
    if facts.of_value(value).result_memory != "first_tile" or not value.args:
        return None
    return next((arg for arg in value.args if isinstance(arg.type, ir.TileType)), value.args[0])
