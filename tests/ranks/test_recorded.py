"""Every recorded stage of the programs of several ranks computes what the program says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from ranks.ranked import call, counted, each_stage, script, stages
from ranks.recorded import RECORDED, corpus, program_on, recorded_dumps

from pypto_tmpl.cli.dumps import read_dump


@pytest.mark.parametrize("backend", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_program_computes_the_same_at_every_stage(name: str, backend: str) -> None:
    program = RECORDED[name]
    for path in recorded_dumps(name, backend):
        names = script(read_dump(path))
        for ranks in program.ranks:
            given = program.arguments(ranks)
            assert program.is_right(call(names, ranks, *given.values()), given), (path.name, ranks)


def test_a_recorded_program_races_where_its_ranks_copy_windows_that_others_read() -> None:
    line = "R, C, P = 4, 64, 4"
    names = script(program_on("neighbour_exchange", line, line), race_check=True)
    given = RECORDED["neighbour_exchange"].arguments(4)
    with pytest.raises(RuntimeError, match="race: no notify and wait orders two accesses"):
        call(names, 4, *given.values())


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_recorded_program_on_more_ranks_computes_the_same_at_every_stage_of_ours(ranks: int) -> None:
    """The largest of all, then the sum over all ranks twice, as the program was written for two of them."""
    node = program_on("summed_over_ranks", "C, P = 256, 2", f"C, P = 256, {ranks}")
    xs = counted(ranks, 1, 256) % 97 - 31
    expected = (ranks**2 * xs.amax(0)).expand(ranks, 1, 256)
    for stage, names in each_stage(node):
        assert torch.equal(call(names, ranks, xs), expected), stage
    node = program_on("neighbour_exchange", "R, C, P = 4, 64, 4", f"R, C, P = 4, 64, {ranks}")
    xs = counted(ranks, 4, 64) % 97 - 31
    for stage, names in each_stage(node):
        given = {"xs": xs, "ys": torch.zeros_like(xs)}
        call(names, ranks, xs, 2.5, given["ys"])
        assert RECORDED["neighbour_exchange"].is_right(None, given), stage


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_context_that_is_passed_down_on_more_ranks(ranks: int) -> None:
    node = program_on("context_passed_down", "[[2, 1, C]", f"[[{ranks}, 1, C]", count=3)
    xs = counted(ranks, 1, 64) % 97 - 31
    for stage, names in each_stage(node):
        ys = torch.zeros_like(xs)
        call(names, ranks, xs, torch.ones(1, dtype=torch.int32), ys)
        assert torch.equal(ys, xs), stage


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_two_domains_of_windows_that_hold_numbers(ranks: int) -> None:
    """The last rank's row, added up over all; rank 1's in both rows of the pair, twice in the own one."""
    node = program_on("two_domains", "root=3", f"root={ranks - 1}")
    scripts = [*each_stage(node)]
    if ranks == 4:
        scripts += [(path.name, script(read_dump(path))) for path in all_dumps("two_domains")]
    data, part = counted(ranks, 1, 128) % 61, counted(2, 1, 128) % 53 - 7
    for stage, names in scripts:
        left = with_windows(names, ranks, {"data_buf": data, "part_buf": part})
        assert torch.equal(left["data_buf"], (ranks * data[-1]).expand(ranks, 1, 128)), stage
        assert torch.equal(left["part_buf"], part[1].expand(2, 1, 128)), stage
        whole = part[1].expand(2, 2, 128) * torch.tensor([[2.0, 1.0], [1.0, 2.0]])[:, :, None]
        assert torch.equal(left["whole_buf"].reshape(2, 2, 128), whole), stage


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_ring_and_shuffles_of_windows_that_hold_numbers(ranks: int) -> None:
    node = program_on("ring_sum_and_shuffles", "C, P, MAXR = 64, 4, 2", f"C, P, MAXR = 64, {ranks}, 2")
    scripts = [*each_stage(node)]
    if ranks == 4:
        scripts += [(path.name, script(read_dump(path))) for path in all_dumps("ring_sum_and_shuffles")]
    data, send = counted(ranks, ranks, 64) % 89, counted(ranks, ranks, 64) % 83 + 0.5
    rows = counted(ranks, ranks, 2, 64) % 71 - 0.25
    counts = torch.arange(ranks * ranks, dtype=torch.int32).reshape(ranks, ranks) % 4
    for stage, names in scripts:
        given = {"data_buf": data, "send_buf": send, "vsend_buf": rows, "counts_buf": counts}
        left = with_windows(names, ranks, given)
        assert torch.equal(left["data_buf"], data.sum(0).expand(ranks, ranks, 64)), stage
        assert torch.equal(left["recv_buf"].reshape(send.shape), send.transpose(0, 1)), stage
        assert torch.equal(left["vrecv_buf"].reshape(rows.shape), rows.transpose(0, 1)), stage
        assert torch.equal(left["got_buf"].reshape(ranks, ranks), counts.T.clamp(max=2)), stage


def all_dumps(program: str) -> list[Path]:
    """The recorded stages of a program for both backends, as far as the corpus has them."""
    return sorted((corpus() / "dumps" / program).glob("*/*.py"))


def with_windows(
    names: dict[str, Any], ranks: int, given: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What a host without parameters leaves in its windows, which hold the given numbers when it is called.

    A first call makes the windows, which are kept. What is not given is zero; numbers are FP32 or as given.
    """
    names["_ranks"].kept = {}
    call(names, ranks)
    buffers = {key[0]: buffer for key, buffer in names["_ranks"].kept.items()}
    for name, buffer in buffers.items():
        for rank, memory in buffer.memory.items():
            memory.zero_()
            if name in given:
                memory[: buffer.size].view(given[name].dtype).copy_(given[name][rank].flatten())
    call(names, ranks)
    left = {}
    for name, buffer in buffers.items():
        dtype = torch.int32 if name in ("counts_buf", "got_buf") else torch.float32
        cells = [buffer.memory[rank][: buffer.size].view(dtype) for rank in sorted(buffer.memory)]
        left[name] = torch.stack(cells).reshape(given[name].shape if name in given else (len(cells), -1))
    return left


