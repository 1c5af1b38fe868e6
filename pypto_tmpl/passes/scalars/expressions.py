"""Simpler forms of integer expressions: the forms that PyPTO's pass gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.passes.scalars.ranges import Range

_EXACT = (ir.DataType.INDEX, ir.DataType.INT64)
_SWAPPED = {ir.Gt: ir.Lt, ir.Ge: ir.Le}
_ORDERED = (ir.Lt, ir.Le, ir.Eq, ir.Ne)
RangeOf = Callable[[ir.Expr], Range]


@dataclass(slots=True)
class Linear:
    """A sum of multiples of expressions, in the order in which they were met, and a constant."""

    terms: list[tuple[ir.Expr, int]] = field(default_factory=list)
    constant: int = 0

    @staticmethod
    def of(expr: ir.Expr) -> Linear:
        """An expression as a sum."""
        found = Linear()
        todo = [(expr, 1)]
        while todo:
            part, factor = todo.pop()
            if isinstance(part, ir.ConstInt):
                found.constant += factor * part.value
            elif isinstance(part, ir.Add | ir.Sub):
                todo.append((part.right, factor if isinstance(part, ir.Add) else -factor))
                todo.append((part.left, factor))
            elif isinstance(part, ir.Mul) and isinstance(part.right, ir.ConstInt):
                todo.append((part.left, factor * part.right.value))
            else:
                found._add(part, factor)
        return found

    def minus(self, other: Linear) -> Linear:
        """The difference of two sums."""
        found = Linear(list(self.terms), self.constant - other.constant)
        for expr, factor in other.terms:
            found._add(expr, -factor)
        return found

    def _add(self, expr: ir.Expr, factor: int) -> None:
        for place, (known, times) in enumerate(self.terms):
            if same(known, expr):
                self.terms[place] = (known, times + factor)
                return
        self.terms.append((expr, factor))

    def range(self, range_of: RangeOf) -> Range:
        """The range of the sum."""
        found = Range(self.constant, self.constant)
        for expr, factor in self.terms:
            if factor:
                found += range_of(expr).times(factor)
        return found


def same(a: ir.Expr, b: ir.Expr) -> bool:
    """Whether two expressions are the same variable, or the same in structure."""
    return a is b or (not isinstance(a, ir.Var) and ir.structural_equal(a, b))


class Simplifier:
    """Builds operators in their simplest form; operands are simple already."""

    def __init__(self, range_of: RangeOf) -> None:
        self._range_of = range_of

    def simplified(self, node: ir.Expr) -> ir.Expr:
        """An operator in its simplest form; anything else as it is."""
        if isinstance(node, ir.Not) and isinstance(node.operand, ir.ConstBool):
            return ir.ConstBool(not node.operand.value, node.span)
        if not isinstance(node, ir.BinaryExpr):
            return node
        if isinstance(node, ir.Gt | ir.Ge):
            node = _SWAPPED[type(node)](node.right, node.left, ir.DataType.BOOL, node.span)
        if isinstance(node, ir.And | ir.Or):
            return self._logical(node)
        dtype = node.left.type.dtype if isinstance(node.left.type, ir.ScalarType) else None
        if dtype not in _EXACT:
            return node
        if isinstance(node, _ORDERED):
            return self._decided(node)
        rules = {
            ir.Add: self._add,
            ir.Sub: self._sub,
            ir.Mul: self._mul,
            ir.FloorDiv: self._div,
            ir.FloorMod: self._mod,
            ir.Min: self._least,
            ir.Max: self._greatest,
        }
        rule = rules.get(type(node))
        return rule(node, node.left, node.right) if rule is not None else node

    def _logical(self, node: ir.And | ir.Or) -> ir.Expr:
        decisive = isinstance(node, ir.Or)
        for part, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(part, ir.ConstBool):
                return part if part.value is decisive else other
        return node

    def _decided(self, node: ir.BinaryExpr) -> ir.Expr:
        """A comparison, or its outcome where the ranges tell it."""
        gap = Linear.of(node.left).minus(Linear.of(node.right)).range(self._range_of)
        outcome = _outcome(node, gap)
        if outcome is not None:
            return ir.ConstBool(outcome, node.span)
        below, above = node.left, node.right
        if not isinstance(node, ir.Lt) or not isinstance(above, ir.Max) or not isinstance(below, ir.ConstInt):
            return node
        is_floor = isinstance(above.right, ir.ConstInt) and above.right.value <= below.value
        return ir.Lt(below, above.left, ir.DataType.BOOL, node.span) if is_floor else node

    def _add(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if isinstance(a, ir.ConstInt):
            a, b = b, a
        if isinstance(b, ir.ConstInt):
            if isinstance(a, ir.ConstInt):
                return _constant(node, a.value + b.value)
            if b.value == 0:
                return a
            if isinstance(a, ir.Add | ir.Sub) and isinstance(a.right, ir.ConstInt):
                inner = a.right.value if isinstance(a, ir.Add) else -a.right.value
                return self._add(node, a.left, _constant(node, inner + b.value))
        elif isinstance(a, ir.Add) and isinstance(a.right, ir.ConstInt):
            return self._add(node, self._add(node, a.left, b), a.right)
        elif isinstance(b, ir.Sub) and same(b.right, a):
            return b.left
        return _built(ir.Add, node, a, b)

    def _sub(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if same(a, b):
            return _constant(node, 0)
        if isinstance(b, ir.ConstInt):
            if isinstance(a, ir.ConstInt):
                return _constant(node, a.value - b.value)
            if b.value == 0:
                return a
            if isinstance(a, ir.Add | ir.Sub) and isinstance(a.right, ir.ConstInt):
                return self._add(node, a, _constant(node, -b.value))
        if (rest := self._without_constants(node, a, b)) is not None:
            return rest
        if isinstance(a, ir.Min | ir.Max):
            for part, other in ((a.left, a.right), (a.right, a.left)):
                if same(part, b):
                    return self._chosen(type(a), node, self._sub(node, other, b), _constant(node, 0))
        if isinstance(a, ir.ConstInt) and isinstance(b, ir.Add) and isinstance(b.right, ir.ConstInt):
            return self._sub(node, _constant(node, a.value - b.right.value), b.left)
        return _built(ir.Sub, node, a, b)

    def _without_constants(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr | None:
        """The difference of two sums with the same constant: what is added first, then what is taken away."""
        left, right = Linear.of(a), Linear.of(b)
        terms = [(expr, factor) for expr, factor in left.minus(right).terms if factor]
        is_sum = bool(right.terms) and any(factor > 0 for _, factor in terms)
        if not left.constant or left.constant != right.constant or not is_sum:
            return None
        found: ir.Expr = _constant(node, 0)
        for expr, factor in sorted(terms, key=lambda term: term[1] < 0):
            part = self._mul(node, expr, _constant(node, abs(factor)))
            found = self._add(node, found, part) if factor > 0 else self._sub(node, found, part)
        return found

    def _mul(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if isinstance(a, ir.ConstInt):
            a, b = b, a
        if isinstance(b, ir.ConstInt):
            if isinstance(a, ir.ConstInt):
                return _constant(node, a.value * b.value)
            if b.value in (0, 1):
                return a if b.value else b
            if isinstance(a, ir.Mul) and isinstance(a.right, ir.ConstInt):
                return self._mul(node, a.left, _constant(node, a.right.value * b.value))
            if isinstance(a, ir.Add) and isinstance(a.right, ir.ConstInt):
                product = self._mul(node, a.left, b)
                return self._add(node, product, _constant(node, a.right.value * b.value))
        return _built(ir.Mul, node, a, b)

    def _div(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if not isinstance(b, ir.ConstInt) or b.value <= 0:
            return _built(ir.FloorDiv, node, a, b)
        if isinstance(a, ir.ConstInt):
            return _constant(node, a.value // b.value)
        if b.value == 1:
            return a
        if isinstance(a, ir.FloorDiv) and isinstance(a.right, ir.ConstInt) and a.right.value > 0:
            return self._div(node, a.left, _constant(node, a.right.value * b.value))
        whole, rest = self._split(a, b.value)
        if rest is None:
            return _built(ir.FloorDiv, node, a, b)
        found: ir.Expr = _constant(node, 0)
        for expr, factor in whole:
            product = self._mul(node, expr, _constant(node, factor // b.value))
            found = self._add(node, found, product)
        return self._add(node, found, _constant(node, rest.constant // b.value)) if not rest.terms else found

    def _mod(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if not isinstance(b, ir.ConstInt) or b.value <= 0:
            return _built(ir.FloorMod, node, a, b)
        if isinstance(a, ir.ConstInt):
            return _constant(node, a.value % b.value)
        whole, rest = self._split(a, b.value)
        if rest is None:
            return _built(ir.FloorMod, node, a, b)
        if not whole:
            return a
        found: ir.Expr = _constant(node, rest.constant % b.value if not rest.terms else rest.constant)
        for expr, factor in rest.terms:
            found = self._add(node, found, self._mul(node, expr, _constant(node, factor)))
        return found

    def _split(self, expr: ir.Expr, divisor: int) -> tuple[list[tuple[ir.Expr, int]], Linear | None]:
        """The multiples of a divisor in a sum, and the rest if that is a remainder, else None."""
        total = Linear.of(expr)
        whole = [(part, factor) for part, factor in total.terms if factor and factor % divisor == 0]
        rest = Linear([term for term in total.terms if term[1] % divisor], total.constant)
        if not rest.terms:
            return whole, rest
        found = rest.range(self._range_of)
        is_remainder = (
            found.low is not None and found.low >= 0 and found.high is not None and found.high < divisor
        )
        return whole, rest if is_remainder else None

    def _least(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        return self._chosen(ir.Min, node, a, b)

    def _greatest(self, node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        return self._chosen(ir.Max, node, a, b)

    def _chosen(self, cls: type[ir.Min] | type[ir.Max], node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        if isinstance(a, ir.ConstInt):
            a, b = b, a
        gap = Linear.of(a).minus(Linear.of(b)).range(self._range_of)
        smaller, greater = (a, b) if cls is ir.Min else (b, a)
        if gap.high is not None and gap.high <= 0:
            return smaller
        if gap.low is not None and gap.low >= 0:
            return greater
        return _built(cls, node, a, b)


def _outcome(node: ir.BinaryExpr, gap: Range) -> bool | None:
    """What a comparison with zero tells of a value in a range."""
    low, high = gap.low, gap.high
    if isinstance(node, ir.Lt | ir.Le):
        limit = -1 if isinstance(node, ir.Lt) else 0
        if high is not None and high <= limit:
            return True
        return False if low is not None and low > limit else None
    if low == 0 == high:
        return isinstance(node, ir.Eq)
    is_apart = (low is not None and low > 0) or (high is not None and high < 0)
    return isinstance(node, ir.Ne) if is_apart else None


def _constant(like: ir.Expr, value: int) -> ir.ConstInt:
    assert isinstance(like.type, ir.ScalarType)
    return ir.ConstInt(value, like.type.dtype, like.span)


def _built(cls: type[ir.BinaryExpr], node: ir.Expr, a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """An operator with these operands; ``node`` itself where it has them."""
    if type(node) is cls and node.left is a and node.right is b:
        return node
    assert isinstance(node.type, ir.ScalarType)
    return cls(a, b, node.type.dtype, node.span)
