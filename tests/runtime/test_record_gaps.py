"""What a timeline cannot show as it was, and what records say where they have nothing to hold."""

import ctypes
import json
import warnings
from pathlib import Path

import pytest
import torch
from runtime import kernels

import pypto_tmpl.language as pl
from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.runtime import execute_compiled
from pypto_tmpl.runtime.records.model import FIRST_TASK, CoreRecord, Edge, Records, Task
from pypto_tmpl.runtime.records.trace_events import merged_swimlane

CORPUS = Path(__file__).resolve().parents[1] / "corpus/dumps"


@pytest.fixture
def recorded(tmp_path):
    """Runs a program with flags; gives the folder of the records and the texts of the warnings."""

    def run(program, args, **flags):
        build = tmp_path / "build"
        build.mkdir(exist_ok=True)
        directory = compile_program(program, build, compile_options({"stage": "frontend"})).directory
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            execute_compiled(directory, args, **flags)
        return directory / "dfx_outputs", [str(one.message) for one in caught]

    return run


def stretch(number, core, start, end, task=FIRST_TASK):
    kind = "aic" if core < 24 else "aiv"
    return CoreRecord(number, task, 0, core, kind, 0, start, end)


def events_of(*tasks):
    for task in tasks:
        task.dispatched, task.finished = 1, 10_000
    return merged_swimlane(Records(list(tasks), ["k"]))["traceEvents"]


def test_stretches_that_overlap_on_a_core_have_lanes_of_their_own():
    """Two stretches inside of another, one after the other; and two that overlap without one in the other."""
    rows = [
        stretch(0, 24, 1000, 9000),
        stretch(1, 24, 2000, 4000),
        stretch(2, 24, 4000, 5000),
        stretch(3, 0, 1000, 3000),
        stretch(4, 0, 2000, 8000),
        stretch(5, 0, 3000, 5000),
        stretch(6, 0, 4000, 4500),
    ]
    events = events_of(Task(FIRST_TASK, "k", records=rows))
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    lanes = {event["id"]: names[event["tid"]] for event in events if event["ph"] == "X"}
    assert lanes == {
        0: "AIV_24",
        1: "AIV_24 (2)",
        2: "AIV_24 (2)",
        3: "AIC_0",
        4: "AIC_0 (2)",
        5: "AIC_0",
        6: "AIC_0 (3)",
    }
    order = {
        event["tid"]: event["args"]["sort_index"] for event in events if event["name"] == "thread_sort_index"
    }
    assert [names[tid] for tid in sorted(order, key=lambda tid: (order[tid], tid))] == [
        "AIC_0",
        "AIC_0 (2)",
        "AIC_0 (3)",
        "AIV_24",
        "AIV_24 (2)",
    ]


NESTED = """
@pl.program
class Nested:
    @pl.function(type=pl.FunctionType.AIC)
    def inner_aic(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        a: pl.Tile[[4, 8], pl.FP32, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [4, 8], target_memory=pl.Mem.Mat)

    @pl.function(type=pl.FunctionType.AIV)
    def inner_aiv(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        t: pl.Tile[[2, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [2, 8])
        r: pl.Tensor[[4, 8], pl.FP32] = pl.tile.store(t, [0, 0], out)

    @pl.function(type=pl.FunctionType.Group)
    def inner(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        self.inner_aic(x, out)
        self.inner_aiv(x, out)

    @pl.function(type=pl.FunctionType.AIC)
    def outer_aic(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        a: pl.Tile[[4, 8], pl.FP32, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [4, 8], target_memory=pl.Mem.Mat)

    @pl.function(type=pl.FunctionType.AIV)
    def outer_aiv(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        self.inner(x, out)
        t: pl.Tile[[2, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [2, 0], [2, 8])
        r: pl.Tensor[[4, 8], pl.FP32] = pl.tile.store(t, [2, 0], out)

    @pl.function(type=pl.FunctionType.Group)
    def outer(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN})
        self.outer_aic(x, out)
        self.outer_aiv(x, out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        self.outer(x, out)
"""


