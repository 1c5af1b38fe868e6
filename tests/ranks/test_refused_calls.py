"""What calls on windows and of collectives do not take: each restriction is an error that says where."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from ranks.ranked import call, counted, function, host, program, script, single_kernel, stages, window
from ranks.test_collectives import on_host

from pypto_tmpl import passes
from pypto_tmpl.language.diagnostics import ParserError

ME = "me = pld.rank(pld.get_comm_ctx(sig))\n"
COUNTS = {"got": "INT32", "c": "INT32"}
REGION = "dst_offsets=[0, 0], src_offsets=[0, 0], shape="
V = {"windows": {"got": (2, 1)}, "inputs": {"x": (4, 16), "c": (2, 1)}, "dtypes": COUNTS}


def put(rest: str) -> str:
    return f"{ME}pld.tensor.put(data, peer=1 - me, src=x, {rest})"


def push(offsets: str, source: str = "pl.load(x, [0, 0], [4, 16])") -> str:
    return f"{ME}t = {source}\npld.tile.remote_store(t, target=data, peer=1 - me, offsets={offsets})"


def tensor_push(source: str = "x") -> str:
    return f"{ME}pld.tensor.remote_store({source}, target=data, peer=1 - me, offsets=[0, 0])"


def load(rest: str, target: str = "data") -> str:
    return f"{ME}t = pld.tile.remote_load({target}, peer=1 - me, {rest})"


def notify(rest: str, target: str = "sig") -> str:
    return f"{ME}pld.system.notify({target}, peer=1 - me, {rest}op=pld.NotifyOp.Set)"


def wait(rest: str, signal: str = "sig") -> str:
    return f"{ME}pld.system.wait({signal}, {rest})"


# A body of a kernel, in whose last line the mistake is; other shapes and dtypes; what is told.
ONE_SIDED: dict[str, tuple[str, dict[str, Any], str]] = {
    "put into no window": (
        f"{ME}pld.tensor.put(x, peer=1 - me, src=data)",
        {},
        "dst must be a DistributedTensor (window-bound), got pl.Tensor[[4, 16], pl.FP32]",
    ),
    "get from no window": (
        f"{ME}pld.tensor.get(data, peer=1 - me, src=x)",
        {},
        "src must be a DistributedTensor (window-bound), got pl.Tensor[[4, 16], pl.FP32]",
    ),
    "put dtypes": (
        put(""),
        {"dtypes": {"x": "FP16"}},
        "dst and src must have the same element type, got dst=FP32, src=FP16",
    ),
    "put ranks": (put(""), {"inputs": {"x": (1, 4, 16)}}, "dst rank (2) must match src rank (3)"),
    "put whole": (
        put(""),
        {"inputs": {"x": (2, 16)}},
        "dst and src must have the same static shape; dimension 0 differs (dst=4, src=2)",
    ),
    "put from outside": (
        put("dst_offsets=[0, 0], src_offsets=[3, 0], shape=[2, 8]"),
        {},
        "src subregion dimension 0 exceeds src shape (offset=3, shape=2, src_dim=4)",
    ),
    "put before the start": (
        put("dst_offsets=[-1, 0], src_offsets=[0, 0], shape=[2, 8]"),
        {},
        "dst_offsets dimension 0 must be non-negative, got -1",
    ),
    "two regions of three": (
        put("dst_offsets=[0, 0], shape=[2, 8]"),
        {},
        "dst_offsets, src_offsets, shape are given together or not at all, and 'src_offsets' is missing",
    ),
    "offsets of another rank": (
        put("dst_offsets=[0], src_offsets=[0, 0], shape=[2, 8]"),
        {},
        "dst_offsets rank (1) must match dst rank (2)",
    ),
    "rows of unknown number": (
        put(f"{REGION}[me, 8]"),
        {},
        "a dynamic leading transfer dim needs a static chunk_rows to bound the VEC staging tile",
    ),
    "columns of unknown number": (
        put(f"{REGION}[2, me]"),
        {},
        "a dynamic innermost transfer dim needs a static chunk_cols to bound the VEC staging tile",
    ),
    "chunk of text": (put("chunk_rows='2'"), {}, "the keyword 'chunk_rows' is an integer, not '2'"),
    "chunk that is computed": (
        put("chunk_rows=me"),
        {},
        "the keyword 'chunk_rows' cannot be pl.Scalar[pl.INT32]",
    ),
    "chunk below zero": (put("chunk_rows=-1"), {}, "chunk_rows must be non-negative (0 = full), got -1"),
    "pipeline without chunks": (
        put("pipeline=True"),
        {},
        "pipeline=True requires both chunk_rows>0 and chunk_cols>0, got chunk_rows=0, chunk_cols=0",
    ),
    "atomic dtype": (
        put("atomic=pld.AtomicType.Add"),
        {"dtypes": {"x": "INT64", "data": "INT64"}},
        "with atomic=AtomicType.Add requires an fp32/bf16/fp16/int32/int16/int8 dtype (hardware atomic-add "
        "dtypes), but got INT64",
    ),
    "push dtypes": (
        push("[0, 0]"),
        {"dtypes": {"x": "FP16"}},
        "src dtype (FP16) must match target dtype (FP32)",
    ),
    "push offsets": (push("[0]"), {}, "offsets rank (1) must match target tensor rank (2)"),
    "push too far": (
        push("[1, 0]"),
        {},
        "push exceeds the peer's target region in dimension 0 (offset=1, extent=4, target_dim=4)",
    ),
    "push into a row": (push("[0]"), {"data": (64,)}, "target rank must be >= 2 to hold a 2-D push, got 1"),
    "push of a row": (tensor_push(), {"inputs": {"x": (16,)}}, "src must be at least 2-D, got rank 1"),
    "push of pages": (
        tensor_push(),
        {"inputs": {"x": (2, 4, 16)}},
        "src leading dimension 0 must be 1, got 2",
    ),
    "push of a window": (tensor_push("data"), {}, "src must be a local value, got the window"),
    "load past the end": (
        load("offsets=[2, 0], shape=[4, 16]"),
        {},
        "the window ends 2 past axis 0, and 'target' is pld.DistributedTensor[[4, 16], pl.FP32]",
    ),
    "load before the start": (
        load("offsets=[-1, 0], shape=[1, 16]"),
        {},
        "the window begins at -1 on axis 0, before the first element",
    ),
    "load of no window": (
        load("offsets=[0, 0], shape=[1, 16]", "x"),
        {},
        "target must be a DistributedTensor (window-bound), got pl.Tensor[[4, 16], pl.FP32]",
    ),
    "notify offsets": (
        notify("offsets=[0], value=1, "),
        {},
        "offsets rank (1) must match target tensor rank (2)",
    ),
    "notify no cell": (
        notify("offsets=[2, 0], value=1, "),
        {},
        "offsets dimension 0: 2 is outside of [0, 2)",
    ),
    "notify dtype": (
        notify("offsets=[0, 0], value=1, ", "data"),
        {},
        "target must have INT32 element type, got dtype FP32",
    ),
    "notify half": (
        notify("offsets=[0, 0], value=1.5, "),
        {},
        "the operand 'value' is pl.Scalar[pl.FP32], and its dtype must be an integer",
    ),
    "wait for nothing": (wait("offsets=[0, 0], expected=1"), {}, "the keyword 'cmp' is missing"),
    "wait for half": (
        wait("offsets=[0, 0], expected=0.5, cmp=pld.WaitCmp.Ge"),
        {},
        "the operand 'expected' is pl.Scalar[pl.FP32], and its dtype must be an integer",
    ),
    "wait at no window": (
        wait("offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge", "x"),
        {},
        "signal must be a DistributedTensor (window-bound), got pl.Tensor[[4, 16], pl.FP32]",
    ),
}
COLLECTIVES: dict[str, tuple[str, dict[str, Any], str]] = {
    "signal of None": ("allreduce(data, None)", {}, "pld.tensor.allreduce signal cannot be None; omit"),
    "ring without signal": ('allreduce(data, mode="ring")', {}, 'mode="ring" requires an explicit signal;'),
    "mesh without signal": (
        "allreduce(data)",
        {},
        "requires an explicit signal outside host orchestrator functions",
    ),
    "signal dtype": (
        "allreduce(data, sig)",
        {"dtypes": {"sig": "INT16"}},
        "signal must have INT32 element type, got dtype INT16",
    ),
    "mode": ('allreduce(data, sig, mode="tree")', {}, 'mode must be "ring" or "mesh", got "tree"'),
    "reduction": ("allreduce(data, sig, op=7)", {}, "the keyword 'op' is one of Sum, Max, Min, Prod, not 7"),
    "scattered maximum": (
        "reduce_scatter(data, sig, op=pld.ReduceOp.Max)",
        {},
        "op must be ReduceOp.Sum (got int 1); Max / Min / Prod lowerings are not yet implemented",
    ),
    "dtype": (
        "allreduce(data, sig)",
        {"dtypes": {"data": "BF16"}},
        "target dtype must be FP16 or FP32, got BF16",
    ),
    "cores of text": (
        'allreduce(data, sig, core_num="2")',
        {},
        "the keyword 'core_num' is an integer, not '2'",
    ),
    "no cores": ("allreduce(data, sig, core_num=0)", {}, "core_num must be positive, got 0"),
    "cores in a kernel": (
        "allreduce(data, sig, core_num=2)",
        {},
        "core_num > 1 is supported only in a HOST orchestrator",
    ),
    "cores of a ring": (
        'allreduce(data, sig, mode="ring", core_num=2)',
        {"sig": (2, 2)},
        'mode="ring" does not support core_num > 1',
    ),
    "signal of one axis": (
        "broadcast(data, sig, root=0)",
        {"sig": (2,)},
        "signal must be 2D [NR, 1], got rank 1",
    ),
    "signal of two columns": (
        "reduce_scatter(data, sig)",
        {"sig": (2, 2)},
        "signal shape[1] must be 1 (one cell per rank), got 2",
    ),
    "signal of a ring": (
        'allreduce(data, sig, mode="ring")',
        {"sig": (3, 2)},
        "signal shape[0] (3) must equal 2*(NR-1) = 2 for NR = 2",
    ),
    "root": ("broadcast(data, sig, root=-1)", {}, "root rank must be non-negative, got -1"),
    "gather of rows": (
        "allgather(x, data, sig)",
        {},
        "input must be [1, SIZE] (this rank's single chunk), got first dim 4",
    ),
    "gather of less": (
        "allgather(x, data, sig)",
        {"inputs": {"x": (1, 8)}},
        "target SIZE must equal input SIZE",
    ),
    "gather into itself": (
        "allgather(data, data, sig)",
        {"data": (1, 16)},
        "input and target must be different buffers",
    ),
    "exchange with itself": (
        "all_to_all(data, data, sig)",
        {},
        "input and target must be different buffers",
    ),
    "exchange of less": (
        "all_to_all(x, data, sig)",
        {"inputs": {"x": (4, 8)}},
        "target SIZE must equal input SIZE",
    ),
    "blocks of a part": (
        "all_to_all_v(x, data, sig, c, got)",
        {**V, "data": (5, 16), "inputs": {"x": (5, 16), "c": (2, 1)}},
        "signal dim 0 (2) must divide target dim 0 (5)",
    ),
    "too many counts": (
        "all_to_all_v(x, data, sig, c, got)",
        {**V, "inputs": {"x": (4, 16), "c": (3, 1)}},
        "send_counts dim 0 (3) must equal signal dim 0 (NR = 2)",
    ),
    "blocks of less": (
        "all_to_all_v(x, data, sig, c, got)",
        {**V, "inputs": {"x": (2, 16), "c": (2, 1)}},
        "input dim 0 (2) must equal target dim 0 (4)",
    ),
    "counts in a row": (
        "all_to_all_v(x, data, sig, c, got)",
        {**V, "windows": {"got": (1, 2)}},
        "recv_counts shape[1] must be 1 (one cell per rank), got 2",
    ),
}


def refused(body: str, how: dict[str, Any], message: str) -> None:
    """That a kernel of such a body is not read, and that the last line of it is told."""
    windows = {"data": how.get("data", (4, 16)), "sig": how.get("sig", (2, 1)), **how.get("windows", {})}
    inputs = how.get("inputs", {"x": (4, 16)})
    with pytest.raises(ParserError) as caught:
        single_kernel(2, windows, body, inputs=inputs, dtypes={"sig": "INT32", **how.get("dtypes", {})})
    assert message in str(caught.value)
    assert f"--> <string>:{8 + body.count(chr(10))}:" in str(caught.value)


@pytest.mark.parametrize(("body", "how", "message"), ONE_SIDED.values(), ids=ONE_SIDED.keys())
def test_one_sided_calls_that_are_not_read(body: str, how: dict[str, Any], message: str) -> None:
    refused(body, how, message)


@pytest.mark.parametrize(("line", "how", "message"), COLLECTIVES.values(), ids=COLLECTIVES.keys())
def test_collectives_in_kernels_that_are_not_read(line: str, how: dict[str, Any], message: str) -> None:
    refused(f"data = pld.tensor.{line}", how, message)


RING = 'allreduce(data_w, sig_w, mode="ring")'
ON_HOST: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "sum without signal in a loop": (
        "for i in pl.range(2):\n    pld.tensor.allreduce(data_w)",
        "",
        {},
        "without an explicit signal is not supported inside a for/while loop on the HOST rail",
    ),
    "lanes of a row": (
        "pld.tensor.allreduce(data_w, sig_w, core_num=2)",
        "sig [2] INT32",
        {},
        "rank-1 signal is valid only when one signal lane is required",
    ),
    "too few lanes": (
        "pld.tensor.allreduce(data_w, sig_w, core_num=4)",
        "sig [2, 2] INT32",
        {},
        "rank-2 signal shape[1] (2) must be at least the required lane count (4)",
    ),
    "too many cores": (
        "pld.tensor.allreduce(data_w, sig_w, core_num=49)",
        "sig [2, 64] INT32",
        {},
        "core_num (49) exceeds the backend AIV core count (48)",
    ),
    "remainder of a ring": (
        f"pld.tensor.{RING}",
        "sig [3, 2] INT32",
        {"count": 63},
        "to be an exact multiple of the rank count (2); got a remainder of 1",
    ),
    "ring of too many": (
        f"pld.tensor.{RING}",
        "sig [33, 17] INT32",
        {"ranks": 17, "count": 17 * 8},
        "requires 16 or fewer participating devices, got 17",
    ),
    "signal of a ring": (
        f"pld.tensor.{RING}",
        "sig [2, 2] INT32",
        {},
        "signal shape[0] (2) must equal 2*(NR-1)+1 = 3 for NR = 2",
    ),
    "ring of halves": (
        f"pld.tensor.{RING}",
        "sig [3, 2] INT32",
        {"dtype": "FP16"},
        "currently supports only FP32 on the host, got FP16",
    ),
    "ring of maxima": (
        'pld.tensor.allreduce(data_w, sig_w, op=pld.ReduceOp.Max, mode="ring")',
        "sig [3, 2] INT32",
        {},
        "currently supports only ReduceOp.Sum on the host (got int 1)",
    ),
    "two views of a buffer": (
        "w2 = pld.window(data, [1, 64], dtype=pl.FP32)\npld.tensor.allgather(w2, data_w, sig_w)",
        "sig [2] INT32",
        {},
        "must be different window allocations",
    ),
    "no window": (
        "pld.tensor.allgather(xs[0], data_w, sig_w)",
        "sig [2] INT32",
        {},
        "must be a window-bound DistributedTensor",
    ),
    "columns of a signal": (
        "pld.tensor.broadcast(data_w, sig_w, root=0)",
        "sig [2, 1] INT32",
        {},
        "signal must be of rank 1, got rank 2",
    ),
    "halves": (
        "pld.tensor.broadcast(data_w, sig_w, root=0)",
        "sig [2] INT32",
        {"dtype": "FP16"},
        "on the host currently supports only FP32, got FP16",
    ),
    "blocks in a loop": (
        "for i in pl.range(2):\n    pld.tensor.all_to_all_v(r_w, t_w, sig_w, c_w, g_w)",
        "sig [2, 1] INT32\nr [2, 64] FP32\nt [2, 64] FP32\nc [2, 1] INT32\ng [2, 1] INT32",
        {},
        "is not supported inside a for/while loop in a HOST orchestrator",
    ),
}


@pytest.mark.parametrize(("lines", "signals", "how", "message"), ON_HOST.values(), ids=ON_HOST.keys())
def test_collectives_of_the_host_that_are_not_lowered(
    lines: str, signals: str, how: dict[str, Any], message: str
) -> None:
    node = on_host(how.get("ranks", 2), how.get("count", 64), lines, signals, dtype=how.get("dtype", "FP32"))
    with pytest.raises(passes.PassError) as caught:
        list(stages(node))
    assert message in str(caught.value)
    assert "--> <string>:" in str(caught.value) and "function 'host'" in str(caught.value)


def test_devices_of_a_part_of_the_world() -> None:
    """Signals and roots are counted among the devices that a loop names."""
    for signal, line, message in (
        (
            "sig [2] INT32",
            "pld.tensor.broadcast(d_w, sig_w, root=5)",
            r"root \(5\) must be a valid rank in \[0, 2\) for this explicit device subset",
        ),
        (
            "sig [1] INT32",
            "pld.tensor.allreduce(d_w, sig_w)",
            r"collective signal shape\[0\] \(1\) must be at least the participating device count \(2\)",
        ),
    ):
        node = program(
            function("Orchestration", "chip", f"d: {window(1, 8)}", "return d", window(1, 8)),
            host(
                f"d [1, 8] FP32\n{signal}",
                f"for r in pl.range(2):\n    self.chip(d_w, device=r)\n{line}\nreturn 0",
            ),
        )
        with pytest.raises(passes.PassError, match=message) as caught:
            list(stages(node))
        assert "<string>:18:9" in str(caught.value)


def test_a_signal_that_is_too_short_for_all_devices() -> None:
    node = on_host(2, 64, "pld.tensor.allreduce(data_w, sig_w)", "sig [1] INT32")
    with pytest.raises(ValueError, match=r"signal shape\[0\] \(1\) must be at least the rank count \(2\)"):
        call(script(node), 2, counted(2, 1, 64), torch.zeros(2, 1, 64))
