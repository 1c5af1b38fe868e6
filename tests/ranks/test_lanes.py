"""Lanes of a rank: each signals for itself, and waits while other ranks run."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import call, each_stage, function, host, program, script, tensor, window

from pypto_tmpl import ir

SIG, OUT = window(2, 1, dtype="INT32"), tensor(1, 8, dtype="INT32", way="Out")


def signals_of_lanes(expected: int) -> ir.Program:
    """Both lanes of each rank notify the other one, and wait for so many signals from there."""
    row = tensor(1, 8, dtype="INT32")
    return program(
        function(
            "Orchestration",
            "chip",
            f"y: {OUT}, sig: {SIG}",
            f"""
with pl.at(level=pl.Level.CORE_GROUP):
    me = pld.rank(pld.get_comm_ctx(sig))
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        pld.system.notify(sig, peer=1 - me, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(sig, offsets=[1 - me, 0], expected={expected}, cmp=pld.WaitCmp.Ge)
    v: pl.Scalar[pl.INT32] = pl.read(sig, [1 - me, 0])
    pl.write(y, [0, 0], v)
return y
""",
            row,
        ),
        host(
            "sig [2, 1] INT32",
            "for r in pl.range(pld.world_size()):\n    self.chip(ys[r], sig_w, device=r)\nreturn ys",
            f"ys: {tensor(2, 1, 8, dtype='INT32', way='Out')}",
            tensor(2, 1, 8, dtype="INT32"),
        ),
    )


def test_each_lane_notifies() -> None:
    for stage, names in each_stage(signals_of_lanes(2)):
        y = torch.zeros(2, 1, 8, dtype=torch.int32)
        call(names, 2, y)
        assert y[:, 0, 0].tolist() == [2, 2], stage


def test_lanes_that_wait_in_vain_are_told() -> None:
    with pytest.raises(RuntimeError, match="deadlock") as caught:
        call(script(signals_of_lanes(3)), 2, torch.zeros(2, 1, 8, dtype=torch.int32))
    text = str(caught.value)
    for rank in range(2):
        assert f"rank {rank} (device {rank}), dispatch 0 chip, task 1" in text
        for lane in range(2):
            assert f"aiv{lane}: signal `sig[{1 - rank}, 0]` = 2, waits for >= 3" in text


def test_cube_and_vector_lanes_of_a_rank_wait_for_each_other_at_their_pipes() -> None:
    shape = tensor(16, 16)
    node = program(
        function(
            "Orchestration",
            "chip",
            f"x: {shape}, w: {shape}, y: {tensor(16, 16, way='Out')}",
            """
with pl.at(level=pl.Level.CORE_GROUP):
    y[:, :] = pl.mul(pl.matmul(pl.add(x, x), w), 0.5)
return y
""",
            shape,
        ),
        host(
            "",
            "for r in pl.range(pld.world_size()):\n    self.chip(xs[r], w, ys[r], device=r)\nreturn ys",
            f"xs: {tensor(2, 16, 16)}, w: {shape}, ys: {tensor(2, 16, 16, way='Out')}",
            tensor(2, 16, 16),
        ),
    )
    xs, w = torch.arange(512.0).reshape(2, 16, 16) % 7, torch.arange(256.0).reshape(16, 16) % 5
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 16, 16)
        call(names, 2, xs, w, ys)
        assert torch.equal(ys, xs @ w), stage
