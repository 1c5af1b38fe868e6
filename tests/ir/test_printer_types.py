"""Text of types, views and memory references (spec: DSL, 12.4)."""

import pytest
from ir.printer_samples import (
    FP32,
    INT32,
    INT64,
    NOWHERE,
    assign,
    body_text,
    call,
    function,
    integer,
    scalar,
    sequence,
    text,
)

from pypto_tmpl import ir

Layout, TileLayout, Space, Pad = ir.TensorLayout, ir.TileLayout, ir.MemorySpace, ir.PadValue
N, M = scalar("n"), scalar("m")
BASE = ir.Var("mem_vec_3", ir.PtrType(), NOWHERE)
PLACED = ir.MemRef(BASE, 128, 64)


def tensor_type(*shape: int | ir.Expr, **options: object) -> ir.TensorType:
    return ir.TensorType(shape, FP32, **options)


def tile_type(
    *shape: int | ir.Expr, view: ir.TileView | None = None, space: Space | None = None
) -> ir.TileType:
    return ir.TileType(shape, FP32, None, view, space)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (ir.UnknownType(), "pl.UnknownType"),
        (ir.MemRefType(), "pl.MemRefType"),
        (ir.PtrType(), "pl.Ptr"),
        (ir.WindowBufferType(), "pld.WindowBufferType"),
        (ir.CommCtxType(), "pld.CommCtxType"),
        (ir.PrefetchAsyncContextType(), "pl.PrefetchAsyncContext"),
        (ir.AsyncEventType(), "pl.AsyncEvent"),
        (ir.AsyncSessionType(), "pl.AsyncSession"),
        (ir.ScalarType(ir.DataType.TASK_ID), "pl.Scalar[pl.TASK_ID]"),
        (
            ir.TupleType([ir.ScalarType(FP32), tensor_type(4)]),
            "pl.Tuple[pl.Scalar[pl.FP32], pl.Tensor[[4], pl.FP32]]",
        ),
        (ir.TupleType([]), "pl.Tuple[()]"),
        (ir.ArrayType(ir.DataType.TASK_ID, 8), "pl.Array[8, pl.TASK_ID]"),
    ],
)
def test_simple_types(type_: ir.Type, expected: str) -> None:
    assert text(type_) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (tensor_type(), "[], pl.FP32"),
        (tensor_type(16, N), "[16, n], pl.FP32"),
        (tensor_type(integer(16, INT64)), "[16], pl.FP32"),
        (tensor_type(integer(16, INT32)), "[pl.const(16, pl.INT32)], pl.FP32"),
        (tensor_type(N * 2, N + M), "[n * pl.const(2, pl.INDEX), n + m], pl.FP32"),
        (
            tensor_type(integer(32) + integer(32)),
            "[pl.const(32, pl.INDEX) + pl.const(32, pl.INDEX)], pl.FP32",
        ),
        (
            tensor_type(4, tensor_view=ir.TensorView([], Layout.NZ)),
            "[4], pl.FP32, pl.TensorView(stride=[], layout=pl.TensorLayout.NZ)",
        ),
        (
            tensor_type(
                4, 8, tensor_view=ir.TensorView([N, 1], Layout.DN, [2, ir.min_(N, integer(8))], Pad.zero)
            ),
            "[4, 8], pl.FP32, pl.TensorView(valid_shape=[2, pl.min(n, pl.const(8, pl.INDEX))], stride=[n, 1],"
            " layout=pl.TensorLayout.DN, pad=pl.PadValue.zero)",
        ),
        (
            tensor_type(4, tensor_view=ir.TensorView([2], Layout.ND), memref=PLACED),
            "[4], pl.FP32, pl.TensorView(stride=[2], layout=pl.TensorLayout.ND),"
            ' pl.MemRef("mem_vec_3", pl.const(128, pl.INT64), 64)',
        ),
    ],
)
def test_tensors(type_: ir.TensorType, expected: str) -> None:
    assert text(type_) == f"pl.Tensor[{expected}]"
    distributed = ir.DistributedTensorType(type_.shape, type_.dtype, type_.memref, type_.tensor_view)
    assert text(distributed) == f"pld.DistributedTensor[{expected}]"


