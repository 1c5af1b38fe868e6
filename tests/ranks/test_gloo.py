"""Collectives agree with those of torch.distributed, which real processes compute."""

from __future__ import annotations

import pytest
import torch
from ranks.gloo import collectives
from ranks.ranked import call, counted, each_stage, single_kernel
from ranks.test_host_collectives import exchanging

RANKS, COLUMNS = 3, 64
LINES = {
    "SUM": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Sum)",
    "MAX": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Max)",
    "MIN": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Min)",
    "PRODUCT": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Prod)",
    "ring SUM": 'data = pld.tensor.allreduce(data, ring, op=pld.ReduceOp.Sum, mode="ring")',
    "broadcast": f"data = pld.tensor.broadcast(data, sig, root={RANKS - 1})",
    "all_gather": "data = pld.tensor.allgather(row, data, sig)",
    "all_to_all": "data = pld.tensor.all_to_all(x, data, sig)",
    "all_to_all_v": "data = pld.tensor.all_to_all_v(x, data, sig, counts, got)",
    "reduce_scatter": "data = pld.tensor.reduce_scatter(data, sig)",
}

ON_HOST = {  # a line, and the window that it takes from
    "SUM": ("pld.tensor.allreduce(data_w, sig_w)", "data"),
    "MAX": ("pld.tensor.allreduce(data_w, sig_w, op=pld.ReduceOp.Max)", "data"),
    "MIN": ("pld.tensor.allreduce(data_w, sig_w, op=pld.ReduceOp.Min)", "data"),
    "PRODUCT": ("pld.tensor.allreduce(data_w, sig_w, op=pld.ReduceOp.Prod)", "data"),
    "broadcast": (f"pld.tensor.broadcast(data_w, sig_w, root={RANKS - 1})", "data"),
    "reduce_scatter": ("pld.tensor.reduce_scatter(data_w, sig_w)", "data"),
    "all_gather": ("pld.tensor.allgather(row_w, data_w, sig_w)", "row"),
    "all_to_all": ("pld.tensor.all_to_all(row_w, data_w, sig_w)", "row"),
}


@pytest.fixture(scope="module")
def oracle() -> dict[str, torch.Tensor]:
    return collectives(inputs())


def inputs() -> torch.Tensor:
    """Small whole numbers: sums and products of them have one value in any order."""
    return counted(RANKS, RANKS, COLUMNS) * 5 % 7 - 3


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", LINES)
def test_a_collective_gives_what_gloo_gives(name: str, oracle: dict[str, torch.Tensor]) -> None:
    fill = (
        ""
        if name.startswith("all_")
        else f"data = pl.store(pl.load(x, [0, 0], [{RANKS}, {COLUMNS}]), [0, 0], data)"
    )
    body = f"""
{fill}
{LINES[name]}
y = pl.store(pl.load(data, [0, 0], [{RANKS}, {COLUMNS}]), [0, 0], y)
return y
"""
    shape = (RANKS, COLUMNS)
    node = single_kernel(
        RANKS,
        {"data": shape, "sig": (RANKS, 1), "ring": (2 * (RANKS - 1), RANKS), "got": (RANKS, 1)},
        body,
        inputs={"x": shape, "row": (1, COLUMNS), "counts": (RANKS, 1)},
        outputs={"y": shape},
        dtypes=dict.fromkeys(("sig", "ring", "counts", "got"), "INT32"),
    )
    xs, counts = inputs(), torch.ones(RANKS, RANKS, 1, dtype=torch.int32)
    expected = oracle[name.removeprefix("ring ")]
    for stage, names in each_stage(node):
        ys = torch.zeros(RANKS, *shape)
        call(names, RANKS, xs, xs[:, :1].contiguous(), counts, ys)
        if name == "reduce_scatter":
            ys = torch.stack([ys[rank, rank] for rank in range(RANKS)])
        assert torch.equal(ys, expected), stage


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [*ON_HOST])
def test_a_collective_of_the_host_gives_what_gloo_gives(name: str, oracle: dict[str, torch.Tensor]) -> None:
    """Windows are filled, the host makes a collective of them, and they are copied out."""
    line, source = ON_HOST[name]
    xs = inputs()
    zs = xs if source != "row" else torch.zeros_like(xs)
    rows = (1, COLUMNS) if name == "all_gather" else (RANKS, COLUMNS)
    for stage, names in each_stage(exchanging(line, rows)):
        ys = torch.zeros_like(xs)
        call(names, RANKS, xs[:, : rows[0]].contiguous(), zs, ys)
        if name == "reduce_scatter":
            ys = torch.stack([ys[rank, rank] for rank in range(RANKS)])
        assert torch.equal(ys, oracle[name]), stage
