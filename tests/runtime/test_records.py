"""Recorded tasks: a diamond of four tasks whose every figure is written by hand, and what tasks can be."""

import csv
import ctypes
import json
import struct
import warnings
from pathlib import Path

import pytest
import torch
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.runtime import execute_compiled
from pypto_tmpl.runtime.records.dependencies import Producers
from pypto_tmpl.runtime.records.model import Arg
from pypto_tmpl.runtime.records.tensors import Buffers

FIRST = 1 << 32  # ring 1, task 0
CORPUS = Path(__file__).resolve().parents[1] / "corpus/dumps"


@pytest.fixture
def record(tmp_path):
    """Runs a program with flags; gives the folder of what was recorded."""

    def run(program, args, **flags):
        build = tmp_path / "build"
        build.mkdir(exist_ok=True)
        directory = compile_program(program, build, compile_options({"stage": "frontend"})).directory
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            execute_compiled(directory, args, **flags)
        return directory / "dfx_outputs"

    return run


@pytest.fixture
def diamond(record):
    def run(**flags):
        x, y = torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)
        folder = record(kernels.diamond(), [x, y], **flags)
        assert y.flatten().tolist() == [(cell + 2.0) ** 2 for cell in range(32)]
        return folder

    return run


def read(path):
    return json.loads(path.read_text())


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_times_of_the_first_generation(diamond):
    folder = diamond(enable_l2_swimlane=True)
    data = read(folder / "l2_perf_records.json")
    assert (data["version"], data["simulated"]) == (1, True)
    keys = ("task_id", "func_id", "core_id", "core_type", "ring_id", "fanout", "fanout_count")
    assert [tuple(task[key] for key in keys) for task in data["tasks"]] == [
        (FIRST, 0, 24, "aiv", 1, [FIRST + 1, FIRST + 2], 2),
        (FIRST + 1, 0, 24, "aiv", 1, [FIRST + 3], 1),
        (FIRST + 2, 0, 24, "aiv", 1, [FIRST + 3], 1),
        (FIRST + 3, 1, 24, "aiv", 1, [], 0),
    ]
    times = ("dispatch_time_us", "start_time_us", "end_time_us", "finish_time_us")
    assert {*data["tasks"][0]} == {*keys, *times, "duration_us"}
    flat = [task[key] for task in data["tasks"] for key in times]
    assert flat == sorted(flat), "one task after another, and within each in this order"
    assert flat[0] == 0.0
    for task in data["tasks"]:
        assert task["duration_us"] == pytest.approx(task["end_time_us"] - task["start_time_us"], abs=2e-3)
    assert read(next(folder.glob("name_map_*.json"))) == {
        "level": 2,
        "orchestrator_name": None,
        "callable_id_to_name": {"0": "grow", "1": "join"},
    }


@pytest.mark.parametrize("level", [1, 4])
def test_times_of_the_second_generation(diamond, level):
    data = read(diamond(enable_chip_swimlane=level) / "chip_swimlane_records.json")
    assert data["chip_swimlane_level"] == level
    assert data["metadata"] == {
        "clock_freq_hz": 50_000_000,
        "num_cores": 72,
        "core_types": ["aic"] * 24 + ["aiv"] * 48,
        "simulated": True,
        "clock": "host",
    }
    assert [row[:3] for row in data["aicore_tasks"]] == [[24, FIRST + n, n] for n in range(4)]
    assert all(start <= end for *_, start, end in data["aicore_tasks"])
    assert ("aicpu_tasks" in data) == (level >= 2)
    if level >= 2:
        assert [row[:2] for row in data["aicpu_tasks"]] == [[24, n] for n in range(4)]
    assert "aicpu_scheduler_phases" not in data  # nothing schedules on the host: no phases are made up


