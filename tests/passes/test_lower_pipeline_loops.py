"""LowerPipelineLoops: stages side by side, the rounds that are left, and groups of copies."""

import pytest
import torch
from codegen.builders import run
from passes.kernels import after, body, kernel, program

from pypto_tmpl import passes
from pypto_tmpl.debug import torch_codegen

LOAD = "t = pl.load(x, [i, 0], [1, 16])"
STORE = "o1 = pl.store(t, [i, 0], o)"
YIELD = "r = pl.yield_(o1)"


def copies(head, *, yields="r = pl.yield_(o1)"):
    return kernel(f"{head}:", f"    {LOAD}", f"    {STORE}", f"    {yields}", "return r")


def load(name, row, pair):
    return (
        f"{name} = pl.tile.load(x, [{row}, 0], [1, 16], [1, 16], target_memory=pl.Mem.Vec, "
        f'attrs={{"pipeline_membership": "{pair}"}})'
    )


def test_stages_stand_side_by_side_and_what_is_left_behind_the_loop():
    node = copies("for i, (o,) in pl.pipeline(1, 8, 3, stage=2, init_values=(out,))")
    assert after("LowerPipelineLoops", node) == [
        "for i, (o,) in pl.pipeline(1, 7, 6, stage=1, init_values=(out,)):",
        "  " + load("t", "i", "0:0"),
        "  o1 = pl.tile.store(t, [i, 0], o)",
        "  " + load("t_1", "i + 3", "0:1"),
        "  o1_1 = pl.tile.store(t_1, [i + 3, 0], o1)",
        "  r_main = pl.yield_(o1_1)",
        load("t_2", "7", "1:0"),
        "o1_2 = pl.tile.store(t_2, [7, 0], r_main)",
        "r = o1_2",
        "return r",
    ]


def test_as_many_rounds_as_stages_need_no_rest_and_downward_loops_count_down():
    node = copies("for i, (o,) in pl.pipeline(6, 0, -3, stage=2, init_values=(out,))")
    assert after("LowerPipelineLoops", node) == [
        "for i, (o,) in pl.pipeline(6, 0, -6, stage=1, init_values=(out,)):",
        "  " + load("t", "i", "0:0"),
        "  o1 = pl.tile.store(t, [i, 0], o)",
        "  " + load("t_1", "i - 3", "0:1"),
        "  o1_1 = pl.tile.store(t_1, [i - 3, 0], o1)",
        "  r = pl.yield_(o1_1)",
        "return r",
    ]


def test_fewer_rounds_than_stages_need_no_loop_and_none_leave_it():
    node = copies("for i, (o,) in pl.pipeline(2, stage=3, init_values=(out,))")
    assert after("LowerPipelineLoops", node) == [
        load("t", "0", "0:0"),
        "o1 = pl.tile.store(t, [0, 0], out)",
        load("t_1", "1", "0:1"),
        "o1_1 = pl.tile.store(t_1, [1, 0], o1)",
        "r = o1_1",
        "return r",
    ]
    none = after(
        "LowerPipelineLoops", copies("for i, (o,) in pl.pipeline(3, 3, stage=3, init_values=(out,))")
    )
    assert none[0] == "for i, (o,) in pl.range(3, 3, init_values=(out,)):"


def test_loops_of_one_stage_and_others_stay():
    for head in ("pl.pipeline(4, stage=1, init_values=(out,))", "pl.range(4, init_values=(out,))"):
        node = copies(f"for i, (o,) in {head}")
        assert passes.lower_pipeline_loops()(node) is node


def test_copies_within_copies_are_of_both_groups():
    node = kernel(
        "for i in pl.pipeline(2, stage=2):",
        "    for j in pl.pipeline(2, stage=2):",
        "        t = pl.load(x, [i + j, 0], [1, 16])",
        "        pl.store(t, [i + j, 0], out)",
    )
    rows = [line for line in after("LowerPipelineLoops", node) if "load" in line]
    assert [line.split("membership")[1] for line in rows] == [
        '": "0:0;1:0"})',
        '": "0:1;1:0"})',
        '": "0:0;1:1"})',
        '": "0:1;1:1"})',
    ]


def test_products_into_the_accumulator_are_of_no_stage_unless_the_loop_alternates():
    lines = (
        "a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)",
        "l = pl.move(a, target_memory=pl.Mem.Left)",
        "r = pl.move(a, target_memory=pl.Mem.Right)",
        "for i in pl.pipeline(4, stage=2{}):",
        "    c = pl.matmul(l, r)",
        "    pl.store(c, [0, 0], out)",
    )
    plain = after("LowerPipelineLoops", kernel(*(line.format("") for line in lines)))
    assert [line for line in plain if "matmul" in line] == [
        "  c = pl.tile.matmul(l, r)",
        "  c_1 = pl.tile.matmul(l, r)",
    ]
    attrs = ', attrs={"pipeline_double_buffer_c": True}'
    twice = after("LowerPipelineLoops", kernel(*(line.format(attrs) for line in lines)))
    assert [line for line in twice if "matmul" in line] == [
        '  c = pl.tile.matmul(l, r, attrs={"pipeline_membership": "0:0"})',
        '  c_1 = pl.tile.matmul(l, r, attrs={"pipeline_membership": "0:1"})',
    ]


