"""Attribute and keyword containers (spec: IR, section 10)."""

import copy
import pickle
import re

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrKind, AttrMap

SPAN = ir.Span.unknown()
X = ir.Var("x", ir.ScalarType(ir.DataType.INDEX), SPAN)
ONE = ir.ConstInt(1, ir.DataType.INDEX, SPAN)
INPUT = ir.ArgDirection.Input


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize(
    ("key", "value", "kind", "stored"),
    [
        ("k", ir.DataType.FP32, "DATA_TYPE", ir.DataType.FP32),
        ("k", ir.MemorySpace.Vec, "MEMORY_SPACE", ir.MemorySpace.Vec),
        ("k", ir.TensorLayout.DN, "TENSOR_LAYOUT", ir.TensorLayout.DN),
        ("k", ir.TileLayout.col_major, "TILE_LAYOUT", ir.TileLayout.col_major),
        ("k", ir.PadValue.max, "PAD_VALUE", ir.PadValue.max),
        ("k", ir.ArgDirection.NoDep, "ARG_DIRECTION", ir.ArgDirection.NoDep),
        ("k", ir.PipeType.FIX, "INT", 6),
        ("k", ir.CoreType.VECTOR, "INT", 1),
        ("k", ir.SplitMode.LEFT_RIGHT, "INT", 2),
        ("k", ir.NotifyOp.Set, "INT", 1),
        ("k", ir.WaitCmp.Ge, "INT", 1),
        ("k", ir.AtomicType.Add, "INT", 1),
        ("k", ir.ReduceOp.Prod, "INT", 3),
        ("k", True, "BOOL", True),
        ("k", 5, "INT", 5),
        ("k", 0.5, "FLOAT", 0.5),
        ("k", 2.0, "FLOAT", 2.0),
        ("k", "text", "STR", "text"),
        ("k", [], "ARG_DIRECTIONS", ()),
        ("k", [INPUT], "ARG_DIRECTIONS", (INPUT,)),
        ("arg_direction_overrides", [1, 2], "INT32S", (1, 2)),
        ("arg_direction_overrides", [], "INT32S", ()),
        ("manual_dep_edges", [], "VARS", ()),
        ("compiler_manual_dep_edges", (), "VARS", ()),
        ("arg_direction_overrides_vars", [], "VARS", ()),
        ("dump_vars", [], "VARS", ()),
    ],
)
def test_stored_types(key, value, kind, stored):
    made = AttrMap({key: value})
    assert made.kinds[key] is AttrKind[kind]
    assert made[key] == stored
    assert type(made[key]) is type(stored)


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [("task_id_var", X, "VAR"), ("k", X, "EXPR"), ("task_id_var", ONE, "EXPR"), ("predicate", ONE, "EXPR")],
)
def test_expressions(key, value, kind):
    made = AttrMap({key: value})
    assert made.kinds[key] is AttrKind[kind]
    assert made[key] is value


@pytest.mark.parametrize("key", ["k", "dump_vars"])
def test_lists_of_variables(key):
    made = AttrMap({key: [X, X]})
    assert made.kinds[key] is AttrKind.VARS
    assert all(item is X for item in made[key])


def test_core_num_is_an_expression():
    made = AttrMap({"core_num": 4})
    assert made.kinds["core_num"] is AttrKind.EXPR
    assert (made["core_num"].value, made["core_num"].dtype) == (4, ir.DataType.INDEX)


def test_core_num_of_an_op_is_an_integer():
    made = ir.Call(
        ir.Op("pld.tensor.allreduce"), [], {"core_num": 4}, {}, ir.UnknownType(), ir.Span.unknown()
    )
    assert (made.kwargs.kinds["core_num"], made.kwargs["core_num"]) == (AttrKind.INT, 4)


NO_LIST = "cannot be stored; lists hold Var or ArgDirection, under 'arg_direction_overrides' int"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("k", None, "attribute 'k': a NoneType cannot be stored"),
        ("k", {}, "attribute 'k': a dict cannot be stored"),
        ("k", ir.CompactMode.normal, "attribute 'k': a CompactMode cannot be stored"),
        ("k", ir.Level.HOST, "attribute 'k': a Level cannot be stored"),
        ("k", ir.UnknownType(), "attribute 'k': a UnknownType cannot be stored"),
        ("k", [X, ONE], "attribute 'k' is a list of Var, got ConstInt"),
        ("k", [1], f"attribute 'k': a list of int {NO_LIST}"),
        ("k", [0.5, 1.5], f"attribute 'k': a list of float {NO_LIST}"),
        ("k", [True, False], f"attribute 'k': a list of bool {NO_LIST}"),
        ("k", ["a"], f"attribute 'k': a list of str {NO_LIST}"),
        ("arg_directions", [1], "attribute 'arg_directions' is a list of ArgDirection, got int"),
        ("k", [INPUT, X], "attribute 'k' is a list of ArgDirection, got Var"),
        ("dump_vars", [ONE], "attribute 'dump_vars' is a list of Var, got ConstInt"),
        (
            "arg_direction_overrides",
            [True],
            "attribute 'arg_direction_overrides' is a list of integers, got bool",
        ),
        (
            "arg_direction_overrides",
            ["1"],
            "attribute 'arg_direction_overrides' is a list of integers, got str",
        ),
    ],
)
def test_values_that_cannot_be_stored(key, value, message):
    with raises(TypeError, message):
        AttrMap({key: value})


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_integers_are_32_bits_wide(value):
    with raises(RuntimeError, f"attribute 'k': {value} does not fit a 32-bit integer"):
        AttrMap({"k": value})
    with raises(ValueError, f"attribute 'arg_direction_overrides': {value} does not fit a 32-bit integer"):
        AttrMap({"arg_direction_overrides": [value]})
    assert AttrMap({"k": 2**31 - 1})["k"] == 2**31 - 1


def test_order_and_repetition():
    made = AttrMap([("b", 1), ("a", 2)])
    assert list(made) == ["b", "a"]
    for build in (AttrMap, lambda pairs: AttrMap.of_stored([(k, AttrKind.INT, v) for k, v in pairs])):
        with raises(ValueError, "attribute 'b' is given twice"):
            build([("b", 1), ("b", 2)])


def test_attributes_are_read_only():
    made = AttrMap({"a": 1})
    actions = [
        lambda: made.__setitem__("b", 1),
        lambda: made.__delitem__("a"),
        lambda: made.update(b=1),
        lambda: made.pop("a"),
        lambda: made.clear(),
    ]
    for action in actions:
        with raises(TypeError, "attributes are read-only; build a new map"):
            action()
    assert made == {"a": 1}


def test_kinds_survive_copies():
    made = AttrMap.of_stored(
        [("v", AttrKind.VAR, None), ("i", AttrKind.INT32S, ()), ("f", AttrKind.FLOAT, 1.0)]
    )
    for again in (AttrMap(made), pickle.loads(pickle.dumps(made)), copy.copy(made)):
        assert again == made
        assert again.kinds == made.kinds


def test_kinds_are_named_as_on_the_wire():
    tags = "bool int float str DataType MemorySpace TensorLayout TileLayout PadValue ArgDirection"
    tags += " ArgDirectionVector Int32Vector Var VarList Expr"
    assert [kind.value for kind in AttrKind] == tags.split()


def test_keyword_and_attribute_maps_are_of_one_kind():
    call = ir.Call(ir.Op("f"), [], {"k": X}, {"k": X}, ir.UnknownType(), SPAN)
    assert call.kwargs.kinds == call.attrs.kinds == {"k": AttrKind.EXPR}