def test_the_timeline(diamond):
    folder = diamond(enable_chip_swimlane=1)
    (path,) = folder.glob("merged_swimlane_????????_??????.json")
    data = read(path)
    events = data["traceEvents"]
    assert data["otherData"] == {"simulated": True, "clock": "host"}
    bars = [event for event in events if event["ph"] == "X"]
    assert [(bar["name"], bar["tid"], bar["args"]["taskId"]) for bar in bars] == [
        ("grow(r1t0)", 24, FIRST),
        ("grow(r1t1)", 24, FIRST + 1),
        ("grow(r1t2)", 24, FIRST + 2),
        ("join(r1t3)", 24, FIRST + 3),
    ]
    assert bars[3]["args"]["event-hint"] == "Task:r1t3, FuncId:1, CoreId:24"
    assert [bar["args"]["fanin-hint"] for bar in bars] == ["none", "r1t0", "r1t0", "r1t1, r1t2"]
    assert [bar["args"]["fanout-hint"] for bar in bars] == ["r1t1, r1t2", "r1t3", "r1t3", "none"]
    ends = {bar["ts"] + bar["dur"]: bar["args"]["taskId"] - FIRST for bar in bars}
    starts = {bar["ts"]: bar["args"]["taskId"] - FIRST for bar in bars}
    tails = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    heads = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}

    def nearest(time, known):
        return known[min(known, key=lambda one: abs(one - time))]

    arrows = [(nearest(tails[n], ends), nearest(heads[n], starts)) for n in tails]
    assert tails.keys() == heads.keys()
    spans = [(bar["ts"], bar["ts"] + bar["dur"]) for bar in bars]
    for time in (*tails.values(), *heads.values()):  # viewers bind an end of an arrow to the bar around it
        assert any(start <= time < end for start, end in spans)
    assert arrows == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert all(event["bp"] == "e" for event in events if event["ph"] == "f")
    names = {(e["name"], e["tid"]): e["args"] for e in events if e["ph"] == "M"}
    assert names["thread_name", 24] == {"name": "AIV_24"}
    assert "simulated" in names["process_name", 0]["name"]


def test_the_graph(diamond):
    folder = diamond(enable_dep_gen=True)
    data = read(folder / "deps.json")
    tasks = {task["task_id"]: task for task in data["tasks"]}
    assert [*tasks] == [str(FIRST + n) for n in range(4)]
    assert tasks[str(FIRST + 3)] == {
        "task_id": str(FIRST + 3),
        "name": "join",
        "scope": "auto",
        "kernel_ids": [-1, 1, -1],
        "block_num": 1,
        "args": [
            {
                "idx": index,
                "name": name,
                "type": type_,
                "tensor_id": tensor,
                "dtype": "FLOAT32",
                "shape": [4, 8],
                "start_offset": "0",
                "strides": [8, 1],
            }
            for index, name, type_, tensor in (
                (0, "a", "INPUT", "3"),
                (1, "b", "INPUT", "4"),
                (2, "o", "OUTPUT", "5"),
            )
        ],
    }
    assert [(tensor["tensor_id"], tensor["buffer_numel"]) for tensor in data["tensors"]] == [
        (str(number), "32") for number in range(1, 6)
    ]
    assert all(int(tensor["buffer_addr"]) > 0 for tensor in data["tensors"])
    whole = {"shape": [4, 8], "start_offset": "0", "strides": [8, 1]}
    assert data["edges"] == [
        {
            "pred": str(FIRST + pred),
            "succ": str(FIRST + succ),
            "arg": arg,
            "source": "tensormap",
            "flags": ["wait"],
            "overlap": "covered",
            "tensor_id": tensor,
            "consumer_dtype": "FLOAT32",
            **{f"{side}_{key}": value for side in ("consumer", "producer") for key, value in whole.items()},
        }
        for pred, succ, arg, tensor in ((0, 1, 0, "2"), (0, 2, 0, "2"), (1, 3, 0, "3"), (2, 3, 1, "4"))
    ]


def test_the_work(diamond):
    """Each adds: 128 bytes in, 32 sums, 128 bytes out; the last one: 256 bytes in, 32 products."""
    folder = diamond(enable_pmu=True)
    rows = rows_of(folder / "pmu.csv")
    assert [*rows[0]] == [
        *("thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles"),
        *("elements", "bytes_moved", "flops", "event_type"),
    ]
    keys = ("core_id", "task_id", "func_id", "core_type", "elements", "bytes_moved", "flops", "event_type")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("24", "0x0000000100000000", "0", "1", "32", "256", "32", "2"),
        ("24", "0x0000000100000001", "0", "1", "32", "256", "32", "2"),
        ("24", "0x0000000100000002", "0", "1", "32", "256", "32", "2"),
        ("24", "0x0000000100000003", "1", "1", "32", "384", "32", "2"),
    ]
    last = [row for row in rows_of(folder / "pmu_ops.csv") if row["task_id"].endswith("3")]
    assert [(row["op"], row["calls"], row["elements"], row["bytes_moved"], row["flops"]) for row in last] == [
        ("copy_", "3", "0", "384", "0"),  # two loads and a store
        ("mul", "1", "32", "0", "32"),
    ]


