"""Expressions, operators and calls (spec: IR, sections 6 and 7)."""

import re

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir import scalar_ops
from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.scalar_types import MemRefType

SPAN = ir.Span("k.py", 1, 1)
INDEX, INT64, FP32, BOOL = ir.DataType.INDEX, ir.DataType.INT64, ir.DataType.FP32, ir.DataType.BOOL
SCALAR, UNKNOWN = ir.ScalarType(INDEX), ir.UnknownType()
OP = ir.Op("tile.add")
BINARY = [
    "Add",
    "Sub",
    "Mul",
    "FloorDiv",
    "FloorMod",
    "FloatDiv",
    "Min",
    "Max",
    "Pow",
    "Eq",
    "Ne",
    "Lt",
    "Le",
    "Gt",
    "Ge",
    "And",
    "Or",
    "Xor",
    "BitAnd",
    "BitOr",
    "BitXor",
    "BitShiftLeft",
    "BitShiftRight",
]
UNARY = ["Abs", "Neg", "Not", "BitNot", "Cast"]


def const(value=1, dtype=INDEX):
    return ir.ConstInt(value, dtype, SPAN)


def var(name="x", type=SCALAR):
    return ir.Var(name, type, SPAN)


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


# variables


def test_var():
    x = ir.Var("x", UNKNOWN, SPAN)
    assert (x.name_hint, x.type, x.span) == ("x", UNKNOWN, SPAN)


def test_kinds_of_var_arguments():
    with raises(TypeError, "Var.name_hint must be str, got int"):
        ir.Var(1, UNKNOWN, SPAN)
    with raises(TypeError, "Var.type must be Type, got DataType"):
        ir.Var("x", FP32, SPAN)


def test_iter_arg():
    init = const()
    arg = ir.IterArg("i", SCALAR, init, SPAN)
    assert (arg.name_hint, arg.type, arg.span) == ("i", SCALAR, SPAN)
    assert arg.initValue is init
    with raises(TypeError, "IterArg.initValue must be Expr, got int"):
        ir.IterArg("i", SCALAR, 0, SPAN)


def test_window_buffer():
    base, size = var("w"), const(64)
    window = ir.WindowBuffer(base, size, True, False, SPAN)
    assert window.base is base
    assert window.size is size
    assert (window.load_from_host, window.store_to_host, window.span) == (True, False, SPAN)
    assert (window.name_hint, window.type) == ("w", ir.WindowBufferType())
    plain = ir.WindowBuffer(base, 64)
    assert (plain.load_from_host, plain.store_to_host, plain.span) == (False, False, ir.Span.unknown())
    assert (plain.size.value, plain.size.dtype) == (64, INDEX)
    with raises(TypeError, "WindowBuffer.base must be Var, got str"):
        ir.WindowBuffer("w", 64)


# constants


def test_const_int():
    made = ir.ConstInt(-5, ir.DataType.UINT8, SPAN)
    assert (made.value, made.dtype, made.type) == (-5, ir.DataType.UINT8, ir.ScalarType(ir.DataType.UINT8))
    with raises(TypeError, "ConstInt.value must be int, got float"):
        ir.ConstInt(1.0, INDEX, SPAN)


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_const_ints_are_64_bits_wide(value):
    with raises(ValueError, f"a ConstInt holds an int64, got {value}"):
        const(value)
    assert const(2**63 - 1).value == 2**63 - 1


def test_numbers_that_python_does_not_write_out():
    """Their texts would have over 4300 digits."""
    with raises(ValueError, "a ConstInt holds an int64, got one of 16610 bits"):
        const(10**5000)
    with raises(ValueError, "the size of a MemRef is an unsigned 64-bit integer, got one of 16610 bits"):
        ir.MemRef("m", 0, 10**5000)


def test_const_float():
    made = ir.ConstFloat(0.5, FP32, SPAN)
    assert (made.value, made.dtype, made.type) == (0.5, FP32, ir.ScalarType(FP32))
    assert type(ir.ConstFloat(2, FP32, SPAN).value) is float
    with raises(TypeError, "ConstFloat.value must be float or int, got str"):
        ir.ConstFloat("1", FP32, SPAN)


