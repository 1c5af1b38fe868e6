"""Calls of the language and the IR that they mean: the rows of the DSL's argument tables."""

import pytest
from ops.calls.operands import D, Mem, S, built, scalar, tensor, text, tile, type_text

from pypto_tmpl import ir
from pypto_tmpl.ops.calls import (
    CallContext,
    NoRuleOpCallError,
    OpCallError,
    UnknownOpCallError,
)
from pypto_tmpl.ops.typing import MissingRuleError

X, Y = tensor(16, 64), tensor(64, 32, name="y")
ROWS = tensor(4, 4, dtype=D.INT32, name="i")
INTS, H = tensor(16, 64, dtype=D.INT32, name="i"), tensor(16, 64, dtype=D.BF16, name="h")
T, TI, TH = tile(16, 64), tile(16, 64, dtype=D.INT16), tile(16, 64, dtype=D.BF16)
N, PTR = scalar(), ir.Var("buf", ir.PtrType(), S)
WINDOW = ir.Var("w", ir.DistributedTensorType([16, 64], D.FP32), S)
SIGNAL = ir.Var("s", ir.DistributedTensorType([2, 1], D.INT32), S)


@pytest.mark.parametrize(
    ("path", "args", "kwargs", "expected"),
    [
        # unified names choose the op by the operands
        ("pl.add", (X, X), {}, "pl.tensor.add(x, x)"),
        ("pl.add", (T, T), {}, "pl.tile.add(t, t)"),
        ("pl.add", (X, 1.0), {}, "pl.tensor.adds(x, 1.0)"),
        ("pl.sub", (T, 1.0), {}, "pl.tile.subs(t, 1.0)"),
        ("pl.maximum", (X, 0.0), {}, "pl.tensor.maximum(x, 0.0)"),
        ("pl.maximum", (T, 0.0), {}, "pl.tile.maximums(t, 0.0)"),
        ("pl.fmod", (X, 2.0), {}, "pl.tensor.fmods(x, 2.0)"),
        ("pl.and_", (INTS, 7), {}, "pl.tensor.ands(i, pl.const(7, pl.INT32))"),
        ("pl.and_", (INTS, INTS), {}, "pl.tensor.and_(i, i)"),
        ("pl.cmp", (T, 0.0), {"cmp_type": 4}, "pl.tile.cmps(t, 0.0, cmp_type=4)"),
        ("pl.cmp", (X, X), {}, "pl.tensor.cmp(x, x, cmp_type=0)"),
        ("pl.row_sum", (X,), {}, "pl.tensor.row_sum(x)"),
        ("pl.row_sum", (T, T), {}, "pl.tile.row_sum(t, t)"),
        ("pl.get_block_idx", (), {}, "pl.tensor.get_block_idx()"),
        (
            "pl.arange",
            (0, [1, 32]),
            {},
            "pl.tensor.ci(pl.const(0, pl.INT32), [1, 32], dtype=pl.INT32, descending=False)",
        ),
        ("pl.tpush_to_aiv", (T,), {"split": 1}, "pl.tile.tpush_to_aiv(t, split=1)"),
        ("pl.system.tpush_to_aiv", (T,), {"split": 1}, "pl.tile.tpush_to_aiv(t, split=1)"),
        (
            "pl.tile.tpush_to_aiv",
            (T,),
            {"split": 1, "lane_stride": 7},
            "pl.tile.tpush_to_aiv(t, split=1, lane_stride=7)",
        ),
        # scalars
        ("pl.add", (N, 1), {}, "n + 1"),
        ("pl.div", (scalar(D.FP32, "s"), 2.0), {}, "s / 2.0"),
        ("pl.cast", (N, D.INT32), {}, "pl.cast(n, pl.INT32)"),
        # defaults, dropped keywords, stored order
        (
            "pl.create_tensor",
            ([4, 8],),
            {"dtype": D.FP32},
            "pl.tensor.create([4, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
        ),
        (
            "pl.create_tensor",
            ([4, 8], D.FP32),
            {"manual_dep": True, "init_value": 0},
            "pl.tensor.create([4, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND, manual_dep=True, "
            "init_value=0.0)",
        ),
        (
            "pl.full",
            ([4, 8],),
            {"dtype": D.INT8, "value": 3},
            "pl.tensor.full([4, 8], dtype=pl.INT8, value=3)",
        ),
        ("pl.full", ([4, 8], D.FP32, 0.5), {}, "pl.tensor.full([4, 8], dtype=pl.FP32, value=0.5)"),
        ("pl.slice", (X, [8, 64], [N, 0]), {}, "pl.tensor.slice(x, [8, 64], [n, 0])"),
        (
            "pl.slice",
            (X, [1, 64], [N, 0]),
            {"drop_dims": [0]},
            "pl.tensor.slice(x, [1, 64], [n, 0], [], [0])",
        ),
        (
            "pl.slice",
            (X, [8, 64], [N, 0]),
            {"clamp": True},
            "pl.tensor.slice(x, [8, 64], [n, 0], clamp=True)",
        ),
        (
            "pl.slice",
            (T, [8, 64], [0, 0], [4, 64]),
            {"pad_value": ir.PadValue.min},
            "pl.tile.slice(t, [8, 64], [0, 0], [4, 64], pad_value=pl.PadValue.min)",
        ),
        (
            "pl.load",
            (X, [0, 0], [8, 64]),
            {},
            "pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)",
        ),
        (
            "pl.load",
            (X, [0, 0], [8, 64]),
            {"valid_shape": [4, N], "target_memory": Mem.Mat},
            "pl.tile.load(x, [0, 0], [8, 64], [4, n], target_memory=pl.Mem.Mat)",
        ),
        ("pl.store", (T, [0, 0], X), {}, "pl.tile.store(t, [0, 0], x)"),
        (
            "pl.store",
            (T, [0, 0], X),
            {"atomic": ir.AtomicType.Add},
            "pl.tile.store(t, [0, 0], x, atomic=pl.AtomicType.Add)",
        ),
        ("pl.assemble", (X, X, [0, 0]), {"atomic": ir.AtomicType.None_}, "pl.tensor.assemble(x, x, [0, 0])"),
        ("pl.matmul", (X, Y), {}, "pl.tensor.matmul(x, y, a_trans=False, b_trans=False, c_matrix_nz=False)"),
        (
            "pl.matmul",
            (X, X),
            {"b_trans": True, "out_dtype": D.BF16},
            "pl.tensor.matmul(x, x, a_trans=False, b_trans=True, c_matrix_nz=False, out_dtype=pl.BF16)",
        ),
        ("pl.cast", (X, D.INT32), {}, "pl.tensor.cast(x, target_type=pl.INT32, mode='round')"),
        (
            "pl.cast",
            (X,),
            {"target_type": D.INT32, "mode": 5},
            "pl.tensor.cast(x, target_type=pl.INT32, mode='trunc')",
        ),
        ("pl.div", (X, X), {"high_precision": True}, "pl.tensor.div(x, x, high_precision=True)"),
        ("pl.div", (X, X), {"high_precision": False}, "pl.tensor.div(x, x)"),
        ("pl.fillpad", (T,), {}, "pl.tile.fillpad(t, pad_value=pl.PadValue.zero)"),
        ("pl.fillpad", (T,), {"pad_value": float("-inf")}, "pl.tile.fillpad(t, pad_value=pl.PadValue.min)"),
        ("pl.read", (tensor(64), N), {}, "pl.tensor.read(x, [n])"),
        ("pl.write", (T, [0, N], 1), {}, "pl.tile.write(t, [0, n], pl.const(1, pl.FP32))"),
        ("pl.write", (INTS, [0, N], N), {}, "pl.tensor.write(i, [0, n], n)"),
        # one name, several ops by their keywords
        ("pl.gather", (X,), {"dim": -1, "index": INTS}, "pl.tensor.gather(x, i, dim=-1)"),
        ("pl.gather", (X,), {"mask_pattern": "P0101"}, "pl.tensor.gather_mask(x, mask_pattern=1)"),
        ("pl.scatter", (X,), {"dim": -1, "index": INTS, "src": X}, "pl.tensor.scatter(x, i, x, dim=-1)"),
        (
            "pl.scatter",
            (X,),
            {"mask_pattern": 1, "dst": tensor(16, 128, name="z")},
            "pl.tensor.scatter_mask(x, z, mask_pattern=1)",
        ),
        ("pl.mrgsort", (X,), {"block_len": 64}, "pl.tensor.mrgsort_format1(x, pl.const(64, pl.INT32))"),
        ("pl.scatter_update", (X, -2, ROWS, X), {}, "pl.tensor.scatter_update(x, i, x, dim=-2)"),
        ("pl.scatter_update", (X, ROWS, X), {"dim": -2}, "pl.tensor.scatter_update(x, i, x, dim=-2)"),
        # as the IR has them
        ("pl.tensor.gather", (X, INTS), {"dim": -1}, "pl.tensor.gather(x, i, dim=-1)"),
        ("pl.tensor.scatter", (X, INTS, X), {"dim": -1}, "pl.tensor.scatter(x, i, x, dim=-1)"),
        ("pl.tensor.gather_mask", (X,), {"mask_pattern": 2}, "pl.tensor.gather_mask(x, mask_pattern=2)"),
        ("pl.tensor.transpose", (X, 0, 1, [64, 16]), {}, "pl.tensor.transpose(x, 0, 1, [64, 16])"),
        ("pl.tile.tget_scale_addr", (T, T), {}, "pl.tile.tget_scale_addr(t, t)"),
        # system, arrays, distributed
        ("pl.system.syncall", (), {}, "pl.system.syncall(core_type='mix')"),
        (
            "pl.system.syncall",
            (),
            {"mode": "soft", "gm_workspace": INTS, "used_cores": 0},
            "pl.system.syncall(mode=\"soft\", core_type='mix', gm_workspace=i, used_cores=0)",
        ),
        (
            "pl.system.sync_src",
            (),
            {"set_pipe": ir.PipeType.V, "wait_pipe": ir.PipeType.MTE2, "event_id": 0},
            "pl.system.sync_src(set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.MTE2, event_id=0)",
        ),
        ("pl.system.sync_set", (N,), {"pipe": ir.PipeType.V}, "pl.system.sync_set(n, pipe=pl.PipeType.V)"),
        (
            "pl.system.sync_set",
            (3,),
            {"pipe": ir.PipeType.V},
            "pl.system.sync_set(pipe=pl.PipeType.V, event_id=3)",
        ),
        (
            "pl.system.reserve_buffer",
            (),
            {"name": "b", "size": 64},
            "pl.system.reserve_buffer(name='b', size=64, base=-1)",
        ),
        (
            "pl.system.aic_initialize_pipe",
            (),
            {"dir_mask": 1, "slot_size": 64},
            "pl.system.aic_initialize_pipe(pl.const(0, pl.INT32), pl.const(0, pl.INT32), "
            "dir_mask=1, slot_size=64)",
        ),
        ("pl.tile.alloc", (Mem.Vec, 8192), {}, "pl.tile.alloc(pl.Mem.Vec, 8192)"),
        ("pl.array.create", (4, D.INT32), {}, "pl.array.create(4, dtype=pl.INT32)"),
        ("pld.window", (PTR, [16, 64]), {"dtype": D.FP32}, "pld.tensor.window(buf, [16, 64], dtype=pl.FP32)"),
        (
            "pld.tensor.put",
            (WINDOW, 1, X),
            {},
            "pld.tensor.put(w, pl.const(1, pl.INT32), x, atomic=pl.AtomicType.None_)",
        ),
        (
            "pld.remote_store",
            (T, WINDOW, 0, [0, 0]),
            {},
            "pld.tile.remote_store(t, w, pl.const(0, pl.INT32), [0, 0])",
        ),
        (
            "pld.remote_store",
            (X, WINDOW, 0, [0, 0]),
            {},
            "pld.tensor.remote_store(x, w, pl.const(0, pl.INT32), [0, 0])",
        ),
        ("pld.tensor.reduce_scatter", (WINDOW, SIGNAL), {}, "pld.tensor.reduce_scatter(w, s, op=0)"),
    ],
)
def test_calls(path, args, kwargs, expected):
    assert text(built(path, *args, **kwargs)) == expected


