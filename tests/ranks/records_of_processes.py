"""What runs record whose ranks are processes: as with threads; ``test_processes.py`` runs this file."""

from __future__ import annotations

import csv
import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from mpi4py import MPI
from ranks.ranked import counted
from ranks.test_kernels import mesh_sum
from ranks.test_rank_records import MANUAL, arrows, sums_of_the_host
from ranks.test_tasks import XS, exchange

from pypto_tmpl import ir
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.execution.choice import choose_engine
from pypto_tmpl.runtime import execute_compiled

RANKS = MPI.COMM_WORLD.size
ALL = {"enable_chip_swimlane": 4, "enable_dep_gen": True, "enable_pmu": 2, "enable_dump_args": 2}
FIRST_GENERATION = {"enable_l2_swimlane": True, "enable_dump_tensor": True}
TOOK = re.compile(r"[\d.]+ us")
pytestmark = pytest.mark.filterwarnings("ignore:signals are left over:RuntimeWarning")
of_two = pytest.mark.skipif(RANKS != 2, reason="is for 2 ranks")


@pytest.fixture
def both(tmp_path: Path) -> Any:
    """Runs a program by threads and by processes; gives the folders of what was recorded."""

    def run(node: ir.Program, *args: torch.Tensor, raises: str = "", **flags: Any) -> list[Path]:
        folders = []
        for engine in ("threads", "mpi"):
            place = tmp_path / engine / "build"
            place.mkdir(parents=True)
            build = compile_program(node, place, compile_options({"stage": "last"})).directory
            choose_engine(engine)
            try:
                with pytest.raises(RuntimeError, match=raises) if raises else nullcontext():
                    execute_compiled(build, [arg.clone() for arg in args], **flags)
            finally:
                choose_engine("threads")
            folders.append(build / "dfx_outputs")
        return folders

    return run


def described(folder: Path) -> dict[str, Any]:
    """What files hold that times, addresses and the order of ranks do not change, by their names."""
    found = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = re.sub(r"_\d{8}_\d{6}", "", path.relative_to(folder).as_posix())
        found[name] = next(
            (told(path) for pattern, told in TOLD.items() if path.match(pattern)), path.read_bytes()
        )
    return found


def as_json(path: Path) -> Any:
    return json.loads(path.read_text())


def stretches(path: Path) -> Any:
    data = as_json(path)
    cores = [sorted(row[:2] for row in data.pop("aicore_tasks")), len(data.pop("aicpu_tasks", ()))]
    return data, cores


def bars_and_arrows(path: Path) -> Any:
    events = as_json(path)["traceEvents"]
    bars = sorted((one["pid"], one["cat"], one["name"]) for one in events if one["ph"] == "X")
    ends = {
        name: sorted((a["pid"], a["name"], b["pid"], b["name"]) for a, b in arrows(events, name))
        for name in ("signal", "write", "follows")
    }
    return [one["args"] for one in events if one["name"] == "process_name"], bars, ends


def dumped(path: Path) -> Any:
    """The index by arguments, and the data of those that are no windows."""
    index = as_json(path)
    data = (path.parent / "args.bin").read_bytes() if index["bin_file"] else b""
    entries = sorted(
        index.pop("args"), key=lambda one: (one["task_id"], one["stage"], one["arg_index"], one["name"])
    )
    places = {one["name"]: one.pop("bin_offset", 0) for one in entries if one["name"] in ("x", "y")}
    held = {name: data[at : at + 4 * 8] for name, at in places.items()}
    return index, [{**one, "bin_offset": 0} for one in entries], held, len(data)


def work(path: Path) -> Any:
    """Bytes that MPI moves are none of torch's."""
    rows = [*csv.DictReader(path.read_text().splitlines())]
    return sorted((row["task_id"], row["core_id"], row["elements"], row["flops"]) for row in rows)


TOLD: dict[str, Any] = {
    "deps.json": lambda path: re.sub(r'"buffer_addr": "\d+"', "", path.read_text()),
    "deps_graph.html": lambda path: TOOK.sub("", path.read_text()),
    "chip_swimlane_records.json": stretches,
    "merged_swimlane_*.json": bars_and_arrows,
    "args_dump.json": dumped,
    "args.bin": lambda path: path.stat().st_size,
    "pmu.csv": work,
    "pmu_ops.csv": lambda path: None,
}


def assert_same(folders: list[Path]) -> dict[str, Any]:
    by_threads, by_processes = map(described, folders)
    assert list(by_threads) == list(by_processes)
    for name, told in by_threads.items():
        assert told == by_processes[name], name
    return by_processes


@of_two
@pytest.mark.parametrize("flags", [ALL, FIRST_GENERATION], ids=["second", "first"])
def test_tasks_of_all_ranks_are_recorded(both: Any, flags: dict[str, Any]) -> None:
    folders = both(exchange(MANUAL.format(deps="")), XS, torch.zeros(2, 1, 8), **flags)
    if flags is ALL:
        found = assert_same(folders)
        assert len(found["ranks.json"]) and found["rank1/d0/args_dump/args.bin"]
        _, bars, ends = found["merged_swimlane.json"]
        assert (2, "event", "publisher(d0 r1t1)") in bars
        assert len(ends["signal"]) == len(ends["write"]) == 2
    else:
        names = [{path.relative_to(one) for path in one.rglob("*.json")} for one in folders]
        assert {re.sub(r"_\d{8}_\d{6}", "", str(one)) for one in names[0]} == {
            re.sub(r"_\d{8}_\d{6}", "", str(one)) for one in names[1]
        }
        assert (folders[1] / "rank1" / "d0" / "tensor_dump" / "tensor_dump.bin").stat().st_size


def test_kernels_of_all_ranks_are_recorded(both: Any) -> None:
    xs = counted(RANKS, 1, 64)
    assert_same(both(mesh_sum(RANKS), xs, torch.zeros(RANKS, 1, 64), **{**ALL, "enable_dump_args": 3}))


def test_collectives_and_dispatches_of_all_ranks_are_recorded(both: Any) -> None:
    found = assert_same(both(sums_of_the_host(RANKS), counted(RANKS, 1, 8), torch.zeros(RANKS, 1, 8), **ALL))
    held = [found[f"rank{rank}/d2/args_dump/args_dump.json"][2]["y"] for rank in range(RANKS)]
    total = counted(RANKS, 1, 8).sum(0)
    assert held == [total.numpy().tobytes()] * RANKS


@of_two
def test_a_deadlock_is_recorded_on_all_ranks(both: Any) -> None:
    node = exchange(MANUAL.format(deps=", deps=[t]"))
    flags = {"enable_chip_swimlane": 1, "enable_dep_gen": True}
    found = assert_same(both(node, XS, torch.zeros(2, 1, 8), raises="deadlock", **flags))
    _, bars, _ = found["merged_swimlane.json"]
    assert [(pid, name) for pid, kind, name in bars if kind == "wait"] == [
        (1, "wait sig[0, 0] >= 1"),
        (2, "wait sig[0, 0] >= 1"),
    ]