COUNTED = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        for i, (o,) in pl.pipeline({bounds}, stage=3, init_values=(out,)):
            t = pl.load(x, [i, 0], [1, 16])
            o1 = pl.store(pl.add(t, t), [i, 0], o)
            r = pl.yield_(o1)
        return r

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
             out: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        out = self.kernel(x, {given}, out)
        return out
"""


def counted(bounds, given):
    node = program(COUNTED.format(bounds=bounds, given=given))
    return passes.make_pass("FlattenCallExpr")(passes.make_pass("ConvertToSSA")(node))


def test_branches_run_what_is_left_of_a_number_of_rounds_that_is_not_known():
    lines = body(passes.lower_pipeline_loops()(counted("n", "5")), "kernel")
    shape = [line.split(" = pl.tile")[0].strip() for line in lines]
    assert shape == [
        "unroll_main_end = 0 + (n__ssa_v0 - 0) // 3 * 3",
        "for i__idx_v0, (o,) in pl.pipeline(0, unroll_main_end, 3, stage=1, init_values=(out__ssa_v0,)):",
        *("t__ssa_v0", "t__tmp_v0", "o1__ssa_v0"),
        *("t__ssa_v0_1", "t__tmp_v0_1", "o1__ssa_v0_1"),
        *("t__ssa_v0_2", "t__tmp_v0_2", "o1__ssa_v0_2"),
        "r_main = pl.yield_(o1__ssa_v0_2)",
        "unroll_rem = n__ssa_v0 - unroll_main_end",
        "if unroll_rem == 1:",
        *("t__ssa_v0_3", "t__tmp_v0_3", "o1__ssa_v0_3"),
        "r = pl.yield_(o1__ssa_v0_3)",
        "else:",
        "if unroll_rem == 2:",
        *("t__ssa_v0_4", "t__tmp_v0_4", "o1__ssa_v0_4"),
        *("t__ssa_v0_5", "t__tmp_v0_5", "o1__ssa_v0_5"),
        "r_rem2 = pl.yield_(o1__ssa_v0_5)",
        "else:",
        "r_rem2 = pl.yield_(r_main)",
        "r = pl.yield_(r_rem2)",
        "return r",
    ]


@pytest.mark.parametrize(
    ("bounds", "given", "count"),
    [
        ("n", "5", "(n__ssa_v0 - 0)"),
        ("n", "n", "max(n__ssa_v0 - 0, 0)"),
        ("3, n", "2", "max(n__ssa_v0 - 3, 0)"),
        ("3, n, 2", "3", "((n__ssa_v0 - 3 + 1) // 2)"),
        ("n, 12, 2", "n", "((max(12 - n__ssa_v0, 0) + 1) // 2)"),
    ],
)
def test_a_number_of_rounds_that_may_be_negative_counts_as_none(bounds, given, count):
    first = body(passes.lower_pipeline_loops()(counted(bounds, given)), "kernel")[0]
    assert count.strip("()") in first.replace("pl.", ""), first
    assert ("max" in first) == ("max" in count)


@pytest.mark.parametrize(
    ("bounds", "numbers"),
    [
        ("n", [-4, -1, 0, 1, 2, 3, 4, 7]),
        ("3, n", [-2, 0, 3, 4, 5, 6, 9]),
        ("n, 9", [3, 6, 7, 8, 9, 10, 13]),
        ("1, n, 2", [-3, 0, 1, 2, 4, 6, 8, 9, 14]),
        ("n, 9, 4", [0, 1, 5, 8, 9, 12]),
    ],
)
def test_every_round_runs_once(bounds, numbers):
    kernel = run(torch_codegen(passes.lower_pipeline_loops()(counted(bounds, "n"))))["main"]
    for n in numbers:
        x, out = torch.arange(256.0).reshape(16, 16), torch.full((16, 16), -1.0)
        wanted = out.clone()
        for row in range(*(n if part == "n" else int(part) for part in bounds.split(", "))):
            wanted[row] = 2 * x[row]
        kernel(x, n, out)
        assert torch.equal(out, wanted), n


def test_bounds_are_followed_through_scalars_each_once():
    """Doubled twenty times: along every way, that would be a million steps."""
    doubled = ["k0 = pl.min(pl.max(n, 0), 1)", *(f"k{at + 1} = k{at} + k{at}" for at in range(20))]
    loop = ("for i in pl.pipeline(k20, stage=2):", "    t = pl.load(x, [0, 0], [1, 16])")
    found = after("LowerPipelineLoops", kernel(*doubled, *loop))
    assert found[21] == "unroll_main_end = 0 + (k20 - 0) // 2 * 2"
    never = after("LowerPipelineLoops", kernel("k0 = pl.min(n, 1)", loop[0].replace("k20", "k0"), loop[1]))
    assert never[1] == "unroll_main_end = 0 + pl.max(k0 - 0, 0) // 2 * 2"


def test_a_step_that_is_not_known_keeps_the_rounds_in_a_row():
    lines = body(passes.lower_pipeline_loops()(counted("0, 8, n", "2")), "kernel")
    assert lines[0] == "for i__idx_v0, (o,) in pl.range(0, 8, n__ssa_v0, init_values=(out__ssa_v0,)):"


def test_a_jump_out_of_a_round_keeps_the_rounds_in_a_row():
    node = kernel(
        "for i in pl.pipeline(8, stage=2):",
        "    t = pl.load(x, [i, 0], [1, 16])",
        "    pl.store(t, [i, 0], out)",
        "    if i == n:",
        "        break",
    )
    assert after("LowerPipelineLoops", node)[0] == "for i in pl.range(8):"
