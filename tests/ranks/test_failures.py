"""What goes wrong on several ranks ends at once, with one message that says where."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from ranks.ranked import (
    barrier,
    call,
    counted,
    function,
    host,
    program,
    script,
    single_kernel,
    tensor,
    window,
)
from ranks.test_host import CHAIN, copying
from ranks.test_kernels import ME, mesh_sum

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.language.diagnostics import ParserError

TESTS = Path(__file__).resolve().parents[1]
NOTIFY, _, WAIT = barrier(2).partition("for q in pl.range(2):\n    if q != me:\n        pld.system.wait")


def failure(node: ir.Program, ranks: int, *args: object, kind: type[Exception] = RuntimeError) -> str:
    """What a program fails with, in no time, without a thread left."""
    names, before = script(node), threading.active_count()
    start = time.process_time()
    with pytest.raises(kind) as caught:
        call(names, ranks, *args)
    assert time.process_time() - start < 5
    assert threading.active_count() == before
    assert names["_ranks"].world is None
    return str(caught.value)


def test_a_missing_notify_is_told_with_who_waits_for_what() -> None:
    only_zero = NOTIFY.replace("if q != me:", "if q + me == 1 and me == 0:")
    waits = "for q in pl.range(2):\n    if q != me:\n        pld.system.wait" + WAIT
    node = mesh_sum(2, only_zero + waits)
    xs = torch.zeros(2, 1, 64)
    xs[1, 0, 3:5] = torch.tensor([2.5, -1])
    text = failure(node, 2, xs, xs.clone())
    assert text.startswith("deadlock: every rank waits and none can be woken\n"), text
    who = "rank 0 (device 0), dispatch 0 chip, task 1 kernel"
    told = f"{who}: signal `sig[1, 0]` = 0, waits for >= 1 in kernel at <script>:"
    assert told in text and "nobody notified it" in text
    assert "finished: rank 1 (device 1)" in text
    assert "signal sig, rank 1: cell 0 = 1" in text
    assert "window data, 256 bytes, rank 0: all 0\n" in text
    held = "2 of 64 elements are not 0; from 3 on: 2.5, -1, 0, 0, 0, 0, 0, 0, ..."
    assert f"window data, 256 bytes, rank 1: {held}\n" in text


def test_a_deadlock_is_told_in_less_than_the_time_of_a_silence() -> None:
    node = mesh_sum(4, "for q in pl.range(4):\n    if q != me:\n        pld.system.wait" + WAIT)
    xs = torch.zeros(4, 1, 64)
    names = script(node)
    start = time.process_time()
    with pytest.raises(RuntimeError, match="deadlock") as caught:
        call(names, 4, xs, xs.clone())
    assert time.process_time() - start < 0.2
    assert all(f"rank {rank} (device {rank})" in str(caught.value) for rank in range(4))


def test_a_peer_that_there_is_not() -> None:
    node = mesh_sum(
        2, barrier(2) + "bad = pld.tile.remote_load(data, peer=me + 1, offsets=[0, 0], shape=[1, 64])"
    )
    xs = torch.zeros(2, 1, 64)
    text = failure(node, 2, xs, xs.clone(), kind=IndexError)
    assert text == "rank 1: remote_load by rank 1: peer 2 is none of the 2 ranks that share 'data'"


def put(offset: str, lead: str = "") -> ir.Program:
    body = f"""
{ME}{lead}
pld.tensor.put(data, peer=1 - me, src=x, dst_offsets=[{offset}, 0], src_offsets=[0, 0], shape=[2, 8])
"""
    windows = {"data": (4, 8), "sig": (2, 1)}
    return single_kernel(2, windows, body, inputs={"x": (2, 8)}, dtypes={"sig": "INT32"})


def test_a_region_beyond_the_window() -> None:
    with pytest.raises(
        ParserError, match=r"dst subregion dimension 0 exceeds dst shape \(offset=3, shape=2, dst_dim=4\)"
    ):
        put("3")
    text = failure(put("me + 3"), 2, torch.zeros(2, 2, 8), kind=IndexError)
    assert text == ("rank 0: put by rank 0, peer 1: offsets [3, 0] and extents [2, 8] leave the shape [4, 8]")


def test_a_rank_that_there_is_not() -> None:
    body = f"{ME}y = pl.store(pl.load(x, [0, 0], [1, 8]), [0, 0], y)\nreturn y"
    node = single_kernel(
        2,
        {"sig": (2, 1)},
        body,
        inputs={"x": (1, 8)},
        outputs={"y": (1, 8)},
        dtypes={"sig": "INT32"},
        loop="2",
    )
    xs = torch.zeros(2, 1, 8)
    text = failure(node, 1, xs, xs.clone(), kind=ValueError)
    assert text == "the window 'sig' is for rank 1, but there are 1 ranks, device_ids [0]"


@pytest.mark.parametrize("ids", [[], [0, 0], [-1]])
def test_devices_that_cannot_be(ids: list[int]) -> None:
    names, xs = script(mesh_sum(2)), torch.zeros(2, 1, 64)
    names["_ranks"].device_ids = ids
    with pytest.raises(ValueError, match="device_ids must be distinct non-negative numbers"):
        names["host"](xs, xs.clone())


def test_a_device_that_is_no_number_and_no_loop_variable() -> None:
    node = program(
        function(
            "Orchestration",
            "chip",
            f"sig: {window(2, 1, dtype='INT32')}",
            "return sig",
            window(2, 1, dtype="INT32"),
        ),
        host(
            "sig [2, 1] INT32",
            "for r in pl.range(pld.world_size()):\n    self.chip(sig_w, device=r + 1)\nreturn 0",
        ),
    )
    with pytest.raises(
        UnsupportedProgramError, match="device= expression must be ConstInt or the induction var of pl.range"
    ):
        script(node)


def test_fewer_shards_than_ranks() -> None:
    xs = torch.zeros(1, 1, 64)
    with pytest.warns(UserWarning, match="tensor 'x' has shape"):
        text = failure(mesh_sum(2), 2, xs, torch.zeros(2, 1, 64), kind=IndexError)
    assert "index 1 is out of bounds" in text


def test_a_root_that_is_no_rank() -> None:
    node = program(
        function("Orchestration", "chip", f"d: {window(1, 8)}", "return d", window(1, 8)),
        host(
            "d [1, 8] FP32\nsig [2] INT32",
            """
