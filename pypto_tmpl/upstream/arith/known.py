"""What is known of variables, and what follows of it for expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir.build import as_expr
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.passes.scalars.expressions import Linear, Simplifier, same
from pypto_tmpl.passes.scalars.ranges import ANY, Range, range_of
from pypto_tmpl.passes.scalars.simplify import told
from pypto_tmpl.rewrite import Rewriter, substitute
from pypto_tmpl.upstream.arith.domains import ModularSet


@dataclass(frozen=True, slots=True)
class _AtMost:
    """``left - right <= gap``."""

    left: ir.Expr
    right: ir.Expr
    gap: int


@dataclass(slots=True)
class Known:
    """Ranges, remainders and values of variables, and how expressions are to each other.

    A constraint holds until it is taken back; what is said of a variable until it is said anew or forgotten.
    """

    ranges: dict[ir.Var, Range] = field(default_factory=dict)
    remainders: dict[ir.Var, ModularSet] = field(default_factory=dict)
    values: dict[ir.Var, ir.Expr] = field(default_factory=dict)
    _orders: list[_AtMost] = field(default_factory=list)
    _apart: list[tuple[ir.Expr, ir.Expr]] = field(default_factory=list)

    def forget(self, var: ir.Var) -> None:
        """Nothing is known of a variable any more."""
        self.ranges.pop(var, None)
        self.remainders.pop(var, None)
        self.values.pop(var, None)

    def bind(self, var: ir.Var, value: ir.Expr | int, stop: int | None = None) -> None:
        """A variable is an expression, or with ``stop`` a number from ``value`` up to before it."""
        self.forget(var)
        if stop is None:
            self.values[var] = as_expr(value)
            return
        if not isinstance(value, int):
            raise TypeError(f"a range begins with an int, got {type(value).__name__}")
        self.ranges[var] = Range(value, stop - 1)

    def enter(self, constraint: ir.Expr) -> Callable[[], None]:
        """Let a condition hold; what is returned takes it back."""
        before = dict(self.ranges), list(self._orders), list(self._apart)
        condition = self.simplified(constraint)
        found = told(condition, True, self.range)
        for var in walk(condition):
            if isinstance(var, ir.Var) and id(var) in found:
                self.ranges[var] = self.ranges.get(var, ANY).within(found[id(var)])
        self._note(condition)

        def leave() -> None:
            self.ranges, self._orders, self._apart = dict(before[0]), list(before[1]), list(before[2])

        return leave

    def _note(self, condition: ir.Expr) -> None:
        if isinstance(condition, ir.And):
            self._note(condition.left)
            self._note(condition.right)
        elif isinstance(condition, ir.Ne):
            self._apart.append((condition.left, condition.right))
        elif isinstance(condition, ir.Lt | ir.Le | ir.Eq):
            gap = -1 if isinstance(condition, ir.Lt) else 0
            self._orders.append(_AtMost(condition.left, condition.right, gap))
            if isinstance(condition, ir.Eq):
                self._orders.append(_AtMost(condition.right, condition.left, 0))

    def range(self, expr: ir.Expr) -> Range:
        """The range of an expression."""
        expr = self.resolved(expr)
        if isinstance(expr, ir.Var):
            return self.ranges.get(expr, ANY)
        return range_of(expr, self.range)

    def remainder(self, expr: ir.Expr) -> ModularSet:
        """The remainders of an expression."""
        expr = self.resolved(expr)
        match expr:
            case ir.ConstInt():
                return ModularSet(0, expr.value)
            case ir.Var():
                return self.remainders.get(expr, ModularSet())
            case ir.Add():
                return self.remainder(expr.left) + self.remainder(expr.right)
            case ir.Sub():
                return self.remainder(expr.left) + -self.remainder(expr.right)
            case ir.Mul():
                return self.remainder(expr.left) * self.remainder(expr.right)
            case ir.Min() | ir.Max():
                return self.remainder(expr.left) | self.remainder(expr.right)
            case ir.FloorDiv(right=ir.ConstInt(value=divisor)) if divisor > 0:
                return self.remainder(expr.left) // divisor
            case ir.FloorMod(right=ir.ConstInt(value=divisor)) if divisor > 0:
                return self.remainder(expr.left) % divisor
        return ModularSet()

    def resolved(self, expr: ir.Expr) -> ir.Expr:
        """An expression with the values of its variables."""
        while self.values:
            found = substitute(expr, self.values)
            if found is expr:
                break
            expr = found
        return expr

    def simplified(self, expr: ir.Expr) -> ir.Expr:
        """An expression in its simplest form."""
        return _Simplifying(Simplifier(self.range)).rewrite(self.resolved(expr))

    def gap(self, left: ir.Expr, right: ir.Expr) -> Range:
        """The range of ``left - right``."""
        left, right = self.simplified(left), self.simplified(right)
        found = Linear.of(left).minus(Linear.of(right)).range(self.range)
        above, below = self._at_most(left, right), self._at_most(right, left)
        return found.within(Range(None if below is None else -below, above))

    def are_apart(self, left: ir.Expr, right: ir.Expr) -> bool:
        """Whether it was said that two expressions differ."""
        return any(
            (same(a, left) and same(b, right)) or (same(a, right) and same(b, left)) for a, b in self._apart
        )

    def _at_most(self, left: ir.Expr, right: ir.Expr) -> int | None:
        """The least bound of ``left - right`` that follows of what was said, over any number of steps."""
        reached: list[tuple[ir.Expr, int]] = [(left, 0)]
        for _ in range(len(self._orders)):
            for order in self._orders:
                start = next((gap for expr, gap in reached if same(expr, order.left)), None)
                if start is None:
                    continue
                place = next((i for i, (expr, _) in enumerate(reached) if same(expr, order.right)), None)
                if place is None:
                    reached.append((order.right, start + order.gap))
                elif start + order.gap < reached[place][1]:
                    reached[place] = (order.right, start + order.gap)
        return next((gap for expr, gap in reached[1:] if same(expr, right)), None)


class _Simplifying(Rewriter):
    def __init__(self, simplifier: Simplifier) -> None:
        super().__init__()
        self._simplifier = simplifier

    def expression(self, expr: ir.Expr) -> ir.Expr:
        return self._simplifier.simplified(expr)
