"""What the reader accepts beyond what the writer produces (spec: wire format, sections 5, 6 and 9)."""

import msgpack
import pytest
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrKind


def read(blob):
    return ir.deserialize(blobs.pack(blob))


def read_type(type_):
    return read(blobs.var(0, "x", type_)).type


IF = blobs.stmt(
    0, "IfStmt", condition=blobs.const(1), then_body=blobs.returns(2), else_body=None, return_vars=[]
)
IN_CORE = blobs.scope(0, "InCoreScopeStmt", split=0)
SPMD = blobs.scope(0, "SpmdScopeStmt", core_num=blobs.const(5), sync_start=False)
RUNTIME = blobs.scope(0, "RuntimeScopeStmt", manual=False)
DOMAIN = blobs.scope(0, "CommDomainScopeStmt", devices=[], slots=[])

NIL_OR_MISSING = [
    (blobs.call(0), "attrs", "attrs", {}),
    (blobs.submit(0), "core_num", "core_num", None),
    (blobs.submit(0), "predicate", "predicate", None),
    (blobs.submit(0), "sync_start", "sync_start", False),
    (blobs.submit(0), "allow_early_resolve", "allow_early_resolve", False),
    (blobs.memref_node(0), "slot_index", "slot_index_", None),
    (IF, "else_body", "else_body", None),
    (blobs.for_stmt(0), "kind", "kind", ir.ForKind.Sequential),
    (IN_CORE, "split", "split", ir.SplitMode.NONE),
    (SPMD, "sync_start", "sync_start", False),
    (RUNTIME, "manual", "manual", False),
    (blobs.function(0), "func_type", "func_type", ir.FunctionType.Opaque),
    (blobs.function(0), "param_directions", "param_directions", (ir.ParamDirection.In,)),
    (blobs.function(0), "attrs", "attrs", {}),
    (blobs.function(0), "requires_runtime_binding", "requires_runtime_binding", False),
]

MISSING_ONLY = [
    (blobs.returns(0), "leading_comments", "leading_comments", ()),
    (blobs.submit(0), "attrs", "attrs", {}),
    (blobs.memref_node(0), "is_pinned", "is_pinned_", False),
    (blobs.memref_node(0), "slot_count", "slot_count_", 1),
    (blobs.for_stmt(0), "attrs", "attrs", {}),
    (IN_CORE, "name_hint", "name_hint", ""),
    (IN_CORE, "attrs", "attrs", {}),
    (DOMAIN, "devices", "devices", ()),
    (DOMAIN, "slots", "slots", ()),
]


@pytest.mark.parametrize(("blob", "key", "attr", "default"), NIL_OR_MISSING + MISSING_ONLY)
def test_missing_fields_with_a_default(blob, key, attr, default):
    assert getattr(read(blobs.without(blob, "fields", key)), attr) == default


@pytest.mark.parametrize(("blob", "key", "attr", "default"), NIL_OR_MISSING)
def test_nil_fields_with_a_default(blob, key, attr, default):
    assert getattr(read(blobs.with_value(blob, None, "fields", key)), attr) == default


@pytest.mark.parametrize(
    ("blob", "key", "attr"),
    [
        (blobs.call(0), "args", "args"),
        (blobs.submit(0), "args", "args"),
        (blobs.submit(0), "deps", "deps"),
        (blobs.stmt(0, "SeqStmts", stmts=[]), "stmts", "stmts"),
        (IF, "return_vars", "return_vars"),
        (blobs.for_stmt(0), "iter_args", "iter_args"),
        (blobs.for_stmt(0), "return_vars", "return_vars"),
        (blobs.returns(0), "value", "value"),
        (blobs.function(0, return_types=[]), "return_types", "return_types"),
        (blobs.function(0, params=[], param_directions=[], body=blobs.returns(9)), "params", "params"),
        (blobs.program(0), "functions", "functions"),
    ],
)
def test_nil_for_a_list_is_an_empty_list(blob, key, attr):
    assert len(getattr(read(blobs.with_value(blob, None, "fields", key)), attr)) == 0


