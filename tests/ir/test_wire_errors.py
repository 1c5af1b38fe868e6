"""What the reader and the writer refuse, and what they say (spec: wire format, section 10)."""

import pytest
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import set_fields
from pypto_tmpl.ir.wire import WireError

SPAN = ir.Span.unknown()
X = ir.Var("x", ir.ScalarType(ir.DataType.INDEX), SPAN)
GOOD = blobs.pack(blobs.function(0))
ENUM_CODES = {
    "SplitMode": "0 NONE, 1 UP_DOWN, 2 LEFT_RIGHT",
    "ForKind": "0 Sequential, 1 Parallel, 2 Unroll, 3 Pipeline",
    "ParamDirection": "0 In, 1 Out, 2 InOut",
    "ArgDirection": "0 Input, 1 Output, 2 InOut, 3 OutputExisting, 4 NoDep, 5 Scalar",
    "Role": "0 Orchestrator, 1 SubWorker",
    "InlineLanguage": "0 Python",
}


def read_error(blob):
    with pytest.raises(WireError) as caught:
        ir.deserialize(blob if isinstance(blob, bytes) else blobs.pack(blob))
    return str(caught.value)


def write_error(node):
    with pytest.raises(WireError) as caught:
        ir.serialize(node)
    return str(caught.value)


def error(slug, what, where, *notes):
    return "\n".join([f"error[wire-{slug}]: {what}", f"  --> {where}", *(f"   = {note}" for note in notes)])


def test_a_wire_error_is_a_value_error_of_the_project():
    assert issubclass(WireError, PyptoTmplError)
    assert issubclass(WireError, ValueError)


# malformed MessagePack


@pytest.mark.parametrize("size", [0, 1, 100, len(GOOD) - 1])
def test_truncated(size):
    assert read_error(GOOD[:size]) == error(
        "truncated", "the data ends before the value does", f"byte {size}"
    )


@pytest.mark.parametrize("header", ["dd ff ff ff ff", "df ff ff ff ff", "db ff ff ff ff", "c6 ff ff ff ff"])
def test_lengths_beyond_the_data(header):
    data = bytes.fromhex(header)
    assert read_error(data) == error("truncated", "the data ends before the value does", "byte 5")


def test_byte_that_starts_no_value():
    data = GOOD[:8] + b"\xc1" + GOOD[9:]
    assert read_error(data) == error("malformed", "no MessagePack value starts so", "byte 8")


def test_trailing_bytes():
    assert read_error(GOOD + b"\x00\x00") == error("trailing-bytes", "2 bytes follow the value", "byte 752")


def test_text_that_is_not_utf8():
    data = GOOD.replace(b"\xa4bump", b"\xa4\xff\xfemp")
    assert read_error(data) == error(
        "malformed", "a str is not UTF-8: invalid start byte", f"byte {GOOD.index(b'bump') + 3}"
    )


def test_keys_that_are_no_strings():
    assert read_error(b"\x81\x01\x02") == error(
        "malformed", "int is not allowed for map key when strict_map_key=True", "byte 2"
    )


def test_repeated_keys():
    assert read_error(b"\x82\xa1a\x01\xa1a\x02") == error(
        "malformed", "the key 'a' is given twice in a map", "byte 6"
    )


# nodes


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "nil"),
        (True, "a bool"),
        (1, "an integer"),
        (0.5, "a float"),
        ("x", "a str"),
        (b"x", "a bin"),
        ([], "a list"),
    ],
)
def test_nodes_are_maps(value, shown):
    assert read_error(blobs.pack(value)) == error("wrong-kind", f"expected a node, got {shown}", "root")
    assert read_error(blobs.add(0, value, blobs.const(1))) == error(
        "wrong-kind", f"expected a node (Expr), got {shown}", "left"
    )


