"""UnrollLoops: rounds, and loops that cannot be unrolled."""

import re

import pytest
from codegen.builders import function, program
from ir.printer_samples import NOWHERE, integer, scalar
from ir.verifier_samples import ONE, WORK, ZERO, N
from passes.kernels import after, kernel

from pypto_tmpl import ir, passes

LOAD = "a = pl.load(x, [{}, 0], [4, 16])"


def test_the_variable_of_the_loop_is_a_constant_in_each_round():
    lines = ("for i in pl.unroll(8, 0, -4):", f"    {LOAD.format('i')}")
    assert after("UnrollLoops", kernel(*lines)) == [
        "a = pl.tile.load(x, [8, 0], [4, 16], [4, 16], target_memory=pl.Mem.Vec)",
        "a = pl.tile.load(x, [4, 0], [4, 16], [4, 16], target_memory=pl.Mem.Vec)",
    ]


def test_loops_within_loops_and_no_rounds():
    lines = (
        "for i in pl.unroll(2):",
        "    for j in pl.unroll(2):",
        f"        {LOAD.format('i + j')}",
        "for k in pl.unroll(3, 3):",
        f"    {LOAD.format('k')}",
    )
    got = after("UnrollLoops", kernel(*lines))
    plain = [re.sub(r"pl\.const\((\d), pl\.INDEX\)", r"\1", line) for line in got]
    offsets = [line.split("[")[1].split(",")[0] for line in plain]
    assert offsets == ["0 + 0", "0 + 1", "1 + 0", "1 + 1"]


@pytest.mark.parametrize(
    ("bounds", "what"),
    [
        ((ZERO, N, ONE), "has the stop n, which is no constant"),
        ((ZERO, integer(8), ZERO), "has the step 0"),
        ((ZERO, integer(1025), ONE), "has 1025 rounds, over 1024"),
    ],
)
def test_what_cannot_be_unrolled(bounds, what):
    place = ir.Span("kernel.py", 7, 9)
    kind = ir.ForKind.Unroll
    loop = ir.ForStmt(scalar("i"), *bounds, [], WORK, [], place, kind)
    with pytest.raises(passes.PassError) as raised:
        passes.unroll_loops()(program(function("f", [N], loop)))
    assert str(raised.value) == (
        f"error[pass]: the unrolled loop over 'i' {what}\n"
        "  --> kernel.py:7:9\n   = in function 'f', variable 'i'"
    )


def test_a_negated_constant_is_one():
    step = ir.Neg(ONE, ir.DataType.INDEX, NOWHERE)
    loop = ir.ForStmt(scalar("i"), integer(2), ZERO, step, [], WORK, [], NOWHERE, ir.ForKind.Unroll)
    got = passes.unroll_loops()(program(function("f", [N], loop)))
    assert len(got["f"].body.stmts) == 2
