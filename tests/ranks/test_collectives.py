"""Collectives in kernels and on the host: values, order and rounding, at every stage of the pipeline."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import (
    call,
    counted,
    each_stage,
    function,
    host,
    program,
    single_kernel,
    tensor,
    window,
)

from pypto_tmpl import ir

OPS = {"Sum": torch.add, "Max": torch.maximum, "Min": torch.minimum, "Prod": torch.mul}


def all_reduce(ranks: int, count: int, op: str, mode: str, dtype: str = "FP32") -> ir.Program:
    """Every rank stores its row in a window, reduces it over all, and copies it out."""
    signal = (2 * (ranks - 1), ranks) if mode == "ring" else (ranks, 1)
    body = f"""
data = pl.store(pl.load(x, [0, 0], [1, {count}]), [0, 0], data)
data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.{op}, mode="{mode}")
y = pl.store(pl.load(data, [0, 0], [1, {count}]), [0, 0], y)
return y
"""
    return single_kernel(
        ranks,
        {"data": (1, count), "sig": signal},
        body,
        inputs={"x": (1, count)},
        outputs={"y": (1, count)},
        dtypes={"sig": "INT32", "data": dtype, "x": dtype, "y": dtype},
    )


def results(node: ir.Program, xs: torch.Tensor) -> list[torch.Tensor]:
    """What every stage of the program computes of its input; signals are zero afterwards."""
    found = []
    for _stage, names in each_stage(node):
        names["_ranks"].kept = kept = {}
        ys = torch.full_like(xs, 9)
        call(names, xs.shape[0], xs, ys)
        signals = [buffer for (name, *_), buffer in kept.items() if name.startswith("sig")]
        assert signals and not any(memory.any() for one in signals for memory in one.memory.values())
        found.append(ys)
    return found


def test_a_mesh_starts_with_the_own_value_and_rounds_each_step() -> None:
    xs = torch.tensor([1.0, 1.0, 2048.0]).half()[:, None, None].expand(3, 1, 48).contiguous()
    for ys in results(all_reduce(3, 48, "Sum", "mesh", "FP16"), xs):
        assert [row.unique().tolist() for row in ys] == [[2050], [2050], [2048]]
    xs = torch.tensor([1e8, 1.0, -1e8])[:, None, None].expand(3, 1, 64).contiguous()
    for ys in results(all_reduce(3, 64, "Sum", "mesh"), xs):
        assert [row.unique().tolist() for row in ys] == [[0], [0], [1]]


def test_a_ring_goes_through_the_ranks_from_the_one_behind_each_segment() -> None:
    xs = torch.tensor([1.0, 1.0, 2048.0]).half()[:, None, None].expand(3, 1, 48).contiguous()
    for ys in results(all_reduce(3, 48, "Sum", "ring", "FP16"), xs):
        assert (ys[:, :, :32] == 2048).all() and (ys[:, :, 32:] == 2050).all()
    xs = torch.tensor([1.0, 10.0, 100.0])[:, None, None] * (counted(1, 1, 8)[:, :, :7] + 1)
    for ys in results(all_reduce(3, 7, "Sum", "ring"), xs):
        assert ys[0, 0].tolist() == [111, 222, 333, 444, 555, 666, 777]
        assert torch.equal(ys, ys[:1].expand_as(ys))


def around(xs: torch.Tensor, bounds: list[int], op: str) -> torch.Tensor:
    """Element by element: from the rank behind a segment once around, each step rounded to half floats."""
    ranks, found = xs.shape[0], torch.empty_like(xs[0, 0])
    for segment in range(ranks):
        for place in range(bounds[segment], bounds[segment + 1]):
            value = xs[(segment + 1) % ranks, 0, place]
            for step in range(2, ranks + 1):
                other = xs[(segment + step) % ranks, 0, place]
                value = OPS[op](other.double(), value.double()).half()
            found[place] = value
    return found


@pytest.mark.parametrize(
    ("bounds", "op"),
    [
        ([0, 16, 32, 40], "Sum"),
        ([0, 16, 16, 16, 17], "Sum"),
        ([0, 5, 5], "Prod"),
        ([0, 64, 112, 160, 200], "Prod"),
        ([0, 48, 80, 100], "Max"),
        ([0, 10000, 20000], "Min"),
    ],
)
def test_a_ring_of_half_floats_has_segments_of_16_and_rounds_each_step(bounds: list[int], op: str) -> None:
    ranks, count = len(bounds) - 1, bounds[-1]
    xs = (torch.randn(ranks, 1, count, generator=torch.Generator().manual_seed(5)) * 3).half()
    expected = around(xs, bounds, op)
    for ys in results(all_reduce(ranks, count, op, "ring", "FP16"), xs):
        assert torch.equal(ys, expected.expand_as(ys))


@pytest.mark.parametrize("mode", ["mesh", "ring"])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("op", OPS)
def test_every_operation_on_two_and_four_ranks(ranks: int, op: str, mode: str) -> None:
    xs = (counted(ranks, 1, 40) * 7 % 11 - 5) / 4
    expected = xs[0]
    for row in xs[1:]:
        expected = OPS[op](expected, row)
    for ys in results(all_reduce(ranks, 40, op, mode), xs):
        assert torch.allclose(ys, expected.expand_as(ys), rtol=1e-6)


def test_a_window_of_several_chunks() -> None:
    xs = counted(2, 1, 9000) % 1000
    for ys in results(all_reduce(2, 9000, "Sum", "mesh"), xs):
        assert torch.equal(ys, xs.sum(0).expand_as(ys))


FILL = "data = pl.store(pl.load(x, [0, 0], [{rows}, {columns}]), [0, 0], data)\n"


def exchange(ranks: int, rows: int, columns: int, line: str, local: tuple[int, int]) -> ir.Program:
    """Every rank makes one collective of a window and copies that out."""
    body = f"""
{line.replace("FILL", FILL.format(rows=rows, columns=columns))}
y = pl.store(pl.load(data, [0, 0], [{rows}, {columns}]), [0, 0], y)
return y
"""
    return single_kernel(
        ranks,
        {"data": (rows, columns), "sig": (ranks, 1)},
        body,
        inputs={"x": (rows, columns), "local": local},
        outputs={"y": (rows, columns)},
        dtypes={"sig": "INT32"},
    )


def exchanged(node: ir.Program, xs: torch.Tensor, local: torch.Tensor) -> list[torch.Tensor]:
    found = []
    for _stage, names in each_stage(node):
        ys = torch.full_like(xs, 9)
        call(names, xs.shape[0], xs, local, ys)
        found.append(ys)
    return found


def test_reduce_scatter_sums_the_own_row_and_leaves_the_others() -> None:
    xs = 10.0 * torch.arange(2)[:, None, None] + counted(1, 2, 8)
    expected = xs.clone()
    expected[0, 0], expected[1, 1] = torch.arange(10.0, 26.0, 2), torch.arange(26.0, 42.0, 2)
    node = exchange(2, 2, 8, "FILLdata = pld.tensor.reduce_scatter(data, sig)", (1, 8))
    for ys in exchanged(node, xs, torch.zeros(2, 1, 8)):
        assert torch.equal(ys, expected)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_rows_are_gathered_broadcast_and_exchanged(ranks: int) -> None:
    xs = 100.0 * torch.arange(ranks)[:, None, None] + counted(1, ranks, 8)
    local = -counted(ranks, 1, 8)
    gather = exchange(ranks, ranks, 8, "data = pld.tensor.allgather(local, data, sig)", (1, 8))
    for ys in exchanged(gather, xs, local):
        assert torch.equal(ys, local.reshape(1, ranks, 8).expand_as(ys))
    spread = exchange(
        ranks, ranks, 8, f"FILLdata = pld.tensor.broadcast(data, sig, root={ranks - 1})", (1, 8)
    )
    for ys in exchanged(spread, xs, local):
        assert torch.equal(ys, xs[-1:].expand_as(ys))
    local = -counted(ranks, ranks, 8)
    swap = exchange(ranks, ranks, 8, "data = pld.tensor.all_to_all(local, data, sig)", (ranks, 8))
    for ys in exchanged(swap, xs, local):
        assert torch.equal(ys, local.transpose(0, 1))


def blocks(ranks: int, rows: int, columns: int, dtype: str, counts: tuple[int, ...]) -> ir.Program:
    """Every rank sends a block of rows to each, and copies out what it got and how much of that counts."""
    told = "\n".join(
        f"c{q}: pl.Scalar[pl.INT32] = pl.read(got, [{q}, 0])\npl.write(counts, [0, {q}], c{q})"
        for q in range(ranks)
    )
    body = f"""
