"""Every op of the table gives the type of its result: on samples, the extents that the references yield."""

from typing import Any

import pytest
import torch
from ops.calls.operands import D, S, built, scalar, tensor, tile
from ops.references import Shaped
from ops.sample_calls import SampleCall
from ops.sampled import TABLE, Typed, parse

from pypto_tmpl import ir
from pypto_tmpl.ops.calls import OpCallError
from pypto_tmpl.ops.calls.overloads import spelled_name
from pypto_tmpl.ops.typing import infer_type

SAMPLES = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    for number, sample in enumerate(entry.samples)
]
# What is popped, the annotation says; of a lane's part the type says how much the larger lane has.
DECLARED = {"tile.tpop_from_aic", "tile.tpop_from_aiv"}
LANE_PARTS = {"tile.aiv_shard", "tensor.aiv_shard"}


def operand(op: str, name: str, value: Any) -> ir.Expr:
    """A sample's operand as the IR has it."""
    spec = next(spec for spec in TABLE[op].operands if spec.name == name)
    if isinstance(value, Typed):
        if "array" in spec.kinds:
            return ir.Var(name, ir.ArrayType(getattr(D, value.dtype), value.shape[0]), S)
        build = tile if "tile" in spec.kinds else tensor
        return build(*value.shape, dtype=getattr(D, value.dtype), valid=value.valid, name=name)
    if isinstance(value, list):
        return ir.MakeTuple([operand(op, name, item) for item in value], S)
    if isinstance(value, bool):
        return ir.ConstBool(value, S)
    if isinstance(value, int):
        return ir.ConstInt(value, D.INDEX, S)
    if isinstance(value, float):
        return ir.ConstFloat(value, D.FP32, S)
    return scalar(D.TASK_ID, name)


def keyword(op: str, name: str, value: Any) -> Any:
    """A sample's keyword as a call stores it."""
    spec = next(spec for spec in TABLE[op].kwargs if spec.name == name)
    kind = getattr(ir, spec.type, None)
    if spec.type == "DataType":
        return getattr(D, value)
    if isinstance(value, str) and kind is not None:
        return kind[value]
    return spec.values.get(value, value) if isinstance(value, str) else value


def written(op: str, sample: dict[str, Any]) -> tuple[list[ir.Expr], dict[str, Any]]:
    """Operands and keywords of a sample."""
    names = [name for name in TABLE[op].operand_names if name in sample]
    keywords = {name: keyword(op, name, value) for name, value in sample.items() if name not in names}
    return [operand(op, name, parse(sample[name])) for name in names], keywords


def inferred(op: str, sample: dict[str, Any]) -> ir.Type:
    args, keywords = written(op, sample)
    return infer_type(TABLE[op], args, ir.AttrMap(keywords))


def region_of(type_: ir.ShapedType) -> list[int]:
    view = getattr(type_, "tile_view", None) or getattr(type_, "tensor_view", None)
    extents = view.valid_shape if view is not None and view.valid_shape else type_.shape
    return [extent.value for extent in extents]


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_what_a_sample_yields_is_the_box_or_the_region_of_its_type(op: str, sample: dict[str, Any]) -> None:
    """References yield the valid elements, or the whole box where an op writes all of it.

    A type that says that all is valid may be wider than what the operands' regions make of the values.
    """
    if op in DECLARED | LANE_PARTS:
        return
    found, value = inferred(op, sample), SampleCall(op, sample).expected()
    pairs = zip(found.types, value, strict=True) if isinstance(found, ir.TupleType) else [(found, value)]
    for type_, expected in pairs:
        data = expected.data if isinstance(expected, Shaped) else expected
        if not isinstance(data, torch.Tensor) or not isinstance(type_, ir.ShapedType):
            continue
        box, region = [extent.value for extent in type_.shape], region_of(type_)
        extents = [*[1] * (len(box) - data.ndim), *data.shape]
        if region == box:
            assert len(extents) == len(box)
            assert all(extent <= size for extent, size in zip(extents, box, strict=True))
        else:
            assert extents in (box, region)


