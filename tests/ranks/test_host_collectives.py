"""Collectives that the host calls, before and after they are dispatches, on windows that hold numbers."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import call, counted, each_stage, function, host, program, tensor, window
from ranks.test_collectives import on_host

from pypto_tmpl import ir

RANKS, C = 3, 64
SIG = window(RANKS, dtype="INT32")
LINES = {  # the call, and the window that it takes from
    "allgather": ("pld.tensor.allgather(row_w, data_w, sig_w)", (1, C)),
    "all_to_all": ("pld.tensor.all_to_all(row_w, data_w, sig_w)", (RANKS, C)),
    "reduce_scatter": ("pld.tensor.reduce_scatter(data_w, sig_w)", (1, C)),
    "barrier": ("pld.tensor.barrier(sig_w)", (1, C)),
}


def exchanging(line: str, rows: tuple[int, int]) -> ir.Program:
    """Ranks fill windows, the host makes a collective of them, ranks copy one of them out.

    What rows are pushed into is left alone: nothing would order that with the rows.
    """
    whole, part = tensor(RANKS, C), tensor(*rows)
    store = f"data = pl.store(pl.load(z, [0, 0], [{RANKS}, {C}]), [0, 0], data)"
    fill = f"""
row = pl.store(pl.load(x, [0, 0], [{rows[0]}, {C}]), [0, 0], row)
{"" if "row_w" in line else store}
return data
"""
    given = f"x: {part}, z: {whole}, row: {window(*rows, way='InOut')}, data: {window(RANKS, C, way='InOut')}"
    out = tensor(RANKS, C, way="Out")
    return program(
        function("InCore", "fill", given, fill, window(RANKS, C)),
        function(
            "InCore",
            "take",
            f"data: {window(RANKS, C)}, y: {out}",
            f"y = pl.store(pl.load(data, [0, 0], [{RANKS}, {C}]), [0, 0], y)\nreturn y",
            whole,
        ),
        function(
            "Orchestration",
            "publish",
            f"x: {part}, z: {whole}, row: {window(*rows)}, data: {window(RANKS, C)}, sig: {SIG}",
            "data = self.fill(x, z, row, data)\nreturn data",
            window(RANKS, C),
        ),
        function(
            "Orchestration",
            "consume",
            f"data: {window(RANKS, C)}, y: {out}",
            "y = self.take(data, y)\nreturn y",
            whole,
        ),
        host(
            f"row [{rows[0]}, {C}] FP32\ndata [{RANKS}, {C}] FP32\nsig [{RANKS}] INT32",
            f"""
for r in pl.range(pld.world_size()):
    self.publish(xs[r], zs[r], row_w, data_w, sig_w, device=r)
{line}
for r in pl.range(pld.world_size()):
    self.consume(data_w, ys[r], device=r)
