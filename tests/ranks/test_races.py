"""Accesses of ranks that nothing orders: found under every schedule, and only there."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import call, counted, each_stage, script
from ranks.test_collectives import all_reduce, exchange
from ranks.test_kernels import mesh_sum

XS = 100.0 * torch.arange(2)[:, None, None] + counted(1, 1, 64)


@pytest.mark.parametrize("seed", [None, *range(20)])
def test_a_missing_barrier_is_a_race_under_every_schedule(seed: int | None) -> None:
    names = script(mesh_sum(2, ""), race_check=True, schedule_seed=seed)
    with pytest.raises(
        RuntimeError, match="race: no notify and wait orders two accesses to cells that ranks share"
    ) as caught:
        call(names, 2, XS, torch.zeros_like(XS))
    text = str(caught.value)
    assert "_tile_store(" in text or ":" in text
    assert "writes them at" in text and "reads them at" in text and "rank 0" in text and "rank 1" in text


@pytest.mark.parametrize("seed", range(20))
def test_without_the_check_the_sum_is_right_or_lacks_a_part(seed: int) -> None:
    ys = torch.zeros_like(XS)
    call(script(mesh_sum(2, ""), schedule_seed=seed), 2, XS, ys)
    whole = 100.0 + 2 * counted(1, 64)
    assert torch.equal(ys[0], whole) or torch.equal(ys[0], counted(1, 64))
    assert torch.equal(ys[1], whole) or torch.equal(ys[1], XS[1])


def test_a_seed_draws_the_same_order_again() -> None:
    """What a race gives tells orders apart: not all alike over twenty seeds, and the same a second time."""
    node, found = mesh_sum(3, ""), []
    xs = 100.0 * torch.arange(3)[:, None, None] + counted(1, 1, 64)
    for _ in range(2):
        sums = []
        for seed in range(20):
            ys = torch.zeros_like(xs)
            call(script(node, schedule_seed=seed), 3, xs, ys)
            sums.append(tuple(ys[:, 0, 0].tolist()))
        found.append(sums)
    assert found[0] == found[1]
    assert len({*found[0]}) > 3


@pytest.mark.parametrize("seed", [None, *range(5)])
def test_what_signals_order_is_no_race(seed: int | None) -> None:
    ys = torch.zeros_like(XS)
    call(script(mesh_sum(2), race_check=True, schedule_seed=seed), 2, XS, ys)
    assert torch.equal(ys, (100.0 + 2 * counted(1, 64)).expand_as(ys))
    for mode in ("mesh", "ring"):
        xs = counted(3, 1, 40)
        ys = torch.zeros_like(xs)
        call(script(all_reduce(3, 40, "Sum", mode), race_check=True, schedule_seed=seed), 3, xs, ys)
        assert torch.equal(ys, xs.sum(0).expand_as(ys))


def test_the_root_of_a_broadcast_may_be_read_while_it_takes_its_own_window() -> None:
    """As LowerCompositeOps has it, every rank copies the root's window, the root onto itself."""
    line = "FILLdata = pld.tensor.broadcast(data, sig, root=1)"
    xs = counted(3, 3, 8)
    for stage, names in each_stage(exchange(3, 3, 8, line, (1, 8)), race_check=True, schedule_seed=3):
        ys = torch.zeros_like(xs)
        call(names, 3, xs, torch.zeros(3, 1, 8), ys)
        assert torch.equal(ys, xs[1].expand_as(ys)), stage
