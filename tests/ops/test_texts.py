"""What the emitted expressions look like; what they compute is tested on the samples."""

import pytest
import torch
from ops.sampled import emit, run

from pypto_tmpl.codegen.operands import Operand


def scalar(text, dtype):
    """A scalar that is no literal."""
    return Operand(text, dtype_name=dtype)


WHOLE, PART = "FP32[8, 32]", "FP32[8, 32] valid [5, 20]"
BF16, INT8 = {"lhs": "BF16[16, 64]", "rhs": "BF16[64, 32]"}, {"lhs": "INT8[16, 64]", "rhs": "INT8[64, 32]"}
FP32 = {"lhs": "FP32[16, 64]", "rhs": "FP32[64, 32]"}
ACC = {"acc": "FP32[16, 32]"}


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tile.matmul", FP32, "torch.matmul(lhs, rhs).float()"),
        ("tile.matmul", BF16, "torch.matmul(lhs.float(), rhs.float())"),
        ("tile.matmul", INT8, "torch.matmul(lhs.int(), rhs.int())"),
        ("tile.matmul_acc", ACC | FP32, "acc.add_(torch.matmul(lhs, rhs).float())"),
        ("tile.matmul_acc", ACC | FP32 | {"init_cond": "True"}, "acc.copy_(torch.matmul(lhs, rhs).float())"),
        ("tile.matmul_acc", ACC | FP32 | {"init_cond": "False"}, "acc.add_(torch.matmul(lhs, rhs).float())"),
        ("tensor.matmul_acc", ACC | FP32, "(acc + torch.matmul(lhs, rhs).float())"),
        ("tensor.matmul_acc", ACC | FP32 | {"init_cond": "True"}, "torch.matmul(lhs, rhs).float()"),
        (
            "tile.matmul_acc",
            ACC | FP32 | {"init_cond": scalar("k == 0", "BOOL")},
            "_acc_init(acc, torch.matmul(lhs, rhs).float(), (k == 0))",
        ),
        (
            "tile.matmul_acc",
            ACC | FP32 | {"init_cond": scalar("(k == 0)", "BOOL")},
            "_acc_init(acc, torch.matmul(lhs, rhs).float(), (k == 0))",
        ),
        (
            "tensor.matmul_acc",
            ACC | BF16 | {"init_cond": scalar("is_first", "BOOL")},
            "_acc_init(acc.clone(), torch.matmul(lhs.float(), rhs.float()), is_first)",
        ),
        ("tensor.matmul", FP32 | {"out_dtype": "BF16"}, "torch.matmul(lhs, rhs).float().to(torch.bfloat16)"),
        ("tensor.matmul", BF16, "torch.matmul(lhs.float(), rhs.float()).to(torch.bfloat16)"),
    ],
)
def test_products(op, sample, text):
    assert emit(op, sample) == text


