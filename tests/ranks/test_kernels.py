"""Windows, signals and one-sided operations of kernels, at every stage of the pipeline."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import (
    barrier,
    call,
    counted,
    each_stage,
    function,
    host,
    program,
    script,
    single_kernel,
    tensor,
    window,
)

from pypto_tmpl import ir

ME = "me = pld.rank(pld.get_comm_ctx(sig))\n"


def mesh_sum(ranks: int, meets: str | None = None) -> ir.Program:
    """Every rank stores its row, meets the others, and adds up all rows."""
    body = f"""
{ME}
data = pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], data)
{barrier(ranks) if meets is None else meets}
total = pl.load(data, [0, 0], [1, 64])
for q in pl.range({ranks}):
    if q != me:
        total = pl.add(total, pld.tile.remote_load(data, peer=q, offsets=[0, 0], shape=[1, 64]))
y = pl.store(total, [0, 0], y)
return y
"""
    return single_kernel(
        ranks,
        {"data": (1, 64), "sig": (ranks, 1)},
        body,
        inputs={"x": (1, 64)},
        outputs={"y": (1, 64)},
        dtypes={"sig": "INT32"},
    )


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_rank_adds_up_the_rows_of_all(ranks: int) -> None:
    xs = 100.0 * torch.arange(ranks)[:, None, None] + counted(1, 1, 64)
    expected = (ranks * counted(1, 64) + 100.0 * sum(range(ranks))).expand(ranks, 1, 64)
    for stage, names in each_stage(mesh_sum(ranks)):
        ys = torch.full((ranks, 1, 64), 9.0)
        call(names, ranks, xs, ys)
        assert torch.equal(ys, expected), stage
    assert ranks != 2 or ys[0].sum() == 10432.0


def test_a_single_rank_waits_for_nobody() -> None:
    xs, ys = counted(1, 1, 64), torch.zeros(1, 1, 64)
    call(script(mesh_sum(1)), [7], xs, ys)
    assert torch.equal(ys, xs)


def test_sums_of_several_ranks_lose_no_contribution() -> None:
    body = f"""
{ME}
for q in pl.range(3):
    pld.tensor.put(total, peer=q, src=x, dst_offsets=[1, 0], src_offsets=[0, 0], shape=[2, 8],
                   atomic=pld.AtomicType.Add)
{barrier(3)}
y = pl.store(pl.load(total, [0, 0], [4, 8]), [0, 0], y)
return y
"""
    node = single_kernel(
        3,
        {"total": (4, 8), "sig": (3, 1)},
        body,
        inputs={"x": (2, 8)},
        outputs={"y": (4, 8)},
        dtypes={"sig": "INT32"},
    )
    xs = (torch.arange(3.0) + 1)[:, None, None].expand(3, 2, 8).contiguous()
    expected = torch.tensor([0.0, 6.0, 6.0, 0.0])[None, :, None].expand(3, 4, 8)
    for stage, names in each_stage(node):
        ys = torch.full((3, 4, 8), 9.0)
        call(names, 3, xs, ys)
        assert torch.equal(ys, expected), stage
    for seed in range(10):
        ys = torch.full((3, 4, 8), 9.0)
        call(script(node, schedule_seed=seed), 3, xs, ys)
        assert torch.equal(ys, expected), seed


HANDSHAKE = f"""
{ME}
pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=me + 1, op=pld.NotifyOp.AtomicAdd)
k: pl.Scalar[pl.INT32] = pl.read(wanted, [0, 0])
pld.system.wait(sig, offsets=[0, 0], expected=k, cmp=pld.WaitCmp.Ge)
v: pl.Scalar[pl.INT32] = pl.read(sig, [0, 0])
pl.write(y, [0, 0], v)
return y
"""


def test_a_handshake_counts_from_zero_in_each_call_and_on_in_kept_windows() -> None:
    node = single_kernel(
        2,
        {"sig": (1, 1)},
        HANDSHAKE,
        inputs={"wanted": (1, 8)},
        outputs={"y": (1, 8)},
        dtypes={"sig": "INT32", "wanted": "INT32", "y": "INT32"},
    )
    for stage, names in each_stage(node):
        for _ in range(3):
            y = torch.zeros(2, 1, 8, dtype=torch.int32)
            call(names, 2, torch.ones(2, 1, 8, dtype=torch.int32), y)
            assert y[:, 0, 0].tolist() == [2, 1], stage
        names["_ranks"].kept = {}
        for k, expected in ((1, [2, 1]), (2, [4, 2]), (3, [6, 3])):
            wanted = torch.tensor([k * 2, k], dtype=torch.int32)[:, None, None].expand(2, 1, 8).contiguous()
            call(names, 2, wanted, y)
            assert y[:, 0, 0].tolist() == expected, stage


def test_a_rank_takes_its_own_signal_back() -> None:
    body = f"""
{ME}
for i in pl.range(4):
    pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, offsets=[0, 0], expected=4, cmp=pld.WaitCmp.Ge)