def test_window_of_a_distributed_tensor_is_marked_in_explicit_text() -> None:
    window = ir.WindowBuffer(ir.Var("peers", ir.PtrType(), NOWHERE), 1024)
    type_ = ir.DistributedTensorType([4], FP32, window)
    assert text(type_) == "pld.DistributedTensor[[4], pl.FP32]"
    assert text(type_, explicit_layout=True) == 'pld.DistributedTensor[[4], pl.FP32, "window_buffer=peers"]'


FULL_VIEW = ir.TileView(
    [M, 8], [N, 1], N + 4, TileLayout.col_major, TileLayout.row_major, 1024, Pad.min, ir.CompactMode.normal
)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (tile_type(16, 64), "[16, 64], pl.FP32"),
        (tile_type(16, 64, space=Space.Vec), "[16, 64], pl.FP32, pl.Mem.Vec"),
        (
            ir.TileType([16, 64], FP32, PLACED, None, Space.Vec),
            '[16, 64], pl.FP32, pl.MemRef("mem_vec_3", pl.const(128, pl.INT64), 64), pl.Mem.Vec',
        ),
        (
            tile_type(16, 64, view=ir.TileView([0, 0]), space=Space.Vec),
            "[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])",
        ),
        (
            tile_type(16, 1, view=ir.TileView(), space=Space.Vec),  # implicit here: col_major
            "[16, 1], pl.FP32, pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.row_major)",
        ),
        (
            tile_type(16, 16, view=ir.TileView(), space=Space.Acc),
            "[16, 16], pl.FP32, pl.Mem.Acc, pl.TileView(blayout=pl.TileLayout.row_major,"
            " slayout=pl.TileLayout.none_box, fractal=512)",
        ),
        (
            tile_type(16, 8, view=FULL_VIEW),
            "[16, 8], pl.FP32, pl.TileView(valid_shape=[m, 8], stride=[n, 1],"
            " start_offset=n + pl.const(4, pl.INDEX),"
            " blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major, fractal=1024,"
            " pad=pl.PadValue.min, compact=pl.CompactMode.normal)",
        ),
    ],
)
def test_tiles(type_: ir.TileType, expected: str) -> None:
    assert text(type_) == f"pl.Tile[{expected}]"


def test_explicit_text_has_every_layout() -> None:
    assert text(tile_type(16, 16, space=Space.Acc), explicit_layout=True) == (
        "pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc, pl.TileView(blayout=pl.TileLayout.col_major,"
        " slayout=pl.TileLayout.row_major, fractal=1024)]"
    )
    assert text(tile_type(16, 1, view=ir.TileView([8, 1])), explicit_layout=True) == (
        "pl.Tile[[16, 1], pl.FP32, pl.TileView(valid_shape=[8, 1], blayout=pl.TileLayout.row_major,"
        " slayout=pl.TileLayout.none_box, fractal=512)]"
    )


def test_present_view_that_says_nothing() -> None:
    # No constructor makes one, a rewrite of a type's fields may.
    tensor = tensor_type(4)
    object.__setattr__(tensor, "tensor_view", ir.TensorView())
    tile = tile_type(16, 64)
    object.__setattr__(tile, "tile_view", ir.TileView())
    assert text(tensor) == "pl.Tensor[[4], pl.FP32, pl.TensorView()]"
    assert text(tile) == "pl.Tile[[16, 64], pl.FP32, pl.TileView()]"