def test_a_contraction_length_known_at_run_time():
    lhs = Operand(
        "lhs", dtype_name="BF16", shape=["16", "64"], valid="[16, width]", valid_items=["16", "width"]
    )
    text = "torch.matmul(lhs[..., : max(width, 0)].float(), rhs[..., : max(width, 0), :].float())"
    assert emit("tile.matmul", {"lhs": lhs, "rhs": "BF16[64, 32]"}, result_dtype="FP32") == text


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tile.adds", {"lhs": WHOLE, "rhs": scalar("n + 1", "INT32")}, "(lhs + (n + 1))"),
        ("tile.muls", {"lhs": WHOLE, "rhs": scalar("scale", "FP32")}, "(lhs * scale)"),
        ("tile.subs", {"lhs": WHOLE, "rhs": "-1.5"}, "(lhs - -1.5)"),
        ("tile.muls", {"lhs": "BF16[8]", "rhs": "0.5"}, "(lhs * 0.5)"),
        ("tile.muls", {"lhs": "BF16[8]", "rhs": "2.0"}, "(lhs * 2.0)"),
        ("tile.muls", {"lhs": "FP16[8]", "rhs": "1000.0"}, "(lhs * _as_dtype(1000.0, torch.float16))"),
        (
            "tile.muls",
            {"lhs": "BF16[8]", "rhs": scalar("scale", "FP32")},
            "(lhs * _as_dtype(scale, torch.bfloat16))",
        ),
        ("tile.muls", {"lhs": "BF16[8]", "rhs": scalar("scale", "BF16")}, "(lhs * scale)"),
        ("tile.adds", {"lhs": "INT8[8]", "rhs": "-128"}, "(lhs + -128)"),
        ("tile.adds", {"lhs": "INT8[8]", "rhs": "128"}, "(lhs + _as_dtype(128, torch.int8))"),
        ("tile.adds", {"lhs": "UINT8[8]", "rhs": "255"}, "(lhs + 255)"),
        ("tile.adds", {"lhs": "UINT8[8]", "rhs": "-1"}, "(lhs + _as_dtype(-1, torch.uint8))"),
        ("tile.adds", {"lhs": "INT32[8]", "rhs": scalar("n", "INT32")}, "(lhs + n)"),
        ("tile.adds", {"lhs": "INT32[8]", "rhs": scalar("n", "INDEX")}, "(lhs + _as_dtype(n, torch.int32))"),
        ("tensor.adds", {"lhs": "INT32[8]", "rhs": "0.5"}, "(lhs.to(torch.float32) + 0.5)"),
        ("tile.divs", {"lhs": "INT32[8]", "rhs": "0"}, "_tile_int_div(lhs, 0)"),
        ("tile.divs", {"lhs": "INT32[8]", "rhs": scalar("n", "INT32")}, "_tile_int_div(lhs, n)"),
        ("tensor.maximum", {"lhs": WHOLE, "rhs": "1.0"}, "torch.clamp(lhs, min=1.0)"),
        ("tensor.maximum", {"lhs": WHOLE, "rhs": WHOLE}, "torch.maximum(lhs, rhs)"),
        ("tile.add", {"lhs": "INT8[8]", "rhs": "INT32[8]"}, "(lhs.to(torch.int32) + rhs)"),
        ("tile.neg", {"tile": WHOLE}, "(-tile)"),
        ("tensor.exp", {"input": "INT32[8]"}, "torch.exp(input.to(torch.float32))"),
        ("tile.minimum", {"lhs": WHOLE, "rhs": WHOLE}, "torch.minimum(lhs, rhs)"),
        ("tile.minimums", {"lhs": WHOLE, "rhs": "1.0"}, "torch.clamp(lhs, max=1.0)"),
        (
            "tile.minimums",
            {"lhs": "UINT16[8]", "rhs": "7"},
            "_unsigned_op(torch.clamp_max, torch.uint16, lhs, 7)",
        ),
        ("tile.addc", {"lhs": WHOLE, "rhs": WHOLE, "rhs2": WHOLE}, "(lhs + rhs + rhs2)"),
        ("tile.subsc", {"lhs": "INT8[8]", "rhs": "-1", "rhs2": "INT8[8]"}, "(lhs - -1 - rhs2)"),
        (
            "tile.subc",
            {"lhs": "UINT16[8]", "rhs": "UINT16[8]", "rhs2": "UINT16[8]"},
            "_unsigned_op(torch.sub, torch.uint16, _unsigned_op(torch.sub, torch.uint16, lhs, rhs), rhs2)",
        ),
        ("tile.sqrt", {"tile": WHOLE}, "torch.sqrt(tile.double()).float()"),
        ("tile.sqrt", {"tile": "BF16[8]"}, "torch.sqrt(tile)"),
        ("tensor.sqrt", {"input": "INT32[8]"}, "torch.sqrt(input.to(torch.float32).double()).float()"),
        ("tile.log", {"tile": WHOLE, "high_precision": True}, "torch.log(tile)"),
        ("tile.sin", {"tile": WHOLE}, "torch.sin(tile)"),
        ("tile.relu", {"tile": WHOLE}, "torch.relu(tile)"),
        (
            "tile.prelu",
            {"tile": WHOLE, "slope": WHOLE, "tmp": "UINT8[9, 32]"},
            "torch.where(tile > 0, tile, tile * slope)",
        ),
        ("tile.lrelu", {"tile": WHOLE, "slope": "0.1"}, "torch.nn.functional.leaky_relu(tile, 0.1)"),
        ("tile.and", {"lhs": "INT32[8]", "rhs": "INT32[8]"}, "(lhs & rhs)"),
        ("tile.not", {"tile": "INT16[8]"}, "(~tile)"),
        ("tile.not", {"tile": "UINT16[8]"}, "_unsigned_op(torch.bitwise_not, torch.uint16, tile)"),
        ("tile.shl", {"lhs": "INT16[8]", "rhs": "INT32[8]"}, "(lhs << rhs.to(torch.int16))"),
        ("tile.shls", {"lhs": "INT32[8]", "rhs": scalar("n + 1", "INT32")}, "(lhs << (n + 1))"),
        ("tile.div", {"lhs": WHOLE, "rhs": WHOLE}, "(lhs / rhs)"),
        ("tile.div", {"lhs": "INT32[8]", "rhs": "INT32[8]"}, "_tile_int_div(lhs, rhs)"),
        (
            "tensor.div",
            {"lhs": "INT32[8]", "rhs": "FP32[8]"},
            '(_cast_int_to_float(lhs, torch.float32, "round") / rhs)',
        ),
        ("tensor.divs", {"lhs": "INT32[8]", "rhs": "64"}, 'torch.div(lhs, 64, rounding_mode="trunc")'),
        ("tile.fmod", {"lhs": WHOLE, "rhs": WHOLE}, "torch.fmod(lhs, rhs)"),
        ("tile.fmods", {"lhs": "INT32[8]", "rhs": "-1"}, "torch.fmod(lhs, -1)"),
        ("tile.fmods", {"lhs": "INT32[8]", "rhs": "0"}, "_tile_int_fmod(lhs, 0)"),
        ("tile.rems", {"lhs": WHOLE, "rhs": "2.75", "tmp": WHOLE}, "torch.remainder(lhs, 2.75)"),
        (
            "tile.rems",
            {"lhs": "INT8[8]", "rhs": scalar("n", "INT8"), "tmp": "INT8[8]"},
            "_tile_int_rem(lhs, n)",
        ),
        (
            "tile.rems",
            {"lhs": "FP32[1, 8]", "rhs": "2.0", "tmp": "FP32[4, 8]"},
            "torch.remainder(lhs.expand(4, 8), 2.0)",
        ),
    ],
)
def test_elementwise(op, sample, text):
    assert emit(op, sample) == text


