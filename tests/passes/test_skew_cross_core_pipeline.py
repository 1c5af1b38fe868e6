"""SkewCrossCorePipeline: pushes some rounds ahead of the pops that answer them, where nobody can tell."""

import pytest
import torch
from codegen.builders import run
from passes.kernels import body, program

from pypto_tmpl import passes
from pypto_tmpl.debug import torch_codegen

BOUNDED = {"bounded_pipes": True, "pipe_wait_timeout_sec": 5, "mixed_kernel_timeout_sec": 10}
HEAD = "x: pl.Tensor[[128, 16], pl.FP32], y: pl.InOut[pl.Tensor[[128, 16], pl.FP32]]"
MAT, VEC = "[16, 16], [16, 16], target_memory=pl.Mem.Mat", "[16, 16], [16, 16], target_memory=pl.Mem.Vec"
PROGRAM = """
    @pl.function(type=pl.FunctionType.AIC)
    def cube(HEAD):
        pl.system.aic_initialize_pipe(pl.const(0, pl.INT32), pl.const(0, pl.INT32), dir_mask=3, slot_size=1024, slot_num=SLOTS)
        w = pl.tile.load(x, [0, 0], MAT)
LOOP

    @pl.function(type=pl.FunctionType.AIV)
    def vector(HEAD):
        pl.system.aiv_initialize_pipe(pl.const(0, pl.INT32), pl.const(0, pl.INT32), dir_mask=3, slot_size=1024, slot_num=SLOTS)
PEER

    @pl.function(type=pl.FunctionType.Group)
    def both(HEAD):
        self.cube(x, y)
        self.vector(x, y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, HEAD):
        self.both(x, y)
"""  # noqa: E501
ASK = (
    "a = pl.tile.load(x, [i * 16, 0], MAT)",
    "al = pl.tile.move(a, target_memory=pl.Mem.Left)",
    "wr = pl.tile.move(w, target_memory=pl.Mem.Right)",
    "s = pl.tile.matmul(al, wr)",
    "pl.tile.tpush_to_aiv(s, split=0)",
)
ANSWER = (
    "p: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tile.tpop_from_aiv(split=0)",
    "pl_ = pl.tile.move(p, target_memory=pl.Mem.Left)",
    "pl.system.tfree_to_aiv(p, split=0)",
    "v = pl.tile.load(x, [i * 16, 0], MAT)",
    "vr = pl.tile.move(v, target_memory=pl.Mem.Right)",
    "c = pl.tile.matmul(pl_, vr)",
    "pl.tile.store(c, [i * 16, 0], y)",
)
PEER = (
    "for i in pl.range(8):",
    "    s: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)",
    "    e = pl.tile.muls(s, 0.5)",
    "    pl.system.tfree_to_aic(s, split=0)",
    "    pl.tile.tpush_to_aic(e, split=0)",
)
PUSHES_FIRST = (
    "z = pl.tile.load(x, [0, 0], VEC)",
    "for i in pl.range(8):",
    "    pl.tile.tpush_to_aic(z, split=0)",
    "    s: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)",
    "    pl.system.tfree_to_aic(s, split=0)",
)


def mixed(lines=(*ASK, *ANSWER), head="for i in pl.pipeline(8, stage=2):", peer=PEER, slots=2):
    """A cube core that asks and a vector core that answers."""
    indented = [f"        {line}\n" for line in (head, *(f"    {line}" for line in lines))]
    text = PROGRAM.replace("LOOP", "".join(indented)).replace("PEER", "".join(f"        {x}\n" for x in peer))
    for word, meaning in (("HEAD", HEAD), ("SLOTS", str(slots)), ("MAT", MAT), ("VEC", VEC)):
        text = text.replace(word, meaning)
    return program(text)


def skewed(node):
    """The lines of the cube core behind its set-up."""
    return body(passes.skew_cross_core_pipeline()(node), "cube")[2:]


def steps(lines):
    """What a function does with its pipes and with y, loop by loop."""
    words = {"tpush_to": "push", "tpop_from": "pop", "pl.tile.store": "store", "for ": "for"}
    found = [(word, line) for line in lines for key, word in words.items() if key in line]
    return [word if word != "for" else line.strip() for word, line in found]


