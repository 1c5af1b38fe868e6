"""What a run on several ranks records: a folder for each dispatch, pages on which ranks are processes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from ranks.ranked import function, host, program, tensor, window
from ranks.test_kernels import mesh_sum
from ranks.test_tasks import XS, exchange

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.runtime import execute_compiled

FIRST = 1 << 32  # ring 1, task 0
MANUAL = """
with pl.manual_scope():
    y, t = pl.submit(self.waiter, data, sig, y)
    data, u = pl.submit(self.publisher, x, data, sig{deps})
return y
"""


@pytest.fixture
def record(tmp_path: Path) -> Any:
    """Runs a program with flags; gives the folder of what was recorded."""

    def run(node: ir.Program, args: list[Any], stage: str = "last", **flags: Any) -> Path:
        (tmp_path / "build").mkdir()
        build = compile_program(node, tmp_path / "build", compile_options({"stage": stage})).directory
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "signals are left over", RuntimeWarning)
            execute_compiled(build, args, **flags)
        return build / "dfx_outputs"

    return run


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def timeline(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("merged_swimlane_????????_??????.json")
    return list(read(path)["traceEvents"])


def arrows(events: list[dict[str, Any]], name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The bars at both ends of each arrow of a name: the innermost that viewers bind it to."""
    bars = [one for one in events if one["ph"] == "X"]
    ends: dict[int, list[dict[str, Any]]] = {}
    for end in (one for one in events if one["ph"] in "sf" and one["name"] == name):
        around = [
            bar
            for bar in bars
            if (bar["pid"], bar["tid"]) == (end["pid"], end["tid"])
            and bar["ts"] <= end["ts"] <= bar["ts"] + bar["dur"]
        ]
        ends.setdefault(end["id"], []).append(min(around, key=lambda bar: bar["dur"]))
    yield from ends.values()