@pytest.mark.parametrize(
    ("tile", "text"),
    [
        (WHOLE, "torch.amax(tile, dim=-1, keepdim=True)"),
        ("FP32[8, 32] valid [5, 32]", "torch.amax(tile, dim=-1, keepdim=True)"),
        ("FP32[8, 32] valid [8, 20]", "_reduce_valid(torch.amax, tile, [8, 20])"),
        ("UINT32[8, 32]", "_reduce_valid(torch.amax, tile, None)"),
    ],
)
def test_reductions(tile, text):
    assert emit("tile.row_max", {"tile": tile, "tmp_tile": WHOLE}) == text


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tile.col_max", {"tile": WHOLE}, "torch.amax(tile, dim=0, keepdim=True)"),
        ("tile.col_max", {"tile": "FP32[8, 32] valid [8, 20]"}, "torch.amax(tile, dim=0, keepdim=True)"),
        ("tile.col_sum", {"tile": PART}, "_reduce_in_order(torch.add, tile, 5, 0, True)"),
        ("tile.col_sum", {"tile": PART, "tmp_tile": WHOLE}, "_sum_in_pairs(tile, 5)"),
        ("tile.col_sum", {"tile": WHOLE, "tmp_tile": WHOLE}, "_sum_in_pairs(tile)"),
        (
            "tile.col_sum",
            {"tile": "INT32[8, 32]", "tmp_tile": "INT32[8, 32]"},
            "torch.sum(tile, dim=0, keepdim=True, dtype=torch.int32)",
        ),
        ("tile.col_sum", {"tile": "BF16[8, 32]"}, "_reduce_in_order(torch.add, tile, None, 0, True)"),
        (
            "tensor.row_prod",
            {"input": "FP16[8, 32] valid [8, 20]", "axis": 1, "keep_dim": False},
            "_reduce_in_order(torch.mul, input, 20, 1, False)",
        ),
        ("tensor.col_prod", {"input": WHOLE}, "_reduce_in_order(torch.mul, input, None, -2, True)"),
        (
            "tensor.col_prod",
            {"input": "INT16[8, 32]"},
            "torch.prod(input, dim=-2, keepdim=True, dtype=torch.int16)",
        ),
        (
            "tile.row_argmax",
            {"tile": WHOLE, "tmp_tile": WHOLE},
            "torch.argmax(tile, dim=-1, keepdim=True).int()",
        ),
        (
            "tile.col_argmin",
            {"tile": PART, "tmp_tile": WHOLE},
            "_reduce_valid(torch.argmin, tile, [5, 20], dim=0, keepdim=True).int()",
        ),
    ],
)
def test_other_reductions(op, sample, text):
    assert emit(op, sample) == text


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tile.row_expand", {"target": WHOLE, "row_vec": "FP32[8, 1]"}, "row_vec.expand_as(target).clone()"),
        (
            "tensor.col_expand",
            {"tensor": WHOLE, "col_vec": "BF16[1, 32]"},
            "col_vec.expand_as(tensor).clone().to(torch.float32)",
        ),
        ("tensor.expand_clone", {"input": "FP32[1, 8]", "target": WHOLE}, "_fill_repeated(target, input)"),
        ("tile.expands", {"target": WHOLE, "scalar": "0.5"}, "torch.full_like(target, 0.5)"),
        (
            "tile.expands",
            {"target": "INT32[8]", "scalar": "0.5"},
            "torch.full_like(target, 0.5, dtype=torch.float32)",
        ),
        ("tensor.expands", {"target": "INT32[8]", "scalar": "3"}, "torch.full_like(target, 3)"),
        ("tile.row_expand_add", {"tile": WHOLE, "row_vec": "FP32[8, 1]"}, "(tile + row_vec)"),
        (
            "tile.row_expand_add",
            {"tile": WHOLE, "row_vec": "FP32[8, 8] valid [5, 8]"},
            "(tile + _repeat_columns(row_vec, 8, 32))",
        ),
        ("tile.row_expand_max", {"tile": WHOLE, "row_vec": "FP32[8, 1]"}, "torch.maximum(tile, row_vec)"),
        (
            "tile.col_expand_expdif",
            {"target": WHOLE, "col_tile": "FP32[1, 32]"},
            "torch.exp(target - col_tile)",
        ),
        ("tensor.col_expand_div", {"tensor": WHOLE, "col_vec": "FP32[1, 32]"}, "(tensor / col_vec)"),
        ("tile.part_add", {"src0": WHOLE, "src1": WHOLE}, "torch.add(src0, src1)"),
        ("tile.part_max", {"src0": PART, "src1": PART}, "torch.maximum(src0, src1)"),
        ("tile.part_max", {"src0": PART, "src1": WHOLE}, "torch.maximum(src0, src1)"),
        (
            "tile.part_mul",
            {"src0": WHOLE, "src1": PART},
            "_combine_parts(torch.mul, src0, src1, None, [5, 20])",
        ),
        ("tensor.part_mul", {"src0": PART, "src1": PART}, "torch.mul(src0, src1)"),
        (
            "tensor.part_mul",
            {"src0": PART, "src1": WHOLE},
            "_combine_parts(torch.mul, src0, src1, [5, 20], None)",
        ),
        ("tile.cmp", {"lhs": WHOLE, "rhs": WHOLE, "cmp_type": "le"}, "_pack_mask(lhs <= rhs)"),
        ("tile.cmp", {"lhs": PART, "rhs": PART, "cmp_type": "ne"}, "_pack_mask(lhs != rhs, 20)"),
        (
            "tile.cmps",
            {"lhs": "INT8[8]", "rhs": "300", "cmp_type": "gt"},
            "_pack_mask(lhs > 127)",
        ),
        (
            "tensor.cmp",
            {"lhs": "UINT16[8]", "rhs": "5", "cmp_type": "lt"},
            "(_unsigned_values(lhs, torch.uint16) < 5).to(torch.uint16)",
        ),
        (
            "tile.sel",
            {"mask": "UINT8[8, 32]", "lhs": WHOLE, "rhs": WHOLE, "tmp": "UINT8[1, 32]"},
            "torch.where(_unpack_mask(mask, 32), lhs, rhs)",
        ),
        (
            "tile.sels",
            {"mask": "UINT8[8, 32]", "src": "UINT8[8, 32]", "tmp": "UINT8[1, 32]", "scalar": "-7"},
            "torch.where(_unpack_mask(mask, 32), src, _as_dtype(-7, torch.uint8))",
        ),
    ],
)
def test_broadcasts_parts_and_masks(op, sample, text):
    assert emit(op, sample) == text


