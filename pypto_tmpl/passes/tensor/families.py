"""Which tensors of a function may share storage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.passes.tensor_to_tile.demand import flows

_FRESH = ("tensor.create", "tensor.full")
_ASSEMBLE = "tensor.assemble"


class Families:
    """Tensors in groups; two of different groups have no cell in common.

    A result shares storage with what an op is given, unless it makes a new tensor; of a function's arguments,
    with the one that the function gives back, or with all that it may write or give back.
    Parameters are distinct but for the pairs that are given.
    """

    def __init__(
        self, function: ir.Function, callees: Callees, shared: Iterable[tuple[ir.Var, ir.Var]] = ()
    ) -> None:
        self._next: dict[int, int] = {}
        self._callees = callees
        self._calls: dict[int, ir.Expr] = {}
        self._sources: dict[int, list[ir.Expr]] = defaultdict(list)
        # Places of parameters, and whether there is nothing else, by function and result.
        self._handed: dict[tuple[str, int], tuple[list[int], bool]] = {}
        for one, other in shared:
            self._join(one, other)
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt):
                self._calls[id(stmt.var)] = stmt.value
                self._join(stmt.var, *self._shown(stmt.value))
                if _is_whole(stmt.value):
                    self._sources[id(stmt.var)] = self._shown(stmt.value)
            elif isinstance(stmt, ir.IfStmt):
                for side in (stmt.then_body, stmt.else_body):
                    for var, value in zip(stmt.return_vars, yielded(side) if side else (), strict=False):
                        self._join(var, value)
                        self._sources[id(var)].append(value)
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                parts = zip(stmt.iter_args, stmt.return_vars, yielded(stmt.body), strict=False)
                for arg, result, value in parts:
                    self._join(arg, arg.initValue, result, value)
                    self._sources[id(arg)] = [arg.initValue, value]
                    self._sources[id(result)] = [arg]

    def of(self, expr: ir.Expr) -> int:
        """The group of a variable."""
        key = id(expr)
        while key in self._next:
            following = self._next[key]
            self._next[key] = self._next.get(following, following)  # the next search has half the way
            key = following
        return key

    def is_version(self, expr: ir.Expr, var: ir.Var) -> bool:
        """Whether an expression surely is all of ``var``, with what was written into it since.

        What an op makes of a tensor, and a view of it, are something else.
        """
        seen: set[int] = set()
        todo = [expr]
        while todo:
            found = todo.pop()
            if found is var or id(found) in seen:
                continue
            seen.add(id(found))
            sources = self._sources.get(id(found))
            if not sources:
                return False
            todo += sources
        return True

    def _join(self, first: ir.Expr, *others: ir.Expr) -> None:
        for other in others:
            a, b = self.of(first), self.of(other)
            if a != b and isinstance(other, ir.Var):
                self._next[a] = b

    def _shown(self, value: ir.Expr) -> list[ir.Expr]:
        """The variables whose storage a value may show."""
        if isinstance(value, ir.Var):
            return [value]
        if isinstance(value, ir.TupleGetItemExpr):
            call = self._calls.get(id(value.tuple))
            return [value.tuple] if call is None else self._results(call, value.index)
        if isinstance(value, ir.Call | ir.Submit) and not isinstance(value.op, ir.GlobalVar):
            if value.op.name in _FRESH:
                return []
            targets = value.args[:1] if value.op.name == _ASSEMBLE else value.args
            return [arg for arg in targets if isinstance(arg.type, ir.TensorType)]
        return self._results(value, 0)

    def _results(self, call: ir.Expr, index: int) -> list[ir.Expr]:
        found = self._callees.result(call, index)
        if found is not None:
            return [found]
        handed, is_all = self._handed_on(call, index)
        if is_all:
            return handed
        written = [
            arg for arg, direction in self._callees.directions(call) if direction is not ir.ParamDirection.In
        ]
        return [*written, *handed]

    def _handed_on(self, call: ir.Expr, index: int) -> tuple[list[ir.Expr], bool]:
        """The arguments that a result may be, by the renamings, branches and loops of the function called.

        And whether it is one of these in any case.
        """
        callee, returned = self._callees.callee(call), self._callees.returned(call, index)
        if callee is None or returned is None or not isinstance(call, ir.Call | ir.Submit):
            return [], False
        key = callee.name, index
        if key not in self._handed:
            self._handed[key] = self._may_be(callee, returned)
        places, is_all = self._handed[key]
        return [call.args[place] for place in places if place < len(call.args)], is_all

    def _written_operand(self, value: ir.Expr) -> tuple[list[ir.Expr], bool] | None:
        """The operand that an op writes and gives back, None of other values."""
        returned = facts.of_value(value).returned
        return ([value.args[returned]], True) if isinstance(value, ir.Call) and returned is not None else None

    def _may_be(self, callee: ir.Function, returned: ir.Var) -> tuple[list[int], bool]:
        """The parameters (places) whose storage a variable may have, and whether it has one of these."""
        origins = self._callees.origins(callee)
        sources: dict[int, list[ir.Expr]] = defaultdict(list)
        values: dict[int, ir.Expr] = {}
        for stmt in statements(callee.body):
            for var, source in flows(stmt):
                sources[id(var)].append(source)
            if isinstance(stmt, ir.AssignStmt):
                values[id(stmt.var)] = stmt.value
        params = {id(param): place for place, param in enumerate(callee.params)}
        seen: set[int] = set()
        is_all = True
        todo: list[ir.Expr] = [returned]
        while todo:
            found = todo.pop()
            if id(found) in seen or not isinstance(found, ir.Var):
                is_all &= isinstance(found, ir.Var)
                continue
            seen.add(id(found))
            origin = origins.of(found)
            value, place = values.get(id(found), found), 0
            if isinstance(value, ir.TupleGetItemExpr):
                place, value = value.index, values.get(id(value.tuple), value)
            handed, is_one = self._written_operand(value) or self._handed_on(value, place)
            is_all &= origin is not found or bool(sources[id(found)]) or is_one or id(found) in params
            todo += [origin, *sources[id(found)], *handed]
        return sorted(place for param, place in params.items() if param in seen), is_all


def _is_whole(value: ir.Expr) -> bool:
    """Whether a value is one of the tensors whose storage it may show: no op makes another one of them."""
    if not isinstance(value, ir.Call | ir.Submit) or isinstance(value.op, ir.GlobalVar):
        return True
    return value.op.name == _ASSEMBLE