for r in pl.range(pld.world_size()):
    self.chip(d_w, device=r)
pld.tensor.broadcast(d_w, sig_w, root=2)
return 0
""",
        ),
    )
    text = failure(node, 2, kind=ValueError)
    assert "broadcast root (2) must be a valid rank in [0, 2)" in text


def test_signals_that_nobody_waited_for() -> None:
    body = f"{ME}pld.system.notify(sig, peer=1 - me, offsets=[me, 0], value=3, op=pld.NotifyOp.Set)"
    names = script(single_kernel(2, {"sig": (2, 1)}, body, dtypes={"sig": "INT32"}))
    names["_ranks"].device_ids = [0, 1]
    with pytest.warns(
        RuntimeWarning, match=r"`sig` cell 1 of rank 0 = 3: no wait asked for it; last notified by rank 1 at"
    ):
        names["host"]()


def test_two_ranks_that_write_one_tensor() -> None:
    node = program(
        function(
            "InCore",
            "kernel",
            f"x: {tensor(1, 8)}, y: {tensor(1, 8, way='Out')}",
            "y = pl.store(pl.load(x, [0, 0], [1, 8]), [0, 0], y)\nreturn y",
            tensor(1, 8),
        ),
        function(
            "Orchestration",
            "chip",
            f"x: {tensor(1, 8)}, y: {tensor(1, 8, way='Out')}",
            "y = self.kernel(x, y)\nreturn y",
            tensor(1, 8),
        ),
        host(
            "",
            "for r in pl.range(pld.world_size()):\n    self.chip(x, y, device=r)\nreturn 0",
            f"x: {tensor(1, 8)}, y: {tensor(1, 8, way='Out')}",
        ),
    )
    names = script(node)
    told = "rank 0 and rank 1 write the same cells of a tensor of the host"
    with pytest.warns(RuntimeWarning, match=told) as caught:
        call(names, 2, counted(1, 8), torch.zeros(1, 8))
    assert [one.filename for one in caught] == ["<script>"], "it is told where the program says so"


@pytest.mark.parametrize(
    ("body", "text"), [("import sys; sys.exit(0)", "exit(0)"), ("raise SystemExit('bye')", "exit('bye')")]
)
def test_what_exits_on_its_own_has_failed(body: str, text: str) -> None:
    node = copying(CHAIN, scale=body)
    told = failure(node, 2, *(torch.zeros(2, 1, 8) for _ in range(3)))
    assert told == f"host, dispatch 0 scale ended by itself: {text}"


LEAVING = """
import sys
import torch
from ranks.ranked import call, script
from ranks.test_host import CHAIN, copying

zs = torch.zeros(2, 1, 8)
print("begins")
call(script(copying(CHAIN, scale=sys.argv[1])), 2, torch.ones(2, 1, 8), zs.clone(), zs)
print("has ended", int(zs.sum()))
"""


@pytest.mark.parametrize(
    ("body", "status", "said", "told"),
    [
        ("import os; os._exit(0)", 1, ["begins"], "os._exit(0)"),
        ("import os; os._exit(3)", 3, ["begins"], "os._exit(3)"),
        ("import os; y.mul_(3); os.fork() or os._exit(0); os.wait()", 0, ["begins", "has ended 48"], ""),
    ],
    ids=["status 0", "status 3", "a forked process"],
)
def test_a_process_that_leaves_in_a_sub_worker_says_so(
    body: str, status: int, said: list[str], told: str
) -> None:
    places = os.pathsep.join(map(str, (TESTS.parent, TESTS)))
    environment = {**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-u", "-c", LEAVING, body]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert (done.returncode, done.stdout.splitlines()) == (status, said), done.stderr
    who = "host, dispatch 0 scale has ended the process by "
    assert done.stderr == (f"{who}{told}\n" if told else "")


def test_an_error_on_the_host_beside_the_ranks_ends_them() -> None:
    """What follows waits for it on both ranks, and is never begun."""
    node = copying(CHAIN, scale="raise LookupError('no scale')")
    zs = torch.zeros(2, 1, 8)
    assert failure(node, 2, torch.ones(2, 1, 8), zs.clone(), zs, kind=LookupError) == "no scale"
    assert not zs.any()