@pytest.mark.parametrize(
    ("memref", "expected"),
    [
        (ir.MemRef("buf"), '"buf"'),
        (ir.MemRef("buf", slots=3), '"buf", slots=3'),
        (ir.MemRef("buf", N + 64, 32), '"buf", n + 64, 32'),
        (ir.MemRef("buf", integer(0), 32), '"buf", 0, 32'),
        (ir.MemRef("buf", 0, 32, slots=2), '"buf", pl.const(0, pl.INT64), 32, slots=2'),
        (ir.MemRef(BASE, 0, 32, is_pinned=True), '"mem_vec_3", pl.const(0, pl.INT64), 32, pinned=True'),
        (ir.MemRef(BASE, 64, 0, is_pinned=True), '"mem_vec_3", pl.const(64, pl.INT64), 0, pinned=True'),
    ],
)
def test_memory_references(memref: ir.MemRef, expected: str) -> None:
    assert text(tensor_type(4, memref=memref)) == f"pl.Tensor[[4], pl.FP32, pl.MemRef({expected})]"


def test_slots() -> None:
    declared = ir.MemRef("buf", slots=3)
    assert text(declared[1]) == 'pl.MemRef("buf", slots=3)[1]'
    assert text(declared[N % 2]) == 'pl.MemRef("buf", slots=3)[n % 2]'
    placed = ir.MemRef(BASE, 0, 96, slots=3, slot=integer(2))
    assert text(placed) == 'pl.MemRef("mem_vec_3", pl.const(0, pl.INT64), 96, slots=3)[2]'


def test_base_is_bare_where_the_body_assigns_it_and_quoted_in_the_header() -> None:
    type_ = ir.TileType([16, 64], FP32, ir.MemRef(BASE, 0, 4096), None, Space.Vec)
    param, local = ir.Var("x", type_, NOWHERE), ir.Var("t", type_, NOWHERE)
    pool = ir.Var("mem_ddr_0", ir.PtrType(), NOWHERE)
    outside = ir.Var("u", ir.TensorType([4], FP32, ir.MemRef(pool, 0, 16)), NOWHERE)
    alloc = call("tile.alloc", integer(Space.Vec.value), integer(4096), type=ir.PtrType())
    body = sequence(
        assign(BASE, alloc),
        assign(local, call("tile.exp", param)),
        assign(outside, call("tensor.exp", local)),
    )
    placed = "{}, pl.const(0, pl.INT64)"
    tile = f"pl.Tile[[16, 64], pl.FP32, pl.MemRef({placed}, 4096), pl.Mem.Vec]"
    quoted, bare = tile.format('"mem_vec_3"'), tile.format("mem_vec_3")
    pool_ref = f"pl.MemRef({placed}, 16)".format('"mem_ddr_0"')
    assert text(function("f", [param], body, [type_])) == (
        "@pl.function\n"
        f"def f(x: {quoted}) -> {quoted}:\n"
        "    mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)\n"
        f"    t: {bare} = pl.tile.exp(x)\n"
        f"    u: pl.Tensor[[4], pl.FP32, {pool_ref}] = pl.tensor.exp(t)\n"
    )


def test_region_of_a_local_tile_names_local_variables() -> None:
    rows = scalar("rows")
    region = ir.TileView([ir.max_(ir.min_(rows - N * 8, integer(8)), integer(0)), 64])
    tile = ir.Var("t", ir.TileType([8, 64], FP32, None, region, Space.Vec), NOWHERE)
    loaded = call("tile.load", type=tile.type)
    assert body_text(assign(tile, loaded), params=[rows, N]) == (
        "t: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec,"
        " pl.TileView(valid_shape=[pl.max(pl.min(rows - n * pl.const(8, pl.INDEX), pl.const(8, pl.INDEX)),"
        " pl.const(0, pl.INDEX)), 64])] = pl.tile.load()\n"
    )


def test_class_without_text_is_an_error() -> None:
    class StrangeType(ir.Type):
        pass

    with pytest.raises(ir.PrintError, match="no text for a type of class StrangeType"):
        text(StrangeType())