@pytest.mark.parametrize(
    ("path", "args", "constant"),
    [
        ("pl.add", (INTS, 5), (ir.ConstInt, D.INT32)),
        ("pl.add", (X, 5), (ir.ConstInt, D.FP32)),
        ("pl.mul", (TI, 2), (ir.ConstInt, D.INT16)),
        ("pl.mul", (TH, 0.1), (ir.ConstFloat, D.FP32)),
        ("pl.mul", (INTS, 0.5), (ir.ConstFloat, D.FP32)),
        ("pl.add", (INTS, ir.ConstInt(5, D.INDEX, S)), (ir.ConstInt, D.INT32)),
        ("pl.add", (INTS, ir.ConstInt(5, D.INT64, S)), (ir.ConstInt, D.INT64)),
    ],
)
def test_a_bare_number_takes_the_dtype_of_the_elements(path, args, constant):
    literal = built(path, *args).args[1]
    assert (type(literal), literal.dtype) == constant


def test_a_bare_integer_does_not_change_the_dtype_of_the_result():
    assert type_text(built("pl.add", INTS, 5)) == "pl.Tensor[[16, 64], pl.INT32]"
    assert type_text(built("pl.ands", TI, 255)) == "pl.Tile[[16, 64], pl.INT16, pl.Mem.Vec]"
    assert type_text(built("pl.mul", TI, 2)) == "pl.Tile[[16, 64], pl.INT16, pl.Mem.Vec]"
    assert type_text(built("pl.mul", TH, 0.1)) == "pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec]"
    assert type_text(built("pl.mul", H, 2)) == "pl.Tensor[[16, 64], pl.BF16]"


