"""Simplify: arithmetic, what ranges tell, branches and loops that are known, and what may not be assumed."""

import time

import pytest
from passes.kernels import after, kernel, program

from pypto_tmpl import ir, passes
from pypto_tmpl.passes.scalars.expressions import Simplifier
from pypto_tmpl.passes.scalars.ranges import ANY, Range, range_of

X, Y = (ir.Var(name, ir.ScalarType(ir.DataType.INDEX), ir.Span.unknown()) for name in "xy")
RANGES = {"x": Range(0, 7), "y": ANY}


def simple(expr: ir.Expr, x: Range = RANGES["x"]) -> str:
    """The text of an operator, its operands simplified first; ``x`` is from 0 to 7, ``y`` unknown."""
    known = {id(X): x, id(Y): ANY}

    def range_here(part: ir.Expr) -> Range:
        return known.get(id(part)) or range_of(part, range_here)

    simplifier = Simplifier(range_here)

    def bottom_up(node: ir.Expr) -> ir.Expr:
        if isinstance(node, ir.BinaryExpr):
            made = type(node)(bottom_up(node.left), bottom_up(node.right), node.type.dtype, node.span)
            return simplifier.simplified(made)
        return node

    return ir.python_print(bottom_up(expr), format=False)


def i(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, ir.DataType.INDEX, ir.Span.unknown())


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (2 * X, "x * 2"),
        (3 + (4 + X), "x + 7"),
        ((X + 3) + Y, "x + y + 3"),
        ((X - 3) + 1, "x + -2"),
        ((X + 2) * 8, "x * 8 + 16"),
        ((X * 2) * 16, "x * 32"),
        (5 - (X + 2), "3 - x"),
        (X + (Y - X), "y"),
        ((Y // 4) // 2, "y // 8"),
        ((Y * 8 + X) // 8, "y"),
        ((Y * 8 + X) % 8, "x"),
        ((X * 8 + 7) // 8 * 8, "x * 8"),
        (X % 8, "x"),
        (Y % 8, "y % 8"),
        (ir.min_(X, 32), "x"),
        (ir.max_(9, Y), "pl.max(y, 9)"),
        (ir.max_(Y, X) - X, "pl.max(y - x, 0)"),
        (X < 8, "True"),
        (X >= 8, "False"),
        (Y > 0, "0 < y"),
        (ir.lt(0, ir.max_(Y, 0)), "0 < y"),
    ],
)
def test_forms_of_expressions(expr, expected):
    assert simple(expr).replace("pl.const(", "").replace(", pl.INDEX)", "") == expected


def test_rests_that_could_be_negative_stay():
    signed = Range(-3, 3)
    for expr in ((Y * 8 + X) // 8, (Y * 8 + X) % 8, X % 8, ir.lt(X, 0), ir.max_(X, 0)):
        assert simple(expr, signed) == ir.python_print(expr, format=False)


def test_numbers_of_32_bits_wrap_and_stay():
    a = ir.Var("a", ir.ScalarType(ir.DataType.INT32), ir.Span.unknown())
    large = ir.ConstInt(2**31 - 1, ir.DataType.INT32, ir.Span.unknown())
    total = ir.Add(ir.Add(a, large, ir.DataType.INT32, a.span), large, ir.DataType.INT32, a.span)
    assert Simplifier(lambda _: ANY).simplified(total) is total


def test_a_number_that_may_be_negative_is_not_taken_to_be_positive():
    lines = (
        "for i in pl.range(6):",
        "    d = i - 3",
        "    if d < 0:",
        "        t = pl.load(x, [i, 0], [1, 16])",
    )
    assert [line.strip() for line in after("Simplify", kernel(*lines))[1:3]] == ["d = i - 3", "if d < 0:"]


def test_branches_narrow_what_is_known():
    lines = (
        "for i in pl.range(8):",
        "    if i < 4:",
        "        a = pl.load(x, [pl.min(i, 4), 0], [1, 16])",
        "    else:",
        "        b = pl.load(x, [pl.min(i, 4), 0], [1, 16])",
    )
    got = after("Simplify", kernel(*lines))
    assert ["[i, 0]" in line for line in got] == [False, False, True, False, False]
    assert "[4, 0]" in got[4]


def test_known_branches_and_loops_are_what_is_left_of_them():
    lines = (
        "c = 2",
        "for i in pl.range(c, 3):",
        "    if i == 2:",
        "        a = pl.load(x, [i, 0], [1, 16])",
        "    else:",
        "        b = pl.load(x, [0, 0], [1, 16])",
        "for j in pl.range(3, c):",
        "    d = pl.load(x, [j, 0], [1, 16])",
    )
    got = after("Simplify", kernel(*lines))
    assert got == ["a = pl.tile.load(x, [2, 0], [1, 16], [1, 16], target_memory=pl.Mem.Vec)"]


def test_calls_stay_though_nothing_reads_them_and_scalars_do_not():
    lines = ("b = pl.tile.get_block_idx()", "unused = n * 2", "also = unused + 1")
    assert after("Simplify", kernel(*lines)) == ["b = pl.tile.get_block_idx()"]


def test_a_loop_of_one_round_that_a_jump_leaves_stays():
    lines = ("for i in pl.range(1):", "    if n > i:", "        break", "    t = pl.load(x, [0, 0], [1, 16])")
    assert after("Simplify", kernel(*lines))[0] == "for i in pl.range(1):"


def test_carries_of_known_loops_are_their_values():
    lines = (
        "for i, (s,) in pl.range(1, init_values=(n,)):",
        "    s_end = pl.yield_(s + i)",
        "for j, (r,) in pl.range(0, init_values=(s_end,)):",
        "    r_end = pl.yield_(r + 1)",
        "t = pl.load(x, [r_end, 0], [1, 16])",
    )
    node = passes.simplify()(kernel(*lines))
    assert "[r_end, 0]" in ir.python_print(node, format=False)
    assert after("Simplify", kernel(*lines))[0] == "r_end = n"


def test_a_carry_that_starts_from_a_constant_may_become_negative():
    lines = (
        "a = 0",
        "for i, (c,) in pl.range(4, init_values=(a,)):",
        "    t = pl.load(x, [pl.max(c, 0), 0], [1, 16])",
        "    r = pl.yield_(c - 1)",
    )
    assert any("pl.max(c, 0)" in line for line in after("Simplify", kernel(*lines)))


def test_scalars_that_only_dead_ones_read_go_too():
    lines = (
        "a = n + 1",
        "if n > 3:",
        "    b = pl.yield_(a * 2)",
        "else:",
        "    b = pl.yield_(a * 3)",
        "c = b + 1",
        "d = n + 5",
        "t = pl.load(x, [d, 0], [1, 16])",
    )
    found = after("Simplify", kernel(*lines))
    assert [line.split(" =")[0] for line in found if "=" in line] == ["d", "t"]


def test_a_side_that_ends_in_a_jump_yields_nothing():
    lines = (
        "for i in pl.range(4):",
        "    if n > i:",
        "        break",
        "    else:",
        "        b = pl.yield_(n * 2)",
        "    t = pl.load(x, [i, 0], [1, 16])",
    )
    assert after("Simplify", kernel(*lines))[3:5] == ["  else:", "    pass"]


def test_a_long_chain_of_dead_scalars_takes_one_sweep():
    chain = ["a0 = n + 1", *(f"a{k} = a{k - 1} + n" for k in range(1, 1500))]
    start = time.process_time()
    got = passes.simplify()(kernel(*chain, "t = pl.load(x, [0, 0], [1, 16])"))
    (function,) = got.functions.values()
    assert sum(isinstance(node, ir.AssignStmt) for node in ir.walk(function)) == 1
    assert time.process_time() - start < 5


def test_what_follows_a_return_that_is_always_reached_is_left_out():
    text = """
    @pl.function
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX]):
        y = pl.neg(x)
        if n > 0:
            if True:
                return y
            z = pl.exp(x)
        if 2 > 1:
            return x
        w = pl.exp(x)
        return w
"""
    node = passes.convert_to_ssa()(program(text))
    assert after("Simplify", node, "main") == [
        "y__ssa_v0 = pl.tensor.neg(x__ssa_v0)",
        "if 0 < n__ssa_v0:",
        "  return y__ssa_v0",
        "return x__ssa_v0",
    ]
