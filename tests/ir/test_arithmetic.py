"""Index arithmetic: what cancels, what folds, and that no rewriting changes a value."""

import itertools

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value, provably_equal, simplify

S = ir.Span.unknown()
INDEX = ir.DataType.INDEX
N, M = (ir.Var(name, ir.ScalarType(INDEX), S) for name in "nm")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ((N + 64) - N, "64"),
        (N * 64 + 64 - N * 64, "64"),
        ((N + 1) * 32 - N * 32, "32"),
        (N + M - N, "m"),
        (N + N, "n + n"),
        (N + 5 - 3, "n + 2"),
        ((N * 64 + 3) // 64, "n"),
        ((N * 64 + 3) % 64, "3"),
        (ir.min_(N + 64, N), "n"),
        (ir.max_(N + 64, N) - N, "64"),
        (ir.neg(N) + M + N, "m"),
        (ir.min_(64, N) + N - N, "pl.min(64, n)"),
        (N, "n"),
        (N + 1, "n + 1"),
        (64 - N, "64 - n"),
        (N // 2, "n // 2"),
        (N * M, "n * m"),
        (N * M - M * N, "n * m - m * n"),
    ],
)
def test_simplified(expr: ir.Expr, expected: str) -> None:
    assert ir.python_print(simplify(expr), format=False) == expected


def test_what_cannot_be_shorter_is_the_same_object() -> None:
    for expr in (N + 1, N // 2, ir.min_(N, 64), 64 - N):
        assert simplify(expr) is expr


def test_differences_and_constants() -> None:
    assert constant_difference(N + 64, N + 60) == 4
    assert constant_difference(N, M) is None
    assert constant_difference(ir.min_(N, 64), ir.min_(N, 64)) == 0
    assert constant_value((N + 64) - N) == 64
    assert constant_value(N) is None
    assert provably_equal([N + M, N], [M + N, N])
    assert not provably_equal([N, M], [M, N])
    assert not provably_equal([N], [N, N])


def value_of(expr: ir.Expr, values: dict[ir.Var, int]) -> int:
    """The value in Python's own arithmetic."""
    if isinstance(expr, ir.ConstInt):
        return expr.value
    if isinstance(expr, ir.Var):
        return values[expr]
    left, right = value_of(expr.left, values), value_of(expr.right, values)
    compute = {
        ir.Add: lambda: left + right, ir.Sub: lambda: left - right, ir.Mul: lambda: left * right,
        ir.FloorDiv: lambda: left // right, ir.FloorMod: lambda: left % right,
        ir.Min: lambda: min(left, right), ir.Max: lambda: max(left, right),
    }  # fmt: skip
    return compute[type(expr)]()


def test_no_rewriting_changes_a_value() -> None:
    """All expressions of two operators over a few leaves, at a few values of the variables."""
    leaves = [N, M, N * 4, N * 4 + 6, *(ir.ConstInt(value, INDEX, S) for value in (-3, 2, 4))]
    operators = [ir.add, ir.sub, ir.mul, ir.min_, ir.max_]
    pairs = [build(a, b) for build, a, b in itertools.product(operators, leaves, leaves)]
    exprs = pairs + [build(a, 4) for a in pairs for build in (ir.floordiv, ir.mod, ir.sub)]
    exprs += [build(a, b) for build in operators for a, b in itertools.product(pairs[::7], leaves[:4])]
    for expr in exprs:
        simplified = simplify(expr)
        for n, m in ((0, 0), (3, -5), (-7, 2), (64, 8)):
            assert value_of(simplified, {N: n, M: m}) == value_of(expr, {N: n, M: m}), expr
