"""Tasks of one rank that wait for other ranks while later ones run."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import call, each_stage, function, host, program, script, tensor, window
from ranks.test_kernels import ME

from pypto_tmpl import ir

SIG, DATA = window(2, 1, dtype="INT32"), window(1, 8)
IO_SIG, IO_DATA = window(2, 1, dtype="INT32", way="InOut"), window(1, 8, way="InOut")


def exchange(chip: str) -> ir.Program:
    """A waiter, and a publisher that stores and notifies at the other rank, in tasks of ``chip``."""
    row, out = tensor(1, 8), tensor(1, 8, way="Out")
    return program(
        function(
            "InCore",
            "waiter",
            f"data: {DATA}, sig: {SIG}, y: {out}",
            """
pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)
return y
""",
            row,
        ),
        function(
            "InCore",
            "publisher",
            f"x: {row}, data: {IO_DATA}, sig: {IO_SIG}",
            f"""
{ME}
pld.tile.remote_store(pl.load(x, [0, 0], [1, 8]), target=data, peer=1 - me, offsets=[0, 0])
pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
return data
""",
            DATA,
        ),
        function("Orchestration", "chip", f"x: {row}, y: {out}, data: {DATA}, sig: {SIG}", chip, row),
        host(
            "data [1, 8] FP32\nsig [2, 1] INT32",
            """
for r in pl.range(pld.world_size()):
    self.chip(xs[r], ys[r], data_w, sig_w, device=r)
return ys
""",
            f"xs: {tensor(2, 1, 8)}, ys: {tensor(2, 1, 8, way='Out')}",
            tensor(2, 1, 8),
        ),
    )


XS = (7.0 + torch.arange(2))[:, None, None].expand(2, 1, 8).contiguous()


def test_an_independent_later_task_runs_while_an_earlier_one_waits() -> None:
    node = exchange(
        """
with pl.manual_scope():
    y, t = pl.submit(self.waiter, data, sig, y)
    data, u = pl.submit(self.publisher, x, data, sig)
return y
"""
    )
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 1, 8)
        call(names, 2, XS, ys)
        assert ys[:, 0, 0].tolist() == [8, 7], stage


def test_a_task_that_depends_on_the_one_that_waits_for_it() -> None:
    node = exchange(
        """
with pl.manual_scope():
    y, t = pl.submit(self.waiter, data, sig, y)
    data, u = pl.submit(self.publisher, x, data, sig, deps=[t])
return y
"""
    )
    for stage, names in each_stage(node):
        with pytest.raises(RuntimeError, match="deadlock") as caught:
            call(names, 2, XS, torch.zeros(2, 1, 8))
        text = str(caught.value)
        for rank in range(2):
            chip = f"rank {rank} (device {rank}), dispatch 0 chip"
            assert f"{chip}, task 1 waiter: signal `sig[0, 0]` = 0, waits for >= 1" in text, stage
            assert f"{chip}, task 2 publisher has not started" in text, stage


def test_an_automatic_task_that_reads_the_result_follows_the_one_that_waits() -> None:
    node = exchange(
        """
y = self.waiter(data, sig, y)
data = self.publisher(x, data, sig)
first: pl.Scalar[pl.FP32] = pl.read(y, [0, 0])
if first > 7.5:
    data = self.publisher(x, data, sig)
return y
"""
    )
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 1, 8)
        call(names, 2, XS, ys)
        assert ys[:, 0, 0].tolist() == [8, 7], stage


def test_blocks_that_meet_in_the_middle() -> None:
    """Every block writes a row, meets the others, and reads the row of the next block."""
    row = tensor(4, 8, way="InOut")
    node = program(
        function(
            "InCore",
            "kernel",
            f"x: {tensor(4, 8)}, mid: {row}, y: {tensor(4, 8, way='Out')}",
            """