def test_const_bool():
    made = ir.ConstBool(True, SPAN)
    assert (made.value, made.dtype, made.type) == (True, BOOL, ir.ScalarType(BOOL))
    with raises(TypeError, "ConstBool.value must be bool, got int"):
        ir.ConstBool(1, SPAN)


# operators


def test_operator_classes_are_all_listed():
    def names(base):
        found = vars(scalar_ops).values()
        return {c.__name__ for c in found if isinstance(c, type) and issubclass(c, base) and c is not base}

    assert names(ir.BinaryExpr) == set(BINARY)
    assert names(ir.UnaryExpr) == set(UNARY)
    assert (len(BINARY), len(UNARY)) == (23, 5)


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators(name):
    left, right = const(1), const(2)
    made = getattr(ir, name)(left, right, FP32, SPAN)
    assert made.left is left
    assert made.right is right
    assert (made.type, made.span) == (ir.ScalarType(FP32), SPAN)
    with raises(TypeError, f"{name}.left must be Expr, got int"):
        getattr(ir, name)(1, right, FP32, SPAN)
    with raises(TypeError, f"{name}.right must be Expr, got NoneType"):
        getattr(ir, name)(left, None, FP32, SPAN)


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name):
    operand = const()
    made = getattr(ir, name)(operand, FP32, SPAN)
    assert made.operand is operand
    assert (made.type, made.span) == (ir.ScalarType(FP32), SPAN)
    with raises(TypeError, f"{name}.operand must be Expr, got int"):
        getattr(ir, name)(1, FP32, SPAN)


# tuples


def test_make_tuple():
    parts = [const(), ir.ConstBool(True, SPAN)]
    made = ir.MakeTuple(parts, SPAN)
    assert [element.value for element in made.elements] == [1, True]
    assert made.type == ir.TupleType([SCALAR, ir.ScalarType(BOOL)])
    with raises(TypeError, "MakeTuple.elements[1] must be Expr, got int"):
        ir.MakeTuple([const(), 1], SPAN)


def test_tuple_item():
    pair = ir.MakeTuple([const(), ir.ConstBool(True, SPAN)], SPAN)
    made = ir.TupleGetItemExpr(pair, 1, SPAN)
    assert made.tuple is pair
    assert (made.index, made.type, made.span) == (1, ir.ScalarType(BOOL), SPAN)


@pytest.mark.parametrize("index", [-1, 2])
def test_tuple_items_are_in_range(index):
    pair = ir.MakeTuple([const(), const()], SPAN)
    with raises(ValueError, f"TupleGetItemExpr.index: {index} is outside a tuple of 2"):
        ir.TupleGetItemExpr(pair, index, SPAN)


def test_tuple_items_come_from_tuples():
    with raises(ValueError, "TupleGetItemExpr.tuple must have a TupleType, got ScalarType"):
        ir.TupleGetItemExpr(const(), 0, SPAN)


# MemRef


def offset(memref):
    return memref.byte_offset_.value, memref.byte_offset_.dtype


def test_memref_of_a_base():
    base, slot = var("m", ir.PtrType()), const()
    made = ir.MemRef(base, 32, 64, SPAN, is_pinned=True, slots=3, slot=slot)
    assert made.base_ is base
    assert offset(made) == (32, INT64)
    assert (made.size_, made.is_pinned_, made.slot_count_, made.span) == (64, True, 3, SPAN)
    assert made.slot_index_ is slot
    assert (made.name_hint, made.type) == ("m", MemRefType())


def test_memref_defaults():
    made = ir.MemRef(var("m", ir.PtrType()), const(8), 64)
    assert (made.is_pinned_, made.slot_count_, made.slot_index_) == (False, 1, None)
    assert made.span == ir.Span.unknown()
    assert made.byte_offset_.value == 8


@pytest.mark.parametrize(("given", "name"), [((), ""), (("m",), "m")])
def test_memref_declarations(given, name):
    made = ir.MemRef(*given, span=SPAN, slots=2)
    assert (made.name_hint, made.base_.name_hint, made.base_.type) == (name, name, ir.PtrType())
    assert offset(made)[0] == 0
    assert (made.size_, made.is_pinned_, made.slot_count_) == (0, True, 2)