def test_arguments_of_the_first_generation(diamond):
    folder = diamond(enable_dump_tensor=True)
    index = read(folder / "tensor_dump/tensor_dump.json")
    entries = index.pop("tensors")
    assert index == {
        "run_dir": "tensor_dump",
        "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
        "simulated": True,
        "total_tensors": 9,
        "before_dispatch": 5,
        "after_completion": 4,
        "input_tensors": 5,
        "output_tensors": 4,
        "inout_tensors": 0,
        "truncated_tensors": 0,
        "dropped_records": 0,
        "dropped_overwrite": 0,
        "bin_file": "tensor_dump.bin",
    }
    assert entries[-1] == {
        "task_id": "0x0000000100000003",
        "subtask_id": "AIV0",
        "name": "o",
        "role": "output",
        "stage": "after_completion",
        "func_id": 1,
        "arg_index": 2,
        "dtype": "FLOAT32",
        "shape": [4, 8],
        "raw_shape": [4, 8],
        "offsets": [0, 0],
        "is_contiguous": True,
        "truncated": False,
        "overwritten": False,
        "bin_offset": 8 * 128,
        "bin_size": 128,
    }
    data = (folder / "tensor_dump/tensor_dump.bin").read_bytes()
    assert len(data) == 9 * 128
    assert struct.unpack("<32f", data[-128:]) == tuple((cell + 2.0) ** 2 for cell in range(32))
    assert struct.unpack("<32f", data[:128]) == tuple(float(cell) for cell in range(32))


def test_levels_of_the_second_generation(record):
    """Level 1 is what the program marks, 2 everything, scalars in the index, 3 everything without data."""

    def dumped(level):
        args = [torch.ones(4), ctypes.c_float(1.5), torch.zeros(4)]
        folder = record(kernels.submits(), args, enable_dump_args=level) / "args_dump"
        index = read(folder / "args_dump.json")
        size = (folder / "args.bin").stat().st_size if index["bin_file"] else None
        return index, size

    index, size = dumped(1)
    assert [(e["task_id"][-1], e["name"], e["stage"]) for e in index["args"]] == [
        ("0", "o", "after_completion")
    ]
    assert size == 16
    index, size = dumped(2)
    kinds = [(e["task_id"][-1], e["name"], e["role"], e["kind"]) for e in index["args"]]
    one_task = [("a", "input", "tensor"), ("n", "input", "scalar"), ("o", "output", "tensor")]
    assert kinds == [(task, *rest) for task in "013" for rest in one_task]
    assert [e["value"] for e in index["args"] if e["kind"] == "scalar"] == [1.5] * 3
    assert (index["dump_args_level"], index["total_args"], size) == (2, 9, 6 * 16)
    index, size = dumped(3)
    assert (index["total_args"], index["bin_file"], size) == (9, None, None)


def test_a_scope_dumps_what_it_marks(record):
    args = [torch.ones(4), torch.full((4,), 9.0)]
    folder = record(kernels.marked_scope(), args, enable_dump_args=1) / "args_dump"
    entries = read(folder / "args_dump.json")["args"]
    assert [(e["task_id"][-1], e["name"], e["role"], e["stage"]) for e in entries] == [
        ("0", "y", "inout", "before_dispatch"),
        ("0", "y", "inout", "after_completion"),
    ]
    assert struct.unpack("<8f", (folder / "args.bin").read_bytes()) == (9.0,) * 4 + (2.0,) * 4


def test_stated_dependencies(record):
    """A manual scope: an empty task waits for two, a third for that; no_dep tensors order nothing."""
    args = [torch.ones(4), ctypes.c_float(1), torch.zeros(4)]
    data = read(record(kernels.submits(), args, enable_dep_gen=True) / "deps.json")
    assert [(t["name"], t["scope"], t["kernel_ids"]) for t in data["tasks"]] == [
        ("grow", "manual", [-1, 0, -1]),
        ("grow", "manual", [-1, 0, -1]),
        ("dummy", "manual", [-1, -1, -1]),
        ("grow", "manual", [-1, 0, -1]),
    ]
    assert [arg["type"] for arg in data["tasks"][1]["args"]] == ["NO_DEP", "OUTPUT"]
    edge = {"arg": -1, "source": "explicit", "flags": ["wait"]}
    assert data["edges"] == [
        {"pred": str(FIRST + pred), "succ": str(FIRST + succ), **edge}
        for pred, succ in ((0, 2), (1, 2), (2, 3))
    ]


