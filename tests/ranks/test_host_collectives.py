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