@pytest.mark.parametrize("key", ["id", "type", "fields"])
def test_nodes_have_id_type_and_fields(key):
    what = f"the field {key!r} of a node is missing"
    assert read_error(blobs.without(blobs.const(0), key)) == error("missing-field", what, "root")
    inner = blobs.add(0, blobs.const(1), blobs.without(blobs.const(2), key))
    if key == "fields":
        what = "expected a node (Expr), which has the fields id, type and fields"
        assert read_error(inner) == error("wrong-kind", what, "right")
    else:
        assert read_error(inner) == error("missing-field", what, "right")


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("id", "0", "expected a node id (an integer), got a str"),
        ("id", True, "expected a node id (an integer), got a bool"),
        ("type", 5, "expected the name of a node type, got an integer"),
        ("fields", [], "expected the fields of a node (a map), got a list"),
    ],
)
def test_kinds_in_a_node(key, value, what):
    where = {"id": "right.id"}.get(key, "right")
    blob = blobs.add(0, blobs.const(1), blobs.with_value(blobs.const(2), value, key))
    assert read_error(blob) == error("wrong-kind", what, where)


def test_unknown_node_type():
    message = read_error(blobs.returns(0, blobs.with_value(blobs.const(1), "ConstInd", "type")))
    start = "error[wire-unknown-node]: there is no node type 'ConstInd'\n  --> value[0]\n   = types: "
    assert message.startswith(start + "Var, IterArg, ConstInt, ConstFloat, ConstBool, MemRef, ")
    assert message.endswith(", Function, Program; did you mean 'ConstInt'?")
    for abstract in ("Stmt", "Expr", "BinaryExpr", "ScopeStmt", "Type"):
        message = read_error(blobs.with_value(blobs.const(0), abstract, "type"))
        assert message.startswith(
            f"error[wire-unknown-node]: there is no node type {abstract!r}\n  --> root\n"
        )


def test_dangling_reference():
    assert read_error(blobs.returns(0, blobs.ref(7))) == error(
        "dangling-reference", "there is no node with the id 7", "value[0]"
    )


@pytest.mark.parametrize(("number", "shown"), [("7", "a str"), (None, "nil"), ([1], "a list")])
def test_references_are_integers(number, shown):
    assert read_error(blobs.returns(0, {"ref": number})) == error(
        "wrong-kind", f"expected a node id (an integer), got {shown}", "value[0].ref"
    )


def test_references_hold_nothing_else():
    assert read_error(blobs.returns(0, {"ref": 0, "id": 1})) == error(
        "unknown-field", "unknown field 'id' in a reference", "value[0]"
    )


def test_duplicate_ids():
    assert read_error(blobs.add(0, blobs.const(1), blobs.const(1))) == error(
        "duplicate-id", "the id 1 is taken already, by left", "right"
    )


def test_cycles():
    assert read_error(blobs.returns(0, blobs.add(1, blobs.ref(1), blobs.const(2)))) == error(
        "cycle", "the node 1 is part of itself", "value[0].left"
    )
    loop = blobs.returns(
        0, blobs.add(1, blobs.ref(2), blobs.const(3)), blobs.add(2, blobs.ref(1), blobs.ref(3))
    )
    assert read_error(loop) == error("cycle", "the node 1 is part of itself", "value[1].left")


def test_references_to_the_wrong_family():
    call = blobs.call(1)
    assert read_error(blobs.stmt(0, "AssignStmt", var=call, value=blobs.ref(1))) == error(
        "wrong-kind", "expected a node (Var), got a Call", "var"
    )
    inner = blobs.stmt(0, "SeqStmts", stmts=[blobs.returns(1), blobs.returns(2, blobs.ref(1))])
    assert read_error(inner) == error(
        "wrong-kind", "expected a node (Expr), got a ReturnStmt", "stmts[1].value[0]"
    )


def test_path_through_a_program():
    body = blobs.stmt(
        2,
        "SeqStmts",
        stmts=[
            blobs.returns(3),
            blobs.stmt(
                4, "AssignStmt", var=blobs.var(5), value=blobs.call(6, blobs.ref(5), blobs.const(7, None))
            ),
        ],
    )
    blob = blobs.program(0, blobs.entry(blobs.function(1, params=[], param_directions=[], body=body)))
    assert read_error(blob) == error(
        "wrong-kind",
        "expected an integer, got nil",
        "functions[0].value.body.stmts[1].value.args[1].value",
    )


# fields