@pytest.mark.parametrize("stage", ["frontend", "last"])
def test_each_dispatch_has_a_folder_and_each_rank_is_a_process(record: Any, stage: str) -> None:
    ys = torch.zeros(2, 1, 8)
    node = exchange(MANUAL.format(deps=""))
    folder = record(node, [XS, ys], stage, enable_chip_swimlane=4, enable_dep_gen=True, enable_pmu=2)
    assert ys[:, 0, 0].tolist() == [8, 7]
    for rank in range(2):
        assert {path.name for path in (folder / f"rank{rank}" / "d0").iterdir()} >= {
            "chip_swimlane_records.json",
            "deps.json",
            "deps_graph.html",
            "name_map_build.json",
            "pmu.csv",
            "pmu_ops.csv",
        }
        tasks = read(folder / f"rank{rank}" / "d0" / "deps.json")["tasks"]
        names = [(task["task_id"], task["name"], task["scope"]) for task in tasks]
        assert names == [(str(FIRST), "waiter", "manual"), (str(FIRST + 1), "publisher", "manual")]
    events = timeline(folder)
    processes = {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert processes == {
        1: "rank 0 (device 0) (simulated, host clock)",
        2: "rank 1 (device 1) (simulated, host clock)",
    }
    bars = [(one["pid"], one["name"]) for one in events if one["ph"] == "X" and one["cat"] == "event"]
    assert bars == [(pid, name) for pid in (1, 2) for name in ("waiter(d0 r1t0)", "publisher(d0 r1t1)")]
    assert [(one["pid"], one["name"]) for one in events if one.get("cat") == "dispatch"] == [
        (1, "d0 chip"),
        (2, "d0 chip"),
    ]


def test_an_arrow_leads_from_each_notify_to_the_wait_that_it_ends(record: Any) -> None:
    folder = record(exchange(MANUAL.format(deps="")), [XS, torch.zeros(2, 1, 8)], enable_chip_swimlane=1)
    events = timeline(folder)
    ends = [((a["pid"], a["name"]), (b["pid"], b["name"])) for a, b in arrows(events, "signal")]
    wait = "wait sig[0, 0] >= 1"
    assert sorted(ends) == [
        ((1, "notify sig[0, 0] of rank 1 += 1"), (2, wait)),
        ((2, "notify sig[0, 0] of rank 0 += 1"), (1, wait)),
    ]
    stores = [(one["pid"], one["name"]) for one in events if one.get("cat") == "remote store"]
    assert stores == [(1, "remote store data of rank 1"), (2, "remote store data of rank 0")]
    index = read(folder / "ranks.json")
    assert [(one["rank"], one["dispatch"], one["folder"]) for one in index["dispatches"]] == [
        (0, 0, "rank0/d0"),
        (1, 0, "rank1/d0"),
    ]
    pairs = [(one["from"]["rank"], one["to"]["rank"]) for one in index["signals"]]
    assert sorted(pairs) == [(0, 1), (1, 0)]
    writes = [((a["pid"], a["name"]), (b["pid"], b["name"])) for a, b in arrows(events, "write")]
    assert sorted(writes) == [
        ((1, "remote store data of rank 1"), (2, wait)),
        ((2, "remote store data of rank 0"), (1, wait)),
    ]
    assert [(one["from"]["text"], one["to"]["rank"]) for one in index["writes"]] == [
        (f"data of rank {one['to']['rank']}", one["to"]["rank"]) for one in index["signals"]
    ]


def test_the_graph_has_a_frame_for_each_dispatch_and_signals_between_them(record: Any) -> None:
    folder = record(exchange(MANUAL.format(deps="")), [XS, torch.zeros(2, 1, 8)], enable_dep_gen=True)
    page = (folder / "deps_graph.html").read_text()
    assert page.count('<g class="frame">') == 2
    assert ">rank 0 (device 0), d0 chip</text>" in page
    assert "4 tasks, 0 dependencies, 2 signals between tasks (dashed)" in page
    for source, target in ((0, 1), (1, 0)):
        ends = f'data-pred="{source}-0-{FIRST + 1}" data-succ="{target}-0-{FIRST}"'
        assert f'class="edge signal" {ends}' in page


AUTOMATIC = """
y = self.waiter(data, sig, y)
data = self.publisher(x, data, sig)
first: pl.Scalar[pl.FP32] = pl.read(y, [0, 0])
if first > 0.0:
    data = self.publisher(x, data, sig)
return y
"""


def test_tasks_wait_for_those_that_wrote_what_they_take_in_the_order_of_the_program(record: Any) -> None:
    """The waiter ends behind the first publisher, and is the earlier task all the same."""
    folder = record(exchange(AUTOMATIC), [XS, torch.zeros(2, 1, 8)], "frontend", enable_dep_gen=True)
    for rank in range(2):
        data = read(folder / f"rank{rank}" / "d0" / "deps.json")
        assert [task["name"] for task in data["tasks"]] == ["waiter", "publisher", "publisher"]
        edges = {(int(one["pred"]) - FIRST, int(one["succ"]) - FIRST) for one in data["edges"]}
        assert edges == {(1, 2)}
        assert {one["source"] for one in data["edges"]} == {"tensormap"}


def test_what_a_run_did_until_it_came_to_a_deadlock_is_recorded(record: Any, tmp_path: Path) -> None:
    node = exchange(MANUAL.format(deps=", deps=[t]"))
    with pytest.raises(RuntimeError, match="deadlock"):
        record(node, [XS, torch.zeros(2, 1, 8)], enable_chip_swimlane=1, enable_dep_gen=True)
    folder = tmp_path / "build" / "dfx_outputs"
    waits = [one for one in timeline(folder) if one.get("cat") == "wait"]
    assert [(one["pid"], one["name"]) for one in waits] == [
        (1, "wait sig[0, 0] >= 1"),
        (2, "wait sig[0, 0] >= 1"),
    ]
    edges = read(folder / "rank0" / "d0" / "deps.json")["edges"]
    assert [(one["pred"], one["succ"], one["source"]) for one in edges] == [
        (str(FIRST), str(FIRST + 1), "explicit")
    ]


def test_arguments_are_dumped_by_rank(record: Any, tmp_path: Path) -> None:
    ys = torch.zeros(2, 1, 8)
    folder = record(exchange(MANUAL.format(deps="")), [XS, ys], enable_dump_args=2)
    build = str(folder.parent)
    listed = CliRunner().invoke(main, ["args", build, "--rank", "1", "--stage", "after"])
    assert listed.exit_code == 0, listed.output
    assert [line.split("  ")[0] for line in listed.output.splitlines()] == ["rank 1 d0 r1t1"] * 2 + [
        "rank 1 d0 r1t0"
    ]
    saved = tmp_path / "y.pt"
    given = ["--rank", "1", "--task", "r1t0", "--stage", "after", "--arg", "y", "--save", str(saved)]
    assert CliRunner().invoke(main, ["args", build, *given]).exit_code == 0
    assert torch.equal(torch.load(saved), torch.full((1, 8), 7.0)), "rank 0 has sent its 7"
    none = CliRunner().invoke(main, ["args", build, "--rank", "2"])
    assert none.exit_code != 0
    assert "tasks: rank 0 d0 r1t0" in str(none.output) + str(none.exception)


def sums_of_the_host(ranks: int) -> ir.Program:
    """A dispatch of each rank, a collective of the host, and a second dispatch."""
    row, out = tensor(1, 8), tensor(1, 8, way="Out")
    data, io = window(1, 8), window(1, 8, way="InOut")
    copy = "{to} = pl.store(pl.load({of}, [0, 0], [1, 8]), [0, 0], {to})\nreturn {to}"
    put_in = "data = self.put_in(x, data)\nreturn data"
    take_out = "y = self.take_out(data, y)\nreturn y"
    return program(
        function("InCore", "put_in", f"x: {row}, data: {io}", copy.format(to="data", of="x"), data),
        function("InCore", "take_out", f"data: {data}, y: {out}", copy.format(to="y", of="data"), row),
        function("Orchestration", "publish", f"x: {row}, data: {data}", put_in, data),
        function("Orchestration", "consume", f"y: {out}, data: {data}", take_out, row),
        host(
            "data [1, 8] FP32",
            """
for r in pl.range(pld.world_size()):
    self.publish(xs[r], data_w, device=r)
data_w = pld.tensor.allreduce(data_w, op=pld.ReduceOp.Sum)
for r in pl.range(pld.world_size()):
    self.consume(ys[r], data_w, device=r)
return ys
""",
            f"xs: {tensor(ranks, 1, 8)}, ys: {tensor(ranks, 1, 8, way='Out')}",
            tensor(ranks, 1, 8),
        ),
    )


def test_collectives_of_the_host_are_tasks_and_dispatches_follow_each_other(record: Any) -> None:
    ys = torch.zeros(2, 1, 8)
    folder = record(sums_of_the_host(2), [XS, ys], enable_chip_swimlane=1, enable_dep_gen=True)
    assert torch.equal(ys, torch.full((2, 1, 8), 15.0))
    index = read(folder / "ranks.json")["dispatches"]
    assert [(one["rank"], one["dispatch"], one["name"], one["tasks"]) for one in index] == [
        (rank, number, name, 1)
        for number, name in enumerate(["publish", "allreduce", "consume"])
        for rank in range(2)
    ]
    events = timeline(folder)
    ends = [(a["pid"], a["name"], b["pid"], b["name"]) for a, b in arrows(events, "follows")]
    assert sorted(ends) == [
        (pid, first, pid, second)
        for pid in (1, 2)
        for first, second in (("d0 publish", "d1 allreduce"), ("d1 allreduce", "d2 consume"))
    ]
    assert {one["name"] for one in events if one.get("cat") == "event"} == {
        "put_in(d0 r1t0)",
        "allreduce(d1 r1t0)",
        "take_out(d2 r1t0)",
    }


def test_kernels_that_only_move_are_recorded_too(record: Any) -> None:
    xs = torch.arange(2 * 64.0).reshape(2, 1, 64)
    folder = record(mesh_sum(2), [xs, torch.zeros(2, 1, 64)], enable_chip_swimlane=1)
    loads = [one["name"] for one in timeline(folder) if one.get("cat") == "remote load"]
    assert len(loads) == 2
