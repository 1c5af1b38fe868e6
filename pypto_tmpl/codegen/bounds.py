"""Between which numbers an integer of a function lies, where the body and the calls of it tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from weakref import ref

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, Launch, callers_by_name
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.ops import facts as op_facts

Range = tuple[float, float]  # least and greatest number; infinite where nothing is known

UNKNOWN: Range = (-inf, inf)


class IntegerBounds:
    """Ranges of the integer expressions of one function.

    ``arguments`` gives the ranges of what a program passes as a parameter, by its position: none if nothing
    in it calls the function.
    """

    def __init__(
        self,
        function: ir.Function,
        facts: BodyFacts,
        arguments: Callable[[int], Iterator[Range]] = lambda position: iter(()),
    ) -> None:
        self._function, self._facts = function, facts
        self._known: dict[int, Range] = {}
        self._arguments = arguments

    @lazy
    def _loops(self) -> dict[int, list[ir.ForStmt]]:
        """The loops that count by each variable."""
        found: dict[int, list[ir.ForStmt]] = {}
        for loop in self._facts.loops:
            found.setdefault(id(loop.loop_var), []).append(loop)
        return found

    @lazy
    def _extents(self) -> set[int]:
        return {
            id(extent)
            for param in self._function.params
            if isinstance(param.type, ir.ShapedType)
            for extent in param.type.shape
        }

    @lazy
    def _positions(self) -> dict[int, int]:
        return {id(param): at for at, param in enumerate(self._function.params)}

    def of(self, value: ir.Expr) -> Range:
        """The range of an expression."""
        if isinstance(value, ir.ConstInt):
            return value.value, value.value
        if isinstance(value, ir.Var):
            return self._of_variable(value)
        if isinstance(value, ir.Call):
            return (0, inf) if op_facts.of_value(value).has("counts") else UNKNOWN
        if isinstance(value, ir.BinaryExpr):
            return _within(value.type, _combined(value, self.of(value.left), self.of(value.right)))
        if isinstance(value, ir.Cast):
            return _within(value.type, self.of(value.operand)) if _is_integer(value.operand.type) else UNKNOWN
        return UNKNOWN

    def are_inside(
        self, offsets: Sequence[ir.Expr], shape: Sequence[ir.Expr], extents: Sequence[ir.Expr]
    ) -> bool:
        """Whether a window lies within a box of constant extents for sure."""
        if not len(offsets) == len(shape) == len(extents):
            return False
        for offset, size, extent in zip(offsets, shape, extents, strict=True):
            if type(size) is not ir.ConstInt or type(extent) is not ir.ConstInt:
                return False
            least, greatest = self.of(offset)
            if least < 0 or size.value < 0 or greatest + size.value > extent.value:
                return False
        return True

    def _of_variable(self, var: ir.Var) -> Range:
        found = self._known.get(id(var))
        if found is None:
            self._known[id(var)] = UNKNOWN  # what depends on itself is not known
            found = self._known[id(var)] = _joined([*self._ranges(var)])
        return found

    def _ranges(self, var: ir.Var) -> Iterator[Range]:
        if id(var) in self._positions:
            given = list(self._arguments(self._positions[id(var)])) if _is_integer(var.type) else []
            yield from given or [UNKNOWN]
        elif id(var) in self._extents:
            yield 0, inf
        for loop in self._loops.get(id(var), ()):
            yield self._of_loop(loop)
        for value in self._facts.values.get(id(var), ()) if isinstance(var.type, ir.ScalarType) else ():
            yield self.of(value)

    def _of_loop(self, loop: ir.ForStmt) -> Range:
        start, stop, step = (self.of(bound) for bound in (loop.start, loop.stop, loop.step))
        if step[0] <= 0:
            return UNKNOWN
        last = stop[1] - 1
        if start[0] == start[1] and step[0] == step[1] and last < inf:
            last = start[0] + max(last - start[0], 0) // step[0] * step[0]
        return start[0], max(last, start[0])


class ProgramBounds:
    """Ranges of the integers that the functions of a program compute, given what it calls them with."""

    def __init__(self, functions: Mapping[str, ir.Function], facts: Mapping[str, BodyFacts]) -> None:
        self._functions, self._facts = functions, facts
        self._known: dict[str, IntegerBounds] = {}

    def of(self, name: str) -> IntegerBounds:
        """Those of a function."""
        found = self._known.get(name)
        if found is None:
            program = ref(self)  # which holds what is made here, and goes with it

            def arguments(position: int) -> Iterator[Range]:
                known = program()
                return iter(()) if known is None else known.arguments(name, position)

            found = self._known[name] = IntegerBounds(self._functions[name], self._facts[name], arguments)
        return found

    def arguments(self, name: str, position: int) -> Iterator[Range]:
        """The ranges of what the calls of a function pass as one of its parameters."""
        for caller, launch in self._callers.get(name, ()):
            is_given = position < len(launch.args)
            yield self.of(caller).of(launch.args[position]) if is_given else UNKNOWN

    @lazy
    def _callers(self) -> Mapping[str, Sequence[tuple[str, Launch]]]:
        return callers_by_name(self._facts)


def _is_integer(type_: ir.Type) -> bool:
    return isinstance(type_, ir.ScalarType) and type_.dtype.is_int()


def _within(type_: ir.Type, found: Range) -> Range:
    """A range that the dtype holds; 64 bits hold whatever a kernel counts."""
    if not isinstance(type_, ir.ScalarType) or not _is_integer(type_):
        return UNKNOWN
    if type_.dtype in (ir.DataType.INDEX, ir.DataType.INT64):
        return found
    bits = type_.dtype.get_bit()
    lowest = -(2 ** (bits - 1)) if type_.dtype.is_signed_int() else 0
    return found if lowest <= found[0] and found[1] < lowest + 2**bits else UNKNOWN


def _joined(ranges: Sequence[Range]) -> Range:
    if len(ranges) == 1:
        return ranges[0]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else UNKNOWN


def _combined(node: ir.BinaryExpr, left: Range, right: Range) -> Range:
    match node:
        case ir.Add():
            return left[0] + right[0], left[1] + right[1]
        case ir.Sub():
            return left[0] - right[1], left[1] - right[0]
        case ir.Mul():
            products = [_product(a, b) for a in left for b in right]
            return min(products), max(products)
        case ir.Min():
            return min(left[0], right[0]), min(left[1], right[1])
        case ir.Max():
            return max(left[0], right[0]), max(left[1], right[1])
        case ir.FloorDiv() if right[0] == right[1] > 0 and right[1] < inf:
            return _quotient(left[0], right[0]), _quotient(left[1], right[0])
        case ir.FloorMod() if right[0] > 0:
            return 0, right[1] - 1
    return UNKNOWN


def _product(left: float, right: float) -> float:
    return 0 if left == 0 or right == 0 else left * right


def _quotient(left: float, right: float) -> float:
    return left if abs(left) == inf else left // right