IF = blobs.stmt(
    0, "IfStmt", condition=blobs.const(1), then_body=blobs.returns(2), else_body=None, return_vars=[]
)
WHILE = blobs.stmt(
    0, "WhileStmt", iter_args=[], condition=blobs.const(1), body=blobs.returns(2), return_vars=[]
)
HIERARCHY = blobs.scope(0, "HierarchyScopeStmt", level=0, role=None)
SPLIT_AIV = blobs.scope(0, "SplitAivScopeStmt", split=0, count=2)
INLINE = blobs.stmt(0, "InlineStmt", body="", language=0)
ITEM = blobs.node(0, "TupleGetItemExpr", tuple=blobs.node(1, "MakeTuple", elements=[blobs.const(2)]), index=0)
WINDOW = blobs.node(
    0, "WindowBuffer", base=blobs.var(1), size=blobs.const(2), load_from_host=False, store_to_host=False
)

REQUIRED = [
    (blobs.var(0), "span type name_hint"),
    (blobs.node(0, "IterArg", name_hint="x", type=blobs.I64, initValue=blobs.const(1)), "type initValue"),
    (blobs.const(0), "span type value"),
    (blobs.node(0, "ConstFloat", type=blobs.I64, value=0.5), "type value"),
    (blobs.node(0, "ConstBool", value=True), "value"),
    (blobs.call(0), "type op args kwargs"),
    (blobs.submit(0), "type op args deps kwargs"),
    (blobs.add(0, blobs.const(1), blobs.const(2)), "type left right"),
    (blobs.node(0, "Neg", type=blobs.I64, operand=blobs.const(1)), "type operand"),
    (blobs.memref_node(0), "name_hint base byte_offset size"),
    (WINDOW, "base size load_from_host store_to_host"),
    (ITEM, "tuple index"),
    (IF, "span condition then_body return_vars"),
    (WHILE, "iter_args condition body return_vars"),
    (blobs.for_stmt(0), "loop_var start stop step iter_args body return_vars"),
    (HIERARCHY, "level body"),
    (SPLIT_AIV, "split count body"),
    (INLINE, "body language"),
    (blobs.function(0), "span params level role return_types body name"),
    (blobs.program(0), "span name functions"),
]


@pytest.mark.parametrize(
    ("blob", "key"), [(blob, key) for blob, keys in REQUIRED for key in keys.split()], ids=str
)
def test_required_fields(blob, key):
    what = f"the field {key!r} is missing"
    # A function's params come before its body, which refers to them.
    if (blob["type"], key) == ("Function", "params"):
        blob = blobs.function(0, body=blobs.returns(9))
    assert read_error(blobs.without(blob, "fields", key)) == error("missing-field", what, "root")


def test_unknown_fields_are_named():
    assert read_error(blobs.const(0) | {"extra": 1}) == error(
        "unknown-field", "unknown field 'extra' beside id, type and fields", "root"
    )
    assert read_error(blobs.with_value(blobs.const(0), 1, "fields", "valu")) == error(
        "unknown-field", "unknown field 'valu'", "root", "fields: span, type, value; did you mean 'value'?"
    )
    assert read_error(blobs.call(0, op={"name": "f", "is_global_var": False, "x": 1})) == error(
        "unknown-field", "unknown field 'x'", "op", "fields: is_global_var, name"
    )
    span = {**blobs.SPAN, "x": 1}
    assert read_error(blobs.with_value(blobs.const(0), span, "fields", "span")) == error(
        "unknown-field",
        "unknown field 'x'",
        "span",
        "fields: filename, begin_line, begin_column, end_line, end_column",
    )
    assert read_error(blobs.var(0, type={**blobs.I64, "shape": []})) == error(
        "unknown-field", "unknown field 'shape'", "type", "fields: dtype, type_kind"
    )


def test_features_that_were_removed():
    assert read_error(blobs.for_stmt(0, chunk_config={"size": 2})) == error(
        "removed-field", "the field 'chunk_config' belongs to a removed feature", "root"
    )


