"""Collectives agree with those of torch.distributed, which real processes compute."""

from __future__ import annotations

import pytest
import torch
from ranks.gloo import collectives
from ranks.ranked import call, counted, script, single_kernel

RANKS, COLUMNS = 3, 16
LINES = {
    "SUM": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Sum)",
    "MAX": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Max)",
    "MIN": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Min)",
    "PRODUCT": "data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Prod)",
    "ring SUM": 'data = pld.tensor.allreduce(data, ring, op=pld.ReduceOp.Sum, mode="ring")',
    "broadcast": f"data = pld.tensor.broadcast(data, sig, root={RANKS - 1})",
    "all_gather": "data = pld.tensor.allgather(row, data, sig)",
    "all_to_all": "data = pld.tensor.all_to_all(x, data, sig)",
    "reduce_scatter": "data = pld.tensor.reduce_scatter(data, sig)",
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
        {"data": shape, "sig": (RANKS, 1), "ring": (2 * (RANKS - 1), RANKS)},
        body,
        inputs={"x": shape, "row": (1, COLUMNS)},
        outputs={"y": shape},
        dtypes={"sig": "INT32", "ring": "INT32"},
    )
    xs, ys = inputs(), torch.zeros(RANKS, *shape)
    call(script(node), RANKS, xs, xs[:, :1].contiguous(), ys)
    expected = oracle[name.removeprefix("ring ")]
    if name == "reduce_scatter":
        ys = torch.stack([ys[rank, rank] for rank in range(RANKS)])
    assert torch.equal(ys, expected)