@pytest.mark.parametrize(
    ("op", "sample", "text"),
    [
        ("tile.fillpad", {"tile": WHOLE, "pad_value": "min"}, "tile.clone()"),
        ("tile.fillpad", {"tile": PART, "pad_value": "min"}, '_fillpad(tile, "min", [5, 20])'),
        (
            "tile.load",
            {"tensor": WHOLE, "offsets": [0, 0], "shapes": [4, 8], "valid_shape": [3, 8]},
            "_tile_load(tensor, [0, 0], [4, 8], [3, 8])",
        ),
        (
            "tensor.assemble",
            {"target": "FP32[64, 64]", "source": PART, "offset": [0, 0], "atomic": "Add"},
            "_assemble_add(target, source, [0, 0], [5, 20])",
        ),
        (
            "tensor.slice",
            {"input": "FP32[2, 8, 8]", "shape": [1, 4, 8], "offset": [0, 0, 0], "drop_dims": [0]},
            "_tensor_window(input, [1, 4, 8], [0, 0, 0]).squeeze(0)",
        ),
        ("tile.move", {"tile": WHOLE, "target_memory": "Left"}, "tile"),
        ("tile.get_subblock_idx", {}, "_get_subblock_idx()"),
        ("tile.get_block_idx", {}, "_get_block_idx()"),
        ("tile.aiv_shard", {"tile": PART, "split": 1}, "_aiv_shard(tile, 1, valid_shape=[5, 20])"),
        ("tile.aic_gather", {"tile": WHOLE, "split": 2}, "_aic_gather(tile, 2)"),
    ],
)
def test_other_texts(op, sample, text):
    assert emit(op, sample) == text


