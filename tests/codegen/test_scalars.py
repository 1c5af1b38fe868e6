"""Scalar expressions: the emitted text means what the tree says, whatever the nesting."""

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from codegen.builders import (
    BOOL,
    FP32,
    INDEX,
    INT32,
    INT64,
    U,
    as_expr,
    body_text,
    evaluate_body,
    ir_subclasses,
    op,
    ret,
    run,
    scalar,
)
from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl import ir
from pypto_tmpl.codegen.float_literals import nearest
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

D = ir.DataType
x, y, z = scalar("x"), scalar("y"), scalar("z")
p, q = scalar("p", BOOL), scalar("q", BOOL)


def text_of(value: ir.Expr, *params: ir.Var) -> str:
    return body_text(ret(value), params=params or (x, y, z, p, q)).rpartition("return ")[2]


# Every operator, by hand

BINARY = [
    (ir.Add, 7, -3, 4),
    (ir.Sub, 7, -3, 10),
    (ir.Mul, 7, -3, -21),
    (ir.FloorDiv, 7, -3, -3),
    (ir.FloorDiv, -7, 3, -3),
    (ir.FloorMod, 7, -3, -2),
    (ir.FloorMod, -7, 3, 2),
    (ir.FloatDiv, 7, -3, -2),
    (ir.FloatDiv, -7, 3, -2),
    (ir.FloatDiv, -6, -3, 2),
    (ir.FloatDiv, 2**62 + 1, 1, 2**62 + 1),
    (ir.Min, 7, -3, -3),
    (ir.Max, 7, -3, 7),
    (ir.Pow, -3, 3, -27),
    (ir.Eq, 7, 7, True),
    (ir.Ne, 7, 7, False),
    (ir.Lt, 7, 8, True),
    (ir.Le, 8, 7, False),
    (ir.Gt, 7, 8, False),
    (ir.Ge, 7, 7, True),
    (ir.And, True, False, False),
    (ir.Or, True, False, True),
    (ir.Xor, True, True, False),
    (ir.Xor, False, True, True),
    (ir.BitAnd, 0b1100, 0b1010, 0b1000),
    (ir.BitOr, 0b1100, 0b1010, 0b1110),
    (ir.BitXor, 0b1100, 0b1010, 0b0110),
    (ir.BitShiftLeft, 3, 4, 48),
    (ir.BitShiftRight, -17, 2, -5),
]


@pytest.mark.parametrize(
    ("cls", "left", "right", "expected"), BINARY, ids=lambda v: getattr(v, "__name__", None)
)
def test_binary_operators_on_integers_and_bools(cls, left, right, expected):
    is_bool = isinstance(left, bool)
    a, b = (p, q) if is_bool else (x, y)
    node = cls(a, b, BOOL if isinstance(expected, bool) else INDEX, U)
    found = evaluate_body(ret(node), args=[(a, left), (b, right)])
    assert found == expected
    assert type(found) is type(expected)


FLOATS = [
    (ir.Add, 0.5, 2.0, 2.5),
    (ir.FloorDiv, -7.0, 2.0, -4.0),
    (ir.FloorMod, -7.0, 2.0, 1.0),
    (ir.FloatDiv, -7.0, 2.0, -3.5),
    (ir.Min, 0.5, -2.0, -2.0),
    (ir.Pow, 2.0, -1.0, 0.5),
    (ir.Lt, 0.5, 2.0, True),
]


@pytest.mark.parametrize(
    ("cls", "left", "right", "expected"), FLOATS, ids=lambda v: getattr(v, "__name__", None)
)
def test_binary_operators_on_floats(cls, left, right, expected):
    a, b = scalar("a", FP32), scalar("b", FP32)
    node = cls(a, b, BOOL if isinstance(expected, bool) else FP32, U)
    assert evaluate_body(ret(node), args=[(a, left), (b, right)]) == expected


def test_every_binary_operator_is_tried():
    assert {cls for cls, *_ in BINARY} == ir_subclasses(ir.BinaryExpr)
    assert len(ir_subclasses(ir.BinaryExpr)) == 23
    assert ir_subclasses(ir.UnaryExpr) == {ir.Abs, ir.Neg, ir.Not, ir.BitNot, ir.Cast}