WRONG_KINDS = [
    (blobs.const(0), "value", "1", "an integer", "a str", ""),
    (blobs.const(0), "value", True, "an integer", "a bool", ""),
    (blobs.const(0), "value", 1.0, "an integer", "a float", ""),
    (blobs.const(0), "span", None, "a map", "nil", ""),
    (blobs.const(0), "span", [], "a map", "a list", ""),
    (blobs.node(0, "ConstFloat", type=blobs.I64, value=0.5), "value", "1", "a number", "a str", ""),
    (blobs.node(0, "ConstBool", value=True), "value", 1, "a bool", "an integer", ""),
    (blobs.var(0), "name_hint", None, "a str", "nil", ""),
    (blobs.var(0), "name_hint", b"x", "a str", "a bin", ""),
    (blobs.var(0), "type", None, "a type (a map with type_kind)", "nil", ""),
    (blobs.var(0), "type", {}, "a type (a map with type_kind)", "a map", ""),
    (blobs.var(0), "type", blobs.const(7), "a type (a map with type_kind)", "a map", ""),
    (blobs.call(0), "op", "f", "a map", "a str", ""),
    (blobs.call(0), "args", 5, "a list", "an integer", ""),
    (blobs.call(0), "kwargs", None, "a list of attributes", "nil", ""),
    (blobs.call(0), "kwargs", {}, "a list of attributes", "a map", ""),
    (blobs.submit(0), "attrs", None, "a list of attributes", "nil", ""),
    (blobs.submit(0), "sync_start", 1, "a bool", "an integer", ""),
    (blobs.submit(0), "allow_early_resolve", "x", "a bool", "a str", ""),
    (blobs.scope(0, "RuntimeScopeStmt", manual=False), "manual", 0, "a bool", "an integer", ""),
    (blobs.returns(0), "leading_comments", None, "a list", "nil", ""),
    (blobs.returns(0), "leading_comments", ["a", 1], "a str", "an integer", "[1]"),
    (blobs.function(0), "func_type", "Opaque", "a FunctionType code", "a str", ""),
    (blobs.function(0), "param_directions", [True], "a ParamDirection code", "a bool", "[0]"),
    (HIERARCHY, "level", None, "a Level code", "nil", ""),
    (blobs.program(0), "functions", {}, "a list", "a map", ""),
    (blobs.program(0), "functions", [5], "a map", "an integer", "[0]"),
]


@pytest.mark.parametrize(("blob", "key", "value", "expected", "got", "step"), WRONG_KINDS)
def test_kinds_of_fields(blob, key, value, expected, got, step):
    changed = blobs.with_value(blob, value, "fields", key)
    assert read_error(changed) == error("wrong-kind", f"expected {expected}, got {got}", key + step)


@pytest.mark.parametrize(
    ("blob", "key", "value", "low", "high"),
    [
        (blobs.const(0), "value", 2**63, -(2**63), 2**63 - 1),
        (blobs.memref_node(0), "size", -1, 0, 2**64 - 1),
        (blobs.memref_node(0), "slot_count", -1, 0, 2**64 - 1),
    ],
)
def test_ranges_of_integers(blob, key, value, low, high):
    assert read_error(blobs.with_value(blob, value, "fields", key)) == error(
        "out-of-range", f"{value} is not in {low} .. {high}", key
    )


@pytest.mark.parametrize(
    ("blob", "key", "enum"),
    [
        (blobs.scope(0, "InCoreScopeStmt", split=0), "split", "SplitMode"),
        (blobs.for_stmt(0), "kind", "ForKind"),
        (HIERARCHY, "role", "Role"),
        (INLINE, "language", "InlineLanguage"),
    ],
)
@pytest.mark.parametrize("code", [-1, 99])
def test_unknown_enum_codes(blob, key, enum, code):
    assert read_error(blobs.with_value(blob, code, "fields", key)) == error(
        "unknown-code", f"no {enum} has the code {code}", key, f"codes: {ENUM_CODES[enum]}"
    )


@pytest.mark.parametrize(("key", "enum"), [("func_type", "FunctionType"), ("level", "Level")])
def test_unknown_codes_of_functions(key, enum):
    message = read_error(blobs.function(0, **{key: 255}))
    assert message.startswith(
        f"error[wire-unknown-code]: no {enum} has the code 255\n  --> {key}\n   = codes: 0 "
    )


def test_unknown_directions():
    note = f"codes: {ENUM_CODES['ParamDirection']}"
    assert read_error(blobs.function(0, param_directions=[3])) == error(
        "unknown-code", "no ParamDirection has the code 3", "param_directions[0]", note
    )
    note = f"codes: {ENUM_CODES['ArgDirection']}"
    assert read_error(blobs.call(0, blobs.const(1), arg_directions=[6])) == error(
        "unknown-code", "no ArgDirection has the code 6", "arg_directions[0]", note
    )