pld.system.notify(sig, peer=me, offsets=[0, 0], value=-4, op=pld.NotifyOp.AtomicAdd)
v: pl.Scalar[pl.INT32] = pl.read(sig, [0, 0])
pl.write(y, [0, 0], v)
return y
"""
    node = single_kernel(
        2, {"sig": (1, 1)}, body, outputs={"y": (1, 8)}, dtypes={"sig": "INT32", "y": "INT32"}
    )
    for stage, names in each_stage(node):
        y = torch.full((2, 1, 8), 9, dtype=torch.int32)
        call(names, 2, y)
        assert y[:, 0, 0].tolist() == [0, 0], stage


def test_ranks_are_counted_within_their_domain() -> None:
    """Two domains over three devices: 0 and 1 swap numbers in one, 1 and 2 in the other."""
    swap = f"""
{ME}
count = pld.nranks(pld.get_comm_ctx(sig))
data = pl.store(pl.load(x, [0, 0], [1, 8]), [0, 0], data)
pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
y = pl.store(pld.tile.remote_load(data, peer=1 - me, offsets=[0, 0], shape=[1, 8]), [0, 0], y)
pl.write(who, [0, 0], me)
pl.write(who, [0, 1], count)
return y
"""
    params = f"x: {tensor(1, 8)}, y: {tensor(1, 8, way='Out')}, who: {tensor(1, 8, dtype='INT32', way='Out')}"
    ways = f"data: {window(1, 8, way='InOut')}, sig: {window(1, 1, dtype='INT32', way='InOut')}"
    plain = f"data: {window(1, 8)}, sig: {window(1, 1, dtype='INT32')}"
    stacked = ", ".join(
        ["xs: " + tensor(3, 1, 8)]
        + [
            f"{n}: {tensor(3, 1, 8, dtype=d, way='Out')}"
            for n, d in (("ya", "FP32"), ("wa", "INT32"), ("yb", "FP32"), ("wb", "INT32"))
        ]
    )
    node = program(
        function("InCore", "kernel", f"{params}, {ways}", swap, tensor(1, 8)),
        function(
            "Orchestration",
            "chip",
            f"{params}, {plain}",
            "y = self.kernel(x, y, who, data, sig)\nreturn y",
            tensor(1, 8),
        ),
        host(
            "a [1, 8] FP32\nsa [1, 1] INT32\nb [1, 8] FP32\nsb [1, 1] INT32",
            """
for r in pl.range(2):
    self.chip(xs[r], ya[r], wa[r], a_w, sa_w, device=r)
for r in pl.range(1, 3):
    self.chip(xs[r], yb[r], wb[r], b_w, sb_w, device=r)
