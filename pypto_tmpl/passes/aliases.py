"""Parameters for which a program passes one tensor, or windows of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import IntEnum
from functools import cached_property
from itertools import combinations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ir.verifier.walking import evaluated, own_expressions
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.outline.dataflow import Callees, Origins
from pypto_tmpl.passes.pipelining.memory import Alias, Place
from pypto_tmpl.passes.tensor.families import Families

Pairs = frozenset[tuple[ir.Var, ir.Var]]


class _Relation(IntEnum):
    """What two parameters of one storage may be at a call; of several calls, the last of these counts."""

    APART = 0  # windows without a cell in common
    ONE = 1  # the same tensor
    OVERLAPPING = 2


class Aliases:
    """Which parameters of a function share storage, or cells, at one of its calls in the program.

    Parameters of a function that nothing in the program calls are taken to be distinct tensors.
    """

    def __init__(self, program: ir.Program) -> None:
        self._functions = {function.name: function for function in program.functions.values()}

    def of(self, function: str) -> list[Alias]:
        """The pairs of parameters that may have cells in common."""
        params = self._functions[function].params
        return [
            Alias(params[i], params[j], relation is _Relation.ONE)
            for (i, j), relation in self._found[function].items()
            if relation is not _Relation.APART
        ]

    def shared(self, function: str) -> Pairs:
        """The pairs of parameters that may share storage: windows of one tensor that are apart, too."""
        params = self._functions[function].params
        return Pairs((params[i], params[j]) for i, j in self._found[function])

    @cached_property
    def _found(self) -> dict[str, dict[tuple[int, int], _Relation]]:
        """The pairs of parameters, by function and places, that share storage."""
        found: dict[str, dict[tuple[int, int], _Relation]] = {name: {} for name in self._functions}
        callees = Callees(self._functions.values())
        passing = {name: _Passing(function, callees) for name, function in self._functions.items()}
        todo = [name for name, own in passing.items() if own.calls]
        while todo:
            name = todo.pop()
            for callee, places, relation in passing[name].pairs(found[name]):
                known = found[callee].get(places)
                if known is None or relation > known:
                    found[callee][places] = relation
                    if passing[callee].calls and callee not in todo:
                        todo.append(callee)
        return found


class _Passing:
    """The calls of other functions in a function, and which of their arguments may share storage."""

    def __init__(self, function: ir.Function, callees: Callees) -> None:
        self._function = function
        self._callees = callees
        self.calls = [call for call in _calls(function.body) if callees.callee(call) is not None]

    @cached_property
    def _families(self) -> Families:
        return Families(self._function, self._callees)

    @cached_property
    def _origins(self) -> Origins:
        return self._callees.origins(self._function)

    @cached_property
    def _values(self) -> dict[int, ir.Expr]:
        found = (stmt for stmt in statements(self._function.body) if isinstance(stmt, ir.AssignStmt))
        return {id(stmt.var): stmt.value for stmt in found}

    def pairs(
        self, known: dict[tuple[int, int], _Relation]
    ) -> Iterator[tuple[str, tuple[int, int], _Relation]]:
        """What is called, two places of arguments of one storage, and what these are to each other.

        ``known`` is what the parameters of the function itself are to each other.
        """
        params = self._function.params
        own = {(params[i], params[j]): relation for (i, j), relation in known.items()}
        families = Families(self._function, self._callees, own) if own else self._families
        for call in self.calls:
            callee = self._callees.callee(call)
            assert callee is not None
            sharing: dict[int, list[tuple[int, ir.Var]]] = defaultdict(list)
            for place, (param, arg) in enumerate(zip(callee.params, call.args, strict=False)):
                if isinstance(param.type, ir.TensorType) and isinstance(arg, ir.Var):
                    sharing[families.of(arg)].append((place, arg))
            for group in sharing.values():
                for (i, first), (j, second) in combinations(group, 2):
                    yield callee.name, (i, j), self._relation(first, second, own)

    def _relation(
        self, first: ir.Var, second: ir.Var, own: dict[tuple[ir.Var, ir.Var], _Relation]
    ) -> _Relation:
        """What two tensors of one storage are to each other, as the parameters are what ``own`` says."""
        family = self._families.of
        met = {frozenset(map(family, pair)) for pair, found in own.items() if found is not _Relation.APART}
        families = frozenset((family(first), family(second)))
        if len(families) > 1 and families not in met:
            return _Relation.APART
        mine, other = self._origins.of(first), self._origins.of(second)
        if mine is other or _Relation.ONE in (own.get((mine, other)), own.get((other, mine))):
            return _Relation.ONE
        is_apart = self._place(mine).is_apart_from(self._place(other))
        return _Relation.APART if is_apart else _Relation.OVERLAPPING

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


def _calls(body: ir.Stmt) -> Iterator[ir.Call | ir.Submit]:
    """The calls of functions in a body, wherever they stand."""
    for stmt in statements(body):
        conditions = (stmt.condition,) if isinstance(stmt, ir.WhileStmt) else ()
        for node in evaluated(*own_expressions(stmt), *conditions):
            if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
                yield node