# types


@pytest.mark.parametrize(
    ("type_", "slug", "what", "where", "notes"),
    [
        ({"type_kind": 5}, "wrong-kind", "expected the name of a type, got an integer", ".type_kind", []),
        ({"type_kind": "ScalarType", "dtype": 256}, "out-of-range", "256 is not in 0 .. 255", ".dtype", []),
        (
            {"type_kind": "ScalarType", "dtype": None},
            "wrong-kind",
            "expected a dtype code, got nil",
            ".dtype",
            [],
        ),
        (
            blobs.tile(memory_space=None),
            "wrong-kind",
            "expected a MemorySpace code, got nil",
            ".memory_space",
            [],
        ),
        (
            {"type_kind": "DistributedTensorType", "dtype": 52, "shape": [], "window_buffer": None},
            "wrong-kind",
            "expected a node (WindowBuffer), got nil",
            ".window_buffer",
            [],
        ),
        (blobs.tensor(tensor_view=[]), "wrong-kind", "expected a map, got a list", ".tensor_view", []),
        (blobs.tile(tile_view="x"), "wrong-kind", "expected a map, got a str", ".tile_view", []),
        (blobs.tensor(memref=5), "wrong-kind", "expected a map, got an integer", ".memref", []),
        (
            blobs.tensor(tensor_view={"layout": "XX", "stride": []}),
            "unknown-code",
            "no TensorLayout is named 'XX'",
            ".tensor_view.layout",
            ["names: ND, DN, NZ, MX_A_ZZ, MX_B_NN"],
        ),
        (
            blobs.tile(tile_view={"pad": "zer"}),
            "unknown-code",
            "no PadValue is named 'zer'",
            ".tile_view.pad",
            ["names: null, zero, max, min; did you mean 'zero'?"],
        ),
        (
            blobs.tile(tile_view={"compact": 1}),
            "wrong-kind",
            "expected the name of a CompactMode, got an integer",
            ".tile_view.compact",
            [],
        ),
        (
            blobs.tile(tile_view={"compact": "x"}),
            "unknown-code",
            "no CompactMode is named 'x'",
            ".tile_view.compact",
            ["names: null, normal"],
        ),
        (
            {"type_kind": "ArrayType", "dtype": 19, "shape": []},
            "invalid",
            "an ArrayType has one extent, got 0",
            ".shape",
            [],
        ),
        (
            {"type_kind": "ArrayType", "dtype": 52, "shape": [blobs.const(3)]},
            "invalid",
            "an ArrayType holds integers, BOOL or TASK_ID, not FP32",
            "",
            [],
        ),
        (
            blobs.without(blobs.tile(memref=blobs.memref_map(5)), "memory_space"),
            "invalid",
            "a TileType with a memref needs its memory_space as well",
            "",
            [],
        ),
        (
            {"type_kind": "TensorType", "dtype": 48, "shape": [blobs.const(3, 3)]},
            "invalid",
            "TensorType.shape: packed FP4 needs a positive even last extent, got 3",
            "",
            [],
        ),
        (
            {"type_kind": "TupleType", "types": [blobs.I64, 5]},
            "wrong-kind",
            "expected a type (a map with type_kind), got an integer",
            ".types[1]",
            [],
        ),
        (
            {"type_kind": "TupleType", "types": [{"type_kind": "ScalarType", "dtype": -1}]},
            "out-of-range",
            "-1 is not in 0 .. 255",
            ".types[0].dtype",
            [],
        ),
    ],
)
def test_types(type_, slug, what, where, notes):
    blob = blobs.returns(0, blobs.var(1, "x", type_))
    assert read_error(blob) == error(slug, what, f"value[0].type{where}", *notes)


def test_unknown_type_kind():
    message = read_error(blobs.var(0, "x", {"type_kind": "TielType"}))
    assert message.startswith("error[wire-unknown-type]: there is no type 'TielType'\n  --> type.type_kind\n")
    assert message.endswith("; did you mean 'TileType'?")
    assert "there is no type 'PtrType'" in read_error(blobs.var(0, "x", {"type_kind": "PtrType"}))