def test_no_bars_of_one_lane_overlap_in_groups_of_groups(recorded):
    x, out = torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)
    folder, _ = recorded(pl.parse("import pypto.language as pl\n" + NESTED), [x, out], enable_chip_swimlane=1)
    assert torch.equal(out, x)
    events = json.loads(next(folder.glob("merged_swimlane_*.json")).read_text())["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert {bar["name"].partition("(")[0] for bar in bars} >= {"inner_aic", "inner_aiv", "outer_aic"}
    for tid in {bar["tid"] for bar in bars}:
        times = sorted((bar["ts"], bar["ts"] + bar["dur"]) for bar in bars if bar["tid"] == tid)
        assert all(end <= start + 1e-6 for (_, end), (start, _) in zip(times, times[1:], strict=False))


@pytest.mark.parametrize(
    ("producer", "consumer", "arrow"),
    [
        ((1000, 2000), (3000, 4000), (1.999, 3.0)),
        ((1000, 5000), (3000, 4000), (3.0, 3.0)),  # ends later: the arrow leaves when the next one begins
        ((1000, 3000), (3000, 4000), (2.999, 3.0)),
        ((3500, 5000), (3000, 4000), (3.5, 3.5)),  # begins later
        ((4000, 5000), (3000, 4000), None),  # begins when the next one has ended
        ((3000, 3000), (3000, 3000), (3.0, 3.0)),  # no time at all
    ],
)
def test_no_arrow_leads_back_in_time(producer, consumer, arrow):
    second = FIRST_TASK + 1
    events = events_of(
        Task(FIRST_TASK, "k", records=[stretch(0, 0, *producer)]),
        Task(second, "k", edges=[Edge(FIRST_TASK, second)], records=[stretch(1, 24, *consumer, second)]),
    )
    times = [
        round(event["ts"] + 0.001, 3) for event in events if event["ph"] in "sf"
    ]  # the run began at 1 ns
    assert tuple(times) == (arrow or ())


ONLY_ORCHESTRATION = """
@pl.program
class NoTask:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[4], pl.FP32], n: pl.Scalar[pl.INT32]) -> pl.Tensor[[4], pl.FP32]:
        return x
"""


def test_a_run_without_a_task_says_so(recorded):
    program = pl.parse("import pypto.language as pl\n" + ONLY_ORCHESTRATION)
    folder, told = recorded(program, [torch.ones(4), ctypes.c_int32(0)], enable_pmu=2, enable_dump_args=1)
    assert told == ["no task ran on a core: the records hold nothing"]
    assert (folder / "pmu_empty.txt").read_text() == "There is no pmu.csv: no task ran on a core.\n"
    assert not (folder / "pmu.csv").exists()
    assert json.loads((folder / "args_dump/args_dump.json").read_text())["args"] == []


AIC, AIV = "main_incore_0_aic", "main_incore_0_aiv"
USED = {
    "a": ([AIV], "AIV0"),
    "b": ([AIC], "AIC"),
    "c": ([AIV], "AIV0"),
    "__gm_pipe_buffer": ([AIC, AIV], "AIC"),  # neither names it
}


@pytest.mark.corpus
@pytest.mark.parametrize("generation", ["enable_dump_args", "enable_dump_tensor"])
def test_arguments_of_a_mixed_kernel_are_those_of_the_members_that_use_them(recorded, generation):
    """The cube core multiplies a by b, the vector cores scale b's rows before that and add to c."""
    dump = CORPUS / "mixed_bidirect_up_down/Ascend910B/46_after_MaterializeRuntimeScopes.py"
    args = [torch.ones(*shape) for shape in ((32, 64), (64, 256), (32, 256))]
    level = 2 if generation == "enable_dump_args" else True
    folder, told = recorded(pl.loads(dump), args, **{generation: level, "enable_dep_gen": True})
    assert told == []
    names = json.loads(next(folder.glob("name_map_*.json")).read_text())["callable_id_to_name"]
    (index,) = folder.glob("*_dump/*.json")
    data = json.loads(index.read_text())
    found = {}
    for one in data.get("args") or data["tensors"]:
        ids = one["func_id"] if isinstance(one["func_id"], list) else [one["func_id"]]
        found[one["name"]] = ([names[str(number)] for number in ids], one["subtask_id"])
    # The first generation has room for one kernel.
    most = 2 if generation == "enable_dump_args" else 1
    assert found == {name: (users[:most], part) for name, (users, part) in USED.items()}


MARKED_ELSEWHERE = """
@pl.program
class MarkedElsewhere:
    @pl.function
    def main(
        self, x: pl.Tensor[[4], pl.FP32], z: pl.Tensor[[4], pl.FP32], y: pl.Out[pl.Tensor[[4], pl.FP32]]
    ):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="add", dumps=[x, z]):
            y: pl.Tensor[[4], pl.FP32] = pl.tensor.assemble(y, pl.tensor.adds(x, 1.0), [0])
        return y
"""


def test_a_mark_that_matches_nothing_is_told(recorded):
    program = pl.parse("# pypto.program: Marked\nimport pypto.language as pl\n" + MARKED_ELSEWHERE)
    folder, told = recorded(program, [torch.ones(4), torch.ones(4), torch.zeros(4)], enable_dump_args=1)
    assert told == ["nothing is dumped: add (r1t0) marks 'z', which it does not take"]
    entries = json.loads((folder / "args_dump/args_dump.json").read_text())["args"]
    assert [entry["name"] for entry in entries] == ["x"]


def test_a_program_that_marks_nothing_is_told(recorded):
    args = [torch.ones(4), torch.full((4,), 9.0)]
    folder, told = recorded(kernels.marked_scope(), args, enable_dump_args=1)
    assert told == []
    x, y = torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)
    folder, told = recorded(kernels.diamond(), [x, y], enable_dump_args=1)
    assert told == [
        "nothing is dumped: no task takes a tensor that the program marks (dumps=[...], pl.dump_tag);"
        " 2 dumps all arguments"
    ]
