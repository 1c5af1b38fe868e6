"""Checks of properties that need facts of ops or of the hardware: on recorded programs, and on broken ones."""

from pathlib import Path

import pytest
from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes import checks

P = ir.IRProperty
# The stages at which each property holds; a pass gives up AivSplitValid where it lowers the regions.
HOLDS = {
    P.AivSplitValid: range(9, 21),
    P.MixedKernelExpanded: range(22, 50),
    P.HardSyncallOccupancyValid: range(22, 50),
    P.ReturnParamsExplicit: range(26, 50),
    P.AllocatedMemoryAddr: range(35, 50),
    P.DistTensorCtxMaterialized: range(44, 50),
}
TESTS = Path(__file__).parents[1]
DUMPS = [
    path
    for corpus in ("corpus", "pass_corpus")
    for path in sorted(TESTS.glob(f"{corpus}/dumps/*/*/*.msgpack"))
]


@pytest.mark.parametrize(
    "path",
    [path for path in DUMPS if int(path.name[:2]) >= 9],
    ids=lambda path: f"{path.parts[-3]}-{path.stem}",
)
def test_the_properties_hold_of_recorded_programs(path):
    node = ir.deserialize_from_file(str(path))
    wanted = [one for one, stages in HOLDS.items() if int(path.name[:2]) in stages]
    assert checks.verify(node, wanted, facts_of(BackendType[path.parent.name])) == []


BEFORE = {  # recorded stages at which a property does not hold yet
    P.AivSplitValid: "pass_corpus/dumps/lane_regions_of_two_modes/Ascend910B/00_frontend.py",
    P.MixedKernelExpanded: "corpus/dumps/mixed_bidirect_none/Ascend910B/18_after_InferTileMemorySpace.py",
    P.ReturnParamsExplicit: "corpus/dumps/carried_swap/Ascend910B/22_after_ExpandMixedKernel.py",
    P.AllocatedMemoryAddr: "corpus/dumps/mixed_bidirect_none/Ascend910B/34_after_MemoryReuse.py",
    P.DistTensorCtxMaterialized: "pass_corpus/dumps/two_domains/Ascend910B/43_after_LowerHostTensorCollectives.py",
}


@pytest.mark.parametrize("wanted", BEFORE, ids=lambda wanted: wanted.name)
def test_the_properties_do_not_hold_before_their_pass(wanted):
    assert checks.verify(pl.loads(TESTS / BEFORE[wanted]), [wanted])


PRINTED = "# pypto.program: p"  # the form in which a kernel may have regions


def found(text: str, wanted: ir.IRProperty, chosen: BackendType | None = None) -> list[str]:
    """What is found in functions, of which ``text`` begins with the first: function, line, and message."""
    head = PRINTED + HEAD
    facts = None if chosen is None else facts_of(chosen)
    return [
        f"{item.function}:{item.span.begin_line - head.count(chr(10))}: {item.message}"
        for item in checks.verify(pl.parse(head + text), [wanted], facts)
    ]


CUBE = """\
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX]):
        there = pl.import_peer_buffer(name="down", peer_func="lane")
        own = pl.reserve_buffer(name="up", size=2048, base=0)
        pl.aic_initialize_pipe(there, own, dir_mask=3, slot_size=1024, slot_num=2)
        a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        pl.tpush_to_aiv(a, split=0)
        b: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
        pl.tfree_to_aiv(b)
"""
SETUP = "        pl.aic_initialize_pipe(there, own, dir_mask=3, slot_size=1024, slot_num=2)\n"
IN_BRANCH = "        if n > 0:\n    " + SETUP
PUSH, POP, FREE = "tile.tpush_to_aiv", "tile.tpop_from_aiv", "system.tfree_to_aiv"