# Scripts compute more than the language lets one write: dtypes that the device lacks, windows over an edge.
STRICTER = {
    "tensor.and", "tensor.or", "tile.and", "tile.or", "tensor.not", "tile.not", "tensor.row_min",
    "tile.row_min", "tensor.subs", "tile.subs", "tile.div", "tile.row_expand_add", "tile.matmul_mx",
    "tile.matmul_mx_acc", "tile.matmul_mx_bias", "tile.extract", "tile.load", "tile.assemble",
}  # fmt: skip
STRICT_REASONS = ("its dtype must be", "the window ends", "their dtypes must be equal")
# A sample's stand-in is no handle, its task names no others; the fourth argument is not the fourth operand.
WRITTEN_OTHERWISE = {"prefetch.wait", "tensor.matmul_acc", "system.task_dummy"}
CALLED = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    if op.partition(".")[0] in ("tensor", "tile", "system", "array", "prefetch")
    and op not in WRITTEN_OTHERWISE
    for number, sample in enumerate(entry.samples)
]


@pytest.mark.parametrize(("op", "sample"), CALLED)
def test_a_sample_can_be_written_in_the_language(op: str, sample: dict[str, Any]) -> None:
    args, keywords = written(op, sample)
    namespace, _, name = op.rpartition(".")
    try:
        found = built(f"pl.{namespace}.{spelled_name(name)}", *args, **keywords)
    except OpCallError as error:
        assert op in STRICTER
        assert any(reason in str(error) for reason in STRICT_REASONS)
    else:
        assert isinstance(found, ir.Call)
        assert found.op.name == op
        assert len(found.args) >= len(args)


X, WINDOW = tensor(16, 64), ir.Var("w", ir.DistributedTensorType([16, 64], D.FP32), S)
SIGNAL = ir.Var("s", ir.DistributedTensorType([2, 1], D.INT32), S)
CHUNK, ROWS = tensor(1, 64), tensor(2, 1, dtype=D.INT32)
RECEIVED = ir.Var("r", ir.DistributedTensorType([2, 1], D.INT32), S)
T, N, PTR = tile(16, 64), scalar(), ir.Var("p", ir.PtrType(), S)
CTX, COMM = ir.Var("c", ir.PrefetchAsyncContextType(), S), ir.Var("c", ir.CommCtxType(), S)
EVENT, SESSION = ir.Var("e", ir.AsyncEventType(), S), ir.Var("s", ir.AsyncSessionType(), S)
HANDLE = ir.Var("h", ir.PtrType(), S)
AT = ir.MakeTuple([N, N], S)
NOTHING, WINDOW_TYPE = ir.UnknownType(), WINDOW.type
INDEX, INT32 = ir.ScalarType(D.INDEX), ir.ScalarType(D.INT32)


def extents(*values: int) -> ir.MakeTuple:
    return ir.MakeTuple([ir.ConstInt(value, D.INDEX, S) for value in values], S)