def kernels_on(ranks: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kernels of all collectives, at every stage of ours, and of the recorded ones of two ranks."""
    node = program_on("collectives_inside_a_kernel", "W, RANKS = 64, 2", f"W, RANKS = 64, {ranks}")
    yield from ((name, script(stage, preamble="full")) for name, stage in stages(node))
    if ranks == 2:
        for path in all_dumps("collectives_inside_a_kernel"):
            yield path.name, script(read_dump(path), preamble="full")


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_collectives_inside_a_kernel(ranks: int) -> None:
    """The program has no host: the test is, through the helpers that a script with all of them has."""
    x = (counted(ranks, 1, 64) % 13 - 6) / 2
    halves = (x * 3 - 1).half()
    local, blocks = counted(ranks, 1, 64) % 29, counted(ranks, ranks, 64) % 31
    zeros = torch.zeros(ranks, 1, 64)
    for stage, names in kernels_on(ranks):
        out = on_ranks(names, "sum_mesh", [x, zeros.clone()], zeros, [ranks, 1], [0, 1, "data", "signal"])
        # Twice the input, added up, then the largest of equal sums.
        assert torch.equal(out, (2 * x).sum(0).expand(ranks, 1, 64)), stage
        ring = [2 * (ranks - 1), ranks]
        out = on_ranks(names, "prod_ring", [x, zeros.clone()], zeros, ring, [0, 1, "data", "signal"])
        assert torch.equal(out, x.prod(0).expand(ranks, 1, 64)), stage
        out = on_ranks(names, "min_rounds", [zeros.half()], halves, [ranks, 1], ["data", "signal", 0])
        assert torch.equal(out, halves.amin(0).expand(ranks, 1, 64)), stage
        # Whatever the sums and gathers before have left, rank r has block r of every rank at the end.
        given = [local, blocks, torch.zeros_like(blocks)]
        order = [0, 1, "data", "signal", 2]
        out = on_ranks(names, "exchange", given, torch.ones_like(blocks), [ranks, 1], order)
        assert torch.equal(out, blocks.transpose(0, 1)), stage


def on_ranks(
    names: dict[str, Any],
    kernel: str,
    given: list[torch.Tensor],
    data: torch.Tensor,
    signal: list[int],
    order: list[int | str],
) -> torch.Tensor:
    """The last of the given tensors, which a kernel writes on each rank.

    The kernel takes what ``order`` names: tensors by their places, a window that holds ``data``, a signal. In
    later stages it takes contexts of both as well.
    """
    function, ranks = names[kernel], len(data)
    contexts = function.__code__.co_argcount - len(order)

    def fill(window: torch.Tensor, values: torch.Tensor) -> None:
        window.copy_(values)

    def host() -> None:
        buffer = names["_window_buffer"]("data", data[0].nbytes)
        cells = names["_window_buffer"]("signal", 4 * signal[0] * signal[1])
        window = names["_window_view"](buffer, list(data.shape[1:]), data.dtype)
        windows = {"data": window, "signal": names["_window_view"](cells, signal, torch.int32)}
        more = [names["_comm_context"](one) for one in windows.values()][:contexts]
        for rank in range(ranks):
            names["_dispatch"](rank, fill, window, data[rank])
        for rank in range(ranks):
            args = [windows[one] if isinstance(one, str) else given[one][rank] for one in order]
            written = order.index(len(given) - 1)
            args[written] = names["_out"](args[written])
            names["_dispatch"](rank, function, *args, *more)

    names["host"] = lambda: names["_run_host"](host, ranks=ranks)
    call(names, ranks)
    return given[-1]
