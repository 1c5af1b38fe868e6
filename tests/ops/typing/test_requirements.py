"""What ops refuse when the language builds them: the op, the operand and the types stand in the message."""

import pytest
from ops.calls.operands import D, Mem, built, scalar, tensor, tile, type_text, window

from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.calls import OpCallError
from pypto_tmpl.ops.typing.requirements import _CHECKS
from pypto_tmpl.ops.typing.words import REQUIREMENTS, parse_requirement

X, INTS, WORDS = tensor(16, 64), tensor(16, 64, dtype=D.INT32), tensor(16, 64, dtype=D.INT16)
T, NARROW, BYTES = tile(16, 64), tile(16, 64, dtype=D.BF16), tile(16, 64, dtype=D.UINT8)
PART = tile(16, 64, valid=[8, 64])
N, M = scalar(), scalar(name="m")
LEFT = tile(16, 64, dtype=D.BF16, space=Mem.Left)
X_TYPE, T_TYPE = "pl.Tensor[[16, 64], pl.FP32]", "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]"


def right(rows, columns=32, dtype=D.BF16, valid=()):
    return tile(rows, columns, dtype=dtype, valid=valid, space=Mem.Right)


W, CELLS = window(16, 64), window(4, 1, dtype=D.INT32, name="s")
COUNTS = window(3, 1, dtype=D.INT32, name="c")
REGION = {"dst_offsets": [15, 0], "src_offsets": [0, 0], "shape": [2, 64]}
OF_RANKS = {  # in the words of PyPTO, which names fewer types
    "windows": ("pld.get_comm_ctx", (X,), {}, f"must be a DistributedTensor (window-bound), got {X_TYPE}"),
    "no_window": (
        "pld.tensor.remote_store",
        (W, window(16, 64, name="v"), 0, [0, 0]),
        {},
        "src must be a local value, got the window",
    ),
    "transfer": (
        "pld.tensor.put",
        (W, 0, X),
        REGION,
        "dst subregion dimension 0 exceeds dst shape (offset=15, shape=2, dst_dim=16)",
    ),
    "chunks": (
        "pld.tensor.get",
        (X, 0, W),
        {"chunk_rows": -1},
        "chunk_rows must be non-negative (0 = full), got -1",
    ),
    "atomic": (
        "pld.tensor.put",
        (window(16, 64, dtype=D.UINT8), 0, tensor(16, 64, dtype=D.UINT8)),
        {"atomic": 1},
        "requires an fp32/bf16/fp16/int32/int16/int8 dtype (hardware atomic-add dtypes), but got UINT8",
    ),
    "pushes": (
        "pld.tile.remote_store",
        (T, W, 0, [1, 0]),
        {},
        "push exceeds the peer's target region in dimension 0 (offset=1, extent=16, target_dim=16)",
    ),
    "signal_cell": (
        "pld.system.wait",
        (CELLS, [0], 1),
        {"cmp": 1},
        "offsets rank (1) must match target tensor rank (2)",
    ),
    "signals": ("pld.tensor.barrier", (W,), {}, "signal must have INT32 element type, got dtype FP32"),
    "deferred": (
        "pld.system.defer_wait",
        (CELLS, [0, 0], 1),
        {"cmp": 0},
        "only supports WaitCmp.Ge (got int 0)",
    ),
    "reduces": (
        "pld.tensor.allreduce",
        (W, CELLS),
        {"mode": "tree"},
        'mode must be "ring" or "mesh", got "tree"',
    ),
    "sums": (
        "pld.tensor.reduce_scatter",
        (W, CELLS),
        {"op": 1},
        "op must be ReduceOp.Sum (got int 1); Max / Min / Prod lowerings are not yet implemented",
    ),
    "root": ("pld.tensor.broadcast", (W, CELLS), {"root": -1}, "root rank must be non-negative, got -1"),
    "gathers": (
        "pld.tensor.allgather",
        (tensor(1, 32), W, CELLS),
        {},
        "target SIZE must equal input SIZE",
    ),
    "exchanges": ("pld.tensor.all_to_all", (W, W, CELLS), {}, "input and target must be different buffers"),
    "blocks": (
        "pld.tensor.all_to_all_v",
        (X, W, CELLS, COUNTS, window(4, 1, dtype=D.INT32)),
        {},
        "send_counts dim 0 (3) must equal signal dim 0 (NR = 4)",
    ),
}


