"""pypto.arith: numbers by hand, and facts of expressions held against all values that variables can have."""

import itertools
import math

import pytest

from pypto_tmpl import ir
from pypto_tmpl.upstream import arith

AT = ir.Span.unknown()
INDEX = ir.ScalarType(ir.DataType.INDEX)


def var(name: str) -> ir.Var:
    return ir.Var(name, INDEX, AT)


def const(value: int) -> ir.Expr:
    return ir.ConstInt(value, ir.DataType.INDEX, AT)


def value_of(expr: ir.Expr, values: dict[ir.Var, int]) -> int:
    """What an expression comes to, by Python's own operators."""
    match expr:
        case ir.ConstInt():
            return expr.value
        case ir.Var():
            return values[expr]
    assert isinstance(expr, ir.BinaryExpr)
    a, b = value_of(expr.left, values), value_of(expr.right, values)
    operators = {
        ir.Add: a + b, ir.Sub: a - b, ir.Mul: a * b, ir.Min: min(a, b), ir.Max: max(a, b),
        ir.FloorDiv: a // b if b else 0, ir.FloorMod: a % b if b else 0,
    }  # fmt: skip
    return operators[type(expr)]


X, Y = var("x"), var("y")
EXPRESSIONS = [
    X + 3, X - Y, X * 4 + 2, X * 6 + Y * 4, (X * 8 + 3) // 4, (X * 8 + 3) % 4, (X + Y) % 5,
    ir.min_(X, Y) + 1, ir.max_(X * 2, 7), X * 4 // 4, (X * 16 + 4) // 4 % 2, 5 - X, X * Y,
]  # fmt: skip


def analyzer() -> arith.Analyzer:
    found = arith.Analyzer()
    found.bind(X, 0, 7)
    found.bind(Y, -3, 4)
    return found


def values() -> list[dict[ir.Var, int]]:
    return [dict(zip((X, Y), pair, strict=True)) for pair in itertools.product(range(7), range(-3, 4))]


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_facts_hold_for_all_values(expr: ir.Expr) -> None:
    known = analyzer()
    bound, modular = known.const_int_bound(expr), known.modular_set(expr)
    simple, interval = known.simplify(expr), known.int_set(expr)
    for case in values():
        found = value_of(expr, case)
        assert bound.min_value <= found <= bound.max_value
        assert found == modular.base if modular.is_exact() else found % modular.coeff == modular.base
        assert value_of(simple, case) == found
        assert interval.min_value is None or value_of(interval.min_value, case) <= found


def test_facts_say_as_much_as_they_can() -> None:
    known = analyzer()
    assert known.const_int_bound(X * 4 + 2) == arith.ConstIntBound(2, 26)
    assert known.modular_set(X * 6 + Y * 4 + 1) == arith.ModularSet(2, 1)
    assert known.modular_set((X * 16 + 4) // 4) == arith.ModularSet(4, 1)
    assert known.modular_set(const(9) % 4).is_exact()
    assert known.const_int_bound(var("z")).is_everything()
    assert known.simplify((X * 8 + 3) // 8) is X
    assert str(known.simplify(X + 0)) == "x"


def test_proofs() -> None:
    known = analyzer()
    assert known.can_prove_greater_equal(X, 0) and not known.can_prove_greater_equal(X, 1)
    assert known.can_prove_less(X, 7) and not known.can_prove_less(X, 6)
    assert known.can_prove_equal(X * 2 + X, X * 3 + 0 * Y)
    assert known.can_prove(Y < X + 4) and not known.can_prove(Y < X)
    assert known.can_prove(ir.and_(X >= 0, Y <= 3)) and known.can_prove(ir.ne(X, -1))


def test_a_constraint_holds_inside_of_its_block() -> None:
    known, n = arith.Analyzer(), var("n")
    with known.constraint_context(ir.and_(n >= 2, n < 5)):
        assert known.const_int_bound(n) == arith.ConstIntBound(2, 4)
        with known.constraint_context(n > 3):
            assert known.can_prove(ir.eq(n, 4))
    assert known.const_int_bound(n).is_everything()


def test_order_goes_over_others() -> None:
    order, a, b, c = arith.TransitiveComparisonAnalyzer(), var("a"), var("b"), var("c")
    leave = order.enter_constraint(ir.and_(a < b, b <= c))
    assert order.try_compare(a, c) is arith.CompareResult.kLT
    assert order.try_compare(c, a) is arith.CompareResult.kGT
    assert order.try_compare(c, b) is arith.CompareResult.kGE
    order.enter_constraint(c < a)
    assert order.try_compare(a, c) is arith.CompareResult.kInconsistent
    leave()
    assert order.try_compare(a, c) is arith.CompareResult.kUnknown
    order.enter_constraint(ir.ne(a, c))
    assert order.try_compare(c, a) is arith.CompareResult.kNE
    order.bind(b, a)
    assert order.try_compare(a, b) is arith.CompareResult.kEQ


def test_what_is_bound_can_be_forgotten_and_said_otherwise() -> None:
    known, n = arith.Analyzer(), var("n")
    known.bind(n, X * 2)
    assert known.modular_set(n + 1) == arith.ModularSet(2, 1)
    known.const_int_bound.update(n, arith.ConstIntBound(min_value=3))
    known.unbind(n)
    assert known.const_int_bound(n).is_everything() and known.modular_set(n).is_everything()
    known.modular_set.update(n, arith.ModularSet(8, 12))
    assert known.modular_set(n * 2) == arith.ModularSet(16, 8)
    known.int_set.update(n, arith.IntSet.interval(const(1), const(9)))
    assert known.const_int_bound(n) == arith.ConstIntBound(1, 9)
    with pytest.raises(TypeError, match="a range begins with an int"):
        known.bind(n, X, 4)


def test_sets() -> None:
    assert arith.IntSet.everything().is_everything()
    assert arith.IntSet.single_point(const(2)).is_single_point()
    assert arith.IntSet.interval(const(3), const(2)).is_nothing()
    assert arith.ConstIntBound(1, 1).is_const() and arith.ConstIntBound(1, 1).is_positive()
    assert arith.ConstIntBound(0, 4).is_non_negative() and not arith.ConstIntBound(0, 4).is_positive()


@pytest.mark.parametrize(("a", "b"), list(itertools.product((-12, -5, 0, 7, 18), repeat=2)))
def test_numbers(a: int, b: int) -> None:
    g, x, y = arith.extended_euclidean(a, b)
    assert g == math.gcd(a, b) == arith.gcd(a, b) == a * x + b * y
    assert arith.lcm(a, b) == math.lcm(a, b)
    if b:
        assert arith.floordiv(a, b) * b + arith.floormod(a, b) == a
        assert arith.floordiv(a, b) == math.floor(a / b)
    else:
        with pytest.raises(ValueError, match="division by zero"):
            arith.floordiv(a, b)


def test_constants_are_folded() -> None:
    assert value_of(arith.fold_const(const(7) * 3 - const(1)), {}) == 20
    assert isinstance(arith.fold_const(const(7) * 3 - const(1)), ir.ConstInt)
