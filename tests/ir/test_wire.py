"""The binary form: bytes as upstream writes them (spec: wire format, sections 1 to 8 and 13)."""

import hashlib
import math

import msgpack
import pytest
from corpus_check import default_corpus, find_dumps
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrKind, AttrMap

SPAN = ir.Span.unknown()
I64 = ir.ScalarType(ir.DataType.INT64)
DUMPS = find_dumps(default_corpus(), ".msgpack")


def bump():
    x = ir.Var("x", I64, SPAN)
    body = ir.ReturnStmt([ir.Add(x, ir.ConstInt(1, ir.DataType.INT64, SPAN), ir.DataType.INT64, SPAN)], SPAN)
    return ir.Function("bump", [x], [I64], body, SPAN)


def fields(node):
    return msgpack.unpackb(ir.serialize(node))["fields"]


def kwargs(source):
    """Wire form of attributes."""
    return fields(ir.Call(ir.Op("f"), [], source, None, ir.UnknownType(), SPAN))["kwargs"]


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_real_dumps_are_written_as_they_were_read(dump):
    data = dump.path.read_bytes()
    node = ir.deserialize(data)
    assert ir.serialize(node) == data
    assert ir.structural_diff(node, ir.deserialize(data), enable_auto_mapping=True) is None


def test_worked_example():
    data = ir.serialize(bump())
    assert len(data) == 752
    digest = "353bfaac1b04ea32c78f4bd19a5fbaa0b197b0cf8ae399d7d84df70eac3160d2"
    assert hashlib.sha256(data).hexdigest() == digest
    assert data.hex(" ").startswith("83 a6 66 69 65 6c 64 73 8b a5 61 74 74 72 73 90 a4 62 6f 64 79 83")
    assert data.hex(" ").endswith("a2 69 64 00 a4 74 79 70 65 a8 46 75 6e 63 74 69 6f 6e")
    assert data == blobs.pack(blobs.function(0))


def test_worked_example_is_read():
    function = ir.deserialize(blobs.pack(blobs.function(0)))
    assert ir.structural_equal(function, bump())
    assert function.body.value[0].left is function.params[0]
    assert (function.name, function.params[0].name_hint) == ("bump", "x")


def test_tile_call():
    """The call of the specification's section 13, with the operands in place: the type comes first."""
    index = {"dtype": 21, "type_kind": "ScalarType"}
    dims = [ir.ConstInt(extent, ir.DataType.INDEX, SPAN) for extent in (16, 32)]
    type_ = ir.TileType(dims, ir.DataType.FP32, memory_space=ir.MemorySpace.Vec)
    made = ir.Call(ir.Op("tile.add"), [ir.Var("a", type_, SPAN), ir.Var("b", type_, SPAN)], type_, SPAN)
    shared = blobs.tile(blobs.ref(1), blobs.ref(2))
    first = blobs.tile(blobs.const(1, 16, index), blobs.const(2, 32, index))
    expected = blobs.call(0, blobs.var(3, "a", shared), blobs.var(4, "b", shared), type=first)
    assert ir.serialize(made) == blobs.pack(expected)


def test_node_types_and_codes():
    assert ir.serialize(ir.BreakStmt(SPAN)) == blobs.pack(blobs.stmt(0, "BreakStmt"))
    stop = ir.InlineStmt("x = 1", ir.InlineLanguage.Python, SPAN)
    assert ir.serialize(stop) == blobs.pack(blobs.stmt(0, "InlineStmt", body="x = 1", language=0))


def test_numbers_follow_declaration_order_and_keys_are_sorted():
    """A ForStmt declares loop_var first, but its body comes first in the bytes."""
    loop_var = ir.Var("i", I64, SPAN)
    zero = ir.ConstInt(0, ir.DataType.INT64, SPAN)
    body = ir.EvalStmt(loop_var, SPAN)
    made = fields(ir.ForStmt(loop_var, zero, zero, zero, [], body, [], SPAN))
    assert list(made) == sorted(made)
    assert made["loop_var"]["id"] == 1
    assert made["start"]["id"] == 2
    assert made["stop"] == made["step"] == {"ref": 2}
    assert made["body"]["fields"]["expr"] == {"ref": 1}