@pytest.mark.parametrize(
    ("given", "name", "place"),
    [
        (("m", 8, 64), "m", (8, INT64)),
        ((ir.MemorySpace.Vec, const(8, INT64), 64, 3), "mem_vec_3", (8, INT64)),
        ((ir.MemorySpace.LeftScale, const(8, INT64), 64, 3), "mem_leftscale_3", (8, INT64)),
        ((8, 64, 3), "mem_3", (8, INDEX)),
    ],
)
def test_other_memref_forms(given, name, place):
    made = ir.MemRef(*given)
    assert (made.base_.name_hint, made.base_.type) == (name, ir.PtrType())
    assert offset(made) == place
    assert (made.size_, made.is_pinned_) == (64, False)


def test_memrefs_have_slots():
    with raises(ValueError, "a MemRef has at least one slot, got 0"):
        ir.MemRef("m", 0, 8, slots=0)


def test_sizes_of_memrefs_are_unsigned_64_bit_integers():
    with raises(ValueError, "the size of a MemRef is an unsigned 64-bit integer, got -1"):
        ir.MemRef("m", 0, -1)
    with raises(
        ValueError, "the number of slots of a MemRef is an unsigned 64-bit integer, got 18446744073709551616"
    ):
        ir.MemRef("m", 0, 8, slots=2**64)
    assert ir.MemRef("m", 0, 2**64 - 1, slots=2**64 - 1).size_ == 2**64 - 1


def test_memref_forms_that_do_not_exist():
    with raises(TypeError, "no MemRef is built from (int, int)"):
        ir.MemRef(0, 8)
    with raises(TypeError, "MemRef.slot must be Expr or None, got int"):
        ir.MemRef("m", 0, 8, slot=1)


def test_selecting_a_slot():
    declared = ir.MemRef("m", span=SPAN, slots=2)
    chosen, runtime = declared[1], declared[var()]
    assert chosen.base_ is declared.base_
    assert (chosen.slot_index_.value, chosen.slot_count_, chosen.is_pinned_) == (1, 2, True)
    assert runtime.slot_index_.name_hint == "x"
    for k in (2, -1):
        with raises(ValueError, f"slot {k} of 2"):
            declared[k]
    with raises(ValueError, "only a pinned MemRef has slots to select"):
        ir.MemRef("m", 0, 8)[0]


def test_allocations_and_aliases():
    base = var("m", ir.PtrType())
    low, next_to, across = ir.MemRef(base, 0, 64), ir.MemRef(base, 64, 64), ir.MemRef(base, 32, 64)
    other, symbolic = ir.MemRef("m", 0, 64), ir.MemRef(base, var(), 64)
    assert ir.MemRef.same_allocation(low, next_to)
    assert not ir.MemRef.same_allocation(low, other)
    assert not ir.MemRef.may_alias(low, next_to)
    assert ir.MemRef.may_alias(low, across)
    assert ir.MemRef.may_alias(low, symbolic)
    assert not ir.MemRef.may_alias(low, other)


# Call


def test_call_forms():
    args, kwargs, attrs = [const()], {"axis": 1}, {"device": const()}
    bare = ir.Call(OP, args, SPAN)
    assert (bare.op, len(bare.args), bare.kwargs, bare.attrs, bare.type) == (OP, 1, {}, {}, UNKNOWN)
    assert ir.Call(OP, args, SCALAR, SPAN).type == SCALAR
    with_kwargs = ir.Call(OP, args, kwargs, SPAN)
    assert (with_kwargs.kwargs, with_kwargs.type) == (kwargs, UNKNOWN)
    typed = ir.Call(OP, args, kwargs, SCALAR, SPAN)
    assert (typed.kwargs, typed.type, typed.attrs) == (kwargs, SCALAR, {})
    full = ir.Call(OP, args, kwargs, attrs, SCALAR, SPAN)
    assert (full.kwargs, list(full.attrs), full.type, full.span) == (kwargs, ["device"], SCALAR, SPAN)
    assert ir.Call(OP, args, kwargs, [("sync_start", True)], SCALAR, SPAN).attrs == {"sync_start": True}
    assert ir.Call(OP, args, kwargs, None, SCALAR, SPAN).attrs == {}


