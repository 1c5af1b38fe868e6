"""How many tasks a run of a program launches, as far as its text tells."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import code_nodes

_TASKS = (ir.FunctionType.Group, ir.FunctionType.Spmd)


def expected_tasks(program: ir.Program, entry: str) -> int | None:
    """The number of tasks; None where a loop runs as often as only the run knows.

    Of two branches the one with more tasks counts, and a conditional launch as one that happens.
    """
    counter = _Counter(program)
    return counter.of_function(counter.functions[entry])


class _Counter:
    def __init__(self, program: ir.Program) -> None:
        self.functions = {function.name: function for function in program.functions.values()}
        self._known: dict[str, int | None] = {}

    def of_function(self, function: ir.Function) -> int | None:
        if function.name not in self._known:
            self._known[function.name] = None  # of a function that calls itself nobody knows
            self._known[function.name] = self._of(function.body)
        return self._known[function.name]

    def _of(self, stmt: ir.Stmt) -> int | None:
        if isinstance(stmt, ir.InCoreScopeStmt | ir.SpmdScopeStmt | ir.ClusterScopeStmt):
            return 1
        if isinstance(stmt, ir.IfStmt):
            branches = [self._of(b) for b in (stmt.then_body, stmt.else_body) if b is not None]
            return None if None in branches else max(count or 0 for count in branches)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            return self._of_loop(stmt)
        is_leaf = isinstance(stmt, ir.AssignStmt | ir.EvalStmt | ir.ReturnStmt | ir.YieldStmt)
        parts = code_nodes(stmt) if is_leaf else ir.children(stmt)
        total = 0
        for part in parts:
            count = self._of_launch(part) if is_leaf else self._of(part) if isinstance(part, ir.Stmt) else 0
            if count is None:
                return None
            total += count
        return total

    def _of_loop(self, loop: ir.ForStmt | ir.WhileStmt) -> int | None:
        inside = self._of(loop.body)
        if inside == 0:
            return 0
        if isinstance(loop, ir.WhileStmt):
            return None
        bounds = (loop.start, loop.stop, loop.step)
        numbers = [bound.value for bound in bounds if isinstance(bound, ir.ConstInt)]
        if inside is None or len(numbers) < len(bounds) or numbers[2] == 0:
            return None
        return inside * len(range(*numbers))

    def _of_launch(self, node: ir.IRNode) -> int | None:
        callee = None
        if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
            callee = self.functions.get(node.op.name)
        if callee is None:
            return 0
        if ir.is_incore_type(callee.func_type) or callee.func_type in _TASKS:
            return 1
        return self.of_function(callee)
