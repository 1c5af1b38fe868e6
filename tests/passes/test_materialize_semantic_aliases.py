"""MaterializeSemanticAliases and FoldNoOpReshape: carries in place, and reshapes that change nothing."""

import re

import pytest
from passes.kernels import body, program
from passes.recorded_pairs import Pair, recorded_pairs

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes

ALIASES, FOLD = "MaterializeSemanticAliases", "FoldNoOpReshape"
PAIRS = [pair for name in (ALIASES, FOLD) for pair in recorded_pairs(name)]
HEAD = """
    @pl.function(type=pl.FunctionType.{kind})
    def kernel(self, x: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INDEX]):
        a = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
"""


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def kernel(*lines: str, kind: str = "AIV") -> ir.Program:
    return program(HEAD.format(kind=kind) + "".join(f"        {line}\n" for line in lines))


def placed(*lines: str) -> dict[str, int]:
    """The number of the allocation that each tile lies in, after the pass; ``a`` lies in 1."""
    node = passes.make_pass("InitMemRef")(kernel(*lines))
    text = ir.python_print(passes.make_pass(ALIASES)(node), format=False)
    found = re.findall(r"(\w+): pl\.Tile\[.*?pl\.MemRef\(mem_vec_(\d+),", text)
    return {name: int(number) for name, number in found}


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_text_is_that_on_record(pair: Pair):
    """Structural equality leaves storage out; the text has it."""
    backend.set_backend_type(backend.BackendType[pair.backend])
    got = passes.make_pass(pair.pass_name)(pair.before())
    assert ir.python_print(got, format=False) == ir.python_print(pair.after(), format=False)


def test_what_a_round_yields_is_computed_in_the_carry():
    found = placed(
        "for i, (s,) in pl.range(4, init_values=(a,)):",
        "    b = pl.tile.exp(s)",
        "    c = pl.tile.add(b, s)",
        "    w = pl.tile.slice(c, [8, 64], [0, 0])",
        "    d = pl.tile.exp(w)",
        "    r = pl.yield_(c)",
    )
    assert (found["c"], found["w"], found["r"]) == (1, 1, 1)
    assert len({found["b"], found["d"], 1}) == 3


def test_both_sides_of_a_branch_move():
    found = placed(
        "for i, (s,) in pl.range(4, init_values=(a,)):",
        "    if n > i:",
        "        b = pl.tile.exp(s)",
        "        t = pl.yield_(b)",
        "    else:",
        "        t = pl.yield_(s)",
        "    r = pl.yield_(t)",
    )
    assert (found["b"], found["t"], found["r"]) == (1, 1, 1)


STAYS = {
    "the carry is read afterwards": ("b = pl.tile.exp(s)", "c = pl.tile.add(b, s)", "r = pl.yield_(b)"),
    "the op may not write what it reads": ("b = pl.tile.recip(s)", "r = pl.yield_(b)"),
    "the value is transposed": (
        "b = pl.tile.transpose(pl.tile.reshape(s, [64, 32]), 0, 1)",
        "r = pl.yield_(b)",
    ),
    "the value has another name": ("c = pl.tile.exp(s)", "b = c", "r = pl.yield_(b)"),
}


@pytest.mark.parametrize("why", STAYS)
def test_a_value_stays_where(why):
    found = placed("for i, (s,) in pl.range(4, init_values=(a,)):", *(f"    {line}" for line in STAYS[why]))
    assert found["b"] != 1


def test_a_swap_stays_apart():
    """Each yielded value is computed while both carries are still read."""
    found = placed(
        "b = pl.tile.exp(a)",
        "for i, (s, t) in pl.range(4, init_values=(a, b)):",
        "    c = pl.tile.sub(s, t)",
        "    d = pl.tile.add(s, t)",
        "    r, q = pl.yield_(c, d)",
    )
    assert found["c"] not in (1, found["b"])
    assert found["d"] == found["b"]


def test_an_inner_loop_does_not_overwrite_what_it_reads_in_every_round():
    """PyPTO's puts ``p`` where ``s`` lies, which the next round of the inner loop reads."""
    found = placed(
        "b = pl.tile.exp(a)",
        "for i, (s,) in pl.range(4, init_values=(a,)):",
        "    for j, (t,) in pl.range(4, init_values=(b,)):",
        "        p = pl.tile.add(t, s)",
        "        u = pl.yield_(p)",
        "    r = pl.yield_(u)",
    )
    assert found["p"] != 1
    assert found["p"] == found["u"] == found["b"]


def test_a_moved_carry_is_not_overwritten_before_its_last_read():
    """PyPTO's looks at where values lay before: it puts ``p`` over ``t``, which ``q`` reads."""
    found = placed(
        "for i, (s,) in pl.range(4, init_values=(a,)):",
        "    b = pl.tile.exp(s)",
        "    for j, (t,) in pl.range(4, init_values=(b,)):",
        "        p = pl.tile.adds(t, 1.0)",
        "        q = pl.tile.mul(p, t)",
        "        pl.tile.store(q, [0, 0], x)",
        "        u = pl.yield_(p)",
        "    r = pl.yield_(u)",
    )
    assert found["p"] != found["b"]


def test_loops_with_a_condition_stay():
    found = placed(
        "for s, k in pl.while_(init_values=(a, n)):",
        "    pl.cond(k > 0)",
        "    b = pl.tile.exp(s)",
        "    m = k - 1",
        "    r, z = pl.yield_(b, m)",
    )
    assert found["b"] != 1


@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
def test_what_an_op_may_not_write_over_on_a_backend_is_no_place_for_its_result(chosen):
    """prelu writes over none of its operands on 910B, and over its workspace alone on 950."""
    backend.set_backend_type(backend.BackendType[chosen])
    found = placed(
        "for i, (s,) in pl.range(4, init_values=(a,)):",
        "    w = pl.tile.exp(s)",
        "    b = pl.tile.prelu(s, s, w)",
        "    r = pl.yield_(b)",
    )
    assert found["b"] != 1


def folded(*lines: str, kind: str = "AIV") -> list[str]:
    node = passes.make_pass("InitMemRef")(kernel(*lines, kind=kind))
    return [line for line in body(passes.make_pass(FOLD)(node), "kernel") if "alloc" not in line][1:]


def test_a_reshape_to_the_same_shape_is_a_name():
    assert folded("b = pl.tile.reshape(a, [32, 64])", "c = pl.tile.reshape(b, [64, 32])") == [
        "b = a",
        "c = pl.tile.reshape(b, [64, 32])",
    ]


def test_a_reshape_of_a_tile_that_is_valid_in_part_is_a_name_too():
    assert folded("v = pl.tile.set_validshape(a, 16, 64)", "b = pl.tile.reshape(v, [32, 64])")[-1] == "b = v"


def test_a_reshape_that_says_another_valid_region_stays():
    node = passes.make_pass("InitMemRef")(kernel("b = pl.tile.reshape(a, [32, 64])"))
    text = ir.python_print(node, format=False)
    part = "pl.Mem.Vec, pl.TileView(valid_shape=[16, 64])] = pl.tile.reshape"
    node = pl.parse(text.replace("pl.Mem.Vec] = pl.tile.reshape", part))
    assert part in ir.python_print(node, format=False)
    assert body(passes.make_pass(FOLD)(node), "kernel")[-1] == "b = pl.tile.reshape(a, [32, 64])"


def test_functions_that_are_no_kernels_keep_their_reshapes():
    node = passes.make_pass("InitMemRef")(kernel("b = pl.tile.reshape(a, [32, 64])", kind="Orchestration"))
    assert passes.make_pass(FOLD)(node) is node