return ys
""",
            f"xs: {tensor(RANKS, *rows)}, zs: {tensor(RANKS, RANKS, C)},"
            f" ys: {tensor(RANKS, RANKS, C, way='Out')}",
            tensor(RANKS, RANKS, C),
        ),
    )


@pytest.mark.parametrize("name", LINES)
def test_a_collective_of_the_host(name: str) -> None:
    line, rows = LINES[name]
    xs, zs = -1.0 - counted(RANKS, *rows), counted(RANKS, RANKS, C)
    expected = zs.clone()
    if name == "allgather":
        expected = xs.reshape(1, RANKS, C).expand(RANKS, RANKS, C)
    elif name == "all_to_all":
        expected = xs.transpose(0, 1)
    elif name == "reduce_scatter":
        for rank in range(RANKS):
            expected[rank, rank] = zs[:, rank].sum(0)
    for stage, names in each_stage(exchanging(line, rows)):
        ys = torch.zeros(RANKS, RANKS, C)
        call(names, RANKS, xs, zs, ys)
        assert torch.equal(ys, expected), stage


def test_a_sum_within_a_call_is_made_once() -> None:
    """The sum of both rows, and then of both sums; each has a signal of its own."""
    xs = counted(2, 1, 64)
    node = on_host(2, 64, "pld.tensor.allreduce(pld.tensor.allreduce(data_w), core_num=2)", "")
    for stage, names in each_stage(node):
        ys = torch.zeros_like(xs)
        call(names, 2, xs, ys)
        assert torch.equal(ys, 2 * xs.sum(0).expand_as(xs)), stage


def test_blocks_and_their_counts_that_the_host_sends() -> None:
    """Blocks of 2 rows between 3 ranks; counts above 2 are 2, and -1 goes as it is."""
    rows, columns = RANKS * 2, 32
    whole, cells, out = (
        tensor(rows, columns),
        window(RANKS, 1, dtype="INT32"),
        tensor(rows, columns, way="Out"),
    )
    counts, told = tensor(RANKS, 1, dtype="INT32"), tensor(1, 8, dtype="INT32", way="Out")
    sent = "\n".join(
        f"v{q}: pl.Scalar[pl.INT32] = pl.read(s, [{q}, 0])\npl.write(c, [{q}, 0], v{q})" for q in range(RANKS)
    )
    got = "\n".join(
        f"v{q}: pl.Scalar[pl.INT32] = pl.read(g, [{q}, 0])\npl.write(n, [0, {q}], v{q})" for q in range(RANKS)
    )
    blocks = window(rows, columns)
    node = program(
        function(
            "InCore",
            "fill",
            f"x: {whole}, s: {counts}, r: pl.InOut[{blocks}], c: pl.InOut[{cells}]",
            f"r = pl.store(pl.load(x, [0, 0], [{rows}, {columns}]), [0, 0], r)\n{sent}\nreturn r",
            blocks,
        ),
        function(
            "InCore",
            "take",
            f"t: {blocks}, g: {cells}, y: {out}, n: {told}",
            f"y = pl.store(pl.load(t, [0, 0], [{rows}, {columns}]), [0, 0], y)\n{got}\nreturn y",
            whole,
        ),
        function(
            "Orchestration",
            "publish",
            f"x: {whole}, s: {counts}, r: {blocks}, c: {cells}",
            "r = self.fill(x, s, r, c)\nreturn r",
            blocks,
        ),
        function(
            "Orchestration",
            "consume",
            f"t: {blocks}, g: {cells}, y: {out}, n: {told}",
            "y = self.take(t, g, y, n)\nreturn y",
            whole,
        ),
        host(
            "\n".join(
                [f"{name} [{rows}, {columns}] FP32" for name in ("r", "t")]
                + [f"{name} [{RANKS}, 1] INT32" for name in ("sig", "c", "g")]
            ),
            """
for r in pl.range(pld.world_size()):
    self.publish(xs[r], ss[r], r_w, c_w, device=r)
pld.tensor.all_to_all_v(r_w, t_w, sig_w, c_w, g_w)
for r in pl.range(pld.world_size()):
    self.consume(t_w, g_w, ys[r], ns[r], device=r)
return ys
""",
            f"xs: {tensor(RANKS, rows, columns)}, ss: {tensor(RANKS, RANKS, 1, dtype='INT32')},"
            f" ys: {tensor(RANKS, rows, columns, way='Out')},"
            f" ns: {tensor(RANKS, 1, 8, dtype='INT32', way='Out')}",
            tensor(RANKS, rows, columns),
        ),
    )
    xs = counted(RANKS, rows, columns)
    ss = torch.tensor([[0, 1, 5], [2, -1, 1], [9, 0, 2]], dtype=torch.int32)[..., None].contiguous()
    expected = torch.cat([xs[:, None, 0:2], xs[:, None, 2:4], xs[:, None, 4:6]], 1)  # by sender, receiver
    for stage, names in each_stage(node):
        ys, ns = torch.zeros_like(xs), torch.zeros(RANKS, 1, 8, dtype=torch.int32)
        call(names, RANKS, xs, ss, ys, ns)
        assert torch.equal(ys, expected.transpose(0, 1).reshape(xs.shape)), stage
        assert ns[:, 0, :3].tolist() == [[0, 2, 2], [1, -1, 0], [2, 1, 2]], stage
