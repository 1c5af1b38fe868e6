"""Expressions, constants and names of scalars."""

import math
import re

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
INDEX, INT32, INT64, FP32, BOOL = (
    getattr(ir.DataType, name) for name in ("INDEX", "INT32", "INT64", "FP32", "BOOL")
)
VARIABLES = {"n": INDEX, "k": INT32, "j": INT64, "r": FP32, "p": BOOL, "q": BOOL}


def read(text: str, head: str = "", printed: bool = False) -> tuple[ir.Expr, dict[str, ir.Var]]:
    """The expression and the variables it may name."""
    params = ", ".join(f"{name}: pl.Scalar[pl.{dtype.name}]" for name, dtype in VARIABLES.items())
    code = f"import pypto.language as pl\n{head}\n@pl.function\ndef f({params}):\n    return {text}\n"
    function = pl.parse(f"# pypto.program: P\n{code}" if printed else code)
    assert isinstance(function, ir.Function)
    assert isinstance(function.body, ir.ReturnStmt)
    (value,) = function.body.value
    return value, {var.name_hint: var for var in function.params}


def check(text: str, build, head: str = "", printed: bool = False) -> None:
    """``text`` reads as what ``build`` makes of the variables."""
    value, variables = read(text, head, printed)
    assert ir.structural_diff(value, build(**variables)) is None


def index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, INDEX, S)


def op(cls: type, *operands: ir.Expr | int, to: ir.DataType = INDEX) -> ir.Expr:
    """A scalar operator on expressions and INDEX constants."""
    return cls(*(index(value) if isinstance(value, int) else value for value in operands), to, S)


def pair(*elements: ir.Expr) -> ir.MakeTuple:
    return ir.MakeTuple(elements, S)


TASK = ir.ScalarType(ir.DataType.TASK_ID)


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("n + 1", lambda n, **_: op(ir.Add, n, 1)),
        ("n - j", lambda n, j, **_: op(ir.Sub, n, j)),
        ("j - n", lambda n, j, **_: op(ir.Sub, j, n, to=INT64)),
        ("1 + j", lambda j, **_: op(ir.Add, 1, j)),
        ("k + 1", lambda k, **_: op(ir.Add, op(ir.Cast, k), 1)),
        ("k * pl.const(2, pl.INT32)", lambda k, **_: op(ir.Mul, k, ir.ConstInt(2, INT32, S), to=INT32)),
        ("r / 2.0", lambda r, **_: op(ir.FloatDiv, r, ir.ConstFloat(2.0, FP32, S), to=FP32)),
        ("n // 4 % 3", lambda n, **_: op(ir.FloorMod, op(ir.FloorDiv, n, 4), 3)),
        ("n << 1 >> 2", lambda n, **_: op(ir.BitShiftRight, op(ir.BitShiftLeft, n, 1), 2)),
        ("-n", lambda n, **_: op(ir.Neg, n)),
        ("~k", lambda k, **_: op(ir.BitNot, k, to=INT32)),
        ("not p", lambda p, **_: op(ir.Not, p, to=BOOL)),
        ("n == 1", lambda n, **_: op(ir.Eq, n, 1, to=BOOL)),
        ("n != 1", lambda n, **_: op(ir.Ne, n, 1, to=BOOL)),
        ("k < pl.const(1, pl.INT32)", lambda k, **_: op(ir.Lt, k, ir.ConstInt(1, INT32, S), to=BOOL)),
        ("n <= j", lambda n, j, **_: op(ir.Le, n, j, to=BOOL)),
        ("n > 0", lambda n, **_: op(ir.Gt, n, 0, to=BOOL)),
        ("n >= 0", lambda n, **_: op(ir.Ge, n, 0, to=BOOL)),
        ("p and q and p", lambda p, q, **_: op(ir.And, op(ir.And, p, q, to=BOOL), p, to=BOOL)),
        ("p and (q and p)", lambda p, q, **_: op(ir.And, p, op(ir.And, q, p, to=BOOL), to=BOOL)),
        ("p or True", lambda p, **_: op(ir.Or, p, ir.ConstBool(True, S), to=BOOL)),
        ("pl.min(n, 4)", lambda n, **_: op(ir.Min, n, 4)),
        ("pl.max(pl.min(n, 4), 0)", lambda n, **_: op(ir.Max, op(ir.Min, n, 4), 0)),
        ("pl.cast(k, pl.FP32)", lambda k, **_: op(ir.Cast, k, to=FP32)),
        ("[n, 1]", lambda n, **_: pair(n, index(1))),
        ("[n, [k]][1]", lambda n, k, **_: ir.TupleGetItemExpr(pair(n, pair(k)), 1, S)),
        ("pl.Mem.Acc + n", lambda n, **_: op(ir.Add, 5, n)),
        ("pl.Mem.Acc", lambda **_: index(5)),
        ("None", lambda **_: ir.Call(ir.Op("system.task_invalid"), [], TASK, S)),
    ],
)
def test_operators(text, build) -> None:
    check(text, build)