def test_blocks_are_one_task_on_several_cores(record):
    x, y = torch.arange(48.0).reshape(6, 8), torch.zeros(6, 8)
    folder = record(kernels.blocks(), [x, y], enable_dep_gen=True, enable_l2_swimlane=True, enable_pmu=4)
    assert torch.equal(y, -x)
    (task,) = read(folder / "deps.json")["tasks"]
    assert (task["name"], task["block_num"], task["kernel_ids"]) == ("rows", 3, [-1, 0, -1])
    times = read(folder / "l2_perf_records.json")["tasks"]
    assert [(row["task_id"], row["core_id"]) for row in times] == [(FIRST, 24), (FIRST, 25), (FIRST, 26)]
    work = [(row["elements"], row["bytes_moved"], row["event_type"]) for row in rows_of(folder / "pmu.csv")]
    assert work == [("16", "64", "4")] * 3  # the rows that are stored; those that are loaded are views


@pytest.mark.parametrize(("n", "edges"), [(1, [(0, 1)]), (0, [])])
def test_a_launch_that_does_not_happen_is_a_task_that_ran_nothing(record, n, edges):
    x, y, z = torch.ones(4), torch.full((4,), 5.0), torch.zeros(4)
    args = [x, torch.tensor([n], dtype=torch.int32), y, z]
    folder = record(kernels.conditional(), args, enable_dep_gen=True, enable_l2_swimlane=True)
    assert z.tolist() == [3.0 if n else 6.0] * 4
    data = read(folder / "deps.json")
    assert [task["kernel_ids"] for task in data["tasks"]] == [[-1, 0 if n else -1, -1], [-1, 0, -1]]
    found = [(int(edge["pred"]) - FIRST, int(edge["succ"]) - FIRST) for edge in data["edges"]]
    assert found == edges
    ran = [task["task_id"] - FIRST for task in read(folder / "l2_perf_records.json")["tasks"]]
    assert ran == ([0, 1] if n else [1])


@pytest.mark.parametrize(
    ("kind", "edges"),
    [
        # Tasks 0, 2, 4 add, 1, 3, 5 negate, 6 doubles. Each iteration is for itself ...
        ("parallel", [(0, 1), (2, 3), (4, 5), (1, 6), (3, 6), (5, 6)]),
        # ... or goes on with the buffers as the one before left them.
        ("range", [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6)]),
    ],
)
def test_iterations_of_a_parallel_loop_do_not_wait_for_each_other(record, kind, edges):
    x, y, z = torch.arange(24.0).reshape(3, 8), torch.zeros(3, 8), torch.zeros(3, 8)
    data = read(record(kernels.rows_in_a_loop(kind), [x, y, z], enable_dep_gen=True) / "deps.json")
    assert torch.equal(z, -2 * (x + 1))
    assert [task["name"] for task in data["tasks"]] == ["grow", "negate"] * 3 + ["double"]
    found = {(int(edge["pred"]) - FIRST, int(edge["succ"]) - FIRST) for edge in data["edges"]}
    assert sorted(found) == sorted(edges)


def test_a_parallel_loop_that_runs_again_waits_for_its_last_run():
    """Two runs of two iterations that all write the whole of one buffer, and one reader in the end."""
    tensor, producers, args = torch.zeros(4), Producers(), []
    view = Buffers().view(tensor)
    edges = []
    places = [((0, run), ((run, iteration),)) for run in (1, 2) for iteration in (1, 2)]
    for task, place in enumerate([*places, None]):
        type_ = producers.type_of("Out" if place else "In", view, place)
        args.append(type_)
        edges += producers.submit(task, [Arg(0, "a", type_, view)], place)
    assert args == ["OUTPUT", "OUTPUT", "INOUT", "INOUT", "INPUT"]
    found = [(edge.pred, edge.succ) for edge in edges]
    assert found == [(0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 4)]