# Ops that a script does not run on numbers: operands, keywords, the type of the result.
OTHERS: dict[str, tuple[list[ir.Expr], dict[str, Any], ir.Type]] = {
    **{
        f"builtin.tensor.{name}": ([WINDOW, WINDOW, SIGNAL], {"dtype": D.FP32}, WINDOW_TYPE)
        for name in ("all_to_all", "allgather")
    },
    "builtin.tensor.all_to_all_v": ([WINDOW, WINDOW, SIGNAL, X, X], {"dtype": D.FP32}, WINDOW_TYPE),
    "builtin.tensor.allreduce": ([WINDOW, SIGNAL], {"op": 0, "dtype": D.FP32}, WINDOW_TYPE),
    "builtin.tensor.allreduce_ring": ([WINDOW, SIGNAL], {"op": 0, "dtype": D.FP32}, WINDOW_TYPE),
    "builtin.tensor.barrier": ([SIGNAL], {}, SIGNAL.type),
    "builtin.tensor.broadcast": ([WINDOW, SIGNAL], {"root": 0, "dtype": D.FP32}, WINDOW_TYPE),
    "builtin.tensor.reduce_scatter": ([WINDOW, SIGNAL], {"op": 0, "dtype": D.FP32}, WINDOW_TYPE),
    "buffer.at": ([HANDLE], {}, NOTHING),
    "buffer.copy": ([T, T], {}, NOTHING),
    "buffer.slot": ([N, T], {}, NOTHING),
    "buffer.write": ([T, T], {}, NOTHING),
    "dist.future_get": ([HANDLE], {}, NOTHING),
    "dist.make_tensor": ([HANDLE, N], {}, NOTHING),
    "dist.submit_orchestrator": ([HANDLE], {}, NOTHING),
    "dist.submit_worker": ([HANDLE], {}, NOTHING),
    "dist.tree_reduce": ([HANDLE, AT], {}, NOTHING),
    "pld.system.defer_wait": ([SIGNAL, AT, N], {"cmp": 1}, NOTHING),
    "pld.system.get_comm_ctx": ([WINDOW], {}, ir.CommCtxType()),
    "pld.system.notify": ([SIGNAL, N, AT, N], {"op": 0}, NOTHING),
    "pld.system.nranks": ([COMM], {}, INT32),
    "pld.system.rank": ([COMM], {}, INT32),
    "pld.system.wait": ([SIGNAL, AT, N], {"cmp": 1}, NOTHING),
    "pld.system.world_size": ([], {}, ir.ScalarType(D.INT64)),
    "pld.tensor.all_to_all": ([X, WINDOW, SIGNAL], {}, WINDOW_TYPE),
    "pld.tensor.all_to_all_v": ([X, WINDOW, SIGNAL, ROWS, RECEIVED], {}, WINDOW_TYPE),
    "pld.tensor.allgather": ([CHUNK, WINDOW, SIGNAL], {}, WINDOW_TYPE),
    "pld.tensor.alloc_window_buffer": ([N], {"name": "b"}, ir.PtrType()),
    "pld.tensor.allreduce": ([WINDOW, SIGNAL], {"op": 0}, WINDOW_TYPE),
    "pld.tensor.barrier": ([SIGNAL], {}, SIGNAL.type),
    "pld.tensor.broadcast": ([WINDOW, SIGNAL], {"root": 0}, WINDOW_TYPE),
    "pld.tensor.get": ([X, N, WINDOW], {}, NOTHING),
    "pld.tensor.put": ([WINDOW, N, X], {"atomic": 0}, NOTHING),
    "pld.tensor.reduce_scatter": ([WINDOW, SIGNAL], {"op": 0}, WINDOW_TYPE),
    "pld.tensor.remote_store": ([X, WINDOW, N, AT], {}, NOTHING),
    "pld.tensor.window": ([PTR, extents(16, 64)], {"dtype": D.FP32}, WINDOW_TYPE),
    "pld.tile.get": ([X, N, WINDOW, T], {}, NOTHING),
    "pld.tile.put": ([WINDOW, N, X, T], {"atomic": 0}, NOTHING),
    "pld.tile.remote_load": ([WINDOW, N, AT, extents(16, 64)], {}, ir.TileType([16, 64], D.FP32)),
    "pld.tile.remote_store": ([T, WINDOW, N, AT], {}, NOTHING),
    "prefetch.async_prefetch": ([X, CTX], {}, ir.AsyncEventType()),
    "prefetch.make_context": ([], {}, ir.PrefetchAsyncContextType()),
    "prefetch.session": ([CTX], {}, ir.AsyncSessionType()),
    **{f"system.{name}": ([], {}, NOTHING) for name in ("bar_all", "bar_m", "bar_v", "fence")},
    "system.cacheinvalid": ([], {}, NOTHING),
    "system.import_peer_buffer": ([], {"name": "b", "peer_func": "f"}, INT32),
    "system.reserve_buffer": ([], {"name": "b", "size": 64}, INT32),
    "system.set_ffts": ([X], {}, NOTHING),
    "system.sync_dst": ([], {"set_pipe": 0, "wait_pipe": 1, "event_id": 0}, NOTHING),
    "system.sync_set": ([], {"pipe": 0, "event_id": 0}, NOTHING),
    "system.sync_src": ([], {"set_pipe": 0, "wait_pipe": 1, "event_id": 0}, NOTHING),
    "system.sync_wait": ([], {"pipe": 0, "event_id": 0}, NOTHING),
    "tensor.alloc": ([N, N], {}, ir.PtrType()),
    "tile.alloc": ([N, N], {}, ir.PtrType()),
    **{
        f"{namespace}.{name}": ([], {}, INDEX)
        for namespace in ("tensor", "tile")
        for name in ("get_block_idx", "get_block_num", "get_subblock_idx")
    },
    **{
        f"test.{name}": ([X, X][:count], {}, X.type)
        for name, count in (
            ("op", 2), ("deduce_raises_internal", 1), ("deduce_raises_type", 1), ("tensor_op_no_conv", 1),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("op", OTHERS)
def test_the_types_of_ops_without_samples(op: str) -> None:
    args, keywords, expected = OTHERS[op]
    assert ir.structural_equal(infer_type(TABLE[op], args, ir.AttrMap(keywords)), expected)


def test_every_op_of_the_table_is_inferred_here() -> None:
    sampled = {op for op, entry in TABLE.items() if entry.samples}
    assert sampled | OTHERS.keys() == TABLE.keys()
    assert not sampled & OTHERS.keys()