def test_call_forms_that_do_not_exist():
    with raises(TypeError, "Call takes (op, args[, kwargs[, attrs]][, type], span)"):
        ir.Call(OP, [])
    with raises(TypeError, "Call.op must be Op, got str"):
        ir.Call("tile.add", [], SPAN)
    with raises(TypeError, "Call.args[0] must be Expr, got int"):
        ir.Call(OP, [1], SPAN)


def test_calls_of_functions():
    assert ir.Call(ir.GlobalVar("f"), [], SPAN).op == ir.GlobalVar("f")


def with_directions(directions):
    return {"arg_directions": directions}


@pytest.mark.parametrize(
    "make",
    [
        lambda attrs: ir.Call(OP, [const()] * 2, {}, attrs, UNKNOWN, SPAN),
        lambda attrs: ir.Submit(OP, [const()] * 2, [], {}, attrs, UNKNOWN, SPAN),
    ],
    ids=["Call", "Submit"],
)
def test_arg_directions(make):
    given = [ir.ArgDirection.Input, ir.ArgDirection.Scalar]
    assert make(with_directions(given)).arg_directions == tuple(given)
    assert make(with_directions([])).arg_directions == ()
    assert make({}).arg_directions == ()
    owner = type(make({})).__name__
    with raises(TypeError, f"{owner}.attrs has 1 arg_directions for 2 arguments"):
        make(with_directions(given[:1]))
    with raises(TypeError, f"{owner}.attrs: arg_directions must be a list of ArgDirection"):
        make(with_directions(1))


def test_set_call_attrs():
    call = ir.Call(OP, [const()], {"axis": 1}, {"a": 1}, SCALAR, SPAN)
    copy = ir.set_call_attrs(call, {"b": 2})
    assert (copy.op, copy.kwargs, copy.attrs, copy.type, copy.span) == (
        OP,
        {"axis": 1},
        {"b": 2},
        SCALAR,
        SPAN,
    )
    assert copy.args[0] is call.args[0]
    assert call.attrs == {"a": 1}


# Submit


def test_submit_forms():
    args, deps, blocks, when = [const()], [var("t", ir.ScalarType(ir.DataType.TASK_ID))], const(4), var("p")
    bare = ir.Submit(OP, args, deps, SCALAR, SPAN)
    assert (len(bare.args), len(bare.deps), bare.kwargs, bare.attrs) == (1, 1, {}, {})
    assert (bare.core_num, bare.sync_start, bare.allow_early_resolve, bare.predicate) == (
        None,
        False,
        False,
        None,
    )
    full = ir.Submit(OP, args, deps, {"k": 1}, {"a": 2}, SCALAR, SPAN, blocks, True, True, when)
    assert (full.kwargs, full.attrs, full.type, full.span) == ({"k": 1}, {"a": 2}, SCALAR, SPAN)
    assert full.core_num is blocks
    assert full.predicate is when
    assert (full.sync_start, full.allow_early_resolve) == (True, True)
    named = ir.Submit(OP, args, deps, {}, {}, SCALAR, SPAN, core_num=4, sync_start=True)
    assert (named.core_num.value, named.core_num.dtype, named.sync_start) == (4, INDEX, True)


def test_submit_refuses():
    with raises(TypeError, "Submit takes (op, args, deps[, kwargs, attrs], type, span, ...)"):
        ir.Submit(OP, [], [], SPAN)
    with raises(TypeError, "Submit.deps[0] must be Expr, got str"):
        ir.Submit(OP, [], ["t"], SCALAR, SPAN)
    with raises(ValueError, "Submit.sync_start needs a core_num"):
        ir.Submit(OP, [], [], SCALAR, SPAN, sync_start=True)
    with raises(TypeError, "Submit.core_num must be an integer scalar, got FP32"):
        ir.Submit(OP, [], [], SCALAR, SPAN, core_num=ir.ConstFloat(1.0, FP32, SPAN))


def test_core_num_that_is_no_scalar_is_not_checked():
    blocks = var("n", UNKNOWN)
    assert ir.Submit(OP, [], [], SCALAR, SPAN, core_num=blocks).core_num is blocks


def test_attributes_keep_their_kinds():
    call = ir.Call(OP, [], {"dtype": FP32, "axis": 1, "flag": True}, SPAN)
    assert call.kwargs.kinds == {"dtype": AttrKind.DATA_TYPE, "axis": AttrKind.INT, "flag": AttrKind.BOOL}