BUFFERS = {"c2v_consumer_buf": "0", "v2c_consumer_buf": "0"}


@pytest.mark.parametrize(
    ("op", "sample", "call"),
    [
        ("tile.tpush_to_aic", {"tile": WHOLE, "split": 1}, "push_to_aic(tile, 1, copy=False)"),
        (
            "tile.tpush_to_aiv",
            {"tile": PART, "split": 3, "lane_stride": 3, "id": 1},
            "push_to_aiv(tile, 3, 3, id=1, valid_shape=[5, 20], copy=False)",
        ),
        ("tile.tpop_from_aiv", {"split": 2, "id": 1}, "pop_from_aiv(2, id=1)"),
        (
            "system.aic_initialize_pipe",
            {**BUFFERS, "dir_mask": 3, "slot_size": 64, "slot_num": 2},
            'initialize_pipe("aic", 3, 2)',
        ),
        (
            "system.aiv_initialize_pipe",
            {**BUFFERS, "dir_mask": 1, "slot_size": 64, "slot_num": 4, "local_slot_num": 2, "id": 1},
            'initialize_pipe("aiv", 1, 4, 2, id=1)',
        ),
        (
            "system.aiv_initialize_pipe",
            {**BUFFERS, "dir_mask": 1, "slot_size": 64, "local_slot_num": 2},
            'initialize_pipe("aiv", 1, None, 2)',
        ),
        (
            "system.aic_initialize_pipe",
            {**BUFFERS, "dir_mask": 2, "slot_size": 64, "id": 3},
            'initialize_pipe("aic", 2, id=3)',
        ),
        ("system.tfree_to_aic", {"tile": WHOLE, "split": 1, "id": 2}, "tfree_to_aic(split=1, id=2)"),
        ("system.tfree_to_aiv", {"tile": WHOLE, "split": 0}, "tfree_to_aiv(split=0)"),
        ("system.tfree_to_aiv", {"tile": WHOLE, "id": 1}, "tfree_to_aiv(id=1)"),
        ("system.tfree_to_aic", {"tile": WHOLE}, "tfree_to_aic()"),
    ],
)
def test_pipe_operations(op, sample, call):
    assert emit(op, sample) == f"_cross_core_rt.{call}"


def test_a_tile_that_may_yet_be_written_is_copied_into_and_out_of_a_pipe():
    push = emit("tile.tpush_to_aic", {"tile": PART, "split": 1}, source_is_written=True)
    pop = emit("tile.tpop_from_aic", {"split": 1}, source_is_written=True)
    assert push == "_cross_core_rt.push_to_aic(tile, 1, valid_shape=[5, 20])"
    assert pop == "_cross_core_rt.pop_from_aic(1, copy=True)"


def test_a_slice_in_kernel_code_is_a_copy():
    sample = {"input": "FP32[2, 64, 64]", "shape": [1, 8, 32], "offset": [1, 0, 0], "valid_shape": [1, 5, 32]}
    dropped = sample | {"drop_dims": [0]}
    text = "_tensor_slice(input, [1, 8, 32], [1, 0, 0], [1, 5, 32])"
    assert emit("tensor.slice", sample, in_kernel=True) == text
    assert emit("tensor.slice", dropped, in_kernel=True) == f"{text}.squeeze(0)"