def test_the_split_and_the_name_come_from_where_the_call_stands():
    region = CallContext(S, split=ir.SplitMode.LEFT_RIGHT)
    assert text(built("pl.aiv_shard", T, context=region)) == "pl.tile.aiv_shard(t, split=2)"
    assert text(built("pl.aic_gather", X, context=region)) == "pl.tensor.aic_gather(x, split=2)"
    named = built("pld.alloc_window_buffer", 256, context=CallContext(S, target="buf"))
    assert dict(named.kwargs) == {"name": "buf"}
    assert (named.args[0].value, named.args[0].dtype) == (256, D.INT64)
    sized = built("pld.alloc_window_buffer", [4, 8], dtype=D.FP16, context=CallContext(S, target="buf"))
    assert sized.args[0].value == 64


def test_a_dummy_task_waits_for_its_dependencies():
    tid = scalar(D.TASK_ID, "tid")
    call = built("pl.system.task_dummy", deps=[tid])
    assert (call.attrs["dummy_task"], call.attrs["manual_dep_edges"]) == (True, (tid,))


@pytest.mark.parametrize(
    ("path", "args", "kwargs", "message"),
    [
        ("pl.add", (1.0, X), {}, "pl.add: the operand 'lhs' is 1.0, and it takes a tensor"),
        (
            "pl.add",
            (X, T),
            {},
            "pl.add: the operand 'rhs' is pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec], and it takes a tensor",
        ),
        (
            "pl.add",
            (X, N),
            {},
            "tensor.adds: the operand 'rhs' is an INDEX scalar, and the elements of 'lhs' are not",
        ),
        ("pl.row_max", (T,), {}, "pl.row_max: the operand 'tmp_tile' is missing"),
        ("pl.row_max", (X, X), {}, "pl.row_max: 2 positional arguments, and it takes 1"),
        (
            "pl.create_tensor",
            ([4, 8],),
            {"dytpe": D.FP32},
            "pl.create_tensor: it has no parameter 'dytpe'; did you mean 'dtype'?",
        ),
        (
            "pl.cast",
            (X,),
            {"target_type": D.INT32, "mode": "truncate"},
            "tensor.cast: the keyword 'mode' is one of none, rint, round, floor, ceil, trunc, "
            "odd, not 'truncate'",
        ),
        ("pl.fillpad", (T,), {"pad_value": 7}, "tile.fillpad: the keyword 'pad_value' is a PadValue, not 7"),
        ("pl.matmul", (T, T), {"a_trans": True}, "tile.matmul: it takes no a_trans=True"),
        (
            "pl.create_tensor",
            ([4, 8],),
            {"dtype": 3},
            "tensor.create: the keyword 'dtype' is a data type, not 3",
        ),
        (
            "pld.tensor.put",
            (WINDOW, 1, X, [0, 0]),
            {},
            "pld.tensor.put: dst_offsets, src_offsets, shape are given together or not at all, "
            "and 'src_offsets' is missing",
        ),
        ("pl.aiv_shard", (T,), {}, "tile.aiv_shard: the keyword 'split' is missing outside a split region"),
        (
            "pld.alloc_window_buffer",
            (64,),
            {},
            "pld.tensor.alloc_window_buffer: it takes its name from the variable it is assigned "
            "to, and there is none",
        ),
        ("pl.cast", (N, D.INT32), {"mode": "floor"}, "pl.cast: a scalar is cast in the default mode"),
        ("pl.add", (N, 1.0), {}, "pl.add: INDEX and FP32: cast one of them first"),
    ],
)
def test_what_an_op_does_not_take(path, args, kwargs, message):
    with pytest.raises(OpCallError) as raised:
        built(path, *args, **kwargs)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("path", "guess"),
    [
        ("pl.ad", "pl.add"),
        ("pl.tile.lod", "pl.tile.load"),
        ("pld.tensor.pu", "pld.tensor.put"),
        ("pl.adds", None),
    ],
)
def test_unknown_ops(path, guess):
    with pytest.raises(UnknownOpCallError) as raised:
        built(path, X, X)
    assert str(raised.value) == f"unknown op {path!r}"
    if guess:
        assert raised.value.hint == f"did you mean {guess!r}?"