def test_equal_constants_that_are_two_objects_are_written_twice():
    one, other = (ir.ConstInt(1, ir.DataType.INT64, SPAN) for _ in range(2))
    made = fields(ir.Add(one, other, ir.DataType.INT64, SPAN))
    assert (made["left"]["id"], made["right"]["id"]) == (1, 2)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, "01"),
        (-2.0, "fe"),
        (1e10, "cf 00 00 00 02 54 0b e4 00"),
        (0.5, "cb 3f e0 00 00 00 00 00 00"),
        (0.0, "00"),
        (-0.0, "cb 80 00 00 00 00 00 00 00"),
        (2.0**63, "cf 80 00 00 00 00 00 00 00"),
        (2.0**64, "cb 43 f0 00 00 00 00 00 00"),
        (-(2.0**63), "d3 80 00 00 00 00 00 00 00"),
        (-(2.0**64), "cb c3 f0 00 00 00 00 00 00"),
        (1e300, "cb 7e 37 e4 3c 88 00 75 9c"),
        (math.inf, "cb 7f f0 00 00 00 00 00 00"),
        (-math.inf, "cb ff f0 00 00 00 00 00 00"),
        (math.nan, "cb 7f f8 00 00 00 00 00 00"),
    ],
)
def test_floats_that_are_integers_are_written_as_integers(value, written):
    data = ir.serialize(ir.ConstFloat(value, ir.DataType.FP32, SPAN))
    assert data.endswith(b"\xa5value" + bytes.fromhex(written) + b"\xa2id\x00\xa4type\xaaConstFloat")
    again = ir.deserialize(data)
    assert type(again.value) is float
    assert again.value == value or (math.isnan(again.value) and math.isnan(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "cc 80"),
        (256, "cd 01 00"),
        (2**16, "ce 00 01 00 00"),
        (2**32, "cf 00 00 00 01 00 00 00 00"),
        (2**63 - 1, "cf 7f ff ff ff ff ff ff ff"),
        (-1, "ff"),
        (-32, "e0"),
        (-33, "d0 df"),
        (-129, "d1 ff 7f"),
        (-(2**15) - 1, "d2 ff ff 7f ff"),
        (-(2**63), "d3 80 00 00 00 00 00 00 00"),
    ],
)
def test_integers_take_the_shortest_form(value, written):
    data = ir.serialize(ir.ConstInt(value, ir.DataType.INT64, SPAN))
    assert b"\xa5value" + bytes.fromhex(written) + b"\xa2id" in data
    assert ir.deserialize(data).value == value


@pytest.mark.parametrize("text", ["", "a" * 31, "a" * 32, "a" * 300, "a" * 70000, "é世\U0001f600"])
def test_strings_are_utf8_in_the_shortest_form(text):
    data = ir.serialize(ir.Var(text, I64, SPAN))
    assert b"\xa9name_hint" + msgpack.packb(text) in data
    assert ir.deserialize(data).name_hint == text


@pytest.mark.parametrize("count", [0, 15, 16, 65535, 65536])
def test_lists_take_the_shortest_prefix(count):
    one = ir.ConstInt(1, ir.DataType.INT64, SPAN)
    node = ir.YieldStmt([one] * count, SPAN)
    prefix = msgpack.Packer().pack_array_header(count)
    data = ir.serialize(node)
    assert b"\xa5value" + prefix in data
    assert len(ir.deserialize(data).value) == count


def test_attribute_values():
    x = ir.Var("x", I64, SPAN)
    stored = AttrMap.of_stored(
        [
            ("bool", AttrKind.BOOL, True),
            ("int", AttrKind.INT, -1),
            ("float", AttrKind.FLOAT, 0.5),
            ("whole", AttrKind.FLOAT, 2.0),
            ("str", AttrKind.STR, "s"),
            ("dtype", AttrKind.DATA_TYPE, ir.DataType.FP32),
            ("space", AttrKind.MEMORY_SPACE, ir.MemorySpace.LeftScale),
            ("layout", AttrKind.TENSOR_LAYOUT, ir.TensorLayout.MX_A_ZZ),
            ("blayout", AttrKind.TILE_LAYOUT, ir.TileLayout.col_major),
            ("pad", AttrKind.PAD_VALUE, ir.PadValue.zero),
            ("direction", AttrKind.ARG_DIRECTION, ir.ArgDirection.Scalar),
            ("directions", AttrKind.ARG_DIRECTIONS, (ir.ArgDirection.Input, ir.ArgDirection.Output)),
            ("ints", AttrKind.INT32S, (2, -3)),
            ("var", AttrKind.VAR, x),
            ("no_var", AttrKind.VAR, None),
            ("vars", AttrKind.VARS, (x, None)),
            ("expr", AttrKind.EXPR, ir.ConstBool(True, SPAN)),
            ("no_expr", AttrKind.EXPR, None),
        ]
    )
    written = {entry["key"]: entry["value"] for entry in kwargs(stored)}
    assert list(written) == list(stored)
    assert written == {
        "bool": True,
        "int": -1,
        "float": 0.5,
        "whole": 2,
        "str": "s",
        "dtype": {"code": 52, "type": "DataType"},
        "space": {"type": "MemorySpace", "value": "LeftScale"},
        "layout": {"type": "TensorLayout", "value": "MX_A_ZZ"},
        "blayout": {"type": "TileLayout", "value": "col_major"},
        "pad": {"type": "PadValue", "value": "zero"},
        "direction": {"type": "ArgDirection", "value": 5},
        "directions": {"type": "ArgDirectionVector", "value": [0, 1]},
        "ints": {"type": "Int32Vector", "value": [2, -3]},
        "var": {"type": "Var", "value": blobs.var(1)},
        "no_var": {"type": "Var", "value": None},
        "vars": {"type": "VarList", "value": [{"ref": 1}, None]},
        "expr": {"type": "Expr", "value": blobs.node(2, "ConstBool", type=blobs.BOOL, value=True)},
        "no_expr": {"type": "Expr", "value": None},
    }


