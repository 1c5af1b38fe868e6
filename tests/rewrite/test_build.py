"""Nodes with other fields: through constructors, or the same object."""

import pytest
from hypothesis import given
from ir.strategies import nodes, types

from pypto_tmpl import ir
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.rewrite import build

U = ir.Span.unknown()
INDEX = ir.ScalarType(ir.DataType.INDEX)


def var(name, type_=INDEX):
    return ir.Var(name, type_, U)


def number(value):
    return ir.ConstInt(value, ir.DataType.INDEX, U)


@given(nodes() | types())
def test_nothing_changed_is_the_same_object(node):
    assert build(node) is node
    same = {spec.name: getattr(node, spec.name) for spec in fields_of(type(node))}
    assert build(node, **same) is node
    lists = {name: list(value) for name, value in same.items() if isinstance(value, tuple)}
    assert build(node, **lists) is node


def test_an_extent_that_is_substituted_is_normalised_as_a_constructed_one_is():
    rows = var("rows")
    view = ir.TileView([rows, 64])
    partial = ir.TileType([16, 64], ir.DataType.FP32, None, view, ir.MemorySpace.Vec)
    full = build(partial, tile_view=build(view, valid_shape=(number(16), number(64))))
    assert full.tile_view is None
    assert full == ir.TileType([16, 64], ir.DataType.FP32, None, None, ir.MemorySpace.Vec)


def test_a_bound_variable_stays_a_variable():
    i = var("i")
    loop = ir.ForStmt(i, number(0), number(4), number(1), [], ir.SeqStmts([], U), [], U)
    with pytest.raises(TypeError, match="loop_var must be Var, got ConstInt"):
        build(loop, loop_var=number(3))


def test_keys_of_a_program_follow_the_names_of_its_functions():
    made = ir.Function("before", [], [], ir.SeqStmts([], U), U)
    program = ir.Program([made], "p", U)
    renamed = build(program, functions=[build(made, name="after")])
    assert [key.name for key in renamed.functions] == ["after"]
    assert renamed["after"].name == "after"
    assert ir.structural_equal(ir.deserialize(ir.serialize(renamed)), renamed)


def test_level_and_role_follow_the_type_of_a_function():
    kernel = ir.Function("k", [], [], ir.SeqStmts([], U), U, ir.FunctionType.InCore)
    assert (kernel.level, kernel.role) == (ir.Level.CHIP_DIE, ir.Role.SubWorker)
    cube = build(kernel, func_type=ir.FunctionType.AIC)
    assert (cube.level, cube.role) == (ir.Level.AIC, ir.Role.SubWorker)
    inline = build(kernel, func_type=ir.FunctionType.Inline)
    assert (inline.level, inline.role) == (None, None)


def test_what_a_constructor_computes_follows():
    a, b = var("a"), var("b", ir.ScalarType(ir.DataType.FP32))
    pair = ir.MakeTuple([a, a], U)
    assert build(pair, elements=[a, b]).type == ir.TupleType([a.type, b.type])


def test_a_memref_in_another_allocation_has_its_name():
    memref = ir.MemRef("mem_vec_0", 0, 64)
    base = var("mem_vec_7", ir.PtrType())
    assert build(memref, base_=base).name_hint == "mem_vec_7"
    assert build(memref, size_=128).name_hint == "mem_vec_0"


def test_comments_and_spans_are_kept():
    span = ir.Span("k.py", 3, 5)
    stmt = ir.AssignStmt(var("x"), number(1), span)
    ir.attach_leading_comments(stmt, ["why"])
    again = build(stmt, value=number(2))
    assert (again.span, again.leading_comments) == (span, ("why",))


def test_a_float_is_compared_by_its_bits():
    zero = ir.ConstFloat(0.0, ir.DataType.FP32, U)
    assert build(zero, value=-0.0) is not zero
    nan = ir.ConstFloat(float("nan"), ir.DataType.FP32, U)
    assert build(nan, value=float("nan")) is nan


def test_an_unknown_field_names_class_and_fields():
    with pytest.raises(TypeError, match="AssignStmt has no field 'target'; its fields are span, .*value"):
        build(ir.AssignStmt(var("x"), number(1), U), target=var("y"))
