"""AivSplitValid, HardSyncallOccupancyValid and DistTensorCtxMaterialized of programs that break them."""

import pytest
from codegen.builders import InCore, function, program, seq
from passes.found import PRINTED, found

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes import checks

P = ir.IRProperty
REGION = """\
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        pl.func_attr({"split_aiv": True, "split": pl.SplitMode.UP_DOWN})
        c: ACC = pl.tile.create([32, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            half: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.aiv_shard(c)
            done: pl.Tensor[[32, 32], pl.FP32] = pl.tile.store(half, [lane * 16, 0], out)
""".replace("ACC", "pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc]")
OUTSIDE = "        rest: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.aiv_shard(c, split=1)\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        (
            "        for lane",
            f"{OUTSIDE}        for lane",
            ["kernel:5: tile.aiv_shard stands outside of all lane regions"],
        ),
        (
            "aiv_shard(c)",
            "aiv_shard(c, split=2)",
            ["kernel:6: tile.aiv_shard has split=2 in a lane region of split 1 (UP_DOWN)"],
        ),
        (
            '"split_aiv": True, ',
            "",
            ["kernel:2: the kernel 'kernel' has lane regions, but no split_aiv=True"],
        ),
        ("UP_DOWN})", "LEFT_RIGHT})", ["kernel:2: the kernel 'kernel' has split 2, its lane regions have 1"]),
        (
            ', "split": pl.SplitMode.UP_DOWN',
            "",
            ["kernel:2: the kernel 'kernel' has split 0, its lane regions have 1"],
        ),
        (
            "FunctionType.InCore",
            "FunctionType.Orchestration",
            ["kernel:5: a lane region stands in the Orchestration function 'kernel'"],
        ),
    ],
)
def test_lane_regions(old, new, expected):
    assert old in REGION
    assert found(REGION.replace(old, new, 1) if old else REGION, P.AivSplitValid, head=PRINTED) == expected


def test_a_lane_region_in_another_one():
    def region(body: ir.Stmt, line: int) -> ir.Stmt:
        return ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=body, span=ir.Span("k.py", line, 1, line, 1))

    def found_in(body: ir.Stmt) -> list[tuple[str, int]]:
        kernel = function("k", [], body, type=InCore, split_aiv=True)
        return [
            (item.message, item.span.begin_line) for item in checks.verify(program(kernel), [P.AivSplitValid])
        ]

    inner = region(seq(), 4)
    assert found_in(inner) == []
    assert found_in(region(inner, 3)) == [("a lane region stands in another one", 4)]


def test_boundaries_of_a_kernel_that_has_no_regions_any_more():
    text = REGION[: REGION.index("        for lane")] + OUTSIDE
    assert found(text, P.AivSplitValid, head=PRINTED) == []
    plain = text.replace('"split_aiv": True, ', "")
    what = "kernel:5: tile.aiv_shard stands outside of all lane regions"
    assert found(plain, P.AivSplitValid, head=PRINTED) == [what]


TENSOR = "pl.Tensor[[16, 16], pl.FP32]"
BARRIER = f"""\
    @pl.function(type=pl.FunctionType.AIV)
    def lane(self, x: {TENSOR}, out: pl.Out[{TENSOR}]):
        pl.system.syncall(core_type="aiv_only")
        t = pl.load(x, [0, 0], [16, 16])
        done = pl.store(t, [0, 0], out)
        return done

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, x: {TENSOR}, out: pl.Out[{TENSOR}]):
        a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)

    @pl.function(type=pl.FunctionType.Group)
    def both(self, x: {TENSOR}, out: pl.Out[{TENSOR}]):
        self.cube(x, out)
        written = self.lane(x, out)
        return written

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {TENSOR}, out: pl.Out[{TENSOR}], n: pl.Scalar[pl.INDEX]):
        LAUNCH
        return out
"""
WAITS = "main:20: the launch of {!r}, which waits for all cores at a hard syncall, {}"
WHICH = "pl.spmd_submit(self.{}, x, out, core_num={}, sync_start={})"