return ya
""",
            stacked,
            tensor(3, 1, 8),
        ),
    )
    xs = torch.tensor([10.0, 11.0, 12.0])[:, None, None].expand(3, 1, 8).contiguous()
    for stage, names in each_stage(node):
        ya, yb = torch.zeros(3, 1, 8), torch.zeros(3, 1, 8)
        wa, wb = torch.full((2, 3, 1, 8), 9, dtype=torch.int32)
        call(names, 3, xs, ya, wa, yb, wb)
        assert ya[:, 0, 3].tolist() == [11, 10, 0], stage
        assert yb[:, 0, 3].tolist() == [0, 12, 11], stage
        assert wa[:, 0, :2].tolist() == [[0, 2], [1, 2], [9, 9]], stage
        assert wb[:, 0, :2].tolist() == [[9, 9], [0, 2], [1, 2]], stage


def spmd_push(expected: int) -> ir.Program:
    """Four blocks put a row each to the other rank; one task waits for all, another copies them out."""
    rows, cells = window(4, 8, way="InOut"), window(2, 1, dtype="INT32")
    sig = f"pl.InOut[{cells}]"
    return program(
        function(
            "InCore",
            "push",
            f"x: {tensor(4, 8)}, rows: {rows}, sig: {sig}",
            f"""
{ME}
b = pl.tile.get_block_idx()
pld.tensor.put(rows, peer=1 - me, src=x, dst_offsets=[b, 0], src_offsets=[b, 0], shape=[1, 8])
pld.system.notify(sig, peer=1 - me, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
return rows
""",
            window(4, 8),
        ),
        function(
            "InCore",
            "settle",
            f"sig: {sig}, rows: {rows}",
            f"""
{ME}
pld.system.wait(sig, offsets=[1 - me, 0], expected={expected}, cmp=pld.WaitCmp.Ge)
return rows
""",
            window(4, 8),
        ),
        function(
            "InCore",
            "copy",
            f"rows: {window(4, 8)}, y: {tensor(4, 8, way='Out')}",
            "y = pl.store(pl.load(rows, [0, 0], [4, 8]), [0, 0], y)\nreturn y",
            tensor(4, 8),
        ),
        function(
            "Orchestration",
            "chip",
            f"x: {tensor(4, 8)}, y: {tensor(4, 8, way='Out')}, rows: {window(4, 8)}, sig: {cells}",
            """
with pl.spmd(4):
    rows = self.push(x, rows, sig)
rows = self.settle(sig, rows)
y = self.copy(rows, y)
return y
""",
            tensor(4, 8),
        ),
        host(
            "rows [4, 8] FP32\nsig [2, 1] INT32",
            """
for r in pl.range(pld.world_size()):
    self.chip(xs[r], ys[r], rows_w, sig_w, device=r)
return ys
""",
            f"xs: {tensor(2, 4, 8)}, ys: {tensor(2, 4, 8, way='Out')}",
            tensor(2, 4, 8),
        ),
    )


def test_blocks_push_rows_and_their_signals_add_up() -> None:
    xs = (
        (10.0 * torch.arange(2)[:, None, None] + torch.arange(4.0)[None, :, None])
        .expand(2, 4, 8)
        .contiguous()
    )
    for stage, names in each_stage(spmd_push(4)):
        ys = torch.zeros(2, 4, 8)
        call(names, [5, 3], xs, ys)
        assert torch.equal(ys, xs.flip(0)), stage
    with pytest.raises(RuntimeError, match=r"`sig\[1, 0\]` = 4, waits for >= 5"):
        call(script(spmd_push(5)), [5, 3], xs, ys)


def aliased(count: int) -> ir.Program:
    """Two views of one buffer: numbers are stored through the one and read through the other."""
    floats, numbers = window(1, count), window(1, 8, dtype="INT32")
    out = tensor(1, 8, dtype="INT32", way="Out")
    return program(
        function(
            "InCore",
            "kernel",
            f"x: {tensor(1, 8)}, f: pl.InOut[{floats}], n: {numbers}, y: {out}",
            """
f = pl.store(pl.load(x, [0, 0], [1, 8]), [0, 0], f)
y = pl.store(pl.load(n, [0, 0], [1, 8]), [0, 0], y)
return y
""",
            tensor(1, 8, dtype="INT32"),
        ),
        function(
            "Orchestration",
            "chip",
            f"x: {tensor(1, 8)}, f: {floats}, n: {numbers}, y: {tensor(1, 8, dtype='INT32', way='Out')}",
            "y = self.kernel(x, f, n, y)\nreturn y",
            tensor(1, 8, dtype="INT32"),
        ),
        function(
            "host",
            "host",
            f"xs: {tensor(2, 1, 8)}, ys: {tensor(2, 1, 8, dtype='INT32', way='Out')}",
            f"""
buf = pld.alloc_window_buffer(32)
f = pld.window(buf, [1, {count}], dtype=pl.FP32)
n = pld.window(buf, [8], dtype=pl.INT32)
for r in pl.range(pld.world_size()):
    self.chip(xs[r], f, n, ys[r], device=r)
return ys
""",
            tensor(2, 1, 8, dtype="INT32"),
        ),
    )


def test_views_of_one_buffer_show_the_same_bytes() -> None:
    for stage, names in each_stage(aliased(8)):
        ys = torch.zeros(2, 1, 8, dtype=torch.int32)
        call(names, 2, torch.ones(2, 1, 8), ys)
        assert ys.unique().tolist() == [1065353216], stage
    with pytest.raises(ValueError, match="needs 36 bytes, its buffer 'buf' has 32"):
        call(script(aliased(9)), 2, torch.ones(2, 1, 8), ys)


def test_a_slice_that_is_valid_in_part_is_pushed_in_part() -> None:
    """The rows that count of a tensor's slice, at an offset of the peer's window; the rest stays zero."""
    body = f"""
{ME}
part = pl.slice(x, [4, 8], [0, 0], valid_shape=[3, 8])
pld.tensor.remote_store(part, target=data, peer=1 - me, offsets=[1, 0])
{barrier(2)}
y = pl.assemble(y, pl.slice(data, [6, 8], [0, 0]), [0, 0])
return y
"""
    node = single_kernel(
        2,
        {"data": (6, 8), "sig": (2, 1)},
        body,
        inputs={"x": (4, 8)},
        outputs={"y": (6, 8)},
        dtypes={"sig": "INT32"},
    )
    xs = 1.0 + counted(2, 4, 8)
    expected = torch.zeros(2, 6, 8)
    expected[:, 1:4] = xs.flip(0)[:, :3]
    for stage, names in each_stage(node):
        ys = torch.full((2, 6, 8), 9.0)
        call(names, 2, xs, ys)
        assert torch.equal(ys, expected), stage


def test_rows_of_a_number_that_is_known_late_move_in_chunks() -> None:
    """A put and a get of as many rows as an input says, none included."""
    body = f"""
{ME}
n: pl.Scalar[pl.INT32] = pl.read(count, [0, 0])
pld.tensor.put(data, peer=1 - me, src=x, dst_offsets=[2, 0], src_offsets=[0, 0], shape=[n, 8], chunk_rows=2)
{barrier(2)}
pld.tensor.get(y, peer=1 - me, src=data, dst_offsets=[0, 0], src_offsets=[2, 0], shape=[n, 8], chunk_rows=2)
return y
"""
    node = single_kernel(
        2,
        {"data": (6, 8), "sig": (2, 1)},
        body,
        inputs={"x": (4, 8), "count": (1, 8)},
        outputs={"y": (4, 8)},
        dtypes={"sig": "INT32", "count": "INT32"},
    )
    xs = 1.0 + counted(2, 4, 8)
    for stage, names in each_stage(node):
        for rows in (3, 0):
            ys = torch.full((2, 4, 8), 9.0)
            call(names, 2, xs, torch.full((2, 1, 8), rows, dtype=torch.int32), ys)
            # What the peer holds is what this rank has put there.
            assert torch.equal(ys[:, :rows], xs[:, :rows]) and (ys[:, rows:] == 9).all(), stage