def is_sequential(lines, rounds=8):
    return steps(lines) == [f"for i in pl.range({rounds}):", "push", "pop", "store"]


def test_pushes_run_ahead_and_the_last_answers_follow():
    lines = skewed(mixed(head="for i in pl.pipeline(1, 17, 4, stage=2):"))
    mark = ', attrs={"pipeline_membership": "1048576:0"})'
    other = mark.replace(":0", ":1")
    loads = [line.strip() for line in lines if "tile.load" in line]
    sixteen = "pl.const(16, pl.INDEX)"
    assert loads == [
        f"a = pl.tile.load(x, [pl.const(1, pl.INDEX) * {sixteen}, 0], {MAT}{mark}",
        f"a_1 = pl.tile.load(x, [pl.const(5, pl.INDEX) * {sixteen}, 0], {MAT}{other}",
        f"a_2 = pl.tile.load(x, [i * 16, 0], {MAT}{mark}",
        f"a_3 = pl.tile.load(x, [(i + 4) * 16, 0], {MAT}{other}",
        f"v = pl.tile.load(x, [(i - 8) * 16, 0], {MAT}{mark}",
        f"v_1 = pl.tile.load(x, [(i - 4) * 16, 0], {MAT}{other}",
        f"v_2 = pl.tile.load(x, [pl.const(9, pl.INDEX) * {sixteen}, 0], {MAT}{mark}",
        f"v_3 = pl.tile.load(x, [pl.const(13, pl.INDEX) * {sixteen}, 0], {MAT}{other}",
    ]
    assert steps(lines) == [
        *["push"] * 2,
        "for i in pl.range(9, 17, 8):",
        *["push"] * 2,
        *["pop", "store"] * 2,
        *["pop", "store"] * 2,
    ]
    assert not any("membership" in line for line in lines if "tpop" in line or "tfree" in line)
    assert sum("membership" in line for line in lines) == 8 * 4


@pytest.mark.parametrize(
    ("count", "stage", "slots", "distance"),
    [
        (8, 2, 2, 2),
        (8, 3, 2, 2),
        (8, 5, 4, 4),
        (8, 5, 2, 2),  # four tiles in the pipe there, four in the pipe back: 2 of each kind fit
        (6, 4, 3, 3),
        (6, 4, 2, 2),
        (6, 4, 8, 3),
        (7, 2, 2, 1),
        (3, 2, 2, 1),
        (2, 2, 2, 1),
        (8, 2, 1, 1),
        (1, 2, 2, 0),
        (0, 2, 2, 0),
    ],
)
def test_the_distance_is_bounded_by_stages_rounds_and_slots(count, stage, slots, distance):
    peer = (f"for i in pl.range({count}):", *PEER[1:])
    node = mixed(head=f"for i in pl.pipeline({count}, stage={stage}):", peer=peer, slots=slots)
    lines = skewed(node)
    if not distance:
        assert is_sequential(lines, count)
        return
    first = steps(lines).index(next(step for step in steps(lines) if step.startswith("for")))
    assert first == distance
    assert_computes(passes.skew_cross_core_pipeline()(node), count)


def assert_computes(node, count=8, **options):
    """y = (x_i @ x_0 / 2) @ x_i for the blocks of a round, also where pipes are as small as they say."""
    kernel = run(torch_codegen(node, options=BOUNDED | options))["main"]
    x = torch.rand(128, 16, dtype=torch.float32, generator=torch.Generator().manual_seed(1))
    y = torch.zeros(128, 16)
    wanted = y.clone().double()
    for i in range(count):
        block = x[16 * i : 16 * i + 16].double()
        wanted[16 * i : 16 * i + 16] = (block @ x[:16].double() * 0.5) @ block
    kernel(x, y)
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_every_schedule_computes_the_same_without_races(seed):
    node = passes.skew_cross_core_pipeline()(mixed())
    assert_computes(node, race_check=True, schedule_seed=seed)