@pytest.mark.parametrize(
    ("text", "build", "refused"),
    [
        ("n & 1", lambda n, **_: op(ir.BitAnd, n, 1), "the operator & on run-time values"),
        ("n | 1", lambda n, **_: op(ir.BitOr, n, 1), "the operator | on run-time values"),
        ("2 ^ n", lambda n, **_: op(ir.BitXor, 2, n), "the operator ^ on run-time values"),
        ("n ** 2", lambda n, **_: op(ir.Pow, n, 2), "the operator ** on run-time values"),
        ("abs(k)", lambda k, **_: op(ir.Abs, k, to=INT32), "the builtin 'abs' on run-time values"),
    ],
)
def test_what_the_printer_writes_and_users_may_not(text, build, refused) -> None:
    check(text, build, printed=True)
    with pytest.raises(pl.UnsupportedFeatureError, match=re.escape(f"{refused} is not supported")):
        read(text)


@pytest.mark.parametrize(
    ("text", "value", "dtype"),
    [
        ("7", 7, INDEX),
        ("-7", -7, INDEX),
        ("2 + 3 * 4", 14, INDEX),
        ("2 ** 10 - 1", 1023, INDEX),
        ("7 & 3 | 8 ^ 1", 7 & 3 | 8 ^ 1, INDEX),
        ("1 << 20 >> 2", 1 << 18, INDEX),
        ("~0", -1, INDEX),
        ("(1, 2, 3)[1]", None, None),
        ("-9223372036854775808", -(2**63), INDEX),
        ("pl.const(-3, pl.INT8)", -3, ir.DataType.INT8),
        ("pl.const(2 ** 5, pl.UINT16)", 32, ir.DataType.UINT16),
        ("A", 64, INDEX),
        ("B[1] + A", 66, INDEX),
        ("pl.const(A, DT)", 64, ir.DataType.INT16),
    ],
)
def test_integers_fold_in_python(text: str, value: int | None, dtype: ir.DataType | None) -> None:
    found, _ = read(text, head="A = 64\nB = (1, 2)\nDT = pl.INT16")
    if value is None:
        assert ir.structural_equal(found, ir.TupleGetItemExpr(pair(index(1), index(2), index(3)), 1, S))
    else:
        assert ir.structural_equal(found, ir.ConstInt(value, dtype, S))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("1.0", 1.0),
        ("1e-45", 1e-45),
        ("4.9406564584124654e-324", 5e-324),
        ("1.7976931348623157e+308", 1.7976931348623157e308),
        ("3.1415927410125732", 3.1415927410125732),
        ("-0.0", -0.0),
        ("1e999", math.inf),
        ("-1e999", -math.inf),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ('float("inf")', math.inf),
        ('float("-inf")', -math.inf),
        ("1.0 / 128", 0.0078125),
    ],
)
def test_floats_keep_every_bit(text: str, value: float) -> None:
    found, _ = read(text)
    assert isinstance(found, ir.ConstFloat)
    assert found.value == value
    assert math.copysign(1, found.value) == math.copysign(1, value)
    assert found.dtype == FP32
    again, _ = read(ir.python_print(found, format=False))
    assert ir.structural_equal(again, found)


@pytest.mark.parametrize("text", ["nan", "1e999 - 1e999", 'float("nan")', "pl.const(nan, pl.FP32)"])
def test_nan(text: str) -> None:
    found, _ = read(text)
    assert isinstance(found, ir.ConstFloat)
    assert math.isnan(found.value)


def test_a_constant_keeps_its_class_and_dtype() -> None:
    assert ir.structural_equal(read("pl.const(1, pl.FP32)")[0], ir.ConstInt(1, FP32, S))
    assert ir.structural_equal(read("pl.const(1.0, pl.BF16)")[0], ir.ConstFloat(1.0, ir.DataType.BF16, S))
    assert ir.structural_equal(read("pl.const(True, pl.BOOL)")[0], ir.ConstBool(True, S))
    assert ir.structural_equal(read("2 < 3")[0], ir.ConstBool(True, S))
    assert ir.structural_equal(read("not False")[0], ir.ConstBool(True, S))


@pytest.mark.parametrize(
    "text",
    [
        "pl.const(2, pl.INDEX) + pl.const(3, pl.INDEX)",
        "-pl.const(2, pl.INDEX)",
        "~pl.const(2, pl.INT8)",
        "pl.min(pl.const(1, pl.INT8), pl.const(2, pl.INT8))",
        "pl.const(1, pl.INDEX) == pl.const(1, pl.INDEX)",
    ],
)
def test_typed_constants_do_not_fold(text: str) -> None:
    found, _ = read(text)
    assert isinstance(found, (ir.BinaryExpr, ir.UnaryExpr))
    assert ir.python_print(found, format=False) == text


def test_a_variable_hides_a_module_constant() -> None:
    value, variables = read("n + A", head="n = 1\nA = 2")
    assert ir.structural_equal(value, ir.Add(variables["n"], index(2), INDEX, S))


def test_a_sum_may_be_longer_than_the_stack_is_deep() -> None:
    value, _ = read("n" + " + n" * 600)
    count = 0
    while isinstance(value, ir.Add):
        value, count = value.left, count + 1
    assert count == 600
