"""Calls of kernels in orchestration: what they get, what comes of it, how often variables are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements
from pypto_tmpl.passes.outline.dataflow import Callees, own_reads

_CREATE = "tensor.create"


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a function of the program, and the loops and branches around it, outermost first."""

    caller: ir.Function
    stmt: ir.Stmt
    call: ir.Call | ir.Submit
    around: tuple[ir.Stmt, ...]

    def argument(self, callee: ir.Function, param: ir.Var) -> ir.Expr | None:
        """What the call gives for a parameter; None where it gives too little."""
        place = next(place for place, other in enumerate(callee.params) if other is param)
        return self.call.args[place] if place < len(self.call.args) else None


class Calls:
    """The calls of a program's functions, and what is known of the functions that make them."""

    def __init__(self, functions: list[ir.Function]) -> None:
        self.functions = {function.name: function for function in functions}
        self.callees = Callees(functions)
        self.definitions: dict[int, ir.AssignStmt] = {}
        self.uses: Counter[int] = Counter()
        self._sites: dict[str, list[CallSite]] = {}
        for function in functions:
            if not ir.is_incore_type(function.func_type):
                self._note(function)

    def of(self, name: str) -> list[CallSite]:
        """The calls of a function."""
        return self._sites.get(name, [])

    def value(self, var: ir.Expr | None) -> ir.Expr | None:
        """What a variable is assigned."""
        definition = self.definitions.get(id(var))
        return definition.value if definition is not None else None

    def result(self, var: ir.Expr) -> tuple[ir.Call | ir.Submit, int] | None:
        """The call that a variable is a result of, and which."""
        value, index = self.value(var), 0
        if isinstance(value, ir.TupleGetItemExpr):
            index = value.index
            value = self.value(value.tuple)
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            return value, index
        return None

    def is_created(self, var: ir.Expr) -> bool:
        """Whether a variable is a buffer that orchestration creates."""
        value = self.value(var)
        return isinstance(value, ir.Call) and value.op.name == _CREATE

    def _note(self, function: ir.Function) -> None:
        for stmt, around in _with_surroundings(function.body):
            self.uses.update(map(id, own_reads(stmt)))
            if isinstance(stmt, ir.AssignStmt):
                self.definitions[id(stmt.var)] = stmt
            value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
            if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
                site = CallSite(function, stmt, value, around)
                self._sites.setdefault(value.op.name, []).append(site)


def _with_surroundings(body: ir.Stmt) -> Iterator[tuple[ir.Stmt, tuple[ir.Stmt, ...]]]:
    todo: list[tuple[ir.Stmt, tuple[ir.Stmt, ...]]] = [(body, ())]
    while todo:
        stmt, around = todo.pop()
        yield stmt, around
        inside = around if isinstance(stmt, ir.SeqStmts) else (*around, stmt)
        todo += [(part, inside) for part in reversed(parts(stmt))]


def are_used_once(function: ir.Function, names: set[int]) -> bool:
    """Whether each of these variables is used at most once, and not in a loop that it is defined outside of.

    Then each is the only name of its value, if no element of a tuple is taken twice, which is asked, too.
    """
    taken: set[tuple[int, int]] = set()
    used: Counter[int] = Counter()
    depth: dict[int, tuple[ir.Stmt, ...]] = {id(param): () for param in function.params}
    for stmt, around in _with_surroundings(function.body):
        loops = tuple(outer for outer in around if isinstance(outer, ir.ForStmt | ir.WhileStmt))
        for var in _defined(stmt):
            depth[id(var)] = loops
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.TupleGetItemExpr):
            element = (id(stmt.value.tuple), stmt.value.index)
            if element in taken:
                return False
            taken.add(element)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            depth |= {id(arg): (*loops, stmt) for arg in stmt.iter_args}
        for var in own_reads(stmt):
            if id(var) in names:
                used[id(var)] += 1
                if used[id(var)] > 1 or depth.get(id(var)) != loops:
                    return False
    return True


def _defined(stmt: ir.Stmt) -> Iterator[ir.Var]:
    if isinstance(stmt, ir.AssignStmt):
        yield stmt.var
    yield from getattr(stmt, "return_vars", ())


def tensors_of(function: ir.Function) -> Iterator[ir.Var]:
    """The tensors that a function defines, parameters not."""
    for stmt in statements(function.body):
        carries = stmt.iter_args if isinstance(stmt, ir.ForStmt | ir.WhileStmt) else ()
        yield from (var for var in (*_defined(stmt), *carries) if isinstance(var.type, ir.TensorType))
