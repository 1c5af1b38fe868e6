"""Scalar expressions built with promotion, and by Python operators (spec: IR, section 6)."""

import operator
import re

import pytest

from pypto_tmpl import ir

SPAN = ir.Span("k.py", 1, 1)
DataType = ir.DataType

ARITHMETIC = {
    "add": ir.Add,
    "sub": ir.Sub,
    "mul": ir.Mul,
    "truediv": ir.FloatDiv,
    "floordiv": ir.FloorDiv,
    "mod": ir.FloorMod,
    "pow": ir.Pow,
    "min_": ir.Min,
    "max_": ir.Max,
}
COMPARISON = {"eq": ir.Eq, "ne": ir.Ne, "lt": ir.Lt, "le": ir.Le, "gt": ir.Gt, "ge": ir.Ge}
BITWISE = {
    "bit_and": ir.BitAnd,
    "bit_or": ir.BitOr,
    "bit_xor": ir.BitXor,
    "bit_shift_left": ir.BitShiftLeft,
    "bit_shift_right": ir.BitShiftRight,
}
LOGICAL = {"and_": ir.And, "or_": ir.Or}
PROMOTING = ARITHMETIC | COMPARISON | BITWISE


def scalar(dtype, name="x"):
    return ir.Var(name, ir.ScalarType(getattr(DataType, dtype)), SPAN)


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize("name", PROMOTING)
def test_classes_and_result_types(name):
    x, y = scalar("INT32"), scalar("INT32", "y")
    made = getattr(ir, name)(x, y, SPAN)
    assert type(made) is PROMOTING[name]
    assert made.left is x
    assert made.right is y
    assert (made.type.dtype.name, made.span) == ("BOOL" if name in COMPARISON else "INT32", SPAN)
    assert getattr(ir, name)(x, y).span == ir.Span.unknown()


@pytest.mark.parametrize("name", PROMOTING)
@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("INT8", "INT32", "INT32"),
        ("INT32", "INT8", "INT32"),
        ("INT32", "UINT32", "INT32"),
        ("UINT32", "INT32", "UINT32"),
        ("INT64", "UINT8", "INT64"),
    ],
)
def test_the_wider_dtype_wins_and_the_left_one_at_equal_widths(name, left, right, common):
    made = getattr(ir, name)(scalar(left), scalar(right, "y"))
    for operand, dtype in ((made.left, left), (made.right, right)):
        assert operand.type.dtype.name == common
        assert isinstance(operand, ir.Cast) is (dtype != common)
    assert made.type.dtype.name == ("BOOL" if name in COMPARISON else common)


@pytest.mark.parametrize(("left", "right", "common"), [("FP16", "FP32", "FP32"), ("BF16", "FP16", "BF16")])
def test_floats_are_promoted(left, right, common):
    assert ir.add(scalar(left), scalar(right)).type.dtype.name == common


@pytest.mark.parametrize(("left", "right"), [("INDEX", "INT64"), ("INT64", "INDEX")])
def test_index_and_int64_need_no_cast(left, right):
    x, y = scalar(left), scalar(right, "y")
    made = ir.add(x, y)
    assert made.left is x
    assert made.right is y
    assert made.type.dtype.name == left


def test_true_division_of_integers_stays_an_integer():
    made = ir.truediv(scalar("INT32"), scalar("INT32"))
    assert isinstance(made, ir.FloatDiv)
    assert made.type.dtype == DataType.INT32


@pytest.mark.parametrize("name", ARITHMETIC | COMPARISON)
def test_operands_that_do_not_promote(name):
    build, tile = getattr(ir, name), ir.Var("t", ir.TileType([4], DataType.FP32), SPAN)
    with raises(TypeError, "a scalar is needed, got a TileType"):
        build(tile, scalar("INT32"))
    with raises(TypeError, "BOOL is no number"):
        build(scalar("INT32"), scalar("BOOL"))
    with raises(TypeError, "TASK_ID is no number"):
        build(scalar("TASK_ID"), scalar("INT32"))
    with raises(TypeError, "INT32 and FP32: cast one of them first"):
        build(scalar("INT32"), scalar("FP32"))
    with raises(TypeError, "a str is no operand of a scalar expression"):
        build("x", scalar("INT32"))


