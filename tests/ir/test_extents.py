"""The weak equality of extents (spec: IR, 12.4)."""

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import same_extent, same_extents

SPAN = ir.Span.unknown()
INDEX, INT32 = ir.DataType.INDEX, ir.DataType.INT32


def const(value, dtype=INDEX):
    return ir.ConstInt(value, dtype, SPAN)


def call(name, *args):
    return ir.Call(ir.Op(name), args, ir.ScalarType(INDEX), SPAN)


def doubled(times, leaf):
    """leaf * 2 ** times, every level used twice by the next."""
    for _ in range(times):
        leaf = ir.Add(leaf, leaf, INDEX, SPAN)
    return leaf


def test_constants_are_equal_by_value_whatever_their_dtype():
    assert same_extent(const(4), const(4, INT32))
    assert not same_extent(const(4), const(5))


def test_variables_are_equal_only_to_themselves():
    x = ir.Var("x", ir.ScalarType(INDEX), SPAN)
    assert same_extent(x, x)
    assert not same_extent(x, ir.Var("x", ir.ScalarType(INDEX), SPAN))


def test_binary_operators_are_equal_by_kind_and_operands():
    assert same_extent(ir.Add(const(1), const(2), INDEX, SPAN), ir.Add(const(1), const(2), INDEX, SPAN))
    assert not same_extent(ir.Add(const(1), const(2), INDEX, SPAN), ir.Add(const(1), const(3), INDEX, SPAN))
    assert not same_extent(ir.Add(const(1), const(2), INDEX, SPAN), ir.Sub(const(1), const(2), INDEX, SPAN))


def test_unary_operators_are_never_equal():
    assert not same_extent(ir.Neg(const(1), INDEX, SPAN), ir.Neg(const(1), INDEX, SPAN))


def test_calls_are_equal_by_op_name_and_arguments():
    assert same_extent(call("f", const(1)), call("f", const(1)))
    assert not same_extent(call("f", const(1)), call("g", const(1)))
    assert not same_extent(call("f", const(1)), call("f", const(1), const(1)))


def test_shapes_are_equal_extent_by_extent():
    assert same_extents((const(1), const(2)), (const(1), const(2)))
    assert not same_extents((const(1),), (const(1), const(2)))


def test_shared_parts_are_compared_once():
    assert same_extent(doubled(100, const(1)), doubled(100, const(1)))
    assert not same_extent(doubled(100, const(1)), doubled(100, const(2)))


def test_depth_is_not_bounded():
    a, b = const(1), const(1)
    for _ in range(5000):
        a, b = ir.Add(a, const(1), INDEX, SPAN), ir.Add(b, const(1), INDEX, SPAN)
    assert same_extent(a, b)
