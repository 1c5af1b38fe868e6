"""Parameters for which a program passes one tensor, or windows of one that may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees, Origins
from pypto_tmpl.passes.pipelining.memory import Alias, Place, call_of
from pypto_tmpl.passes.tensor.families import Families


class Aliases:
    """Which parameters of a function may have cells in common, at any of its calls in the program."""

    def __init__(self, program: ir.Program) -> None:
        self._functions = {function.name: function for function in program.functions.values()}
        callees = Callees(self._functions.values())
        self._found: dict[str, dict[tuple[int, int], bool]] = {name: {} for name in self._functions}
        passed = {name: _Passed(function, callees) for name, function in self._functions.items()}
        todo = list(self._functions)
        while todo:
            name = todo.pop()
            for call in passed[name].calls:
                if call.op.name in self._functions and self._note(
                    call, passed[name].pairs(call, self.of(name))
                ):
                    todo.append(call.op.name)

    def of(self, function: str) -> list[Alias]:
        """The pairs of parameters that may have cells in common."""
        params = self._functions[function].params
        return [Alias(params[i], params[j], is_one) for (i, j), is_one in self._found[function].items()]

    def _note(self, call: ir.Call | ir.Submit, pairs: Iterator[tuple[int, int, bool]]) -> bool:
        """Whether something new is known of what a call calls."""
        found = self._found[call.op.name]
        before = dict(found)
        count = len(self._functions[call.op.name].params)
        for i, j, is_one in pairs:
            if j < count:
                found[i, j] = found.get((i, j), True) and is_one
        return found != before


class _Passed:
    """The calls of a function, and which of their arguments may have cells in common."""

    def __init__(self, function: ir.Function, callees: Callees) -> None:
        self.calls: list[ir.Call | ir.Submit] = []
        self._families = Families(function, callees)
        self._origins = Origins(function.body, callees)
        self._values: dict[int, ir.Expr] = {}
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt):
                self._values[id(stmt.var)] = stmt.value
            call = call_of(stmt)
            if call is not None and isinstance(call.op, ir.GlobalVar):
                self.calls.append(call)

    def pairs(self, call: ir.Call | ir.Submit, aliases: list[Alias]) -> Iterator[tuple[int, int, bool]]:
        """Two places of arguments, and whether both are the same tensor as a whole.

        ``aliases`` are those of the parameters of the function itself.
        """
        family = self._families.of
        one = {(id(alias.first), id(alias.second)) for alias in aliases if alias.is_one}
        met = {frozenset({family(alias.first), family(alias.second)}) for alias in aliases}
        tensors = [
            (place, arg)
            for place, arg in enumerate(call.args)
            if isinstance(arg, ir.Var) and isinstance(arg.type, ir.TensorType)
        ]
        for (i, first), (j, second) in combinations(tensors, 2):
            families = frozenset({family(first), family(second)})
            if len(families) > 1 and families not in met:
                continue
            mine, other = self._origins.of(first), self._origins.of(second)
            is_one = mine is other or (id(mine), id(other)) in one or (id(other), id(mine)) in one
            if is_one or not self._place(mine).is_apart_from(self._place(other)):
                yield i, j, is_one

    def _place(self, tensor: ir.Var) -> Place:
        """The window that a tensor is; of nothing but itself where it is none."""
        value = self._values.get(id(tensor))
        if facts.of_value(value).has("window") and isinstance(value, ir.Call):
            source, shape, offsets = value.args[:3]
            if isinstance(shape, ir.MakeTuple) and isinstance(offsets, ir.MakeTuple):
                sizes = [constant_extent(extent) for extent in shape.elements]
                known = tuple(size for size in sizes if size is not None)
                if isinstance(source, ir.Var) and len(known) == len(sizes) == len(offsets.elements):
                    return Place(self._origins.of(source), offsets.elements, known)
        return Place(tensor, (), ())