@pytest.mark.parametrize("word", OF_RANKS)
def test_what_ops_of_ranks_do_not_take(word):
    path, args, kwargs, message = OF_RANKS[word]
    with pytest.raises(OpCallError) as raised:
        built(path, *args, **kwargs)
    assert message in str(raised.value)


REFUSED = {
    "same_dtype": (
        "pl.div",
        (T, NARROW),
        f"tile.div: the operand 'lhs' is {T_TYPE} and 'rhs' is {type_text(NARROW)}, and their "
        f"dtypes must be equal",
    ),
    "other_dtype": (
        "pl.cast",
        (X, D.FP32),
        f"tensor.cast: the operand 'input' is {X_TYPE} and 'target_type' is FP32: they must differ",
    ),
    "dtype_in": (
        "pl.log",
        (INTS,),
        "tensor.log: the operand 'input' is pl.Tensor[[16, 64], pl.INT32], and its dtype must be "
        "FP16 or FP32",
    ),
    "integers": (
        "pl.and_",
        (X, 3),
        f"tensor.ands: the operand 'lhs' is {X_TYPE}, and its dtype must be an integer",
    ),
    "not_negative": (
        "pl.shl",
        (INTS, -1),
        "tensor.shls: the operand 'rhs' is -1, and it must not be negative",
    ),
    "same_shape": (
        "pl.or_",
        (INTS, tensor(1, 64, dtype=D.INT32)),
        "tensor.or: the operand 'lhs' is pl.Tensor[[16, 64], pl.INT32] and 'rhs' is "
        "pl.Tensor[[1, 64], pl.INT32], and their shapes must be equal",
    ),
    "same_region": (
        "pl.div",
        (T, PART),
        f"tile.div: the operand 'lhs' is {T_TYPE} and 'rhs' is {type_text(PART)}, and their valid "
        f"regions must be equal",
    ),
    "same_rows": (
        "pl.concat",
        (T, tile(8, 64)),
        f"tile.concat: the operand 'src0' is {T_TYPE} and 'src1' is pl.Tile[[8, 64], pl.FP32, "
        f"pl.Mem.Vec], and their rows must be equal",
    ),
    "one_column": (
        "pl.row_expand_mul",
        (T, tile(1, 64)),
        f"tile.row_expand_mul: the operand 'row_vec' is pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] and "
        f"'tile' is {T_TYPE}, and 'row_vec' is the vector, which must be a column of as many rows",
    ),
    "one_row": (
        "pl.col_expand_mul",
        (T, tile(1, 32)),
        f"tile.col_expand_mul: the operand 'col_tile' is pl.Tile[[1, 32], pl.FP32, pl.Mem.Vec] "
        f"and 'target' is {T_TYPE}, and 'col_tile' is the vector, which must be a row of as many columns",
    ),
    "column_or_block": (
        "pl.row_expand_add",
        (T, tile(16, 4)),
        f"tile.row_expand_add: the operand 'row_vec' is pl.Tile[[16, 4], pl.FP32, pl.Mem.Vec] and "
        f"'tile' is {T_TYPE}, and 'row_vec' is the vector, which must be a column of as many rows, or "
        f"32 bytes for each row",
    ),
    "repeats_one_axis": (
        "pl.expand_clone",
        (tensor(2, 8, 32), tensor(4, 8, 32)),
        "tensor.expand_clone: the operand 'input' is pl.Tensor[[2, 8, 32], pl.FP32] and 'target' is "
        "pl.Tensor[[4, 8, 32], pl.FP32], and both must have three axes, equal but for one on which the "
        "first has one element",
    ),
    "not_empty": (
        "pl.col_max",
        (tile(16, 64, valid=[0, 64]),),
        "tile.col_max: the operand 'tile' is pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, "
        "pl.TileView(valid_shape=[0, 64])], of which nothing is valid",
    ),
    "rank": (
        "pl.scatter_update",
        (X, -2, tensor(8, dtype=D.INT32), X),
        "tensor.scatter_update: the operand 'index' is pl.Tensor[[8], pl.INT32], and it must have 2 axes",
    ),
    "min_rank": (
        "pl.row_sum",
        (tile(64), tile(64)),
        "tile.row_sum: the operand 'tile' is pl.Tile[[64], pl.FP32, pl.Mem.Vec], and it must "
        "have 2 axes at least",
    ),
    "columns_multiple": (
        "pl.sort32",
        (tensor(1, 40), tensor(1, 40, dtype=D.UINT32)),
        "tensor.sort32: the operand 'src' is pl.Tensor[[1, 40], pl.FP32], and its columns must "
        "be a multiple of 32",
    ),
    "index_per_axis": (
        "pl.read",
        (X, [N]),
        f"tensor.read: the operand 'indices' has 1 elements and 'tensor' 2 axes: it is {X_TYPE}",
    ),
    "not_more_than_axes": (
        "pl.store",
        (T, [0, 0, 0], X),
        f"tile.store: the operand 'offsets' has 3 elements and 'output_tensor' 2 axes: it is {X_TYPE}",
    ),
    "spread_columns": (
        "pl.tile.scatter_mask",
        (T, tile(16, 24), 1),
        f"tile.scatter_mask: the operand 'dst' is {T_TYPE} and 'src' is pl.Tile[[16, 24], pl.FP32, "
        "pl.Mem.Vec], and with this mask pattern 'dst' has 2 times the columns of 'src'",
    ),
    "turns_matrix": (
        "pl.matmul",
        (tensor(16), tensor(16, 64), None, True),
        "tensor.matmul: the operand 'lhs' is pl.Tensor[[16], pl.FP32], and a_trans=True needs two axes "
        "at least",
    ),
    "axis_of": ("pl.dim", (X, 2), f"tensor.dim: the operand 'axis' is no axis of {X_TYPE}"),
    "accumulates": (
        "pl.matmul_acc",
        (tensor(16, 16), X, tensor(64, 32)),
        "tensor.matmul_acc: the extents 32 and 16 do not agree: 'rhs' is pl.Tensor[[64, 32], "
        "pl.FP32] and 'acc' is pl.Tensor[[16, 16], pl.FP32]",
    ),
    "covers_contraction": (
        "pl.matmul",
        (LEFT, right(64, valid=[32, 32])),
        "which is valid for fewer of the elements that are summed",
    ),
    "stores_into": (
        "pl.assemble",
        (T, NARROW, [0, 0]),
        f"tile.assemble: the operand 'source' is {type_text(NARROW)} and 'target' is {T_TYPE}, "
        f"and their dtypes must be equal",
    ),
    "block_of": (
        "pl.store",
        (T, [0, 0], X, [8, 100]),
        f"tile.store: the operand 'tile' is {T_TYPE}, which has no part of the extents [8, 100] of 'shapes'",
    ),
    "axes_between": (
        "pl.store",
        (T, [0, 0], X, [16]),
        "tile.store: the operand 'shapes' has 1 elements, and 'tile' has 2 axes and 'output_tensor' 2",
    ),
    "same_count": (
        "pl.tensor.view",
        (X, [7, 8]),
        f"tensor.view: the operand 'shape' spans 56 elements, and {X_TYPE} has 1024",
    ),
    "row_per_index": (
        "pl.tensor.scatter_update",
        (X, -2, tensor(2, 6, dtype=D.INT32), X),
        f"tensor.scatter_update: the operand 'src' is {X_TYPE} and 'index' is pl.Tensor[[2, 6], pl.INT32]: "
        "the index names 12 rows, of which 'src' has 16",
    ),
    "address_or_auto": (
        "pl.reserve_buffer",
        ("q", 64, -2),
        "system.reserve_buffer: the keyword 'base' is -2, and an address is not negative: -1 is AUTO",
    ),
    "not_smaller": (
        "pl.fillpad_expand",
        (T, [8, 64]),
        f"tile.fillpad_expand: the operand 'shape' is smaller than 'tile', {T_TYPE}",
    ),
}


