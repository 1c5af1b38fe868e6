"""What is computed for nothing."""

from __future__ import annotations

from collections import defaultdict

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import trailing_yield
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.rewrite import Rewriter, build


def without_dead_scalars(function: ir.Function) -> ir.Function:
    """A function without results of branches that nothing reads, and without scalars that nothing reads.

    What only they read goes with them. What a call computes stays, and so do the ids of tasks.
    """
    read, is_all = _read_variables(function)
    return function if is_all else _Clean(read).rewrite(function)


class _Clean(Rewriter):
    def __init__(self, read: set[int]) -> None:
        super().__init__()
        self._read = read

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
        if isinstance(stmt, ir.AssignStmt) and id(stmt.var) not in self._read and _is_free(stmt):
            return None
        if isinstance(stmt, ir.IfStmt) and any(id(var) not in self._read for var in stmt.return_vars):
            return self._narrowed(stmt)
        return stmt

    def _narrowed(self, stmt: ir.IfStmt) -> ir.Stmt:
        kept = [place for place, var in enumerate(stmt.return_vars) if id(var) in self._read]
        sides = []
        for side in _sides(stmt):
            values = yielded(side)  # none where the side ends in a jump
            sides.append(with_yield(side, [values[place] for place in kept if values]))
        results = [stmt.return_vars[place] for place in kept]
        return build(stmt, then_body=sides[0], else_body=sides[1], return_vars=results)


def _read_variables(function: ir.Function) -> tuple[set[int], bool]:
    """The ids of variables that are read for something that stays, and whether none else could go.

    What a scalar or the result of a branch is made of counts from where it turns out to be read itself.
    """
    read: set[int] = set()
    made_of: dict[int, list[ir.IRNode]] = defaultdict(list)
    seen: set[int] = set()  # yields of branches with results, too: their values are among ``made_of``
    todo: list[ir.IRNode] = [function]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ir.Var):
            read.add(id(node))
            todo += made_of.pop(id(node), [])
        for var, parts in _makes(node):
            if id(var) in read:
                todo += parts
            else:
                made_of[id(var)] += parts
        if isinstance(node, ir.IfStmt) and node.return_vars:
            seen |= {id(last) for side in _sides(node) if (last := trailing_yield(side)) is not None}
        todo += _always_read(node)
    return read, not made_of


def _makes(node: ir.IRNode) -> list[tuple[ir.Var, list[ir.IRNode]]]:
    """The variables that go where nothing reads them, and what each is made of."""
    if isinstance(node, ir.AssignStmt) and _is_free(node):
        return [(node.var, [node.value])]
    if isinstance(node, ir.IfStmt) and node.return_vars:
        sides = [values for side in _sides(node) if (values := yielded(side))]
        return [(var, [values[place] for values in sides]) for place, var in enumerate(node.return_vars)]
    return []


def _always_read(node: ir.IRNode) -> list[ir.IRNode]:
    """What is read wherever a node stands."""
    if isinstance(node, ir.AssignStmt):
        return [] if _is_free(node) else [node.value, *ir.children(node.var)]
    if isinstance(node, ir.IfStmt):
        results = {id(var) for var in node.return_vars}
        return [part for part in ir.children(node) if id(part) not in results]
    return list(ir.children(node))


def _sides(stmt: ir.IfStmt) -> tuple[ir.Stmt, ir.Stmt]:
    return stmt.then_body, stmt.else_body or ir.SeqStmts([], stmt.span)


def _is_free(stmt: ir.AssignStmt) -> bool:
    type_ = stmt.var.type
    if not isinstance(type_, ir.ScalarType) or type_.dtype == ir.DataType.TASK_ID:
        return False
    return not any(isinstance(node, ir.Call | ir.Submit) for node in ir.walk(stmt.value))