def test_unary_operators():
    a = scalar("a", FP32)
    nodes = [
        ir.Abs(x, INDEX, U),
        ir.Neg(x, INDEX, U),
        ir.BitNot(x, INDEX, U),
        ir.Not(p, BOOL, U),
        ir.Abs(a, FP32, U),
        ir.Neg(a, FP32, U),
    ]
    found = evaluate_body(ret(*nodes), args=[(x, -5), (p, True), (a, -0.5)])
    assert found == (5, 5, 4, False, 0.5, 0.5)


@pytest.mark.parametrize(("dtype", "expected"), [(D.UINT8, 250), (D.UINT16, 65530), (D.UINT32, 2**32 - 6)])
def test_the_complement_of_an_unsigned_integer_has_no_sign(dtype, expected):
    a = scalar("a", dtype)
    assert evaluate_body(ret(ir.bit_not(a)), args=[(a, 5)]) == expected


def test_logical_operators_give_bools_whatever_they_take():
    nodes = [ir.and_(x, y), ir.or_(x, y), ir.not_(x), ir.and_(ir.gt(x, 0), y), ir.Xor(x, y, BOOL, U)]
    found = evaluate_body(ret(*nodes), args=[(x, 3), (y, 5)])
    assert found == (True, True, False, True, False)
    assert {type(value) for value in found} == {bool}


# Casts

CASTS = [
    (INT32, D.INT8, 130, -126),
    (INT32, D.INT8, -129, 127),
    (INT32, D.UINT8, -1, 255),
    (INT32, D.UINT8, 256, 0),
    (INT64, INT32, 2**31, -(2**31)),
    (INT64, D.UINT64, -1, 2**64 - 1),
    (D.UINT64, INT64, 2**63, -(2**63)),
    (D.UINT32, INT32, 2**32 - 1, -1),
    (INT32, D.INT4, 9, -7),
    (INT32, INT64, -5, -5),
    (INT64, INDEX, -5, -5),
    (D.UINT8, D.INT16, 255, 255),
    (FP32, INT32, 2.9, 2),
    (FP32, INT32, -2.9, -2),
    (FP32, INT32, 1e10, 2**31 - 1),
    (FP32, D.INT8, -1e10, -128),
    (FP32, D.UINT8, -3.5, 0),
    (FP32, INDEX, 1e30, 2**63 - 1),
    (FP32, D.UINT64, 1e30, 2**64 - 1),
    (FP32, INT32, math.nan, 0),
    (FP32, INT64, -math.inf, -(2**63)),
    (FP32, D.INT4, 9.5, -7),
    (INT32, FP32, 3, 3.0),
    (INT32, D.FP16, 2049, 2048.0),
    (FP32, D.FP16, 1e6, math.inf),
    (FP32, D.BF16, 1.00390625, 1.0),
    (FP32, D.BF16, 3.1415927, 3.140625),
    (FP32, BOOL, 0.5, True),
    (INT32, BOOL, 0, False),
    (BOOL, INT32, True, 1),
    (BOOL, FP32, True, 1.0),
]


@pytest.mark.parametrize(("have", "target", "value", "expected"), CASTS)
def test_casts(have, target, value, expected):
    a = scalar("a", have)
    found = evaluate_body(ret(ir.cast(a, target)), args=[(a, value)])
    assert found == expected
    assert type(found) is type(expected)


def test_a_cast_to_a_wider_integer_has_no_text():
    a = scalar("a", INT32)
    assert text_of(ir.cast(a, INT64) * 2, a) == "a * 2"
    assert text_of(ir.cast(a + 1, INT64) * 2, a) == "(a + 1) * 2"
    assert text_of(ir.cast(a, D.INT16), a) == "_wrap_int(a, 16, True)"


def test_a_cast_to_what_no_scalar_holds_is_refused():
    for dtype, name in [
        (D.HF8, "HF8 (code 66)"),
        (D.FP8E4M3FN, "FP8E4M3FN (code 49)"),
        (D(0x35), "UNKNOWN (code 53)"),
    ]:
        with pytest.raises(UnsupportedProgramError) as caught:
            torch_codegen(_function(ret(ir.cast(x, dtype)), x))
        assert [item.what for item in caught.value.found] == [f"a scalar of dtype {name}"]