b = pl.tile.get_block_idx()
mid = pl.store(pl.load(x, [b, 0], [1, 8]), [b, 0], mid)
pl.system.syncall(core_type="aiv_only")
y = pl.store(pl.load(mid, [(b + 1) % 4, 0], [1, 8]), [b, 0], y)
return y
""",
            tensor(4, 8),
        ),
        function(
            "Orchestration",
            "chip",
            f"x: {tensor(4, 8)}, mid: {row}, y: {tensor(4, 8, way='Out')}",
            "with pl.spmd(4, sync_start=True):\n    y = self.kernel(x, mid, y)\nreturn y",
            tensor(4, 8),
        ),
        host(
            "",
            "for r in pl.range(pld.world_size()):\n    self.chip(xs[r], ms[r], ys[r], device=r)\nreturn ys",
            f"xs: {tensor(2, 4, 8)}, ms: {tensor(2, 4, 8, way='InOut')}, ys: {tensor(2, 4, 8, way='Out')}",
            tensor(2, 4, 8),
        ),
    )
    xs = torch.arange(64.0).reshape(2, 4, 8)
    names, ys = script(node), torch.zeros(2, 4, 8)
    call(names, 2, xs, torch.zeros(2, 4, 8), ys)
    assert torch.equal(ys, xs.roll(-1, 1))


ROW, OUT = tensor(1, 8), tensor(1, 8, way="Out")
PUBLISHER = function(
    "InCore",
    "publisher",
    f"x: {ROW}, data: {IO_DATA}, sig: {IO_SIG}",
    f"""
{ME}
pld.tile.remote_store(pl.load(x, [0, 0], [1, 8]), target=data, peer=1 - me, offsets=[0, 0])
pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
return data
""",
    DATA,
)
COPY = function(
    "InCore",
    "copy",
    f"data: {DATA}, y: {OUT}",
    "y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)\nreturn y",
    ROW,
)


def scoped(chip: str, then: str = "", params: str = "", *functions: str) -> ir.Program:
    """An orchestrator with scopes of its own, beside kernels that publish and copy; ``then`` follows it."""
    dispatch = "for r in pl.range(pld.world_size()):\n    self.chip(xs[r], ys[r], data_w, sig_w, device=r)"
    dispatch += then
    return program(
        COPY,
        PUBLISHER,
        *functions,
        function("Orchestration", "chip", f"x: {ROW}, y: {OUT}, data: {DATA}, sig: {SIG}", chip, ROW),
        host(
            "data [1, 8] FP32\nsig [2, 1] INT32",
            f"{dispatch}\nreturn ys",
            f"xs: {tensor(2, 1, 8)}, ys: {tensor(2, 1, 8, way='Out')}{params}",
            tensor(2, 1, 8),
        ),
    )


def test_a_task_that_ends_before_it_is_complete() -> None:
    node = scoped(
        """
with pl.manual_scope():
    with pl.at(level=pl.Level.CORE_GROUP) as tid:
        pld.system.defer_wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y, t = pl.submit(self.copy, data, y, deps=[tid])
    data, u = pl.submit(self.publisher, x, data, sig)
return y
"""
    )
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 1, 8)
        call(names, 2, XS, ys)
        assert ys[:, 0, 0].tolist() == [8, 7], stage


@pytest.mark.parametrize("seed", range(4))
def test_what_a_deferred_wait_has_asked_for_is_used_up_and_in_order(seed: int) -> None:
    """The task that follows reads what the other rank pushed before it notified: no race, nothing left."""
    node = scoped(
        """
with pl.manual_scope():
    with pl.at(level=pl.Level.CORE_GROUP) as tid:
        pld.system.defer_wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y, t = pl.submit(self.copy, data, y, deps=[tid])
    data, u = pl.submit(self.publisher, x, data, sig)
return y
"""
    )
    for options in ({"race_check": True}, {}):
        names, ys = script(node, schedule_seed=seed, strict_leftovers=True, **options), torch.zeros(2, 1, 8)
        names["_ranks"].device_ids = [0, 1]
        names["host"](XS, ys)
        assert ys[:, 0, 0].tolist() == [8, 7]


@pytest.mark.parametrize("seed", [0, 6, 13])
def test_the_next_dispatch_comes_after_all_tasks_of_the_one_before(seed: int) -> None:
    """Also after one that was complete before the last was launched."""
    then = "\nfor r in pl.range(pld.world_size()):\n    self.last(ys[r], zs[r], data_w, device=r)"
    chip = """