@pytest.mark.parametrize(
    ("path", "args", "kwargs", "expected"),
    [
        (
            "pl.cast",
            (),
            {"input": X, "target_type": D.BF16},
            "pl.tensor.cast(x, target_type=pl.BF16, mode='round')",
        ),
        (
            "pl.cast",
            (),
            {"input": T, "target_type": D.BF16},
            "pl.tile.cast(t, target_type=pl.BF16, mode='round')",
        ),
        (
            "pl.slice",
            (),
            {"tensor": T, "shape": [8, 64], "offset": [0, 0]},
            "pl.tile.slice(t, [8, 64], [0, 0])",
        ),
        ("pl.col_expand_mul", (X,), {"col_vec": tensor(1, 64, name="v")}, "pl.tensor.col_expand_mul(x, v)"),
        ("pl.tile.col_expand_mul", (T,), {"col_vec": tile(1, 64, name="v")}, "pl.tile.col_expand_mul(t, v)"),
        ("pl.tile.col_expand_mul", (T,), {"col_tile": tile(1, 64, name="v")}, "pl.tile.col_expand_mul(t, v)"),
        ("pl.part_add", (X,), {"rhs": X}, "pl.tensor.part_add(x, x)"),
    ],
)
def test_parameters_by_name(path, args, kwargs, expected):
    """In unified names a place is known by what each of the ops calls it; the operands' own names do too."""
    assert text(built(path, *args, **kwargs)) == expected


def test_a_statement_needs_no_type_where_no_rule_gives_one(monkeypatch):
    def no_rule(*given):
        raise MissingRuleError("its shape has no rule")

    monkeypatch.setattr("pypto_tmpl.ops.calls.build.built_type", no_rule)
    with pytest.raises(NoRuleOpCallError, match="tensor.exp: its shape has no rule"):
        built("pl.exp", X)
    call = built("pl.exp", X, context=CallContext(S, is_statement=True))
    assert call.type == ir.UnknownType()