def test_a_core_that_pushes_first_gives_no_room_in_the_pipe_back():
    lines = skewed(mixed(peer=PUSHES_FIRST, slots=2))
    assert steps(lines)[:2] == ["push", "for i in pl.range(1, 8):"]
    assert is_sequential(skewed(mixed(peer=PUSHES_FIRST, slots=1)))


def test_numbers_that_both_halves_need_are_computed_in_both():
    ask = ("row = i * 16", "a = pl.tile.load(x, [row, 0], MAT)", *ASK[1:])
    answer = (*ANSWER[:-1], "pl.tile.store(c, [row, 0], y)")
    lines = skewed(mixed((*ask, *answer)))
    rows = [line.strip() for line in lines if line.strip().startswith("row")]
    assert len(rows) == 8
    assert rows[2:6] == [
        "row_2 = i * 16",
        "row_3 = (i + 1) * 16",
        "row_4 = (i - 2) * 16",
        "row_5 = (i - 1) * 16",
    ]


def test_carries_go_through_the_answers():
    head = "for i, (o,) in pl.pipeline(4, stage=2, init_values=(y,)):"
    node = mixed(
        (*ASK, *ANSWER[:-1], "o1 = pl.tile.store(c, [i * 16, 0], o)", "r = pl.yield_(o1)"),
        head=head,
        peer=("for i in pl.range(4):", *PEER[1:]),
    )
    lines = skewed(node)
    stores = [line.strip() for line in lines if "store" in line]
    assert [(line.split(" = ")[0], line.split(", ")[-1]) for line in stores] == [
        ("o1", "o)"),
        ("o1_1", "o1)"),
        ("o1_2", "r_swp)"),
        ("o1_3", "o1_2)"),
    ]
    assert "  r_swp = pl.yield_(o1_1)" in lines and lines[-1] == "r = o1_3"
    assert_computes(passes.skew_cross_core_pipeline()(node), 4)


SHARED_WEIGHT = ("c = pl.tile.matmul(pl_, wr)", "pl.tile.store(c, [i * 16, 0], y)")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((*ANSWER, *ASK), id="pops first"),
        pytest.param((*ASK, *ASK[-1:], *ANSWER), id="pushes twice"),
        pytest.param((*ASK, *ANSWER[:3], *SHARED_WEIGHT), id="a tile that both halves need"),
        pytest.param(
            ("h = pl.tile.load(y, [i * 16, 0], MAT)", "al = pl.tile.move(h, target_memory=pl.Mem.Left)")
            + (*ASK[2:], *ANSWER),
            id="reads what it stores",
        ),
        pytest.param(
            (*ASK[:4], "pl.tile.store(s, [i * 16, 0], y)", *ASK[4:], *ANSWER[:-1]),
            id="stores first, then tells",
        ),
        pytest.param((*ASK, "pl.system.bar_all()", *ANSWER), id="waits for others"),
    ],
)
def test_loops_whose_first_half_cannot_run_ahead_become_sequential(lines):
    tells = lines[4].startswith("pl.tile.store")
    peer = (*PEER[:2], "    z = pl.tile.load(y, [i * 16, 0], VEC)", *PEER[2:]) if tells else PEER
    heads = [step for step in steps(skewed(mixed(lines, peer=peer))) if step.startswith("for")]
    assert heads == ["for i in pl.range(8):"]


def test_a_carry_in_the_first_half_keeps_it_in_its_round():
    head = "for i, (t,) in pl.pipeline(8, stage=2, init_values=(w,)):"
    ask = (ASK[0], ASK[1], "wr = pl.tile.move(t, target_memory=pl.Mem.Right)", *ASK[3:])
    lines = skewed(mixed((*ask, *ANSWER, "r = pl.yield_(v)"), head=head))
    assert [step for step in steps(lines) if "for" in step] == [
        "for i, (t,) in pl.range(8, init_values=(w,)):"
    ]


def test_other_loops_stay():
    one = "for i in pl.pipeline(8, stage=1):"
    assert is_sequential(skewed(mixed(head=one)))
    for lines in (ASK, ANSWER, ("if i == 0:", *(f"    {line}" for line in ASK), *ANSWER)):
        node = mixed(lines)
        assert passes.skew_cross_core_pipeline()(node) is node