def test_a_load_into_fewer_axes_is_reshaped():
    sample = {
        "tensor": "FP32[4, 16, 64]", "offsets": [1, 0, 0], "shapes": [1, 16, 64], "valid_shape": [1, 16, 64],
    }  # fmt: skip
    text = "_tile_load(tensor, [1, 0, 0], [1, 16, 64]).reshape([16, 64])"
    assert emit("tile.load", sample, result_shape=[16, 64]) == text


def test_buffers_live_on_the_device_of_the_tensors():
    assert emit("tile.create", {"shape": [8, 32], "dtype": "BF16"}, device="x.device") == (
        "torch.zeros([8, 32], dtype=torch.bfloat16, device=x.device)"
    )
    assert emit("tile.ci", {"start": "0", "shape": [1, 32]}, result_dtype="INT32", device="x.device") == (
        "_ci(0, [1, 32], torch.int32, device=x.device)"
    )


def test_a_moved_tile_is_copied_if_somebody_writes_to_it():
    sample = {"tile": WHOLE, "target_memory": "Vec"}
    assert emit("tile.move", sample, source_is_written=True) == "tile.clone()"


def test_low_precision_products_accumulate_wide():
    ones = torch.ones(1, 1024, dtype=torch.bfloat16)
    ones[0, 0] = 256
    text = emit("tile.matmul", {"lhs": "BF16[1, 1024]", "rhs": "BF16[1024, 1]"})
    assert run(text, {"lhs": ones, "rhs": torch.ones(1024, 1).bfloat16()}).tolist() == [[1279.0]]
    text = emit("tile.matmul", {"lhs": "FP16[1, 16]", "rhs": "FP16[16, 1]"})
    big = torch.full([1, 16], 300.0).half()
    assert run(text, {"lhs": big, "rhs": big.mT}).tolist() == [[1440000.0]]
    text = emit("tile.matmul", {"lhs": "INT8[1, 16]", "rhs": "INT8[16, 1]"})
    hundreds = torch.full([1, 16], 100, dtype=torch.int8)
    product = run(text, {"lhs": hundreds, "rhs": hundreds.mT})
    assert (product.dtype, product.tolist()) == (torch.int32, [[160000]])


@pytest.mark.parametrize(("predicate", "value"), [(True, 3.0), (False, 103.0)])
def test_the_predicate_is_no_mask(predicate, value):
    sample = {
        "acc": "FP32[2, 2]",
        "lhs": "FP32[2, 3]",
        "rhs": "FP32[3, 2]",
        "init_cond": scalar("first", "BOOL"),
    }
    text = emit("tile.matmul_acc", sample)
    arguments = {"acc": torch.full([2, 2], 100.0), "lhs": torch.ones(2, 3), "rhs": torch.ones(3, 2)}
    assert run(text, arguments | {"first": predicate}).tolist() == [[value] * 2] * 2


DN = Operand("x", dtype_name="FP32", shape=["4", "3"], layout="DN")
BACK = Operand("[2, 6]", items=["2", "6"])


@pytest.mark.parametrize(
    ("sample", "rows"),
    [
        ({"layout": "ND"}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
        ({"layout": "DN"}, [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]),
        ({"shape": BACK}, [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]),
        ({"shape": BACK, "layout": "ND"}, [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]),
    ],
)
def test_a_view_of_a_dn_tensor_sees_the_memory_below_it(sample, rows):
    x = torch.arange(12.0).reshape(3, 4)
    got = run(emit("tensor.view", {"input": DN} | sample), {"x": x.mT})
    assert got.tolist() == rows
    x[0, 0] = -1
    assert got[0, 0] == -1  # it shares storage


def test_a_transpose_is_a_view_in_orchestration_code_only():
    sample = {"input": WHOLE, "axis1": "0", "axis2": "1"}
    assert emit("tensor.transpose", sample) == "input.transpose(0, 1)"
    assert emit("tensor.transpose", sample, in_kernel=True) == "torch.transpose_copy(input, 0, 1)"


def test_a_column_major_tile_is_reinterpreted_along_its_columns():
    sample = {"data": "FP32[8, 1]", "dtype": "INT16"}
    text = emit("tile.reinterpret_view", sample, result_shape=[16, 1])
    column = torch.tensor([[1.0], [-2.5]])
    assert run(text, {"data": column}).tolist() == [[0], [0x3F80], [0], [0xC020 - 0x10000]]
