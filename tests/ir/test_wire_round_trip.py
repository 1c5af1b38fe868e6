"""What a round trip keeps and what it changes (spec: wire format, section 11)."""

import copy

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir import strategies
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import FLOAT_KEYWORDS, AttrKind, AttrMap
from pypto_tmpl.ir.base import set_fields
from pypto_tmpl.ir.wire import WireError
from pypto_tmpl.ops import load_table

SPAN = ir.Span.unknown()
INDEX, FP32 = ir.DataType.INDEX, ir.DataType.FP32


def const(value=1):
    return ir.ConstInt(value, INDEX, SPAN)


def var(name="x"):
    return ir.Var(name, ir.ScalarType(INDEX), SPAN)


def again(node):
    return ir.deserialize(ir.serialize(node))


# blobs that upstream writes but cannot read


def while_loop():
    carried = ir.IterArg("i", ir.ScalarType(INDEX), const(0), SPAN)
    condition = ir.Lt(carried, const(8), ir.DataType.BOOL, SPAN)
    return ir.WhileStmt(condition, [carried], ir.YieldStmt([carried], SPAN), [var("r")], SPAN)


def comm_domain():
    window = ir.WindowBuffer(ir.Var("w", ir.PtrType(), SPAN), const(64))
    return ir.CommDomainScopeStmt([0, 1], [window], "", ir.EvalStmt(window, SPAN), SPAN)


def tile_with_shared_view():
    extent = var()
    view = ir.TileView([extent], [extent], extent)
    return ir.Var("t", ir.TileType([const(8)], FP32, None, view, ir.MemorySpace.Vec), SPAN)


def tuple_of_tensor():
    return ir.MakeTuple([ir.Var("t", ir.TensorType([var("n"), 2], FP32), SPAN)], SPAN)


def item_of_tuple():
    return ir.TupleGetItemExpr(tuple_of_tensor(), 0, SPAN)


def spmd_scope():
    blocks = var("blocks")
    return ir.SpmdScopeStmt(blocks, True, "", ir.EvalStmt(blocks, SPAN), SPAN)


@pytest.mark.parametrize(
    "build", [while_loop, comm_domain, tile_with_shared_view, tuple_of_tensor, item_of_tuple, spmd_scope]
)
def test_references_that_upstream_cannot_resolve(build):
    node = build()
    data = ir.serialize(node)
    assert ir.structural_equal(ir.deserialize(data), node, True)
    assert ir.serialize(ir.deserialize(data)) == data


# what is lost


def test_integral_float_attributes_become_integers():
    made = AttrMap.of_stored([("a", AttrKind.FLOAT, 2.0), ("b", AttrKind.FLOAT, 0.5)])
    read = again(ir.Call(ir.Op("f"), [], made, None, ir.UnknownType(), SPAN))
    assert (read.kwargs["a"], read.kwargs.kinds["a"]) == (2, AttrKind.INT)
    assert (read.kwargs["b"], read.kwargs.kinds["b"]) == (0.5, AttrKind.FLOAT)


def test_an_integral_float_stays_one_where_the_op_takes_a_float():
    written = ir.Call(ir.Op("tensor.create"), [], {"init_value": 1.0}, None, ir.UnknownType(), SPAN)
    read = again(written)
    assert (str(read.kwargs["init_value"]), read.kwargs.kinds["init_value"]) == ("1.0", AttrKind.FLOAT)
    assert ir.structural_equal(read, written)


def test_float_keywords_are_those_of_the_op_table():
    table = load_table()
    floats = {(name, spec.name) for name in table for spec in table[name].kwargs if spec.type == "float"}
    assert floats == FLOAT_KEYWORDS


def test_negative_zero_keeps_its_sign():
    assert str(again(ir.ConstFloat(-0.0, FP32, SPAN)).value) == "-0.0"
    attribute = ir.Call(ir.Op("f"), [], {"a": -0.0}, None, ir.UnknownType(), SPAN)
    assert str(again(attribute).kwargs["a"]) == "-0.0"


def test_embedded_memrefs_lose_their_identity_span_and_name_but_not_their_base():
    base = ir.Var("m", ir.PtrType(), SPAN)
    memref = ir.MemRef(base, 0, 64, span=ir.Span("f", 1, 1))
    set_fields(memref, name_hint="other")
    type_ = ir.TensorType([2], FP32, memref)
    read = again(ir.ReturnStmt([ir.Var("a", type_, SPAN), ir.Var("b", type_, SPAN)], SPAN))
    first, second = (value.type for value in read.value)
    assert not first.shares_memref_with(second)
    assert first.memref.base_ is second.memref.base_
    assert (first.memref.name_hint, first.memref.span) == ("m", SPAN)


# what is kept


def test_names_of_memrefs_and_windows_are_kept():
    memref = ir.MemRef(ir.Var("m", ir.PtrType(), SPAN), 0, 64, span=SPAN)
    window = ir.WindowBuffer(var("w"), const())
    for node in (memref, window):
        set_fields(node, name_hint="other")
        assert again(node).name_hint == "other"
        assert ir.serialize(again(node)) == ir.serialize(node)