def test_unknown_memory_space():
    message = read_error(blobs.var(0, "x", blobs.tile(memory_space=42)))
    assert message.startswith(
        "error[wire-unknown-code]: no MemorySpace has the code 42\n  --> type.memory_space\n"
    )


@pytest.mark.parametrize("key", ["base", "byte_offset", "size"])
def test_required_fields_of_an_embedded_memref(key):
    blob = blobs.var(0, "x", blobs.tensor(memref=blobs.without(blobs.memref_map(0), key)))
    assert read_error(blob) == error("missing-field", f"the field {key!r} is missing", "type.memref")


def test_embedded_memref_with_two_names():
    blob = blobs.var(0, "x", blobs.tensor(memref=blobs.memref_map(0, base="n")))
    assert read_error(blob) == error("invalid", "the base is named 'n', but its variable 'm'", "type.memref")


def test_embedded_memref_without_slots():
    blob = blobs.var(0, "x", blobs.tensor(memref=blobs.memref_map(0, slot_count=0)))
    assert read_error(blob) == error("invalid", "a MemRef has at least one slot, got 0", "type.memref")


# attributes

VALUE = "expected an attribute value (a bool, number, str or tagged map), got "
TAGS = (
    "types: MemorySpace, TensorLayout, TileLayout, PadValue, ArgDirection, DataType, ArgDirectionVector, "
    "Int32Vector, Var, VarList, Expr"
)


@pytest.mark.parametrize(
    ("entry", "slug", "what", "where", "notes"),
    [
        (5, "wrong-kind", "expected an attribute (a map), got an integer", "", []),
        ({"key": "a"}, "missing-field", "the field 'value' is missing", "", []),
        ({"value": 1}, "missing-field", "the field 'key' is missing", "", []),
        ({"key": 1, "value": 1}, "wrong-kind", "expected a str, got an integer", ".key", []),
        (
            {"key": "a", "value": 1, "kind": 2},
            "unknown-field",
            "unknown field 'kind'",
            "",
            ["fields: key, value"],
        ),
        (blobs.attr("a", None), "wrong-kind", VALUE + "nil", ".value", []),
        (blobs.attr("a", []), "wrong-kind", VALUE + "a list", ".value", []),
        (blobs.attr("a", b"x"), "wrong-kind", VALUE + "a bin", ".value", []),
        (blobs.attr("a", {}), "unknown-type", "an attribute value has no type None", ".value", [TAGS]),
        (
            blobs.attr("a", {"type": "VarLis", "value": 1}),
            "unknown-type",
            "an attribute value has no type 'VarLis'",
            ".value",
            [TAGS + "; did you mean 'VarList'?"],
        ),
        (blobs.attr("a", {"type": "Var"}), "missing-field", "the field 'value' is missing", ".value", []),
        (
            blobs.attr("a", {"type": "DataType", "value": 52}),
            "missing-field",
            "the field 'code' is missing",
            ".value",
            [],
        ),
        (
            blobs.attr("a", {"type": "DataType", "code": "FP32"}),
            "wrong-kind",
            "expected a dtype code, got a str",
            ".value.code",
            [],
        ),
        (
            blobs.attr("a", {"type": "TileLayout", "value": "XX"}),
            "unknown-code",
            "no TileLayout is named 'XX'",
            ".value.value",
            ["names: none_box, row_major, col_major"],
        ),
        (
            blobs.attr("a", {"type": "MemorySpace", "value": 1}),
            "wrong-kind",
            "expected the name of a MemorySpace, got an integer",
            ".value.value",
            [],
        ),
        (
            blobs.attr("a", {"type": "ArgDirection", "value": 6}),
            "unknown-code",
            "no ArgDirection has the code 6",
            ".value.value",
            [f"codes: {ENUM_CODES['ArgDirection']}"],
        ),
        (
            blobs.attr("a", {"type": "ArgDirectionVector", "value": [0, "x"]}),
            "wrong-kind",
            "expected an ArgDirection code, got a str",
            ".value.value[1]",
            [],
        ),
        (
            blobs.attr("a", {"type": "Int32Vector", "value": [2**31]}),
            "out-of-range",
            "2147483648 is not in -2147483648 .. 2147483647",
            ".value.value[0]",
            [],
        ),
        (
            blobs.attr("a", {"type": "VarList", "value": None}),
            "wrong-kind",
            "expected a list, got nil",
            ".value.value",
            [],
        ),
        (
            blobs.attr("a", {"type": "VarList", "value": [None, blobs.const(1)]}),
            "wrong-kind",
            "expected a node (Var), got a ConstInt",
            ".value.value[1]",
            [],
        ),
        (
            blobs.attr("a", {"type": "Expr", "value": blobs.returns(1)}),
            "wrong-kind",
            "expected a node (Expr), got a ReturnStmt",
            ".value.value",
            [],
        ),
        (
            blobs.attr("a", 2**63 + 1),
            "out-of-range",
            "9223372036854775809 is neither a 32-bit integer nor an integral float",
            ".value",
            [],
        ),
    ],
)
def test_attributes(entry, slug, what, where, notes):
    blob = blobs.call(0, kwargs=[blobs.attr("good", 1), entry])
    assert read_error(blob) == error(slug, what, f"kwargs[1]{where}", *notes)