def test_every_attribute_kind_survives():
    made = AttrMap.of_stored(
        [("a", AttrKind.INT32S, ()), ("b", AttrKind.ARG_DIRECTIONS, ()), ("c", AttrKind.VARS, ())]
    )
    read = ir.deserialize(ir.serialize(ir.Call(ir.Op("f"), [], made, None, ir.UnknownType(), SPAN))).kwargs
    assert read.kinds == made.kinds


def test_types():
    def written(type_):
        return fields(ir.Var("x", type_, SPAN))["type"]

    assert written(ir.PtrType()) == {"type_kind": "Ptr"}
    assert written(ir.WindowBufferType()) == {"type_kind": "WindowBufferType"}
    assert written(ir.TupleType([I64, ir.UnknownType()])) == {
        "type_kind": "TupleType",
        "types": [blobs.I64, blobs.UNKNOWN],
    }
    index = {"dtype": 21, "type_kind": "ScalarType"}
    assert written(ir.ArrayType(ir.DataType.INT32, 4)) == {
        "dtype": 19,
        "shape": [blobs.const(1, 4, index)],
        "type_kind": "ArrayType",
    }
    assert written(ir.TensorType([], ir.DataType.FP32)) == {
        "dtype": 52,
        "shape": [],
        "type_kind": "TensorType",
    }
    assert written(ir.TileType([], ir.DataType.FP32, memory_space=ir.MemorySpace.Acc)) == {
        "dtype": 52,
        "memory_space": 5,
        "shape": [],
        "type_kind": "TileType",
    }


def test_views_are_written_whole():
    view = ir.TensorView([2], ir.TensorLayout.MX_B_NN, [], ir.PadValue.max)
    made = fields(ir.Var("x", ir.TensorType([2], ir.DataType.FP32, None, view), SPAN))["type"]
    assert {**made["tensor_view"], "stride": None} == {
        "layout": "MX_B_NN",
        "pad": "max",
        "stride": None,
        "valid_shape": [],
    }
    tile_view = ir.TileView(compact=ir.CompactMode.normal)
    made = fields(ir.Var("x", ir.TileType([2], ir.DataType.FP32, None, tile_view), SPAN))["type"]
    assert made["tile_view"] == {
        "blayout": "row_major",
        "compact": "normal",
        "fractal": 512,
        "pad": "null",
        "slayout": "none_box",
        "start_offset": None,
        "stride": [],
        "valid_shape": [],
    }


def test_embedded_memref_leaves_out_its_defaults():
    base = ir.Var("m", ir.PtrType(), SPAN)
    zero = ir.ConstInt(0, ir.DataType.INT64, SPAN)

    def written(memref):
        return fields(ir.Var("x", ir.TensorType([], ir.DataType.FP32, memref), SPAN))["type"]["memref"]

    assert written(ir.MemRef(base, zero, 64)) == blobs.memref_map(0)
    full = written(ir.MemRef(base, zero, 64, is_pinned=True, slots=3, slot=zero))
    assert full == blobs.memref_map(0, is_pinned=True, slot_count=3, slot_index={"ref": 2})


def test_functions_of_a_program_stand_in_order_of_their_names():
    def function(name):
        return ir.Function(name, [], [], ir.ReturnStmt(SPAN), SPAN)

    made = fields(ir.Program([function("b"), function("a")], "p", SPAN))["functions"]
    assert [entry["key"] for entry in made] == [
        {"is_global_var": True, "name": "a"},
        {"is_global_var": True, "name": "b"},
    ]
    assert [entry["value"]["id"] for entry in made] == [1, 3]


def test_level_and_role_are_written_as_derived():
    function = ir.Function("f", [], [], ir.ReturnStmt(SPAN), SPAN, ir.FunctionType.AIV)
    made = fields(function)
    assert (made["func_type"], made["level"], made["role"]) == (4, 0, 1)


@pytest.mark.parametrize("value", [None, 1, "text", ir.UnknownType(), ir.Op("f"), SPAN])
def test_only_nodes_are_serialized(value):
    with pytest.raises(TypeError, match=f"^serialize takes an IR node, got {type(value).__name__}$"):
        ir.serialize(value)


@pytest.mark.parametrize("value", [None, 5, [1]])
def test_only_bytes_are_deserialized(value):
    with pytest.raises(TypeError, match=f"^deserialize takes bytes, got {type(value).__name__}$"):
        ir.deserialize(value)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_will_do(kind):
    assert isinstance(ir.deserialize(kind(ir.serialize(bump()))), ir.Function)