def test_sharing_is_kept():
    x, one = var(), const()
    first = ir.Add(x, one, INDEX, SPAN)
    read = again(ir.ReturnStmt([first, first, ir.Add(x, const(), INDEX, SPAN)], SPAN))
    a, b, c = read.value
    assert a is b
    assert c is not a
    assert c.left is a.left
    assert c.right is not a.right


def test_sharing_across_functions_and_types_is_kept():
    rows = var("rows")
    tensor = ir.TensorType([rows, 4], FP32)

    def function(name):
        body = ir.ReturnStmt([rows], SPAN)
        return ir.Function(name, [ir.Var("t", tensor, SPAN)], [tensor], body, SPAN)

    read = again(ir.Program([function("f"), function("g")], "p", SPAN))
    f, g = read["f"], read["g"]
    found = [f.params[0].type.shape[0], f.return_types[0].shape[0], f.body.value[0], g.body.value[0]]
    assert all(node is found[0] for node in found)
    assert f.params[0] is not g.params[0]


def test_spans_comments_and_order_of_attributes_are_kept():
    span = ir.Span("kernel.py", 3, 9, 4, 1)
    node = ir.ReturnStmt([], span)
    ir.attach_leading_comments(node, ["first", ""])
    assert again(node).span == span
    assert again(node).leading_comments == ("first", "")
    call = ir.Call(ir.Op("f"), [], {"b": 1, "a": True}, None, ir.UnknownType(), SPAN)
    assert list(again(call).kwargs.items()) == [("b", 1), ("a", True)]


def test_ops_and_functions_stay_apart():
    assert type(again(ir.Call(ir.Op("f"), [], SPAN)).op) is ir.Op
    assert type(again(ir.Call(ir.GlobalVar("f"), [], SPAN)).op) is ir.GlobalVar


# generated IR


@given(strategies.nodes(names=strategies.TEXT))
def test_generated_ir_is_kept(node):
    data = ir.serialize(node)
    read = ir.deserialize(data)
    assert ir.structural_diff(node, read, enable_auto_mapping=True) is None
    assert ir.structural_hash(node, True) == ir.structural_hash(read, True)
    assert ir.serialize(read) == data


@given(strategies.nodes())
def test_order_of_keys_does_not_count(node):
    data = ir.serialize(node)
    backwards = msgpack.packb(_keys_reversed(msgpack.unpackb(data)))
    assert ir.serialize(ir.deserialize(backwards)) == data


def _keys_reversed(value):
    if isinstance(value, dict):
        return {key: _keys_reversed(value[key]) for key in reversed(value)}
    return [_keys_reversed(item) for item in value] if isinstance(value, list) else value


@given(strategies.nodes(), st.data())
def test_changed_bytes_are_read_or_refused(node, data):
    raw = bytearray(ir.serialize(node))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        change = data.draw(st.sampled_from(["set", "drop", "add", "cut"]))
        if change == "set":
            raw[at] = data.draw(st.integers(0, 255))
        elif change == "drop":
            del raw[at]
        elif change == "add":
            raw[at:at] = data.draw(st.binary(min_size=1, max_size=4))
        else:
            del raw[max(at, 1) :]
    _read_or_refused(bytes(raw))


JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        2**64 - 1,
        0.5,
        "",
        "Var",
        b"x",
        [],
        {},
        [None],
        {"ref": 0},
        {"ref": 10**6},
        {"ref": []},
        {"fields": {}, "id": 0, "type": "Var"},
        {"fields": {}, "id": [], "type": []},
        {"type_kind": "TileType"},
        {"type_kind": []},
        {"type": "VarList", "value": [3]},
        [{"key": "a", "value": 1}],
        {"is_global_var": True, "name": "f"},
        blobs.const(10**6),
        blobs.I64,
    ]
)
KEYS = ["x", "ref", "id", "fields", "type", "span", "split", "arg_directions", "chunk_config", "type_kind"]


@given(strategies.nodes(), st.data())
def test_changed_values_are_read_or_refused(node, data):
    blob = msgpack.unpackb(ir.serialize(node))
    for _ in range(data.draw(st.integers(1, 2))):
        owner = data.draw(st.sampled_from(_containers(blob)))
        keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
        key = data.draw(st.sampled_from(keys + KEYS if isinstance(owner, dict) else keys))
        if key in keys and data.draw(st.booleans()):
            del owner[key]
        else:
            owner[key] = copy.deepcopy(data.draw(JUNK))
    _read_or_refused(msgpack.packb(blob))


def _containers(blob):
    found, todo = [], [blob]
    for item in todo:
        if isinstance(item, (dict, list)):
            todo += item.values() if isinstance(item, dict) else item
            found += [item] if item else []
    return found or [blob]


def _read_or_refused(data):
    try:
        node = ir.deserialize(data)
    except WireError as error:
        assert error.what
        assert error.where
    else:
        written = ir.serialize(node)
        assert ir.serialize(ir.deserialize(written)) == written