data = pld.tensor.all_to_all_v(x, data, sig, send, got)
y = pl.store(pl.load(data, [0, 0], [{ranks * rows}, {columns}]), [0, 0], y)
{told}
return y
"""
    whole = (ranks * rows, columns)
    return single_kernel(
        ranks,
        {"data": whole, "sig": (ranks, 1), "got": (ranks, 1)},
        body,
        inputs={"x": whole, "send": counts},
        outputs={"y": whole, "counts": (1, 8)},
        dtypes={
            **dict.fromkeys(("sig", "got", "send", "counts"), "INT32"),
            **dict.fromkeys(("data", "x", "y"), dtype),
        },
    )


def test_blocks_move_whole_and_their_counts_are_limited() -> None:
    xs = (
        (100.0 * torch.arange(2)[:, None, None] + torch.arange(4.0)[None, :, None])
        .expand(2, 4, 8)
        .contiguous()
    )
    send = torch.tensor([[[1], [5]], [[2], [0]]], dtype=torch.int32)
    for stage, names in each_stage(blocks(2, 2, 8, "FP32", (2, 1))):
        ys, counts = torch.zeros(2, 4, 8), torch.zeros(2, 1, 8, dtype=torch.int32)
        call(names, 2, xs, send, ys, counts)
        assert ys[:, :, 0].tolist() == [[0, 1, 100, 101], [2, 3, 102, 103]], stage
        assert counts[:, 0, :2].tolist() == [[1, 2], [2, 0]], stage


@pytest.mark.parametrize(
    ("ranks", "rows", "columns", "dtype"),
    [(3, 3, 16, "FP16"), (4, 2, 32, "INT32"), (2, 40, 256, "FP32")],  # the last: blocks of several chunks
)
def test_blocks_go_to_every_rank(ranks: int, rows: int, columns: int, dtype: str) -> None:
    """Block q of rank r is block r of rank q, whatever its count says; a count below zero goes as it is."""
    kind = {"FP16": torch.float16, "INT32": torch.int32, "FP32": torch.float32}[dtype]
    xs = (counted(ranks, ranks * rows, columns) % 1009).to(kind)
    send = torch.arange(ranks * ranks, dtype=torch.int32).reshape(ranks, ranks) % (rows + 3) - 1
    expected = torch.empty_like(xs)
    for r in range(ranks):
        for q in range(ranks):
            expected[r, q * rows : (q + 1) * rows] = xs[q, r * rows : (r + 1) * rows]
    for stage, names in each_stage(blocks(ranks, rows, columns, dtype, (ranks,))):
        ys, counts = torch.zeros_like(xs), torch.zeros(ranks, 1, 8, dtype=torch.int32)
        call(names, ranks, xs, send, ys, counts)
        assert torch.equal(ys, expected), stage
        assert counts[:, 0, :ranks].tolist() == [
            [min(int(send[q, r]), rows) for q in range(ranks)] for r in range(ranks)
        ], stage


def on_host(ranks: int, count: int, line: str, signals: str, *, dtype: str = "FP32") -> ir.Program:
    """Windows are filled by a dispatch, a line of the host is a collective, another dispatch copies out."""
    row, data = tensor(1, count, dtype=dtype), window(1, count, dtype=dtype)
    out, whole = tensor(1, count, dtype=dtype, way="Out"), tensor(ranks, 1, count, dtype=dtype)
    return program(
        function(
            "InCore",
            "fill",
            f"x: {row}, data: {window(1, count, dtype=dtype, way='InOut')}",
            f"data = pl.store(pl.load(x, [0, 0], [1, {count}]), [0, 0], data)\nreturn data",
            data,
        ),
        function(
            "InCore",
            "take",
            f"data: {data}, y: {out}",
            f"y = pl.store(pl.load(data, [0, 0], [1, {count}]), [0, 0], y)\nreturn y",
            row,
        ),
        function(
            "Orchestration",
            "publish",
            f"x: {row}, data: {data}",
            "data = self.fill(x, data)\nreturn data",
            data,
        ),
        function(
            "Orchestration", "consume", f"data: {data}, y: {out}", "y = self.take(data, y)\nreturn y", row
        ),
        host(
            f"data [1, {count}] {dtype}\n{signals}",
            f"""