def no_setup(push: int, pop: int) -> list[str]:
    """What is found of a push and a pop in these lines, of a pipe that is not set up."""
    uses = ((push, PUSH, "a"), (pop, POP, "b"))
    what = "uses pipe 0, which nothing before it surely sets up"
    return [f"cube:{line}: {op} of the tile {name!r} {what}" for line, op, name in uses]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("slot_num=2)", "slot_num=2, id=4)", no_setup(7, 8)),
        (SETUP, IN_BRANCH, no_setup(8, 9)),
        (SETUP, IN_BRANCH + "        else:\n    " + SETUP, no_setup(10, 11)),
        ("dir_mask=3", "dir_mask=2", no_setup(7, 8)[:1]),
        ("dir_mask=3", "dir_mask=1", no_setup(7, 8)[1:]),
        (
            "slot_num=2",
            "slot_num=3",
            ["cube:5: the buffer 'up' of 2048 bytes is too small for slots of 3072 bytes"],
        ),
        (
            "slot_size=1024",
            "slot_size=512",
            [
                f"cube:7: {PUSH} transfers the tile 'a' of 1024 bytes through slots of 512 bytes",
                f"cube:8: {POP} transfers the tile 'b' of 1024 bytes through slots of 512 bytes",
            ],
        ),
        (
            "pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat]",
            "pl.Tile[[n, 16], pl.FP32, pl.Mem.Mat]",
            [f"cube:8: {POP} transfers the tile 'b', whose extents are no constants"],
        ),
        (
            "pl.FP32, pl.Mem.Mat]",
            "pl.FP32, pl.Mem.Left]",
            [f"cube:8: {POP} gives the tile 'b' in Left, not in Mat"],
        ),
        ("        pl.tfree_to_aiv(b)\n", "", [f"cube:8: the tile 'b' of {POP} is freed 0 times, not once"]),
        (
            "pl.tfree_to_aiv(b)",
            "pl.tfree_to_aiv(b)\n        pl.tfree_to_aiv(b)",
            [f"cube:8: the tile 'b' of {POP} is freed 2 times, not once"],
        ),
        (
            "pl.tfree_to_aiv(b)",
            "pl.tfree_to_aiv(a)",
            [
                f"cube:9: {FREE} frees 'a', which was not popped before",
                f"cube:8: the tile 'b' of {POP} is freed 0 times, not once",
            ],
        ),
        (
            "pl.tfree_to_aiv(b)",
            "pl.tfree_to_aiv(b, id=1)",
            [f"cube:9: {FREE} frees 'b' at pipe 1, which {POP} popped from pipe 0"],
        ),
        (
            "FunctionType.AIC",
            "FunctionType.AIV",
            [
                f"cube:{line}: {op} is of a cube core and stands in an AIV function"
                for line, op in ((5, "system.aic_initialize_pipe"), (7, PUSH), (8, POP), (9, FREE))
            ],
        ),
    ],
)
def test_pipes(old, new, expected):
    assert old in CUBE
    assert found(CUBE.replace(old, new, 1) if old else CUBE, P.MixedKernelExpanded) == expected


MIXED = """\
    @pl.function(type=pl.FunctionType.InCore)
    def mixed(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        b = pl.load(x, [0, 0], [16, 16])
        done = pl.store(pl.exp(b), [0, 0], out)
        return done
"""


def test_a_kernel_of_both_cores():
    what = "mixed:2: the kernel 'mixed' has work of the cube core and of a vector core"
    assert found(MIXED, P.MixedKernelExpanded) == [what]
    assert found(MIXED.replace(", target_memory=pl.Mem.Mat", ""), P.MixedKernelExpanded) == []


PLACED = """\
    @pl.function(type=pl.FunctionType.AIV)
    def lane(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        slots = pl.reserve_buffer(name="slots", size=2048, base=0)
        mem_vec_0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        t: pl.Tile[[64, 64], pl.FP32, pl.MemRef(mem_vec_0, 2048, 16384), pl.Mem.Vec] = pl.load(x, [0, 0], [64, 64])
        done = pl.store(t, [0, 0], out)
        return done
"""
VEC = {BackendType.Ascend910B: 188416, BackendType.Ascend950: 245760}  # 184 and 240 KiB


def test_addresses_of_tiles_and_buffers():
    assert found(PLACED, P.AllocatedMemoryAddr) == []
    text = PLACED.replace("mem_vec_0, 2048", "mem_vec_0, -32")
    assert found(text, P.AllocatedMemoryAddr) == ["lane:5: the tile 't' has no address in Vec"]
    text = PLACED.replace("base=0", "base=-1")
    assert found(text, P.AllocatedMemoryAddr) == ["lane:3: the buffer 'slots' has no address"]


@pytest.mark.parametrize("chosen", BackendType)
def test_what_a_core_has_room_for(chosen):
    limit = VEC[chosen]
    fits = PLACED.replace("mem_vec_0, 2048", f"mem_vec_0, {limit - 16384}")
    assert found(fits, P.AllocatedMemoryAddr, chosen) == []
    what = (
        f"Vec buffer usage ({limit + 32} bytes) exceeds platform limit ({limit} bytes) in the kernel 'lane'"
    )
    over = PLACED.replace("mem_vec_0, 2048", f"mem_vec_0, {limit - 16352}")
    assert found(over, P.AllocatedMemoryAddr, chosen) == [f"lane:2: {what}"]
    assert found(over, P.AllocatedMemoryAddr) == []
    over = PLACED.replace("size=2048", f"size={limit + 32}")
    assert found(over, P.AllocatedMemoryAddr, chosen) == [f"lane:2: {what}"]