with pl.manual_scope():
    with pl.at(level=pl.Level.CORE_GROUP) as tid:
        pld.system.defer_wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y, t = pl.submit(self.copy, data, y, deps=[tid])
    data, u = pl.submit(self.publisher, x, data, sig)
return y
"""
    last = function(
        "Orchestration", "last", f"y: {ROW}, z: {OUT}, data: {DATA}", "z = self.double(y, z)\nreturn z", ROW
    )
    double = function(
        "InCore",
        "double",
        f"y: {ROW}, z: {OUT}",
        "z = pl.store(pl.mul(pl.load(y, [0, 0], [1, 8]), 2.0), [0, 0], z)\nreturn z",
        ROW,
    )
    node = scoped(chip, then, f", zs: {tensor(2, 1, 8, way='Out')}", double, last)
    names, ys, zs = (
        script(node, schedule_seed=seed, race_check=True),
        torch.zeros(2, 1, 8),
        torch.zeros(2, 1, 8),
    )
    call(names, 2, XS, ys, zs)
    assert zs[:, 0, 0].tolist() == [16, 14]


def test_a_scope_that_waits_is_a_task_with_the_values_of_its_time() -> None:
    node = scoped(
        """
n = 1
with pl.at(level=pl.Level.CORE_GROUP):
    pld.system.wait(sig, offsets=[0, 0], expected=n, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)
n = 5
data = self.publisher(x, data, sig)
return y
"""
    )
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 1, 8)
        call(names, 2, XS, ys)
        assert ys[:, 0, 0].tolist() == [8, 7], stage


def test_a_task_follows_one_that_puts_into_a_window_without_saying_so() -> None:
    """Neither signature says that windows are written; the put and the signal count as writes."""
    node = program(
        function(
            "InCore",
            "share",
            f"x: {tensor(1, 8)}, data: {window(1, 8)}, sig: {window(1, 1, dtype='INT32')}",
            """
me = pld.rank(pld.get_comm_ctx(sig))
pld.tensor.put(data, peer=1 - me, src=x)
pld.system.notify(sig, peer=1 - me, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
pld.system.wait(sig, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
""",
        ),
        function(
            "InCore",
            "copy",
            f"data: {window(1, 8)}, y: {tensor(1, 8, way='Out')}",
            "y = pl.store(pl.load(data, [0, 0], [1, 8]), [0, 0], y)\nreturn y",
            tensor(1, 8),
        ),
        function(
            "Orchestration",
            "chip",
            f"x: {tensor(1, 8)}, y: {tensor(1, 8, way='Out')}, data: {window(1, 8)}, "
            f"sig: {window(1, 1, dtype='INT32')}",
            "self.share(x, data, sig)\ny = self.copy(data, y)\nreturn y",
            tensor(1, 8),
        ),
        host(
            "data [1, 8] FP32\nsig [1, 1] INT32",
            "for r in pl.range(pld.world_size()):\n"
            "    self.chip(xs[r], ys[r], data_w, sig_w, device=r)\nreturn ys",
            f"xs: {tensor(2, 1, 8)}, ys: {tensor(2, 1, 8, way='Out')}",
            tensor(2, 1, 8),
        ),
    )
    xs = torch.tensor([7.0, 8.0])[:, None, None].expand(2, 1, 8).contiguous()
    for stage, names in each_stage(node):
        ys = torch.zeros(2, 1, 8)
        call(names, 2, xs, ys)
        assert torch.equal(ys, xs.flip(0)), stage
    for seed in (None, 1):
        ys = torch.zeros(2, 1, 8)
        call(script(node, race_check=True, schedule_seed=seed), 2, xs, ys)
        assert torch.equal(ys, xs.flip(0)), seed
