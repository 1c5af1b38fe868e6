"""Simplifying differences of index expressions: ``(r + 16) - r`` is 16."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import same_extent

_INDEX = ir.DataType.INDEX


@dataclass(slots=True)
class Linear:
    """A sum of terms with integer factors, and a constant."""

    constant: int = 0
    terms: list[tuple[ir.Expr, int]] = field(default_factory=list)

    def add(self, term: ir.Expr, factor: int) -> None:
        """Add a term that is no sum itself."""
        for place, (known, count) in enumerate(self.terms):
            if same_extent(known, term):
                self.terms[place] = (known, count + factor)
                return
        self.terms.append((term, factor))


def _collect(expr: ir.Expr, factor: int, into: Linear) -> None:
    match expr:
        case ir.ConstInt(value=value):
            into.constant += factor * value
        case ir.Add(left=left, right=right):
            _collect(left, factor, into)
            _collect(right, factor, into)
        case ir.Sub(left=left, right=right):
            _collect(left, factor, into)
            _collect(right, -factor, into)
        case ir.Mul(left=left, right=ir.ConstInt(value=value)):
            _collect(left, factor * value, into)
        case ir.Mul(left=ir.ConstInt(value=value), right=right):
            _collect(right, factor * value, into)
        case ir.Neg(operand=operand):
            _collect(operand, -factor, into)
        case _:
            into.add(expr, factor)


def difference(upper: ir.Expr, lower: ir.Expr, span: ir.Span) -> ir.Expr:
    """``upper - lower``: a constant or a single term where it is one, else the subtraction."""
    found = Linear()
    _collect(upper, 1, found)
    _collect(lower, -1, found)
    terms = [(term, factor) for term, factor in found.terms if factor]
    if not terms:
        return ir.ConstInt(found.constant, _INDEX, span)
    if not found.constant and [factor for _, factor in terms] == [1]:
        return terms[0][0]
    if isinstance(lower, ir.ConstInt) and lower.value == 0:
        return upper
    return ir.sub(upper, lower, span)


def same_value(a: ir.Expr, b: ir.Expr) -> bool:
    """Whether two index expressions are equal for all values of their variables, as far as sums tell."""
    if same_extent(a, b):
        return True
    found = difference(a, b, ir.Span.unknown())
    return isinstance(found, ir.ConstInt) and found.value == 0
