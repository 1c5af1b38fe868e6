"""The analyzers: each answers one question about expressions, ``Analyzer`` all of them from one knowledge."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from pypto_tmpl import ir
from pypto_tmpl.ir.build import as_expr
from pypto_tmpl.passes.scalars.ranges import Range
from pypto_tmpl.upstream.arith.domains import CompareResult, ConstIntBound, IntSet, ModularSet
from pypto_tmpl.upstream.arith.known import Known

Undo = Callable[[], None]


class _Part:
    """Base: works with the knowledge of an ``Analyzer``, or with its own."""

    def __init__(self, known: Known | None = None) -> None:
        self._known = Known() if known is None else known

    def enter_constraint(self, constraint: ir.Expr) -> Undo:
        """Let a condition hold; what is returned takes it back."""
        return self._known.enter(constraint)


class ConstIntBoundAnalyzer(_Part):
    """Between which numbers a value is: ``analyzer(expr)``."""

    def __call__(self, expr: ir.Expr) -> ConstIntBound:
        return ConstIntBound.of(self._known.range(expr))

    def bind(self, var: ir.Var, start: int, stop: int) -> None:
        """A variable is a number from ``start`` up to before ``stop``."""
        self._known.bind(var, start, stop)

    def update(self, var: ir.Var, bound: ConstIntBound) -> None:
        """A variable is within a bound."""
        self._known.ranges[var] = bound.range()

    def unbind(self, var: ir.Var) -> None:
        """Nothing is known of a variable any more."""
        self._known.forget(var)


class ModularSetAnalyzer(_Part):
    """What a value leaves when it is divided: ``analyzer(expr)``."""

    def __call__(self, expr: ir.Expr) -> ModularSet:
        return self._known.remainder(expr)

    def update(self, var: ir.Var, info: ModularSet) -> None:
        """A variable is one of these numbers."""
        self._known.remainders[var] = info

    def unbind(self, var: ir.Var) -> None:
        """Nothing is known of a variable any more."""
        self._known.forget(var)


class RewriteSimplifier(_Part):
    """The simplest form of an expression: ``simplifier(expr)``."""

    def __call__(self, expr: ir.Expr) -> ir.Expr:
        return self._known.simplified(expr)

    def update(self, var: ir.Var, value: ir.Expr) -> None:
        """A variable is an expression."""
        self._known.bind(var, value)


class CanonicalSimplifier(RewriteSimplifier):
    """The same form; there is one here."""


class TransitiveComparisonAnalyzer(_Part):
    """How two expressions are to each other, also by way of others."""

    def try_compare(self, lhs: ir.Expr, rhs: ir.Expr) -> CompareResult:
        """What is known of ``lhs`` against ``rhs``."""
        gap = self._known.gap(lhs, rhs)
        if gap.low is not None and gap.high is not None and gap.low > gap.high:
            return CompareResult.kInconsistent
        if gap == Range(0, 0):
            return CompareResult.kEQ
        for end, strict, loose in (
            (gap.high, CompareResult.kLT, CompareResult.kLE),
            (None if gap.low is None else -gap.low, CompareResult.kGT, CompareResult.kGE),
        ):
            if end is not None and end <= 0:
                return strict if end < 0 or self._known.are_apart(lhs, rhs) else loose
        return CompareResult.kNE if self._known.are_apart(lhs, rhs) else CompareResult.kUnknown

    def bind(self, var: ir.Var, value: ir.Expr | int, stop: int | None = None) -> None:
        """A variable is an expression, or with ``stop`` a number from ``value`` up to before it."""
        self._known.bind(var, value, stop)

    def unbind(self, var: ir.Var) -> None:
        """Nothing is known of a variable any more."""
        self._known.forget(var)


class IntSetAnalyzer(_Part):
    """The interval that a value is in: ``analyzer(expr)``."""

    def __call__(self, expr: ir.Expr) -> IntSet:
        found = self._known.range(expr)
        return IntSet(*(None if end is None else as_expr(end) for end in (found.low, found.high)))

    def update(self, var: ir.Var, info: IntSet) -> None:
        """A variable is in an interval; ends that are no constants are no bounds."""
        ends = [
            end.value if isinstance(end, ir.ConstInt) else None for end in (info.min_value, info.max_value)
        ]
        self._known.ranges[var] = Range(*ends)

    def bind(self, var: ir.Var, start: int, stop: int) -> None:
        """A variable is a number from ``start`` up to before ``stop``."""
        self._known.bind(var, start, stop)


class ConstraintContext:
    """``with analyzer.constraint_context(condition):``, inside of which the condition holds."""

    def __init__(self, analyzer: Analyzer, constraint: ir.Expr) -> None:
        self._analyzer = analyzer
        self._constraint = constraint
        self._leave: Undo | None = None

    def __enter__(self) -> ConstraintContext:
        self._leave = self._analyzer.rewrite_simplify.enter_constraint(self._constraint)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.exit_scope()

    def exit_scope(self) -> None:
        """Take the condition back; once is enough."""
        if self._leave is not None:
            self._leave()
            self._leave = None


class Analyzer:
    """All analyzers over one knowledge of variables."""

    def __init__(self) -> None:
        self._known = Known()
        self._bound = ConstIntBoundAnalyzer(self._known)
        self._modular = ModularSetAnalyzer(self._known)
        self._simplifier = RewriteSimplifier(self._known)
        self._order = TransitiveComparisonAnalyzer(self._known)
        self._interval = IntSetAnalyzer(self._known)

    @property
    def const_int_bound(self) -> ConstIntBoundAnalyzer:
        return self._bound

    @property
    def modular_set(self) -> ModularSetAnalyzer:
        return self._modular

    @property
    def rewrite_simplify(self) -> RewriteSimplifier:
        return self._simplifier

    @property
    def transitive_cmp(self) -> TransitiveComparisonAnalyzer:
        return self._order

    @property
    def int_set(self) -> IntSetAnalyzer:
        return self._interval

    def bind(self, var: ir.Var, value: ir.Expr | int, stop: int | None = None) -> None:
        """A variable is an expression, or with ``stop`` a number from ``value`` up to before it."""
        self._known.bind(var, value, stop)

    def unbind(self, var: ir.Var) -> None:
        """Nothing is known of a variable any more."""
        self._known.forget(var)

    def simplify(self, expr: ir.Expr) -> ir.Expr:
        """An expression in its simplest form."""
        return self._known.simplified(expr)

    def can_prove_greater_equal(self, expr: ir.Expr, lower_bound: int) -> bool:
        """Whether a value is at least a number."""
        low = self._known.range(self.simplify(expr)).low
        return low is not None and low >= lower_bound

    def can_prove_less(self, expr: ir.Expr, upper_bound: int) -> bool:
        """Whether a value is less than a number."""
        high = self._known.range(self.simplify(expr)).high
        return high is not None and high < upper_bound

    def can_prove_equal(self, lhs: ir.Expr, rhs: ir.Expr) -> bool:
        """Whether two values are the same."""
        return self._order.try_compare(lhs, rhs) is CompareResult.kEQ

    def can_prove(self, cond: ir.Expr) -> bool:
        """Whether a condition holds."""
        found = self.simplify(cond)
        if isinstance(found, ir.ConstBool):
            return found.value
        if isinstance(found, ir.And):
            return self.can_prove(found.left) and self.can_prove(found.right)
        if isinstance(found, ir.Or):
            return self.can_prove(found.left) or self.can_prove(found.right)
        proof = _PROOFS.get(type(found))
        if proof is None or not isinstance(found, ir.BinaryExpr):
            return False
        return self._order.try_compare(found.left, found.right) in proof

    def constraint_context(self, constraint: ir.Expr) -> ConstraintContext:
        """A block inside of which a condition holds."""
        return ConstraintContext(self, constraint)


_PROOFS: dict[type[ir.Expr], tuple[CompareResult, ...]] = {
    ir.Eq: (CompareResult.kEQ,),
    ir.Ne: (CompareResult.kNE, CompareResult.kLT, CompareResult.kGT),
    ir.Lt: (CompareResult.kLT,),
    ir.Le: (CompareResult.kLT, CompareResult.kLE, CompareResult.kEQ),
    ir.Gt: (CompareResult.kGT,),
    ir.Ge: (CompareResult.kGT, CompareResult.kGE, CompareResult.kEQ),
}