def test_repeated_attributes():
    entries = [blobs.attr("a", 1), blobs.attr("a", 2)]
    assert read_error(blobs.call(0, kwargs=entries)) == error(
        "invalid", "attribute 'a' is given twice", "kwargs"
    )
    directions = blobs.attr("arg_directions", {"type": "ArgDirectionVector", "value": []})
    both = blobs.call(0, blobs.const(1), attrs=[directions], arg_directions=[0])
    assert read_error(both) == error("invalid", "attribute 'arg_directions' is given twice", "root")


# long names


@pytest.mark.parametrize(
    "with_name",
    [
        lambda name: blobs.with_value(blobs.const(0), name, "type"),
        lambda name: blobs.with_value(blobs.const(0), 1, "fields", name),
        lambda name: blobs.var(0, type={"type_kind": name}),
        lambda name: blobs.var(0, type=blobs.tensor(tensor_view={"layout": name, "stride": []})),
        lambda name: blobs.call(0, kwargs=[blobs.attr("a", {"type": name})]),
        lambda name: blobs.call(0, kwargs=[blobs.attr(name, 1)] * 2),
        lambda name: blobs.program(0, blobs.entry(blobs.function(1), name)),
    ],
    ids=["node", "field", "type", "layout", "tag", "key", "function"],
)
def test_messages_are_short_however_long_the_names(with_name):
    assert len(read_error(with_name("N" * 10**6))) < 3000


# invariants


@pytest.mark.parametrize(
    ("blob", "what", "where"),
    [
        (
            blobs.const(1, 1, blobs.tile()),
            "expected a ScalarType, got a TileType",
            ".type",
        ),
        (
            blobs.node(1, "Neg", type=blobs.UNKNOWN, operand=blobs.const(2)),
            "expected a ScalarType, got an UnknownType",
            ".type",
        ),
    ],
)
def test_scalar_nodes_have_scalar_types(blob, what, where):
    assert read_error(blobs.returns(0, blob)) == error("wrong-kind", what, f"value[0]{where}")


