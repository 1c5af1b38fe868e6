"""Structural comparison and hashing of IR that is deep or shares much."""

import pytest

from pypto_tmpl import ir

SPAN = ir.Span.unknown()
INDEX = ir.DataType.INDEX


def const(value):
    return ir.ConstInt(value, INDEX, SPAN)


def var(name):
    return ir.Var(name, ir.ScalarType(INDEX), SPAN)


def chain(depth, leaf):
    for _ in range(depth):
        leaf = ir.Add(leaf, const(1), INDEX, SPAN)
    return leaf


def doubled(times, leaf):
    for _ in range(times):
        leaf = ir.Add(leaf, leaf, INDEX, SPAN)
    return leaf


@pytest.mark.parametrize("build", [lambda leaf: chain(2000, leaf), lambda leaf: doubled(100, leaf)])
@pytest.mark.parametrize("auto_mapping", [False, True])
def test_deep_and_shared_expressions_compare(build, auto_mapping):
    assert ir.structural_equal(build(const(1)), build(const(1)), auto_mapping)
    assert not ir.structural_equal(build(const(1)), build(const(2)), auto_mapping)
    assert ir.structural_hash(build(const(1)), auto_mapping) == ir.structural_hash(
        build(const(1)), auto_mapping
    )
    x = var("x")
    assert ir.structural_equal(build(x), build(x), auto_mapping)
    assert ir.structural_equal(build(x), build(var("y")), auto_mapping) is auto_mapping
    assert ir.structural_hash(build(x), auto_mapping) == ir.structural_hash(build(x), auto_mapping)


def test_shared_tuple_types_compare():
    def nested(leaf):
        for _ in range(100):
            leaf = ir.MakeTuple([leaf, leaf], SPAN)
        return leaf

    assert ir.structural_equal(nested(const(1)), nested(const(1)))
    assert ir.structural_hash(nested(const(1)).type) == ir.structural_hash(nested(const(2)).type)
    assert not ir.structural_equal(nested(const(1)), nested(ir.ConstBool(True, SPAN)))


def test_sharing_does_not_count():
    one = const(1)
    shared = ir.Add(one, one, INDEX, SPAN)
    separate = ir.Add(const(1), const(1), INDEX, SPAN)
    assert ir.structural_equal(shared, separate)
    assert ir.structural_hash(shared) == ir.structural_hash(separate)


def test_path_of_a_difference_far_down():
    difference = ir.structural_diff(chain(3, const(1)), chain(3, const(2)))
    assert str(difference) == "left.left.left.value: 1 and 2 differ"


def test_first_difference_is_the_first_in_field_order():
    left = ir.Add(const(1), const(1), INDEX, SPAN)
    right = ir.Add(const(2), const(3), INDEX, SPAN)
    assert str(ir.structural_diff(left, right)) == "left.value: 1 and 2 differ"


def test_shared_expression_differs_once_its_variable_is_bound_elsewhere():
    """A pair that was equal while x was free on both sides is compared again after x was paired with y."""
    x, y = var("x"), var("y")
    twice = ir.Neg(x, INDEX, SPAN)

    def loop(bound):
        first = ir.EvalStmt(twice, SPAN)
        assign = ir.AssignStmt(bound, const(0), SPAN)
        return ir.SeqStmts([first, assign, ir.EvalStmt(twice, SPAN)], SPAN)

    assert ir.structural_equal(loop(x), loop(x))
    difference = ir.structural_diff(loop(x), loop(y))
    assert str(difference) == "[2].expr.operand: the variables stand for different definitions"
