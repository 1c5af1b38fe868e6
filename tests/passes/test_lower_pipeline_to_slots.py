"""LowerPipelineToSlots: slots for the loads of pipelined loops, under the planner that knows them."""

import pytest
import torch
from codegen.builders import program, run
from passes.kernels import kernel

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.rewrite import build, clone

PTOAS = passes.MemoryPlanner.PTOAS
ROUND = ("    t = pl.load(x, [i, 0], [1, 16])", "    pl.store(t, [i, 0], out)")


def lowered(*lines, planner=PTOAS):
    """The lines of the kernel, with annotations."""
    node = kernel(*lines)
    with passes.PassContext(memory_planner=planner):
        found = passes.lower_pipeline_to_slots()(node)
    text = ir.python_print(found, format=False)
    return found, [line.strip() for line in text.partition(" out: ")[2].splitlines()[1:]]


@pytest.mark.parametrize(
    ("bounds", "loop", "slot"),
    [
        ("8", "8", "i % 3"),
        ("0, 12, 2", "0, 12, 2", "i // 2 % 3"),
        ("2, 8", "2, 8", "(i - 2) % 3"),
        ("n, 12, 2", "n, 12, 2", "(i - n) // 2 % 3"),
        ("12, 0, -2", "12, 0, -2", "(i - 12) // -2 % 3"),
    ],
)
def test_each_round_has_the_slot_of_its_number(bounds, loop, slot):
    _, lines = lowered(f"for i in pl.pipeline({bounds}, stage=3):", *ROUND)
    memref = f'pl.MemRef("pipe_t", slots=3)[{slot}]'
    assert lines == [
        f"for i in pl.range({loop}):",
        f"t: pl.Tile[[1, 16], pl.FP32, {memref}, pl.Mem.Vec] = "
        "pl.tile.load(x, [i, 0], [1, 16], [1, 16], target_memory=pl.Mem.Vec)",
        "pl.tile.store(t, [i, 0], out)",
    ]


@pytest.mark.parametrize("planner", [passes.MemoryPlanner.PYPTO, passes.MemoryPlanner.DSA_RP])
def test_other_planners_get_the_program_as_it_is(planner):
    node = kernel("for i in pl.pipeline(8, stage=2):", *ROUND)
    with passes.PassContext(memory_planner=planner):
        assert passes.lower_pipeline_to_slots()(node) is node


@pytest.mark.parametrize(
    "lines",
    [
        ("for i in pl.pipeline(8, stage=1):", *ROUND),
        ("for i in pl.range(8):", *ROUND),
        ("a = pl.load(x, [0, 0], [1, 16])", "for i in pl.pipeline(8, stage=2):", "    b = pl.exp(a)"),
        (
            "a = pl.load(x, [0, 0], [1, 16])",
            "for i, (c,) in pl.pipeline(8, stage=2, init_values=(a,)):",
            "    t = pl.load(x, [i, 0], [1, 16])",
            "    r = pl.yield_(t)",
        ),
    ],
    ids=["one stage", "sequential", "no load", "the next round reads it"],
)
def test_loops_without_loads_of_their_own_stay(lines):
    node = kernel(*lines)
    with passes.PassContext(memory_planner=PTOAS):
        assert passes.lower_pipeline_to_slots()(node) is node


def test_loads_of_one_name_have_allocations_of_their_own():
    (function,) = kernel("for i in pl.pipeline(8, stage=2):", *ROUND).functions.values()
    twice = ir.SeqStmts([function.body, clone(function.body)], function.span)
    with passes.PassContext(memory_planner=PTOAS):
        found = passes.lower_pipeline_to_slots()(program(build(function, body=twice)))
    slots = [line.split('pl.MemRef("')[1] for line in ir.python_print(found).splitlines() if "MemRef" in line]
    assert [slot.split('"')[0] for slot in slots] == ["pipe_t", "pipe_t_1"]


def test_values_stay_through_the_passes_that_follow():
    found, _ = lowered("for i in pl.pipeline(2, 16, 3, stage=2):", *ROUND)
    after = passes.canonicalize_io_order()(passes.lower_pipeline_loops()(found))
    assert after is found
    x, out = torch.arange(256.0).reshape(16, 16), torch.zeros(16, 16)
    run(torch_codegen(after))["kernel"](x, 0, out)
    wanted = torch.zeros(16, 16)
    for row in (2, 5, 8, 11, 14):
        wanted[row] = x[row]
    assert torch.equal(out, wanted)
