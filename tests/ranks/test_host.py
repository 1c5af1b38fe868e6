"""What a host does between ranks: order by its tensors, Python beside the ranks, several calls a rank."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import HEAD, call, counted, each_stage, function, host, script, tensor

import pypto_tmpl.language as pl
from pypto_tmpl import ir

ALL, ROW, OUT = tensor(2, 1, 8), tensor(1, 8), tensor(1, 8, way="Out")
COPY = "y = pl.store(pl.load(x, [0, 0], [1, 8]), [0, 0], y)\nreturn y"


def copying(dispatches: str, scale: str = "y.mul_(10.0)") -> ir.Program:
    """A host whose ranks copy rows, with a function of Python beside them."""
    worker = f"""
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def scale(self, y: pl.InOut[{ALL}]) -> {ALL}:
        {scale}
"""
    functions = [
        function("InCore", "kernel", f"x: {ROW}, y: {OUT}", COPY, ROW),
        function("Orchestration", "chip", f"x: {ROW}, y: {OUT}", "y = self.kernel(x, y)\nreturn y", ROW),
        worker,
        host("", dispatches, f"xs: {ALL}, ys: pl.InOut[{ALL}], zs: pl.Out[{ALL}]"),
    ]
    return pl.parse(HEAD + "\n".join(functions))


CHAIN = """
for r in pl.range(pld.world_size()):
    self.chip(xs[r], ys[r], device=r)
ys = self.scale(ys)
for r in pl.range(pld.world_size()):
    self.chip(ys[r], zs[r], device=r)
return 0
"""


def test_calls_wait_for_what_they_read_and_python_on_the_host_does_too() -> None:
    xs = counted(2, 1, 8)
    for stage, names in each_stage(copying(CHAIN)):
        ys, zs = torch.zeros(2, 2, 1, 8)
        call(names, 2, xs, ys, zs)
        assert torch.equal(ys, 10 * xs) and torch.equal(zs, 10 * xs), stage


@pytest.mark.parametrize("seed", range(8))
def test_the_order_holds_under_any_schedule(seed: int) -> None:
    xs, ys, zs = counted(2, 1, 8), torch.zeros(2, 1, 8), torch.zeros(2, 1, 8)
    call(script(copying(CHAIN), schedule_seed=seed, race_check=True), 2, xs, ys, zs)
    assert torch.equal(zs, 10 * xs)


def test_ranks_are_taken_in_turn_where_none_is_named() -> None:
    node = copying("self.chip(xs[0], ys[0])\nself.chip(xs[1], ys[1])\nself.chip(ys[0], zs[1])\nreturn 0")
    xs, ys, zs = counted(2, 1, 8), torch.zeros(2, 1, 8), torch.zeros(2, 1, 8)
    call(script(node), 2, xs, ys, zs)
    assert torch.equal(ys, xs) and torch.equal(zs[1], xs[0]) and not zs[0].any()


def test_a_loop_over_numbers_tells_how_many_ranks_there_are() -> None:
    names = script(copying("for r in pl.range(2):\n    self.chip(xs[r], ys[r], device=r)\nreturn 0"))
    xs, ys = counted(2, 1, 8), torch.zeros(2, 1, 8)
    names["host"](xs, ys, torch.zeros(2, 1, 8))
    assert torch.equal(ys, xs)


def test_a_host_reads_what_ranks_have_written() -> None:
    node = copying(
        """
self.chip(xs[0], ys[0], device=0)
first: pl.Scalar[pl.FP32] = pl.read(ys, [0, 0, 3])
if first > 2.5:
    self.chip(xs[1], zs[1], device=1)
return 0
"""
    )
    xs, ys, zs = counted(2, 1, 8), torch.zeros(2, 1, 8), torch.zeros(2, 1, 8)
    call(script(node), 2, xs, ys, zs)
    assert torch.equal(ys[0], xs[0]) and torch.equal(zs[1], xs[1])