def test_the_last_slot_of_a_declared_buffer_counts():
    """Its slots begin at a place that only the run tells: 160 KiB, and two of 16 KiB."""
    name = ir.Var("ring", ir.PtrType(), ir.Span.unknown())
    index = ir.Var("i", ir.ScalarType(ir.DataType.INDEX), ir.Span.unknown())
    start = ir.ConstInt(163840, ir.DataType.INDEX, ir.Span.unknown())
    slots = ir.MemRef(name, start + index * 16384, 16384, slots=2, slot=index)
    type_ = ir.TileType([64, 64], ir.DataType.FP32, slots, None, ir.MemorySpace.Vec)
    taken = ir.AssignStmt(ir.Var("t", type_, ir.Span.unknown()), index, ir.Span.unknown())
    kernel = ir.Function("k", [index], [], taken, ir.Span.unknown(), ir.FunctionType.AIV)
    node = ir.Program([kernel], "p", ir.Span.unknown())
    (item,) = checks.verify(node, [P.AllocatedMemoryAddr], facts_of(BackendType.Ascend910B))
    assert "Vec buffer usage (196608 bytes) exceeds platform limit (188416 bytes)" in item.message
    assert checks.verify(node, [P.AllocatedMemoryAddr], facts_of(BackendType.Ascend950)) == []


WRITES = """\
    @pl.function(type=pl.FunctionType.AIV)
    def lane(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        t = pl.load(x, [0, 0], [16, 16])
        done = pl.store(t, [0, 0], out)
        return out
"""
LOOP = """\
        for i, (c,) in pl.range(n, init_values=(out,)):
            d = pl.store(t, [0, 0], c)
            r = pl.yield_(d)
        return r
"""
BRANCH = """\
        if n > 0:
            d = pl.store(t, [0, 0], out)
            r = pl.yield_(d)
        else:
            r = pl.yield_(out)
        return r
"""


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("        return out\n", None),
        ("        return done\n", "done"),
        ("        again = done\n        return again\n", "again"),
        (LOOP, "r"),
        (LOOP.replace("pl.yield_(d)", "pl.yield_(x)"), None),
        (BRANCH, "r"),
        (BRANCH.replace("pl.yield_(out)", "pl.yield_(x)"), None),
    ],
)
def test_what_kernels_return(body, name):
    text = WRITES.replace("        return out\n", body)
    line = 4 + body.count("\n")
    what = f"lane:{line}: 'lane' returns {name!r}, which is the parameter 'out' written"
    assert found(text, P.ReturnParamsExplicit) == ([] if name is None else [what])


GROUP = """\
    @pl.function(type=pl.FunctionType.Group)
    def group(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        written = self.lane(x, n, out)
        return written
"""


def test_what_a_launch_returns_is_what_the_kernel_does():
    what = "group:9: 'group' returns 'written', which is the parameter 'out' written"
    assert found(WRITES + GROUP, P.ReturnParamsExplicit) == [what]


REGION = """\
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        pl.func_attr({"split_aiv": True, "split": pl.SplitMode.UP_DOWN})
        c = pl.create_tile([32, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            half = pl.aiv_shard(c)
            out = pl.store(half, [lane * 16, 0], out)
        return out
"""
SHARD = "            half = pl.aiv_shard(c)\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        (
            SHARD,
            "            half = pl.tile.aiv_shard(c, split=2)\n",
            ["kernel:6: tile.aiv_shard has split=2 in a lane region of split 1 (UP_DOWN)"],
        ),
        (
            "        return",
            "        rest = pl.tile.aiv_shard(c, split=1)\n        return",
            ["kernel:8: tile.aiv_shard stands outside of all lane regions"],
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
    assert found(REGION.replace(old, new, 1) if old else REGION, P.AivSplitValid) == expected


def test_a_lane_region_in_another_one():
    inner = ir.SplitAivScopeStmt(
        ir.SplitMode.NONE, body=ir.SeqStmts([], ir.Span.unknown()), span=ir.Span("k.py", 4, 1, 4, 1)
    )
    outer = ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=inner, span=ir.Span("k.py", 3, 1, 3, 1))
    attrs = {"split_aiv": True}
    kernel = ir.Function("k", [], [], outer, ir.Span.unknown(), ir.FunctionType.InCore, attrs=attrs)
    (item,) = checks.verify(ir.Program([kernel], "p", ir.Span.unknown()), [P.AivSplitValid])
    assert (item.message, item.span.begin_line) == ("a lane region stands in another one", 4)
    assert (
        checks.verify(
            ir.Program(
                [ir.Function("k", [], [], inner, ir.Span.unknown(), ir.FunctionType.InCore, attrs=attrs)],
                "p",
                ir.Span.unknown(),
            ),
            [P.AivSplitValid],
        )
        == []
    )


def test_boundaries_of_a_kernel_that_is_lowered_by_hand():
    text = REGION.replace(
        "        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):\n",
        "        lane = pl.tile.get_subblock_idx()\n",
    )
    text = text.replace(SHARD, "        half = pl.tile.aiv_shard(c, split=1)\n").replace(
        "            out", "        out"
    )
    assert found(text, P.AivSplitValid) == []
