"""Views of tiles and pipes in forms that no recording has; the expected lines follow PyPTO's description."""

import pytest
from streams import pto_kernels as k

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams import PtoError, pto_texts

ROWS_16 = "rows=8, cols=16, v_row=?, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=0>"
TILE = f"!pto.tile_buf<loc=vec, dtype=f32, {ROWS_16}"


def extents(*values: int) -> ir.MakeTuple:
    return ir.MakeTuple([k.index(value) for value in values], k.SPAN)


def test_a_region_that_is_known_is_popped_as_a_box_and_seen_through_a_view() -> None:
    view = ir.TileView([5, 16])
    popped = ir.Var("u", ir.TileType([8, 16], DataType.FP32, None, view, ir.MemorySpace.Vec), k.SPAN)
    out = k.tile("out", 512)
    made = k.program(
        [], k.assign(popped, k.call("tile.tpop_from_aic", split=1)), k.assign(out, k.call("tile.exp", popped))
    )
    narrow = TILE.replace("v_row=?, v_col=?", "v_row=5, v_col=16")
    assert k.text_of(made)[-4:] == [
        f"%tpop_transport = pto.tpop_from_aic {{split = 1}} -> {TILE}",
        f"%tpop_logical = pto.treshape %tpop_transport : {TILE} -> {narrow}",
        f"%out = pto.alloc_tile addr = %c512_i64 valid_row = %c8_index valid_col = %c16_index : {TILE}",
        f"pto.texp ins(%tpop_logical : {narrow}) outs(%out : {TILE})",
    ]


def test_an_op_that_cannot_read_a_view_gets_a_copy_of_the_slice() -> None:
    a, out = k.tile("a"), k.tile("out", 1024)
    part_type = ir.TileType([1, 16], DataType.FP32, ir.MemRef("mem_part", 512, 64), None, ir.MemorySpace.Vec)
    part = ir.Var("part", part_type, k.SPAN)
    made = k.program(
        [],
        k.assign(a, k.call("tile.create", extents(8, 16))),
        k.assign(part, k.call("tile.slice", a, extents(1, 16), extents(3, 0))),
        k.assign(out, k.call("tile.col_expand_mul", a, part)),
    )
    row = TILE.replace("rows=8", "rows=1")
    lines = k.text_of(made)
    assert (
        f"pto.textract ins(%a, %c3_index, %c0_index : {TILE}, index, index) outs(%extract_buf : {row})"
        in lines
    )
    assert lines[-1] == f"pto.tcolexpandmul ins(%a, %extract_buf : {TILE}, {row}) outs(%out : {TILE})"
    hoisted = [line for line in lines if line.startswith("%extract_buf = pto.alloc_tile")]
    assert hoisted == [
        f"%extract_buf = pto.alloc_tile addr = %c512_i64 valid_row = %c1_index valid_col = %c16_index : {row}"
    ]


def test_scalars_of_integer_ops_are_i32() -> None:
    bits = ir.TileType([8, 16], DataType.INT16, ir.MemRef("mem", 0, 256), None, ir.MemorySpace.Vec)
    a, out = ir.Var("a", bits, k.SPAN), ir.Var("out", bits, k.SPAN)
    made = k.program(
        [],
        k.assign(a, k.call("tile.create", extents(8, 16))),
        k.assign(out, k.call("tile.shls", a, ir.ConstInt(2, DataType.INT16, k.SPAN))),
    )
    assert k.text_of(made)[-2] == "%0 = arith.extsi %c2_i16 : i16 to i32"


def test_an_event_and_barriers() -> None:
    calls = [
        k.call("system.sync_set", pipe=1, event_id=3, ffts_mode=2),
        k.call("system.sync_wait", pipe=4, event_id=3),
        k.call("system.bar_v"),
        k.call("system.fence"),
    ]
    assert k.text_of(k.program([], *(ir.EvalStmt(call, k.SPAN) for call in calls))) == [
        "pto.sync.set <PIPE_MTE2>, 3 {ffts_mode = 2 : i32}",
        "pto.sync.wait <PIPE_V>, 3",
        "pto.barrier <PIPE_V>",
        "pto.fence.barrier_all #pto.fence_scope<gm>",
    ]


def test_arrays_in_scalar_memory() -> None:
    kind = ir.ArrayType(DataType.INT32, 8)
    a, b = ir.Var("a", kind, k.SPAN), ir.Var("b", kind, k.SPAN)
    e = k.scalar("e", DataType.INT32)
    made = k.program(
        [],
        k.assign(a, k.call("array.create", k.index(8), dtype=DataType.INT32)),
        k.assign(e, k.call("array.get_element", a, k.index(2))),
        k.assign(b, k.call("array.update_element", a, k.index(3), e)),
    )
    assert k.text_of(made) == [
        "%c2_index = arith.constant 2 : index",
        "%c3_index = arith.constant 3 : index",
        "%a = pto.declare_local_array -> !pto.local_array<8xi32>",
        "%e = pto.local_array_get %a[%c2_index] : !pto.local_array<8xi32> -> i32",
        "pto.local_array_set %a[%c3_index], %e : !pto.local_array<8xi32>, i32",
    ]


