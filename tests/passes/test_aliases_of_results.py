"""Which parameters may share cells, where functions hand on what they are given by branches and loops."""

import pytest
from passes.kernels import program

from pypto_tmpl import passes
from pypto_tmpl.passes.aliases import Aliases

T = "pl.Tensor[[16, 16], pl.FP32]"
PROGRAM = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def first(self, x: {T}, n: pl.Scalar[pl.INDEX], r: pl.InOut[{T}], out: pl.InOut[{T}]):
        t = pl.load(x, [0, 0], [16, 16])
        stored = pl.store(t, [0, 0], out)
        if n > 1:
            r1 = pl.store(t, [0, 0], r)
            r2 = pl.yield_(r1)
        else:
            r2 = pl.yield_({{other}})
        return r2, stored
    @pl.function(type=pl.FunctionType.InCore)
    def second(self, p: pl.InOut[{T}], q: pl.InOut[{T}]):
        t = pl.load(p, [0, 0], [16, 16])
        done = pl.store(t, [0, 0], q)
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, n: pl.Scalar[pl.INDEX], r: pl.InOut[{T}], out: pl.InOut[{T}]):
        r3, o3 = self.first(x, n, r, out)
        done = self.second(r3, o3)
        return done
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [("r", []), ("stored", [("p", "q")]), ("x", [])],
    ids=["a version of one parameter", "the other result", "another parameter"],
)
def test_a_result_of_a_branch_is_what_its_sides_are(other, expected):
    """By hand: ``second`` gets ``out`` as ``q``, and as ``p`` only if a side of the branch is that."""
    node = passes.make_pass("FlattenCallExpr")(program(PROGRAM.format(other=other)))
    found = [(pair.first.name_hint, pair.second.name_hint) for pair in Aliases(node).of("second")]
    assert found == expected


SCATTERED = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4, 8], pl.FP32], at: pl.Tensor[[4, 8], pl.INT32],
               p: pl.InOut[pl.Tensor[[8, 8], pl.FP32]], q: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        t = pl.load(x, [0, 0], [4, 8])
        p1 = pl.tile.mscatter(t, pl.load(at, [0, 0], [4, 8]), p)
        q1 = pl.store(t, [0, 0], q)
        return p1, q1
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[4, 8], pl.FP32], at: pl.Tensor[[4, 8], pl.INT32],
             p: pl.InOut[pl.Tensor[[8, 8], pl.FP32]], q: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        p1, q1 = self.kernel(x, at, p, q)
        return p1, q1
"""


def test_what_an_op_writes_and_gives_back_is_that_operand():
    node = passes.make_pass("FlattenCallExpr")(program(SCATTERED))
    assert Aliases(node).of("kernel") == []
