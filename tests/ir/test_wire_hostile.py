"""Blobs made to exhaust their reader, and programs as deep as the format allows."""

import tracemalloc

import msgpack
import pytest
from ir import wire_blobs as blobs

from pypto_tmpl import ir
from pypto_tmpl.ir.wire import WireError, limits

SPAN = ir.Span.unknown()
INDEX = ir.DataType.INDEX
MIB = 2**20


def read_error(data):
    with pytest.raises(WireError) as caught:
        ir.deserialize(data)
    return str(caught.value)


def peak(action, *args):
    """Bytes that ``action`` takes at most."""
    tracemalloc.start()
    try:
        action(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def pack_deep(blob):
    """Pack a blob that nests deeper than msgpack packs."""
    packer, todo, done = msgpack.Packer(), [blob], []
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            done.append(packer.pack_map_header(len(item)))
            for key in reversed(item):
                todo += (item[key], key)
        elif isinstance(item, list):
            done.append(packer.pack_array_header(len(item)))
            todo += reversed(item)
        else:
            done.append(packer.pack(item))
    return b"".join(done)


def const(value=1):
    return ir.ConstInt(value, INDEX, SPAN)


def chain(depth):
    node = const()
    for _ in range(depth):
        node = ir.Neg(node, INDEX, SPAN)
    return node


# depth


def test_five_hundred_nested_operators():
    function = ir.Function("f", [], [], ir.ReturnStmt([chain(500)], SPAN), SPAN)
    data = ir.serialize(function)
    read = ir.deserialize(data)
    assert ir.structural_equal(read, function)
    assert ir.serialize(read) == data


def test_as_deep_as_readers_read():
    """A constant takes 3 levels (its map, its fields, its span beside its type), an operator 2 more."""
    deepest = chain(510)
    assert ir.serialize(ir.deserialize(ir.serialize(deepest))) == ir.serialize(deepest)
    with pytest.raises(WireError) as caught:
        ir.serialize(chain(511))
    what = "error[wire-too-deep]: the program nests deeper than the 1024 MessagePack levels that readers take"
    assert str(caught.value) == f"{what}\n  --> <ConstInt at :-1:-1>"


def test_deeper_than_readers_read():
    blob = blobs.const(1000)
    for number in range(511):
        blob = blobs.node(number, "Neg", type=blobs.I64, operand=blob)
    message = read_error(pack_deep(blob))
    assert message.startswith(
        "error[wire-too-deep]: the data nests deeper than 1024 MessagePack levels\n  --> byte "
    )


def test_much_deeper_programs_are_refused_too():
    with pytest.raises(WireError, match="nests deeper"):
        ir.serialize(chain(100_000))


@pytest.mark.parametrize("levels", [300, 500])
def test_deep_tuple_types(levels):
    type_ = ir.ScalarType(INDEX)
    for _ in range(levels):
        type_ = ir.TupleType([type_])
    data = ir.serialize(ir.Var("x", type_, SPAN))
    assert ir.serialize(ir.deserialize(data)) == data


@pytest.mark.parametrize(
    ("nested", "at"), [(b"\x91", 1024), (b"\x81\xa1a", 3072), (b"\xdd\x00\x00\x00\x01", 5124)]
)
def test_ten_megabytes_of_nesting(nested, at):
    message = read_error(nested * (10 * MIB // len(nested)))
    assert message == (
        f"error[wire-too-deep]: the data nests deeper than 1024 MessagePack levels\n  --> byte {at}"
    )


# lengths


@pytest.mark.parametrize("header", [b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9"])
@pytest.mark.parametrize("times", [1, 1000])
def test_lengths_beyond_the_data(header, times):
    data = (header + b"\xff\xff\xff\xff") * times
    assert peak(read_error, data) < MIB


def test_nested_lists_of_the_length_of_the_data():
    size = MIB
    data = (b"\xdd" + size.to_bytes(4, "big")) * 1000
    data += bytes(size - len(data))
    assert peak(read_error, data) < 4 * MIB


@pytest.mark.parametrize("empty", [b"\x90", b"\x80"])
def test_memory_for_empty_containers_is_bounded(empty):
    count = 2 * MIB
    data = b"\xdd" + count.to_bytes(4, "big") + empty * count
    assert peak(read_error, data) < 25 * len(data)
    assert "there are more maps and lists than any IR of this size has" in read_error(data)


def test_longest_blob(monkeypatch):
    data = blobs.pack(blobs.function(0))
    monkeypatch.setattr(limits, "MAX_BYTES", len(data))
    assert isinstance(ir.deserialize(data), ir.Function)
    monkeypatch.setattr(limits, "MAX_BYTES", len(data) - 1)
    assert read_error(data) == (
        "error[wire-too-large]: the data is longer than the 751 bytes that are read\n  --> byte 751"
    )


# references


def doubling(start, levels):
    """Statements with an expression that uses its operand twice, over and over."""
    nodes = [blobs.add(start + i, blobs.ref(start + i + 1), blobs.ref(start + i + 1)) for i in range(levels)]
    nodes.append(blobs.var(start + levels, "x"))
    return [blobs.stmt(10**6 + start + i, "EvalStmt", expr=node) for i, node in enumerate(nodes)]


def test_expressions_that_double_at_every_level():
    data = blobs.pack(blobs.stmt(0, "SeqStmts", stmts=doubling(1, 200)))
    read = ir.deserialize(data)
    assert ir.structural_equal(read, ir.deserialize(data), True)
    assert ir.serialize(ir.deserialize(ir.serialize(read))) == ir.serialize(read)


def test_extents_that_double_at_every_level():
    view = {"layout": "ND", "pad": "null", "stride": [], "valid_shape": [blobs.ref(2000)]}
    tensor = blobs.tensor(blobs.ref(1000), tensor_view=view)
    first = blobs.stmt(1, "EvalStmt", expr=blobs.var(2, "t", tensor))
    stmts = [first, *doubling(1000, 100), *doubling(2000, 100)]
    read = ir.deserialize(blobs.pack(blobs.stmt(0, "SeqStmts", stmts=stmts)))
    assert len(read.stmts[0].expr.type.tensor_view.valid_shape) == 1


def test_tuples_that_double_at_every_level():
    nodes = [blobs.node(i, "MakeTuple", elements=[blobs.ref(i + 1)] * 2) for i in range(1, 100)]
    nodes.append(blobs.const(100))
    stmts = [blobs.stmt(1000 + i, "EvalStmt", expr=node) for i, node in enumerate(nodes)]
    read = ir.deserialize(blobs.pack(blobs.stmt(0, "SeqStmts", stmts=stmts)))
    with pytest.raises(WireError) as caught:
        ir.serialize(read)
    what = "the tuple types of the program, written in full, are more than 16777216 types"
    assert str(caught.value) == f"error[wire-too-large]: {what}\n  --> a TupleType"


@pytest.mark.slow
def test_chains_of_references():
    count = 20_000
    nodes = [blobs.node(i, "Neg", type=blobs.I64, operand=blobs.ref(i + 1)) for i in range(1, count)]
    nodes.append(blobs.const(count))
    stmts = [blobs.stmt(count + i, "EvalStmt", expr=node) for i, node in enumerate(nodes, 1)]
    read = ir.deserialize(msgpack.packb(blobs.stmt(0, "SeqStmts", stmts=stmts)))
    assert read.stmts[0].expr.operand is read.stmts[1].expr
    with pytest.raises(WireError, match="nests deeper"):
        ir.serialize(read)


def test_ring_of_references():
    count = 10_000
    nodes = [
        blobs.node(i, "Neg", type=blobs.I64, operand=blobs.ref(i % count + 1)) for i in range(1, count + 1)
    ]
    stmts = [blobs.stmt(count + i, "EvalStmt", expr=node) for i, node in enumerate(nodes, 1)]
    assert read_error(blobs.pack(blobs.stmt(0, "SeqStmts", stmts=stmts))) == (
        f"error[wire-cycle]: the node 1 is part of itself\n  --> stmts[{count - 1}].expr.operand"
    )


def test_forward_references_to_many_nodes():
    count = 20_000
    values = [blobs.ref(i) for i in range(1, count)]
    definitions = [blobs.stmt(count + i, "EvalStmt", expr=blobs.const(i)) for i in range(1, count)]
    stmts = [blobs.returns(3 * count, *values), *definitions]
    read = ir.deserialize(msgpack.packb(blobs.stmt(0, "SeqStmts", stmts=stmts)))
    assert read.stmts[0].value[-1] is read.stmts[-1].expr