def test_a_prefetch_from_start_to_end() -> None:
    x = k.tensor("x")
    kinds = [ir.PrefetchAsyncContextType(), ir.AsyncEventType(), ir.AsyncSessionType()]
    context, event, session = (
        ir.Var(name, kind, k.SPAN) for name, kind in zip(("c", "e", "s"), kinds, strict=True)
    )
    done = k.scalar("d", DataType.BOOL)
    made = k.program(
        [x],
        k.assign(context, k.call("prefetch.make_context")),
        k.assign(event, k.call("prefetch.async_prefetch", x, context)),
        k.assign(session, k.call("prefetch.session", context)),
        k.assign(done, k.call("prefetch.wait", event, session)),
    )
    (text,) = pto_texts(made, BackendType.Ascend910B).values()
    assert "@kernel(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<i8>)" in text
    window = "!pto.partition_tensor_view<8x16xf32>"
    lines = [line for line in k.text_of(made) if "partition_view %x" not in line]
    assert lines[-4:] == [
        "%c = pto.make_prefetch_async_context(%arg1 : !pto.ptr<i8>) -> !pto.prefetch_async_context",
        f"%e = pto.tprefetch_async(%x_pview, %c : {window}, !pto.prefetch_async_context) -> !pto.async_event",
        "%s = pto.get_prefetch_async_session %c : !pto.prefetch_async_context -> !pto.async_session",
        "%d = pto.comm.wait_async_event(%e, %s : !pto.async_event, !pto.async_session) -> i1",
    ]


def test_rows_gathered_as_columns_are_read_through_a_view_of_swapped_axes() -> None:
    into, got, source = k.tile("a"), k.tile("b"), k.tensor("x", (24, 40))
    got = ir.Var("b", into.type, k.SPAN)
    at, window = [extents(5, 2), extents(7, 8)], extents(2, 4)
    gather = k.call("tile.gather_row", into, source, *at, window, kind=into.type, transpose=True)
    lines = k.text_of(
        k.program([source], k.assign(into, k.call("tile.create", extents(8, 16))), k.assign(got, gather))
    )
    part = TILE.replace("rows=8, cols=16, v_row=?, v_col=?", "rows=4, cols=2, v_row=4, v_col=2")
    view, box = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<4x2xf32>"
    assert lines[-4:] == [
        f"%gather_row_view = pto.subview %a[%c5_index, %c2_index] sizes [4, 2] valid [%c4_index, %c2_index]"
        f" : {TILE} -> {part}",
        "%x_dn_view = pto.make_tensor_view %arg0, shape = [%c40_index, %c24_index], "
        f"strides = [%c1_index, %c40_index] {{layout = #pto.layout<dn>}} : {view}",
        "%x_pview = pto.partition_view %x_dn_view, offsets = [%c8_index, %c7_index], "
        f"sizes = [%c4_index, %c2_index] : {view} -> {box}",
        f"pto.tload ins(%x_pview : {box}) outs(%gather_row_view : {part})",
    ]


def _compared(*taken: int) -> ir.Program:
    """Columns of a tile that compare with a number, and how many they are; ``taken`` are read."""
    source, work = k.tile("a"), k.tile("w", 512)
    kinds = [
        ir.TileType(shape, DataType.INT32, ir.MemRef(f"mem_{name}", offset, 512), None, ir.MemorySpace.Vec)
        for name, shape, offset in (("d", [8, 16], 1024), ("n", [1, 8], 1536))
    ]
    both = ir.Var("both", ir.TupleType(kinds), k.SPAN)
    number = ir.ConstFloat(0.5, DataType.FP32, k.SPAN)
    compare = k.call(
        "tile.gather_compare", source, number, work, kind=both.type, cmp_mode=4, offset=3, out_cols=16
    )
    parts = [k.assign(ir.Var("dn"[i], kinds[i], k.SPAN), ir.TupleGetItemExpr(both, i, k.SPAN)) for i in taken]
    made = [k.assign(tile, k.call("tile.create", extents(8, 16))) for tile in (source, work)]
    return k.program([], *made, k.assign(both, compare), *parts)


def test_an_operation_with_two_results_writes_the_tiles_that_take_them() -> None:
    wide, count = (
        TILE.replace("f32", "i32").replace("rows=8, cols=16", box)
        for box in ("rows=8, cols=16", "rows=1, cols=8")
    )
    assert k.text_of(_compared(0, 1))[-3:] == [
        f"%d = pto.alloc_tile addr = %c1024_i64 valid_row = %c8_index valid_col = %c16_index : {wide}",
        f"%n = pto.alloc_tile addr = %c1536_i64 valid_row = %c1_index valid_col = %c8_index : {count}",
        f"pto.tgather ins(%a, %cst_7, %w : {TILE}, f32, {TILE}) outs(%d, %n : {wide}, {count}) "
        "{cmpMode = #pto<cmp gt>, offset = 3 : i32}",
    ]


def test_a_result_that_nothing_takes_has_no_buffer() -> None:
    with pytest.raises(PtoError, match="nothing takes result 1 of the operation") as caught:
        k.text_of(_compared(0))
    assert "(function 'kernel', variable 'both', k.py:7:5)" in str(caught.value)
