"""Every recorded stage of the programs of several ranks computes what the program says."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import call, counted, each_stage, script
from ranks.recorded import RECORDED, program_on, recorded_dumps

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


@pytest.mark.parametrize("ranks", [3, 4])
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


@pytest.mark.parametrize("backend", ["Ascend910B", "Ascend950"])
def test_collectives_inside_a_kernel(backend: str) -> None:
    """The program has no host: the test is, through the helpers that a script with all of them has."""
    for path in recorded_dumps("collectives_inside_a_kernel", backend):
        names = script(read_dump(path), preamble="full")
        assert torch.equal(on_two_ranks(names, "sum_mesh", [1, 64], [2, 1]), expected_sum()), path.name
        assert torch.equal(on_two_ranks(names, "prod_ring", [1, 64], [2, 2]), expected_product()), path.name


X = (counted(2, 1, 64) % 13 - 6) / 2


def expected_sum() -> torch.Tensor:
    """Twice the input, added up, then the largest of two equal sums."""
    return (2 * X).sum(0).expand(2, 1, 64)


def expected_product() -> torch.Tensor:
    return X.prod(0).expand(2, 1, 64)


def on_two_ranks(names: dict, kernel: str, shape: list[int], signal: list[int]) -> torch.Tensor:
    """The outputs of a kernel of an input, an output, a window, a signal, and contexts in later stages."""
    function = names[kernel]
    count = function.__code__.co_argcount

    def host(xs: torch.Tensor, ys: torch.Tensor) -> torch.Tensor:
        data_buf = names["_window_buffer"]("data", 4 * 64)
        signal_buf = names["_window_buffer"]("signal", 4 * signal[0] * signal[1])
        data = names["_window_view"](data_buf, shape, torch.float32)
        cells = names["_window_view"](signal_buf, signal, torch.int32)
        contexts = [names["_comm_context"](one) for one in (data, cells)][: count - 4]
        for rank in range(2):
            names["_dispatch"](rank, function, xs[rank], names["_out"](ys[rank]), data, cells, *contexts)
        return ys

    names["host"] = lambda *args: names["_run_host"](host, *args, ranks=2)
    return call(names, 2, X, torch.zeros_like(X))