for r in pl.range(pld.world_size()):
    self.publish(xs[r], data_w, device=r)
{line}
for r in pl.range(pld.world_size()):
    self.consume(data_w, ys[r], device=r)
return ys
""",
            f"xs: {whole}, ys: pl.Out[{whole}]",
            whole,
        ),
    )


def test_the_host_reduces_on_several_cores_as_often_as_it_is_called() -> None:
    line = "pld.tensor.allreduce(data_w, sig_w, op=pld.ReduceOp.Max, core_num=2)"
    xs = torch.stack([counted(1, 600), -counted(1, 600)])
    for lines in (line, f"{line}\n{line}"):
        for ys in results(on_host(2, 600, lines, "sig [2, 4] INT32"), xs):
            assert torch.equal(ys, counted(1, 600).expand(2, 1, 600)) and ys[0].sum() == 179700.0


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_host_has_a_ring_and_makes_signals_of_its_own(ranks: int) -> None:
    xs = counted(ranks, 1, 12 * 8)
    for line, signals in (
        ('pld.tensor.allreduce(data_w, sig_w, mode="ring")', f"sig [{2 * (ranks - 1) + 1}, {ranks}] INT32"),
        ("pld.tensor.allreduce(data_w)", ""),
        ("pld.tensor.broadcast(data_w, sig_w, root=1)", f"sig [{ranks}] INT32"),
    ):
        node = on_host(ranks, 12 * 8, line, signals)
        expected = xs[1] if "broadcast" in line else xs.sum(0)
        for stage, names in each_stage(node):
            ys = torch.zeros_like(xs)
            call(names, ranks, xs, ys)
            assert torch.equal(ys, expected.expand_as(ys)), (stage, line)
