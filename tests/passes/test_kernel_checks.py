"""MixedKernelExpanded, AllocatedMemoryAddr and ReturnParamsExplicit of kernels that break them."""

import pytest
from codegen.builders import AIV, FP32, U, Vec, as_expr, assign, function, program, scalar
from passes.found import found

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes import checks

P = ir.IRProperty
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
        slot: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        t: pl.Tile[[64, 64], pl.FP32, pl.MemRef(slot, 2048, 16384), pl.Mem.Vec] = pl.load(x, [0, 0], [64, 64])
        done = pl.store(t, [0, 0], out)
        return done
"""
VEC = {BackendType.Ascend910B: 188416, BackendType.Ascend950: 245760}  # 184 and 240 KiB


def test_addresses_of_tiles_and_buffers():
    assert found(PLACED, P.AllocatedMemoryAddr) == []
    text = PLACED.replace("slot, 2048", "slot, -32")
    assert found(text, P.AllocatedMemoryAddr) == ["lane:5: the tile 't' has no address in Vec"]
    text = PLACED.replace("base=0", "base=-1")
    assert found(text, P.AllocatedMemoryAddr) == ["lane:3: the buffer 'slots' has no address"]


@pytest.mark.parametrize("chosen", BackendType)
def test_what_a_core_has_room_for(chosen):
    limit = VEC[chosen]
    fits = PLACED.replace("slot, 2048", f"slot, {limit - 16384}")
    assert found(fits, P.AllocatedMemoryAddr, chosen) == []
    what = (
        f"Vec buffer usage ({limit + 32} bytes) exceeds platform limit ({limit} bytes) in the kernel 'lane'"
    )
    over = PLACED.replace("slot, 2048", f"slot, {limit - 16352}")
    assert found(over, P.AllocatedMemoryAddr, chosen) == [f"lane:2: {what}"]
    assert found(over, P.AllocatedMemoryAddr) == []
    over = PLACED.replace("size=2048", f"size={limit + 32}")
    assert found(over, P.AllocatedMemoryAddr, chosen) == [f"lane:2: {what}"]


def test_the_last_slot_of_a_declared_buffer_counts():
    """Its slots begin at a place that only the run tells: 160 KiB, and two of 16 KiB."""
    index = scalar("i")
    slots = ir.MemRef(
        ir.Var("ring", ir.PtrType(), U), as_expr(163840) + index * 16384, 16384, slots=2, slot=index
    )
    tile = ir.Var("t", ir.TileType([64, 64], FP32, slots, None, Vec), U)
    node = program(function("k", [index], assign(tile, index), type=AIV))
    (item,) = checks.verify(node, [P.AllocatedMemoryAddr], facts_of(BackendType.Ascend910B))
    assert "Vec buffer usage (196608 bytes) exceeds platform limit (188416 bytes)" in item.message
    assert checks.verify(node, [P.AllocatedMemoryAddr], facts_of(BackendType.Ascend950)) == []


TENSOR = "pl.Tensor[[8, 8], pl.FP32]"
WRITES = f"""\
    @pl.function(type=pl.FunctionType.AIV)
    def lane(self, x: {TENSOR}, n: pl.Scalar[pl.INDEX], out: pl.Out[{TENSOR}]):
        t = pl.load(x, [0, 0], [8, 8])
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


GROUP = f"""\
    @pl.function(type=pl.FunctionType.Group)
    def group(self, x: {TENSOR}, n: pl.Scalar[pl.INDEX], out: pl.Out[{TENSOR}]):
        written = self.lane(x, n, out)
        return written
"""


def test_what_a_launch_returns_is_what_the_kernel_does():
    what = "group:9: 'group' returns 'written', which is the parameter 'out' written"
    assert found(WRITES + GROUP, P.ReturnParamsExplicit) == [what]
