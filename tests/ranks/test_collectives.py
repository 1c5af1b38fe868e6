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
    script,
    single_kernel,
    tensor,
    window,
)

from pypto_tmpl import ir

LOWERS = "LowerCompositeOps"  # which has no form yet of a ring in FP16, and of all_to_all_v in kernels
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


def results(node: ir.Program, xs: torch.Tensor, until: str = "") -> list[torch.Tensor]:
    """What every stage of the program computes of its input; signals are zero afterwards."""
    found = []
    for _stage, names in each_stage(node, until):
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
    for ys in results(all_reduce(3, 48, "Sum", "ring", "FP16"), xs, LOWERS):
        assert (ys[:, :, :32] == 2048).all() and (ys[:, :, 32:] == 2050).all()
    xs = torch.tensor([1.0, 10.0, 100.0])[:, None, None] * (counted(1, 1, 8)[:, :, :7] + 1)
    for ys in results(all_reduce(3, 7, "Sum", "ring"), xs):
        assert ys[0, 0].tolist() == [111, 222, 333, 444, 555, 666, 777]
        assert torch.equal(ys, ys[:1].expand_as(ys))


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


def test_blocks_move_whole_and_their_counts_are_limited() -> None:
    body = """
data = pld.tensor.all_to_all_v(x, data, sig, send, got)
y = pl.store(pl.load(data, [0, 0], [4, 8]), [0, 0], y)
a: pl.Scalar[pl.INT32] = pl.read(got, [0, 0])
b: pl.Scalar[pl.INT32] = pl.read(got, [1, 0])
pl.write(counts, [0, 0], a)
pl.write(counts, [0, 1], b)
return y
"""
    node = single_kernel(
        2,
        {"data": (4, 8), "sig": (2, 1), "got": (2, 1)},
        body,
        inputs={"x": (4, 8), "send": (2, 1)},
        outputs={"y": (4, 8), "counts": (1, 8)},
        dtypes={"sig": "INT32", "got": "INT32", "send": "INT32", "counts": "INT32"},
    )
    xs = (
        (100.0 * torch.arange(2)[:, None, None] + torch.arange(4.0)[None, :, None])
        .expand(2, 4, 8)
        .contiguous()
    )
    send = torch.tensor([[[1], [5]], [[2], [0]]], dtype=torch.int32)
    for stage, names in each_stage(node, LOWERS):
        ys, counts = torch.zeros(2, 4, 8), torch.zeros(2, 1, 8, dtype=torch.int32)
        call(names, 2, xs, send, ys, counts)
        assert ys[:, :, 0].tolist() == [[0, 1, 100, 101], [2, 3, 102, 103]], stage
        assert counts[:, 0, :2].tolist() == [[1, 2], [2, 0]], stage


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


@pytest.mark.parametrize(("collective", "valid"), [("_allreduce", [3, 5]), ("_allreduce_ring", [3, 16])])
def test_what_is_not_valid_keeps_its_values(collective: str, valid: list[int]) -> None:
    """Through the helpers: the passes lower only windows that are valid as a whole."""
    ys = reduced(collective, valid)
    xs = counted(2, 4, 16)
    expected = xs.clone()
    expected[:, : valid[0], : valid[1]] = xs.sum(0)[: valid[0], : valid[1]]
    assert torch.equal(ys, expected)


def test_parts_that_no_collective_takes() -> None:
    with pytest.raises(ValueError, match="target valid_shape must be a contiguous row-major prefix"):
        reduced("_allreduce_ring", [3, 5])
    with pytest.raises(ValueError, match="partial valid_shape must fit within one 16384-byte mesh chunk"):
        reduced("_allreduce", [90, 64], shape=(100, 64))


def reduced(collective: str, valid: list[int], shape: tuple[int, int] = (4, 16)) -> torch.Tensor:
    """The windows of two ranks after a sum of their valid parts."""
    names = script(all_reduce(2, 8, "Sum", "mesh"), preamble="full")
    xs = counted(2, *shape)

    def chip(x: torch.Tensor, data: torch.Tensor, signal: torch.Tensor) -> None:
        data.copy_(x)
        names[collective](data, signal, op="Sum", valid_shape=valid)

    def host() -> object:
        data_buf = names["_window_buffer"]("data", 4 * shape[0] * shape[1])
        signal_buf = names["_window_buffer"]("signal", 16)
        data = names["_window_view"](data_buf, shape, torch.float32)
        signal = names["_window_view"](signal_buf, [2, 2], torch.int32)
        for rank in range(2):
            names["_dispatch"](rank, chip, xs[rank], data, signal)
        return data

    names["host"] = lambda: names["_run_host"](host, ranks=2)
    return call(names, 2)
