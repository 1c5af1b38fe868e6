"""Global memory that the lanes of a function store into, and that what they share is loaded from."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.storage import written_operand
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ops import OpTable


class LaneMemory:
    """The tensors of a function that it stores into, by whatever name: versions, carries, results."""

    def __init__(self, function: ir.Function, table: OpTable) -> None:
        self._parents: dict[int, int] = {}
        stored: list[ir.Var] = []
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt | ir.EvalStmt):
                value = stmt.value if isinstance(stmt, ir.AssignStmt) else stmt.expr
                entry = table.get(value.op.name) if isinstance(value, ir.Call) else None
                target = written_operand(entry, value) if entry and isinstance(value, ir.Call) else value
                if target is not value and isinstance(target, ir.Var):
                    stored.append(target)
                if isinstance(stmt, ir.AssignStmt):
                    self._join(stmt.var, target)
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                last = trailing_yield(stmt.body)
                for place, (arg, var) in enumerate(zip(stmt.iter_args, stmt.return_vars, strict=True)):
                    values = last.value[place : place + 1] if last is not None else ()
                    for value in (arg.initValue, var, *values):
                        self._join(arg, value)
            elif isinstance(stmt, ir.IfStmt):
                for body in (stmt.then_body, stmt.else_body):
                    last = trailing_yield(body) if body is not None else None
                    values = last.value if last is not None else ()
                    for var, value in zip(stmt.return_vars, values, strict=False):
                        self._join(var, value)
        self._stored = {self._root(id(var)) for var in stored if isinstance(var.type, ir.TensorType)}

    def is_stored_into(self, tensor: ir.Expr) -> bool:
        """Whether the function stores into a tensor, before or after it is read here."""
        return self._root(id(tensor)) in self._stored

    def _join(self, var: ir.Var, other: ir.Expr | None) -> None:
        if isinstance(other, ir.Var):
            self._parents[self._root(id(other))] = self._root(id(var))

    def _root(self, key: int) -> int:
        while (parent := self._parents.get(key, key)) != key:
            self._parents[key] = self._parents.get(parent, parent)
            key = parent
        return key