@pytest.mark.parametrize(
    ("blob", "what", "where"),
    [
        (
            blobs.with_value(ITEM, 1, "fields", "index"),
            "TupleGetItemExpr.index: 1 is outside a tuple of 1",
            "root",
        ),
        (
            blobs.node(0, "TupleGetItemExpr", tuple=blobs.const(1), index=0),
            "TupleGetItemExpr.tuple must have a TupleType, got ScalarType",
            "root",
        ),
        (
            blobs.with_value(ITEM, blobs.BOOL, "fields", "type"),
            "the type of this TupleGetItemExpr does not follow from its other fields",
            "type",
        ),
        (
            blobs.node(0, "ConstBool", type=blobs.I64, value=True),
            "the type of this ConstBool does not follow from its other fields",
            "type",
        ),
        (
            blobs.with_value(WINDOW, blobs.UNKNOWN, "fields", "type"),
            "the type of this WindowBuffer does not follow from its other fields",
            "type",
        ),
        (blobs.with_value(SPLIT_AIV, 3, "fields", "count"), "a SplitAivScopeStmt has 2 lanes, got 3", "root"),
        (
            blobs.node(0, "SeqStmts", leading_comments=["c"], stmts=[]),
            "a SeqStmts carries no leading comments; attach them to its first statement",
            "root",
        ),
        (blobs.submit(0, sync_start=True), "Submit.sync_start needs a core_num", "root"),
        (
            blobs.submit(0, core_num=blobs.const(1, 1, blobs.BOOL)),
            "Submit.core_num must be an integer scalar, got BOOL",
            "root",
        ),
        (
            blobs.call(0, blobs.const(1), blobs.const(2), arg_directions=[0]),
            "Call.attrs has 1 arg_directions for 2 arguments",
            "root",
        ),
        (blobs.memref_node(0, slot_count=0), "a MemRef has at least one slot, got 0", "root"),
        (blobs.function(0, param_directions=[]), "0 directions for 1 params", "param_directions"),
        (
            blobs.function(0, func_type=3, level=0),
            "bump: a function of type AIC has level AIC, not Level.AIV",
            "root",
        ),
        (
            blobs.program(0, blobs.entry(blobs.function(1)), blobs.entry(blobs.function(11))),
            "Program.functions[1]: two functions are named 'bump'",
            "root",
        ),
        (
            blobs.program(0, blobs.entry(blobs.function(1), "jump")),
            "the key is 'jump', but the function is named 'bump'",
            "functions[0].key",
        ),
        (
            blobs.program(0, {"key": {"is_global_var": False, "name": "bump"}, "value": blobs.function(1)}),
            "the key of a function is a global variable",
            "functions[0].key",
        ),
        (
            blobs.program(0, blobs.entry(blobs.function(1, name=""), "")),
            "Program.functions[0] must have a name",
            "root",
        ),
    ],
)
def test_invariants(blob, what, where):
    assert read_error(blob) == error("invalid", what, where)


# writing


def broken(node, **fields):
    set_fields(node, **fields)
    return node


def const(value=1):
    return ir.ConstInt(value, ir.DataType.INDEX, SPAN)


@pytest.mark.parametrize(
    ("node", "slug", "what", "where"),
    [
        (
            broken(ir.EvalStmt(X, SPAN), expr=None),
            "wrong-kind",
            "expected an Expr, got None",
            "expr of <EvalStmt at :-1:-1>",
        ),
        (
            broken(const(), value=2**63),
            "out-of-range",
            f"{2**63} is not in {-(2**63)} .. {2**63 - 1}",
            "value of <ConstInt at :-1:-1>",
        ),
        (
            broken(ir.ConstBool(True, SPAN), value=1),
            "wrong-kind",
            "expected a bool, got 1",
            "value of <ConstBool at :-1:-1>",
        ),
        (
            broken(ir.ConstFloat(1.0, ir.DataType.FP32, SPAN), value="x"),
            "wrong-kind",
            "expected a float, got 'x'",
            "value of <ConstFloat at :-1:-1>",
        ),
        (
            ir.Var("\ud800", ir.UnknownType(), SPAN),
            "malformed",
            "'\\ud800' has no UTF-8 form",
            "name_hint of <Var \ud800>",
        ),
        (
            ir.ReturnStmt(ir.Span("f", 1, True)),
            "wrong-kind",
            "expected an integer, got True",
            "span of <ReturnStmt at f:1:True>",
        ),
        (
            ir.Call(ir.Op("f"), [], AttrMap.of_stored([("k", AttrKind.INT, "x")]), ir.UnknownType(), SPAN),
            "wrong-kind",
            "expected an integer, got 'x'",
            "'k' of an AttrMap",
        ),
    ],
)
def test_values_that_cannot_be_written(node, slug, what, where):
    assert write_error(node) == error(slug, what, where)


def test_functions_under_another_name_are_not_written():
    program = ir.Program([ir.Function("f", [], [], ir.ReturnStmt(SPAN), SPAN)], "p", SPAN)
    set_fields(program, functions={ir.GlobalVar("g"): program["f"]})
    assert write_error(program) == error("invalid", "the key is 'g', but the function is named 'f'", "a dict")


def test_classes_of_others_are_not_written():
    class Mine(ir.Var):
        __slots__ = ()

    assert write_error(Mine("x", ir.UnknownType(), SPAN)) == error(
        "unknown-node", "a Mine has no wire form", "<Mine x>"
    )