def _function(body: ir.Stmt, *params: ir.Var) -> ir.Function:
    return ir.Function("f", list(params), [], body, U)


# Parentheses

TEXTS = [
    (x - (y - z), "x - (y - z)"),
    ((x - y) - z, "x - y - z"),
    (x * (y + z), "x * (y + z)"),
    ((x * y) + z, "x * y + z"),
    (x // (y * z), "x // (y * z)"),
    (-(x + y), "-(x + y)"),
    ((-x) * y, "-x * y"),
    (ir.pow(-x, y), "(-x) ** y"),
    (ir.pow(x, -y), "x ** (-y)"),
    (-ir.pow(x, y), "-x ** y"),
    (ir.pow(ir.pow(x, y), z), "(x ** y) ** z"),
    (ir.pow(x, ir.pow(y, z)), "x ** (y ** z)"),
    (ir.pow(as_expr(-2), y), "(-2) ** y"),
    (x - (-2), "x - -2"),
    (~(x + y), "~(x + y)"),
    (ir.eq(ir.cast(ir.lt(x, y), INDEX), z), "int(x < y) == z"),
    (ir.Eq(ir.Lt(x, y, BOOL, U), p, BOOL, U), "(x < y) == p"),
    (ir.Lt(x, ir.Lt(y, z, BOOL, U), BOOL, U), "x < (y < z)"),
    (ir.Ne(ir.not_(p), q, BOOL, U), "(not p) != q"),
    (ir.not_(ir.eq(x, y)), "not x == y"),
    (ir.not_(ir.and_(p, q)), "not (p and q)"),
    (ir.and_(ir.or_(p, q), q), "(p or q) and q"),
    (ir.or_(ir.and_(p, q), q), "p and q or q"),
    (ir.Xor(ir.or_(p, q), q, BOOL, U), "bool(p or q) != bool(q)"),
    (ir.and_(ir.Xor(p, q, BOOL, U), q), "bool(p) != bool(q) and q"),
    (ir.Eq(ir.Xor(p, q, BOOL, U), q, BOOL, U), "(bool(p) != bool(q)) == q"),
    ((x & y) | z, "x & y | z"),
    (x & (y | z), "x & (y | z)"),
    ((x << 1) + y, "(x << 1) + y"),
    (x << (y + 1), "x << y + 1"),
    (ir.min_(x + y, z) * 2, "min(x + y, z) * 2"),
    (ir.Abs(x - y, INDEX, U) + 1, "abs(x - y) + 1"),
    (ir.truediv(x + 1, y) * 2, "_int_div(x + 1, y) * 2"),
]


@pytest.mark.parametrize(("node", "expected"), TEXTS, ids=[text for _, text in TEXTS])
def test_parentheses_stand_where_they_are_needed(node, expected):
    assert text_of(node) == expected


# Trees at random, against direct evaluation

INT_OPERATORS: list[tuple[type, Callable[[Any, Any], Any]]] = [
    (ir.Add, lambda a, b: a + b),
    (ir.Sub, lambda a, b: a - b),
    (ir.Mul, lambda a, b: a * b),
    (ir.FloorDiv, lambda a, b: math.floor(_fraction(a, b))),
    (ir.FloorMod, lambda a, b: a - b * math.floor(_fraction(a, b))),
    (ir.FloatDiv, lambda a, b: math.trunc(_fraction(a, b))),
    (ir.Min, lambda a, b: a if a < b else b),
    (ir.Max, lambda a, b: b if a < b else a),
    (ir.BitAnd, lambda a, b: a & b),
    (ir.BitOr, lambda a, b: a | b),
    (ir.BitXor, lambda a, b: a ^ b),
]
COMPARISONS: list[tuple[type, Callable[[Any, Any], bool]]] = [
    (ir.Eq, lambda a, b: a == b),
    (ir.Ne, lambda a, b: a != b),
    (ir.Lt, lambda a, b: a < b),
    (ir.Le, lambda a, b: a <= b),
    (ir.Gt, lambda a, b: a > b),
    (ir.Ge, lambda a, b: a >= b),
]
LOGIC: list[tuple[type, Callable[[bool, bool], bool]]] = [
    (ir.And, lambda a, b: bool(a & b)),
    (ir.Or, lambda a, b: bool(a | b)),
    (ir.Xor, lambda a, b: a is not b),
]


def _in_fp32(function):
    """A function of two FP32 numbers, computed in FP32 by numpy; Python divides nothing by 0."""

    def compute(a, b):
        if function is numpy.divide and b == 0:
            raise ZeroDivisionError
        with numpy.errstate(all="ignore"):
            return float(function(numpy.float32(a), numpy.float32(b)))

    return compute


FLOAT_OPERATORS: list[tuple[type, Callable[[Any, Any], Any]]] = [
    (ir.Add, _in_fp32(numpy.add)),
    (ir.Sub, _in_fp32(numpy.subtract)),
    (ir.Mul, _in_fp32(numpy.multiply)),
    (ir.FloatDiv, _in_fp32(numpy.divide)),
    (ir.Min, lambda a, b: b if b < a else a),
    (ir.Max, lambda a, b: b if b > a else a),
]


def _fraction(a, b):
    from fractions import Fraction

    return Fraction(a, b)


Tree = tuple[ir.Expr, Callable[[dict[str, Any]], Any]]


def _combine(cls, function, dtype, left: Tree, right: Tree) -> Tree:
    node = cls(left[0], right[0], dtype, U)
    return node, lambda env: function(left[1](env), right[1](env))


def _apply(cls, function, dtype, inner: Tree) -> Tree:
    return cls(inner[0], dtype, U), lambda env: function(inner[1](env))


def _leaf(var) -> st.SearchStrategy[Tree]:
    return st.just((var, lambda env: env[var.name_hint]))


def _constant(value) -> Tree:
    return as_expr(value), lambda env: value


def int_trees(leaves):
    return st.recursive(
        st.one_of(_leaf(x), _leaf(y), _leaf(z), st.integers(-9, 9).map(_constant)),
        lambda inner: st.one_of(
            st.builds(
                lambda o, a, b: _combine(*o, INDEX, a, b), st.sampled_from(INT_OPERATORS), inner, inner
            ),
            inner.map(lambda t: _apply(ir.Neg, lambda v: 0 - v, INDEX, t)),
            inner.map(lambda t: _apply(ir.BitNot, lambda v: -v - 1, INDEX, t)),
            inner.map(lambda t: _apply(ir.Abs, lambda v: v if v > 0 else 0 - v, INDEX, t)),
            st.builds(
                lambda a, k: _combine(ir.BitShiftLeft, lambda v, s: v * 2**s, INDEX, a, _constant(k)),
                inner,
                st.integers(0, 3),
            ),
            st.builds(
                lambda a, k: _combine(
                    ir.BitShiftRight, lambda v, s: math.floor(_fraction(v, 2**s)), INDEX, a, _constant(k)
                ),
                inner,
                st.integers(0, 3),
            ),
            st.builds(
                lambda a, k: _combine(ir.Pow, lambda v, s: math.prod([v] * s), INDEX, a, _constant(k)),
                inner,
                st.integers(0, 2),
            ),
            inner.map(lambda t: _apply(ir.Cast, lambda v: (v + 128) % 256 - 128, D.INT8, t)),
        ),
        max_leaves=leaves,
    )


def bool_trees(leaves):
    compared = st.builds(
        lambda o, a, b: _combine(*o, BOOL, a, b), st.sampled_from(COMPARISONS), int_trees(4), int_trees(4)
    )
    return st.recursive(
        st.one_of(_leaf(p), _leaf(q), compared, st.booleans().map(_constant)),
        lambda inner: st.one_of(
            st.builds(lambda o, a, b: _combine(*o, BOOL, a, b), st.sampled_from(LOGIC), inner, inner),
            st.builds(lambda o, a, b: _combine(*o, BOOL, a, b), st.sampled_from(COMPARISONS), inner, inner),
            inner.map(lambda t: _apply(ir.Not, lambda v: 1 - v == 1, BOOL, t)),
        ),
        max_leaves=leaves,
    )


a_float = scalar("a_float", FP32)


def float_trees(leaves):
    return st.recursive(
        st.one_of(_leaf(a_float), st.floats(width=32).map(_constant)),
        lambda inner: st.one_of(
            st.builds(
                lambda o, a, b: _combine(*o, FP32, a, b), st.sampled_from(FLOAT_OPERATORS), inner, inner
            ),
            inner.map(lambda t: _apply(ir.Neg, lambda v: -v, FP32, t)),
            inner.map(lambda t: _apply(ir.Abs, math.fabs, FP32, t)),
        ),
        max_leaves=leaves,
    )


def _outcome(compute: Callable[[], Any]) -> Any:
    try:
        found = compute()
    except (ZeroDivisionError, OverflowError) as error:
        return type(error)
    if isinstance(found, float):
        return struct.pack("d", found) if found == found else "nan"
    return found


def _agrees(tree: Tree, params, values) -> bool:
    node, expected = tree
    text = torch_codegen(_function(ret(node), *params))
    function = run(text)["f"]
    env = {var.name_hint: value for var, value in zip(params, values, strict=True)}
    return _outcome(lambda: function(*values)) == _outcome(lambda: expected(env))


SMALL = st.integers(-7, 7)


@given(int_trees(12), st.tuples(SMALL, SMALL, SMALL))
def test_integer_trees(tree, values):
    assert _agrees(tree, [x, y, z], values)


@given(bool_trees(8), st.tuples(SMALL, SMALL, SMALL, st.booleans(), st.booleans()))
def test_bool_trees(tree, values):
    # `and` and `or` skip what the tree evaluates: only errors may differ, and those are left out.
    node, expected = tree
    env = dict(zip(("x", "y", "z", "p", "q"), values, strict=True))
    wanted = _outcome(lambda: expected(env))
    function = run(torch_codegen(_function(ret(node), x, y, z, p, q)))["f"]
    if not isinstance(wanted, type):
        found = function(*values)
        assert found == wanted
        assert type(found) is bool


NARROW = [(D.INT8, -128), (D.UINT8, 0), (D.INT16, -(2**15)), (INT32, -(2**31)), (D.UINT32, 0), (D.UINT64, 0)]
NARROW_OPERATORS = [pair for pair in INT_OPERATORS if pair[0] not in (ir.FloorDiv, ir.FloorMod, ir.FloatDiv)]


@st.composite
def narrow_trees(draw):
    """A tree over two variables of a dtype, in which every operator wraps, and numbers for them."""
    dtype, lowest = draw(st.sampled_from(NARROW))
    span = 1 << dtype.get_bit()
    edges = [lowest, lowest + 1, lowest + span // 2, lowest + span - 1, 0, 3]
    variables = [ir.Var(name, ir.ScalarType(dtype), U) for name in ("a", "b")]

    def wrapping(function):
        return lambda *operands: (function(*operands) - lowest) % span + lowest

    trees = st.recursive(
        st.sampled_from(variables).flatmap(_leaf),
        lambda inner: st.one_of(
            st.builds(
                lambda o, a, b: _combine(o[0], wrapping(o[1]), dtype, a, b),
                st.sampled_from(NARROW_OPERATORS), inner, inner,
            ),
            inner.map(lambda t: _apply(ir.Neg, wrapping(lambda v: -v), dtype, t)),
            inner.map(lambda t: _apply(ir.Abs, wrapping(abs), dtype, t)),
        ),
        max_leaves=8,
    )  # fmt: skip
    return draw(trees), variables, draw(st.tuples(st.sampled_from(edges), st.sampled_from(edges)))


@given(narrow_trees())
def test_trees_of_narrow_integers_wrap_at_every_operator(case):
    tree, variables, values = case
    assert _agrees(tree, variables, values)


n32, u16, h = scalar("n32", INT32), scalar("u16", D.UINT16), scalar("h", D.BF16)
REDUCED = [
    (n32 * n32 + n32, "_wrap_int(n32 * n32 + n32, 32, True)"),
    ((n32 + n32) // n32, "_wrap_int(_wrap_int(n32 + n32, 32, True) // n32, 32, True)"),
    (ir.FloorDiv(n32, ir.ConstInt(2, INT32, U), INT32, U), "n32 // 2"),
    (ir.FloatDiv(n32, ir.ConstInt(-3, INT32, U), INT32, U), "_int_div(n32, -3)"),
    (ir.FloorDiv(n32, ir.ConstInt(-1, INT32, U), INT32, U), "_wrap_int(n32 // -1, 32, True)"),
    (u16 // u16, "u16 // u16"),
    (u16 - u16 * u16, "_wrap_int(u16 - _wrap_int(u16 * u16, 16, False), 16, False)"),
    (-n32, "_wrap_int(-n32, 32, True)"),
    (n32 & n32, "n32 & n32"),
    (x * 3 + y, "x * 3 + y"),
    (scalar("i", INT64) * 3, "i * 3"),
    (ir.mul(ir.add(scalar("g", FP32), 0.5), 0.1), "_fp32(_fp32(g + 0.5) * 0.10000000149011612)"),
    (ir.le(scalar("g", FP32), 0.1), "g <= 0.10000000149011612"),
    (ir.min_(scalar("g", FP32), 2.0), "min(g, 2.0)"),
    (ir.Mul(h, h, D.BF16, U), "_as_dtype(h * h, torch.bfloat16)"),
]


@pytest.mark.parametrize(("node", "expected"), REDUCED, ids=[text for _, text in REDUCED])
def test_what_may_overflow_or_round_is_reduced_to_its_dtype(node, expected):
    names = {var.name_hint: var for var in variables_of(node)}
    assert text_of(node, *names.values()) == expected


@pytest.mark.parametrize("kind", [ir.FloorDiv, ir.FloatDiv])
@pytest.mark.parametrize("dtype", [INT32, D.INT16, D.INT8], ids=str)
def test_the_lowest_integer_divided_by_minus_one_is_itself(kind, dtype):
    n, d = scalar("n", dtype), scalar("d", dtype)
    quotient = run(torch_codegen(_function(ret(kind(n, d, dtype, U)), n, d)))["f"]
    lowest = -(2 ** (dtype.get_bit() - 1))
    assert [quotient(lowest, -1), quotient(lowest + 1, -1), quotient(lowest, 1)] == [
        lowest,
        -lowest - 1,
        lowest,
    ]


def variables_of(node):
    """The variables of a tree, as they come."""
    if isinstance(node, ir.Var):
        return [node]
    parts = [getattr(node, name, None) for name in ("left", "right", "operand")]
    return [var for part in parts if part is not None for var in variables_of(part)]


@pytest.mark.parametrize("dtype", [D.FP16, D.BF16, FP32], ids=str)
@pytest.mark.parametrize(
    "number", [0.1, -1 / 3, 1e-42, 1e-8, 65519.0, 65520.0, 3.4e38, 3.39e38, 1e300, -5e-324, 0.0, 2.0**-134]
)
def test_a_literal_is_the_nearest_number_of_its_dtype(number, dtype):
    torch_dtype = {D.FP16: torch.float16, D.BF16: torch.bfloat16, FP32: torch.float32}[dtype]
    assert nearest(number, dtype) == torch.tensor(number, dtype=torch.float64).to(torch_dtype).item()


@given(float_trees(10), st.floats(width=32))
def test_float_trees(tree, value):
    assert _agrees(tree, [a_float], [value])


# Operands of ops

out = ir.Var("t", ir.TensorType([4, 4], FP32), U)


def test_a_scalar_operator_is_parenthesised_as_an_operand():
    """The op's macro puts its operand next to any operator of its own."""
    added = op("tensor.muls", [out, ir.cast(x, FP32) + 1.0], out.type)
    assert text_of(added, out, x) == "t * _fp32(float(x) + 1.0)"
    assert text_of(op("tensor.muls", [out, ir.cast(x, FP32)], out.type), out, x) == "t * float(x)"
    assert text_of(op("tensor.muls", [out, -2.0], out.type), out, x) == "t * -2.0"
    sliced = op("tensor.slice", [out, [1, 2], [x + 1, ir.min_(x, 2)]], ir.TensorType([1, 2], FP32))
    assert text_of(sliced, out, x) == "_tensor_window(t, [1, 2], [x + 1, min(x, 2)])"