@pytest.mark.parametrize("requirement", REFUSED)
def test_refused(requirement):
    path, args, message = REFUSED[requirement]
    with pytest.raises(OpCallError) as raised:
        built(path, *args)
    assert str(raised.value).endswith(message)


def test_every_requirement_is_tested_and_used_by_the_table():
    used = {
        parse_requirement(text)[0]
        for entry in load_table().values()
        if entry.call
        for text in entry.call.requires
    }
    assert REFUSED.keys() | OF_RANKS.keys() == REQUIREMENTS.keys() == _CHECKS.keys() == used


@pytest.mark.parametrize(
    ("path", "args", "kwargs", "message"),
    [
        (
            "pl.add",
            (X, tensor(16, 32)),
            {},
            f"tensor.add: the extents 64 and 32 do not agree: 'lhs' is {X_TYPE} and 'rhs' is "
            f"pl.Tensor[[16, 32], pl.FP32]",
        ),
        (
            "pl.add",
            (tensor(N, 64), tensor(M, 64)),
            {},
            "tensor.add: the extents n and m are not known to agree: 'lhs' is pl.Tensor[[n, 64], "
            "pl.FP32] and 'rhs' is pl.Tensor[[m, 64], pl.FP32]",
        ),
        (
            "pl.matmul",
            (X, tensor(16, 64)),
            {},
            f"tensor.matmul: the extents 64 and 16 do not agree: 'lhs' is {X_TYPE} and 'rhs' is {X_TYPE}",
        ),
        (
            "pl.slice",
            (X, [8, 64], [10, 0]),
            {},
            f"tensor.slice: the window ends 2 past axis 0, and 'input' is {X_TYPE}",
        ),
        (
            "pl.load",
            (X, [-1, 0], [8, 64]),
            {},
            "tile.load: the window begins at -1 on axis 0, before the first element",
        ),
        (
            "pl.reshape",
            (X, [16, 63]),
            {},
            f"tensor.reshape: the shape has 1008 elements, and {X_TYPE} has 1024",
        ),
        ("pl.transpose", (X, 0, 2), {}, "tensor.transpose: axes 0 and 2 of 2 axes"),
        ("pl.set_validshape", (T, 17, 64), {}, "tile.set_validshape: 17 valid elements on an axis of 16"),
        (
            "pl.gatherb",
            (T, INTS),
            {},
            "pl.gatherb: the operand 'offset' is pl.Tensor[[16, 64], pl.INT32], and it takes a tile",
        ),
        (
            "pl.gatherb",
            (T, BYTES),
            {},
            "tile.gatherb: the operand 'offset' is pl.Tile[[16, 64], pl.UINT8, pl.Mem.Vec], and its "
            "dtype must be UINT32",
        ),
        (
            "pl.slice",
            (X, [8, 64], [0, 0]),
            {"drop_dims": [0]},
            "tensor.slice: axis 0 is dropped, and the window's extent there is not 1",
        ),
    ],
)
def test_shapes_that_do_not_fit(path, args, kwargs, message):
    with pytest.raises(OpCallError) as raised:
        built(path, *args, **kwargs)
    assert str(raised.value) == message


def test_a_window_over_the_edge_is_cut_where_the_call_clamps():
    kept = built("pl.load", X, [10, 0], [8, 64], clamp=True)
    assert type_text(kept) == "pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[6, 64])]"
    ragged = built("pl.load", X, [10, 0], [8, 64], valid_shape=[6, 64])
    assert type_text(ragged) == type_text(kept)


def test_an_operand_without_a_value_is_refused():
    nothing = built("pl.system.bar_all")
    for path in ("pl.add", "pl.tensor.add", "pl.tensor.adds", "pl.tile.exp"):
        with pytest.raises(OpCallError, match="the operand '(lhs|rhs|tile)' is pl.UnknownType"):
            built(path, *(X, nothing)[path == "pl.tile.exp" :])