@pytest.mark.parametrize("name", BITWISE)
def test_bit_operators_take_integers(name):
    for left, right in (("FP32", "FP32"), ("INT32", "FP32"), ("FP32", "INT32")):
        with raises(TypeError, "an integer is needed, got FP32"):
            getattr(ir, name)(scalar(left), scalar(right))


@pytest.mark.parametrize("name", LOGICAL)
def test_logical_operators_check_nothing(name):
    made = getattr(ir, name)(scalar("FP32"), scalar("INT32"), SPAN)
    assert type(made) is LOGICAL[name]
    assert (made.type.dtype, made.span) == (DataType.BOOL, SPAN)


def test_unary_builders():
    x = scalar("FP16")
    assert (type(ir.neg(x, SPAN)), ir.neg(x).type.dtype) == (ir.Neg, DataType.FP16)
    assert (type(ir.not_(x, SPAN)), ir.not_(x).type.dtype) == (ir.Not, DataType.BOOL)
    made = ir.cast(x, DataType.INT8, SPAN)
    assert (type(made), made.type.dtype, made.span) == (ir.Cast, DataType.INT8, SPAN)
    y = scalar("UINT8")
    assert (type(ir.bit_not(y)), ir.bit_not(y).type.dtype) == (ir.BitNot, DataType.UINT8)
    with raises(TypeError, "an integer is needed, got FP16"):
        ir.bit_not(x)


OPERATORS = [
    (operator.add, ir.Add),
    (operator.sub, ir.Sub),
    (operator.mul, ir.Mul),
    (operator.truediv, ir.FloatDiv),
    (operator.floordiv, ir.FloorDiv),
    (operator.mod, ir.FloorMod),
    (operator.pow, ir.Pow),
    (operator.and_, ir.BitAnd),
    (operator.or_, ir.BitOr),
    (operator.xor, ir.BitXor),
    (operator.lshift, ir.BitShiftLeft),
    (operator.rshift, ir.BitShiftRight),
]
COMPARISONS = [
    (operator.eq, ir.Eq, ir.Eq),
    (operator.ne, ir.Ne, ir.Ne),
    (operator.lt, ir.Lt, ir.Gt),
    (operator.le, ir.Le, ir.Ge),
    (operator.gt, ir.Gt, ir.Lt),
    (operator.ge, ir.Ge, ir.Le),
]


@pytest.mark.parametrize(("apply", "cls"), OPERATORS)
def test_python_operators(apply, cls):
    x = scalar("INDEX")
    for made, left, right in ((apply(x, 3), "left", "right"), (apply(3, x), "right", "left")):
        assert type(made) is cls
        assert getattr(made, left) is x
        constant = getattr(made, right)
        assert (constant.value, constant.dtype) == (3, DataType.INDEX)


@pytest.mark.parametrize(("apply", "cls", "mirrored"), COMPARISONS)
def test_python_comparisons(apply, cls, mirrored):
    x = scalar("INDEX")
    assert type(apply(x, 3)) is cls
    assert type(apply(3, x)) is mirrored  # Python turns the comparison round


def test_unary_python_operators():
    assert type(-scalar("FP32")) is ir.Neg
    assert type(~scalar("INT32")) is ir.BitNot


def test_floats_become_fp32_constants():
    made = scalar("FP32") * 0.5
    assert (made.right.value, made.right.dtype) == (0.5, DataType.FP32)


@pytest.mark.parametrize("other", ["x", None, True, [1]])
def test_other_operands_are_refused(other):
    with raises(TypeError, f"a {type(other).__name__} is no operand of a scalar expression"):
        scalar("INDEX") + other


def test_comparisons_have_no_truth_value():
    x = scalar("INDEX")
    with pytest.raises(TypeError, match="^a Eq is an expression without a truth value"):
        bool(x == x)
    assert hash(x) == hash(x)