def barrier(
    launch: str, chosen: BackendType | None = BackendType.Ascend910B, text: str = BARRIER
) -> list[str]:
    called = f"out, done = {launch}" if "submit" in launch else launch
    return found(text.replace("LAUNCH", called), P.HardSyncallOccupancyValid, chosen)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("lane", {BackendType.Ascend910B: 48, BackendType.Ascend950: 72}),
        ("both", {BackendType.Ascend910B: 24, BackendType.Ascend950: 36}),
    ],
)
@pytest.mark.parametrize("chosen", BackendType)
def test_who_waits_for_all_cores_has_all_cores(name, counts, chosen):
    """24 cube and 48 vector cores of the one, 36 and 72 of the other."""
    count = counts[chosen]
    assert barrier(WHICH.format(name, count, True), chosen) == []
    assert barrier(WHICH.format(name, "n", True), chosen) == []
    assert barrier(WHICH.format(name, 4, True), None) == []
    what = f"has 4 blocks for {count} cores of the {facts_of(chosen).name}"
    assert barrier(WHICH.format(name, 4, True), chosen) == [WAITS.format(name, what)]
    together = WAITS.format(name, "has no sync_start=True")
    assert barrier(WHICH.format(name, count, False), chosen) == [together]
    blocks = WAITS.format(name, "has no core_num")
    assert barrier(f"self.{name}(x, out)", chosen) == [together, blocks]
    assert barrier("self.cube(x, out)", chosen) == []


def test_a_soft_barrier_waits_for_those_that_it_counts():
    shared = 'mode="soft", core_type="aiv_only", gm_workspace=x, used_cores=4'
    text = BARRIER.replace('core_type="aiv_only"', shared).replace("pl.FP32", "pl.INT32")
    assert barrier(WHICH.format("lane", 4, False), text=text) == []


def test_calls_say_in_attributes_how_they_are_launched():
    text = """\
    @pl.function(type=pl.FunctionType.AIV)
    def lane(x: pl.Tensor[[16, 16], pl.FP32]):
        pl.system.syncall(core_type='aiv_only')
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32]):
        self.lane(x, attrs={"core_num": 48, "sync_start": True})
        self.lane(x, attrs={"core_num": 24, "sync_start": True})
        self.lane(x, attrs={"core_num": 48})
"""
    what = "the launch of 'lane', which waits for all cores at a hard syncall, has"
    assert found(text, P.HardSyncallOccupancyValid, BackendType.Ascend910B, PRINTED) == [
        f"main:7: {what} 24 blocks for 48 cores of the 910B",
        f"main:8: {what} no sync_start=True",
    ]


CONTEXTS = """\
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def step(self, data: pld.DistributedTensor[[16, 16], pl.FP32], data_ctx: pld.CommCtxType):
        pl.system.bar_all()
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, data: pld.DistributedTensor[[16, 16], pl.FP32]):
        data_ctx: pld.CommCtxType = pld.system.get_comm_ctx(data)
        self.step(data, data_ctx)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("(data, data_ctx)", "(data, data)", ["host:7: the call of 'step' gives no context for 'data_ctx'"]),
        (
            "data_ctx: pld.CommCtxType)",
            "n: pl.Scalar[pl.INDEX])",
            ["step:2: 'step' has 1 windows as parameters and 0 contexts"],
        ),
        (
            "pl.system.bar_all()",
            "asked: pld.CommCtxType = pld.system.get_comm_ctx(data)",
            ["step:3: 'step' asks for the context of a window instead of being given it"],
        ),
    ],
)
def test_contexts_of_windows(old, new, expected):
    text = CONTEXTS.replace(old, new, 1) if old else CONTEXTS
    assert old in CONTEXTS and found(text, P.DistTensorCtxMaterialized, head=PRINTED) == expected