@pytest.mark.parametrize("key", ["shape", "types"])
def test_nil_for_a_list_of_a_type_is_an_empty_list(key):
    kind = {"shape": "TensorType", "types": "TupleType"}[key]
    blob = {"type_kind": kind, key: None} | ({"dtype": 52} if key == "shape" else {})
    assert getattr(read_type(blob), key) == ()


@pytest.mark.parametrize("key", ["begin_column", "begin_line", "end_column", "end_line", "filename"])
def test_keys_of_a_span_may_be_missing(key):
    span = {"begin_column": 2, "begin_line": 1, "end_column": 4, "end_line": 3, "filename": "f"}
    blob = blobs.with_value(blobs.var(0), blobs.without(span, key), "fields", "span")
    assert getattr(read(blob).span, key) == ("" if key == "filename" else -1)


def test_keys_of_an_op_may_be_missing():
    assert read(blobs.call(0, op={"name": "f"})).op == ir.Op("f")
    assert read(blobs.call(0, op={"is_global_var": True})).op == ir.GlobalVar("")


def test_dtype_and_shape_of_a_type_may_be_missing():
    assert read_type({"type_kind": "ScalarType"}) == ir.ScalarType(ir.DataType.BOOL)
    assert read_type({"type_kind": "TensorType", "dtype": 52}) == ir.TensorType([], ir.DataType.FP32)


@pytest.mark.parametrize("key", ["memref", "tensor_view"])
def test_optional_parts_of_a_tensor_type_may_be_nil(key):
    assert read_type(blobs.tensor(**{key: None})) == ir.TensorType([], ir.DataType.FP32)


def test_optional_parts_of_a_tile_type_may_be_nil():
    vec = ir.TileType([], ir.DataType.FP32, memory_space=ir.MemorySpace.Vec)
    assert read_type(blobs.tile(memref=None, tile_view=None)) == vec


def test_unknown_dtype_codes_are_kept():
    assert read_type({"type_kind": "ScalarType", "dtype": 254}).dtype.code() == 254


def test_tensor_view_without_valid_shape_and_pad():
    view = {"layout": "DN", "stride": []}
    assert read_type(blobs.tensor(tensor_view=view)).tensor_view.valid_shape == ()
    assert read_type(blobs.tensor(tensor_view=view)).tensor_view.pad is ir.PadValue.null


def test_keys_of_a_tile_view_may_be_missing():
    assert read_type(blobs.tile(tile_view={"pad": "zero"})).tile_view == ir.TileView(pad=ir.PadValue.zero)
    assert read_type(blobs.tile(tile_view={"compact": "normal"})).tile_view == ir.TileView(
        compact=ir.CompactMode.normal
    )


def test_redundant_views_vanish():
    view = {"layout": "ND", "pad": "null", "stride": [], "valid_shape": [blobs.const(2, 4)]}
    assert read_type(blobs.tensor(blobs.const(1, 4), tensor_view=view)).tensor_view is None


def test_embedded_memrefs_without_base_node_share_a_base_by_name():
    def old(number, name):
        memref = blobs.without(blobs.memref_map(number, base=name), "base_node")
        return blobs.var(number, "x", blobs.tensor(memref=memref))

    made = read(blobs.returns(0, old(10, "a"), old(20, "a"), old(30, "b")))
    first, second, other = (value.type.memref for value in made.value)
    assert first.base_ is second.base_
    assert (first.base_.name_hint, first.base_.type) == ("a", ir.PtrType())
    assert (first.name_hint, first.span, first.size_) == ("a", ir.Span.unknown(), 64)
    assert other.base_ is not first.base_
    nil = blobs.with_value(old(10, "a"), None, "fields", "type", "memref", "base_node")
    assert read(nil).type.memref.base_.name_hint == "a"


