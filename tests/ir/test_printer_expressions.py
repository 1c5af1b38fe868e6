"""Text of expressions (spec: DSL, 12.5)."""

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    INT32,
    NOWHERE,
    boolean,
    call,
    integer,
    operators,
    real,
    scalar,
    tensor,
    text,
    tuple_of,
)

from pypto_tmpl import ir

X, Y, Z = scalar("x"), scalar("y"), scalar("z")
P, Q, R = scalar("p", BOOL), scalar("q", BOOL), scalar("r", BOOL)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, "0.10000000000000001"),
        (0.5, "0.5"),
        (1.0, "1.0"),
        (-2.0, "-2.0"),
        (1e-6, "9.9999999999999995e-07"),
        (1e8, "100000000.0"),
        (-1e30, "-1e+30"),
        (1e16, "10000000000000000.0"),
        (1e17, "1e+17"),
        (1.0 / 127, "0.007874015748031496"),
        (3.1415927410125732, "3.1415927410125732"),
        (1e-45, "9.9999999999999998e-46"),
        (5e-324, "4.9406564584124654e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (float("inf"), "1e999"),
        (float("-inf"), "-1e999"),
        (float("nan"), "(1e999 - 1e999)"),
    ],
)
def test_floats(value: float, expected: str) -> None:
    assert text(real(value)) == expected
    assert text(real(value, ir.DataType.BF16)) == f"pl.const({expected}, pl.BF16)"
    read = eval(expected)
    assert str(read) == str(value)  # the very double; NaN is NaN, -0.0 keeps its sign


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (integer(7), "7"),
        (integer(-7), "-7"),
        (integer(7, INT32), "pl.const(7, pl.INT32)"),
        (integer(-(2**63), ir.DataType.INT64), "pl.const(-9223372036854775808, pl.INT64)"),
        (integer(1, BOOL), "pl.const(1, pl.BOOL)"),
        (boolean(True), "True"),
        (boolean(False), "False"),
    ],
)
def test_other_constants(node: ir.Expr, expected: str) -> None:
    assert text(node) == expected


SYMBOLS = [
    (ir.Add, "x + y"),
    (ir.Sub, "x - y"),
    (ir.Mul, "x * y"),
    (ir.FloatDiv, "x / y"),
    (ir.FloorDiv, "x // y"),
    (ir.FloorMod, "x % y"),
    (ir.Pow, "x ** y"),
    (ir.Min, "pl.min(x, y)"),
    (ir.Max, "pl.max(x, y)"),
    (ir.Eq, "x == y"),
    (ir.Ne, "x != y"),
    (ir.Lt, "x < y"),
    (ir.Le, "x <= y"),
    (ir.Gt, "x > y"),
    (ir.Ge, "x >= y"),
    (ir.And, "x and y"),
    (ir.Or, "x or y"),
    (ir.Xor, "x xor y"),
    (ir.BitAnd, "x & y"),
    (ir.BitOr, "x | y"),
    (ir.BitXor, "x ^ y"),
    (ir.BitShiftLeft, "x << y"),
    (ir.BitShiftRight, "x >> y"),
]


@pytest.mark.parametrize(("kind", "expected"), SYMBOLS)
def test_binary_operators(kind: type[ir.BinaryExpr], expected: str) -> None:
    assert text(kind(X, Y, INDEX, NOWHERE)) == expected