@pytest.mark.corpus
def test_a_mixed_kernel_is_one_task_on_three_cores(record):
    dump = CORPUS / "mixed_bidirect_up_down/Ascend910B/46_after_MaterializeRuntimeScopes.py"
    program = pl.loads(dump)
    args = [torch.ones(*shape) for shape in ((32, 64), (64, 256), (32, 256))]
    folder = record(program, args, enable_l2_swimlane=True, enable_pmu=2, enable_dep_gen=True)
    rows = read(folder / "l2_perf_records.json")["tasks"]
    assert sorted((row["core_id"], row["core_type"]) for row in rows) == [
        (0, "aic"),
        (24, "aiv"),
        (25, "aiv"),
    ]
    assert read(folder / "deps.json")["tasks"][0]["kernel_ids"] == [0, 1, 1]
    flops = {row["core_id"]: int(row["flops"]) for row in rows_of(folder / "pmu.csv")}
    assert flops["0"] == 4 * 2 * 32 * 64 * 64  # four products of [32, 64] x [64, 64]
    assert flops["24"] == flops["25"] == 4 * 2 * 16 * 64  # four times a product by a number and a sum


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["swiglu_scope", "flash_attention", "topk_sort", "jit_gelu_spmd"])
def test_scopes_that_run_in_place_are_the_tasks_that_they_become(record, name):
    """The graph of a program before any pass is that of its last stage."""
    from corpus_check import load_program

    graphs = []
    for dump in (lambda all: (all[0], all[-1]))(sorted((CORPUS / name / "Ascend910B").glob("*.py"))):
        values = load_program(CORPUS.parent / f"programs/{name}.py").make_inputs()
        data = read(record(pl.loads(dump), [*values.values()], enable_dep_gen=True) / "deps.json")
        edges = dict.fromkeys((edge["pred"], edge["succ"]) for edge in data["edges"])
        graphs.append((len(data["tasks"]), [task["block_num"] for task in data["tasks"]], [*edges]))
    assert graphs[0] == graphs[1]


def test_without_flags_nothing_is_recorded_and_the_script_is_the_same(record, tmp_path):
    x, y = torch.ones(4, 8), torch.zeros(4, 8)
    folder = record(kernels.diamond(), [x, y])
    script = (tmp_path / "build/torch/main.py").read_text()
    assert not folder.exists()
    record(kernels.diamond(), [x, y], enable_dep_gen=True, enable_pmu=2)
    assert (tmp_path / "build/torch/main.py").read_text() == script
    assert "dfx" not in script


def test_a_run_that_fails_leaves_what_it_recorded(record, tmp_path):
    with pytest.raises(RuntimeError, match="must match the size"):
        record(kernels.dynamic_sum(), [torch.ones(3), torch.ones(2), torch.zeros(3)], enable_dep_gen=True)
    assert read(tmp_path / "build/dfx_outputs/deps.json")["tasks"] == []


def test_an_edited_script_says_what_is_not_recorded(tmp_path):
    directory = compile_program(kernels.submits(), tmp_path, compile_options({"stage": "frontend"})).directory
    script = directory / "torch/main.py"
    script.write_text(script.read_text().replace("    return y\n", "    return y + 0\n", 1))
    args = [torch.ones(4), ctypes.c_float(1), torch.zeros(4)]
    with pytest.warns(UserWarning, match="the script was edited: of what it launches only whole functions"):
        execute_compiled(directory, args, enable_dep_gen=True)
    data = read(directory / "dfx_outputs/deps.json")
    assert [task["name"] for task in data["tasks"]] == ["grow", "grow", "grow"]
    assert data["edges"][0]["source"] == "tensormap"  # the second reads what the first wrote


def test_a_build_without_its_program(tmp_path):
    directory = compile_program(kernels.copy(), tmp_path, compile_options({"dump_passes": False})).directory
    with pytest.raises(ValueError) as caught:
        execute_compiled(directory, [torch.ones(4, 8), torch.zeros(4, 8)], enable_pmu=1)
    assert str(caught.value) == (
        f"error[records]: tasks cannot be recorded: {directory} has no intact dump of the program\n"
        "   = compile it with dump_passes=True"
    )


def test_scope_statistics_are_not_simulated(record):
    with pytest.warns(
        UserWarning, match="no records are written on a simulated platform for: enable_scope_stats"
    ):
        record(kernels.copy(), [torch.ones(4, 8), torch.zeros(4, 8)], enable_scope_stats=True)


def test_flags_that_do_not_exist(record):
    with pytest.raises(TypeError, match="has no knob 'enable_dep_graph'.*\n.*did you mean 'enable_dep_gen'"):
        record(kernels.copy(), [torch.ones(4, 8), torch.zeros(4, 8)], enable_dep_graph=True)