def test_defaults_of_an_embedded_memref():
    memref = read_type(blobs.tensor(memref=blobs.memref_map(0))).memref
    assert (memref.is_pinned_, memref.slot_count_, memref.slot_index_) == (False, 1, None)
    assert read_type(blobs.tensor(memref=blobs.memref_map(0, slot_index=None))).memref.slot_index_ is None


def test_arg_directions_beside_the_attributes():
    one = blobs.call(0, blobs.const(1), blobs.const(2), arg_directions=[0, 5])
    for blob in (one, blobs.without(one, "fields", "attrs")):
        made = read(blob)
        assert made.arg_directions == (ir.ArgDirection.Input, ir.ArgDirection.Scalar)
        assert made.attrs.kinds == {"arg_directions": AttrKind.ARG_DIRECTIONS}
    for empty in ([], None):
        assert "arg_directions" not in read(blobs.call(0, blobs.const(1), arg_directions=empty)).attrs


def test_split_beside_the_attributes():
    made = read(blobs.function(0, split=2))
    assert made.split is ir.SplitMode.LEFT_RIGHT
    assert made.attrs == {"split": 2}
    assert made.attrs.kinds == {"split": AttrKind.INT}
    assert read(blobs.function(0, split=1, attrs=None)).attrs == {"split": 1}
    for none in (0, None):
        assert read(blobs.function(0, split=none)).attrs == {}


def test_removed_features_are_skipped():
    groups = [{"anything": [1, {"ref": 99}]}]
    assert read(blobs.program(0, comm_groups=groups)).functions == {}
    assert isinstance(read(blobs.for_stmt(0, loop_origin=1)), ir.ForStmt)
    assert isinstance(read(blobs.for_stmt(0, chunk_config=None)), ir.ForStmt)


@pytest.mark.parametrize(
    ("blob", "keys"),
    [
        (blobs.node(0, "ConstBool", type=blobs.BOOL, value=True), ["type"]),
        (blobs.node(0, "MakeTuple", type={"type_kind": "TupleType", "types": []}, elements=[]), ["type"]),
        (blobs.memref_node(0), ["type"]),
        (
            blobs.node(
                0,
                "WindowBuffer",
                type={"type_kind": "WindowBufferType"},
                name_hint="w",
                base=blobs.var(1, "w", blobs.PTR),
                size=blobs.const(2),
                load_from_host=False,
                store_to_host=True,
            ),
            ["type", "name_hint"],
        ),
    ],
)
def test_types_that_follow_from_other_fields_may_be_missing(blob, keys):
    bare = blob
    for key in keys:
        bare = blobs.without(bare, "fields", key)
    assert ir.serialize(read(bare)) == blobs.pack(blob)


def test_integers_and_single_floats_stand_for_floats():
    def const(value):
        return blobs.node(0, "ConstFloat", type=blobs.I64, value=value)

    assert read(const(3)).value == 3.0
    single = blobs.pack(const(0.5)).replace(bytes.fromhex("cb3fe0000000000000"), bytes.fromhex("ca3f000000"))
    assert ir.deserialize(single).value == 0.5


def test_float_attributes_that_are_integral_come_back_as_integers():
    made = read(blobs.call(0, kwargs=[blobs.attr("a", 2), blobs.attr("b", 0.5), blobs.attr("c", 2**40)]))
    assert made.kwargs.kinds == {"a": AttrKind.INT, "b": AttrKind.FLOAT, "c": AttrKind.FLOAT}
    assert made.kwargs == {"a": 2, "b": 0.5, "c": float(2**40)}


def test_ids_need_only_be_unique():
    made = read(blobs.add(2**40, blobs.const(7), blobs.ref(7)))
    assert made.left is made.right


def test_keys_may_stand_in_any_order():
    plain = blobs.function(0)
    reversed_keys = dict(reversed(plain.items()))
    assert ir.structural_equal(ir.deserialize(msgpack.packb(reversed_keys)), read(plain))