def test_every_binary_operator_is_tested() -> None:
    assert {kind for kind, _ in SYMBOLS} == set(operators(ir.BinaryExpr))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (ir.Neg(X, INDEX, NOWHERE), "-x"),
        (ir.Not(P, BOOL, NOWHERE), "not p"),
        (ir.BitNot(X, INDEX, NOWHERE), "~x"),
        (ir.Abs(X, INDEX, NOWHERE), "abs(x)"),
        (ir.Cast(X, INT32, NOWHERE), "pl.cast(x, pl.INT32)"),
        (ir.Cast(X + Y, FP32, NOWHERE), "pl.cast(x + y, pl.FP32)"),
        (ir.Cast(integer(3), FP32, NOWHERE), "pl.cast(3, pl.FP32)"),
    ],
)
def test_unary_operators(node: ir.Expr, expected: str) -> None:
    assert text(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (X + Y + Z, "x + y + z"),
        (X + (Y + Z), "x + (y + z)"),
        (X - (Y - Z), "x - (y - z)"),
        (X + Y * Z, "x + y * z"),
        ((X + Y) * Z, "(x + y) * z"),
        (X * Y // Z % X, "x * y // z % x"),
        (X // (Y * Z), "x // (y * z)"),
        (-(X + Y), "-(x + y)"),
        (-X + Y, "-x + y"),
        (X - integer(-5), "x - -5"),
        (ir.neg(ir.neg(X)), "--x"),
        (X << (Y + Z), "x << y + z"),
        ((X << Y) + Z, "(x << y) + z"),
        (X & Y | Z, "x & y | z"),
        ((X | Y) & Z, "(x | y) & z"),
        (X ^ Y & Z, "x ^ y & z"),
        (ir.lt(X + Y, Z), "x + y < z"),
        (ir.bit_and(X, Y) << Z, "(x & y) << z"),
        (ir.pow(ir.pow(X, Y), Z), "(x ** y) ** z"),
        (ir.pow(X, ir.pow(Y, Z)), "x ** y ** z"),
        (ir.pow(ir.neg(X), Y), "(-x) ** y"),
        (ir.pow(integer(-2), X), "(-2) ** x"),
        (ir.min_(X + Y, Z) * X, "pl.min(x + y, z) * x"),
        (ir.cast(X, INT32) * ir.cast(Y, INT32), "pl.cast(x, pl.INT32) * pl.cast(y, pl.INT32)"),
    ],
)
def test_arithmetic_precedence(node: ir.Expr, expected: str) -> None:
    assert text(node) == expected


def _logic(kind: type[ir.BinaryExpr], left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return kind(left, right, BOOL, NOWHERE)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (ir.or_(ir.and_(P, Q), R), "p and q or r"),
        (ir.and_(ir.or_(P, Q), R), "(p or q) and r"),
        (ir.and_(P, ir.and_(Q, R)), "p and (q and r)"),
        (ir.and_(ir.and_(P, Q), R), "p and q and r"),
        (ir.and_(ir.not_(P), Q), "not p and q"),
        (ir.not_(ir.and_(P, Q)), "not (p and q)"),
        (ir.not_(ir.not_(P)), "not not p"),
        (ir.not_(ir.lt(X, Y)), "not x < y"),
        (ir.and_(ir.lt(X, Y), ir.ge(Y, Z)), "x < y and y >= z"),
        # Python reads `a < b == c` as a chain.
        (_logic(ir.Eq, ir.lt(X, Y), P), "(x < y) == p"),
        (_logic(ir.Eq, P, ir.lt(X, Y)), "p == (x < y)"),
        (_logic(ir.Eq, ir.not_(P), Q), "(not p) == q"),
        (_logic(ir.Xor, ir.and_(P, Q), R), "p and q xor r"),
        (ir.or_(_logic(ir.Xor, P, Q), R), "p xor q or r"),
    ],
)
def test_logical_precedence(node: ir.Expr, expected: str) -> None:
    assert text(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (integer(2) + integer(3), "pl.const(2, pl.INDEX) + pl.const(3, pl.INDEX)"),
        (integer(2) * integer(3) + X, "pl.const(2, pl.INDEX) * pl.const(3, pl.INDEX) + x"),
        (X + 2 + 3, "x + 2 + 3"),
        (real(0.5) * real(2.0), "pl.const(0.5, pl.FP32) * pl.const(2.0, pl.FP32)"),
        (ir.min_(integer(2), integer(3)), "pl.min(pl.const(2, pl.INDEX), pl.const(3, pl.INDEX))"),
        (ir.neg(integer(5)), "-pl.const(5, pl.INDEX)"),
        (ir.neg(integer(5)) + X, "-pl.const(5, pl.INDEX) + x"),
        (ir.not_(boolean(True)), "not pl.const(True, pl.BOOL)"),
        (ir.eq(integer(2), integer(3)), "pl.const(2, pl.INDEX) == pl.const(3, pl.INDEX)"),
    ],
)
def test_operators_on_constants_are_not_folded_by_the_reader(node: ir.Expr, expected: str) -> None:
    assert text(node) == expected


def test_tuples() -> None:
    pair = tuple_of(X, integer(2))
    result = tensor("t", ir.TupleType([X.type, X.type]))
    assert text(pair) == "[x, 2]"
    assert text(tuple_of()) == "[]"
    assert text(tuple_of(pair, X + 1)) == "[[x, 2], x + 1]"
    assert text(ir.TupleGetItemExpr(result, 1, NOWHERE)) == "t[1]"
    assert text(ir.TupleGetItemExpr(pair, 0, NOWHERE)) == "[x, 2][0]"


def test_memory_references_and_windows_are_expressions_too() -> None:
    base = ir.Var("mem_vec_0", ir.PtrType(), NOWHERE)
    assert text(ir.MemRef(base, 0, 64)) == 'pl.MemRef("mem_vec_0", pl.const(0, pl.INT64), 64)'
    assert text(ir.WindowBuffer(ir.Var("window", ir.PtrType(), NOWHERE), 1024)) == "window"


def test_prefix() -> None:
    node = ir.min_(ir.cast(X, INT32), integer(4, INT32))
    assert text(node, prefix="X") == "X.min(X.cast(x, X.INT32), X.const(4, X.INT32))"
    with pytest.raises(ValueError, match="prefix 'a b' is no identifier"):
        text(node, prefix="a b")


def test_unknown_dtype_is_an_error() -> None:
    with pytest.raises(ir.PrintError, match="no text for the dtype of code 0x35: no constant names it"):
        text(integer(1, ir.DataType(0x35)))


def test_methods_of_nodes_and_types() -> None:
    node = call("tensor.exp", tensor("t"))
    assert str(node) == "pl.tensor.exp(t)"
    assert node.as_python(prefix="X") == "X.tensor.exp(t)"
    assert str(node.type) == "pl.Tensor[[16, 64], pl.FP32]"
    assert node.type.as_python() == "pl.Tensor[[16, 64], pl.FP32]"
    assert ir.python_print_type(node.type) == "pl.Tensor[[16, 64], pl.FP32]"


def test_deep_expressions() -> None:
    left = right = X
    for _ in range(20_000):
        left = ir.Add(left, Y, INDEX, NOWHERE)
        right = ir.Add(Y, right, INDEX, NOWHERE)
    assert text(left) == "x" + " + y" * 20_000
    assert text(right) == "y + (" * 19_999 + "y + x" + ")" * 19_999
    constant: ir.Expr = integer(1)
    for _ in range(20_000):
        constant = ir.Add(constant, integer(1), INDEX, NOWHERE)
    assert text(constant).count("pl.const(1, pl.INDEX)") == 20_001
