"""Kernels that give one tile several names and then change these: values after every pass, on both backends.

Names that start as one tile begin in one place; what they become must not meet there.
"""

import textwrap
from collections.abc import Callable

import pytest
import torch
from passes.tile_memory import stored_by
from pipeline_check import lowered

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ir.verifier import verify
from pypto_tmpl.passes.settings import MemoryPlanner

PLAIN = """
import pypto.language as pl

@pl.program
class Reassigned:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Tensor[[16, 64], pl.FP32],
               counts: pl.Tensor[[8], pl.INT32],
               out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        a = pl.load(x, [0, 0], [16, 64])
        b = pl.load(y, [0, 0], [16, 64])
        n = pl.cast(pl.read(counts, [0]), pl.INDEX)
{}
        out = pl.store(c, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Tensor[[16, 64], pl.FP32],
             counts: pl.Tensor[[8], pl.INT32],
             out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        out = self.kernel(x, y, counts, out)
        return out
"""
SCOPE = """
import pypto.language as pl

@pl.program
class Reassigned:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Tensor[[16, 64], pl.FP32],
             counts: pl.Tensor[[8], pl.INT32],
             out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        n = pl.cast(pl.read(counts, [0]), pl.INDEX)
        with pl.at(level=pl.Level.CORE_GROUP):
            a = pl.add(x, 0.0)
            b = pl.add(y, 0.0)
{}
            out = pl.assemble(out, c, [0, 0])
        return out
"""


def halved_before_the_last(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    return (a + b) / 8 - 3 * (a + b) / 4


def started_twice(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    start = a + 1
    return start * 1.25**3 + start * b


def averaged(a: torch.Tensor, b: torch.Tensor, n: int) -> torch.Tensor:
    p = a
    for _ in range(3):
        p = (p + b) / 2
    return p + p - a


Golden = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
# Each kernel: its lines, and what it stores, longhand, of a, b and n.
KERNELS: dict[str, tuple[str, Golden]] = {
    "the value of the round before": (
        """
        p = pl.add(a, b)
        q = p
        for i in pl.range(3):
            q = p
            p = pl.mul(p, 0.5)
        c = pl.sub(p, pl.mul(q, 3.0))
        """,
        halved_before_the_last,
    ),
    "the value of the round before, of a while": (
        """
        p = pl.add(a, b)
        q = p
        k = n - 3
        while k < n:
            q = p
            p = pl.mul(p, 0.5)
            k = k + 1
        c = pl.sub(p, pl.mul(q, 3.0))
        """,
        halved_before_the_last,
    ),
    "a branch that names one tile twice": (
        """
        if n > 3:
            p = a
            q = a
        else:
            p = b
            q = pl.add(a, b)
        c = pl.sub(p, pl.mul(q, 2.0))
        """,
        lambda a, b, n: a - 2 * a if n > 3 else b - 2 * (a + b),
    ),
    "a branch that names one tile twice, which is read behind it": (
        """
        if n > 3:
            p = a
            q = a
        else:
            p = b
            q = pl.add(a, b)
        p2 = pl.mul(p, 2.0)
        c = pl.add(pl.sub(p2, pl.mul(q, 3.0)), a)
        """,
        lambda a, b, n: 2 * a - 3 * a + a if n > 3 else 2 * b - 3 * (a + b) + a,
    ),
    "a branch that names what it computes twice": (
        """
        if n > 3:
            p = pl.mul(a, 2.0)
            q = p
        else:
            p = pl.mul(b, 2.0)
            q = b
        c = pl.sub(p, pl.mul(q, 3.0))
        """,
        lambda a, b, n: 2 * a - 6 * a if n > 3 else 2 * b - 3 * b,
    ),
    "branches that name what they have twice": (
        """
        if n > 3:
            p = a
            q = a
        else:
            p = pl.mul(b, 0.5)
            q = p
        c = pl.sub(p, pl.mul(q, 3.0))
        """,
        lambda a, b, n: a - 3 * a if n > 3 else b / 2 - 3 * b / 2,
    ),
    "views that a branch makes of one tile": (
        """
        if n > 3:
            p = pl.reshape(a, [32, 32])
            q = pl.reshape(a, [32, 32])
        else:
            p = pl.reshape(b, [32, 32])
            q = pl.reshape(pl.add(a, b), [32, 32])
        c = pl.sub(pl.reshape(p, [16, 64]), pl.mul(pl.reshape(q, [16, 64]), 2.0))
        """,
        lambda a, b, n: a - 2 * a if n > 3 else b - 2 * (a + b),
    ),
    "the start of a loop inside, and of the one around it, read behind": (
        """
        s = pl.add(a, 1.0)
        for i, (p,) in pl.range(3, init_values=(s,)):
            for j, (q,) in pl.range(2, init_values=(p,)):
                q1 = pl.mul(q, 0.5)
                q2 = pl.yield_(q1)
            p1 = pl.add(q2, p)
            p2 = pl.yield_(p1)
        c = pl.add(p2, pl.mul(s, b))
        """,
        started_twice,
    ),
    "carries that stay one, when their start was lost before": (
        """
        p = a
        r = a
        s = a
        for i in pl.range(2):
            s = pl.mul(pl.sub(b, p), 0.5)
        for j in pl.range(3):
            p = pl.mul(pl.add(r, b), 0.5)
            r = p
        c = pl.sub(pl.add(p, r), a)
        c = pl.add(c, pl.sub(s, pl.mul(pl.sub(b, a), 0.5)))
        """,
        averaged,
    ),
    "a branch in a loop that names one tile twice": (
        """
        best = a
        last = a
        for i in pl.range(3):
            if i == n - 2:
                best = b
                last = b
            last = pl.mul(last, 0.5)
        c = pl.sub(best, pl.mul(last, 2.0))
        """,
        lambda a, b, n: b - 2 * b / 2 ** (5 - n),
    ),
}


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def program(form: str, lines: str) -> ir.Program:
    depth = 12 if form is SCOPE else 8
    node = pl.parse(form.format(textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * depth)))
    assert isinstance(node, ir.Program)
    return node


def check(node: ir.Program, golden: Golden, stage: str) -> None:
    """The program stores what the golden function computes, in either branch, and spares its inputs."""
    names: dict[str, Callable[..., object]] = {}
    exec(torch_codegen(node, check_shapes=True, format=False), names)
    for n in (2, 4):
        generator = torch.Generator().manual_seed(n)
        x, y = (torch.randn(16, 64, generator=generator) for _ in range(2))
        counts, out = torch.tensor([n] + [0] * 7, dtype=torch.int32), torch.full((16, 64), 9.0)
        given = x.clone(), y.clone()
        names["main"](x, y, counts, out)
        torch.testing.assert_close(out, golden(*given, n), msg=lambda text: f"after {stage}: {text}")
        assert torch.equal(x, given[0]) and torch.equal(y, given[1])


@pytest.mark.parametrize("planner", [MemoryPlanner.PYPTO, MemoryPlanner.DSA_RP])
@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("form", [PLAIN, SCOPE], ids=["kernel", "scope"])
@pytest.mark.parametrize("what", KERNELS)
def test_names_of_one_tile_that_come_to_differ_keep_their_values(what, form, chosen, planner):
    lines, golden = KERNELS[what]
    backend.set_backend_type(backend.BackendType[chosen])
    node = program(form, lines)
    check(node, golden, "frontend")
    for stage, made in lowered(node, "FoldNoOpReshape", planner):
        check(made, golden, stage)
        assert not verify(made, [ir.IRProperty.UseAfterDef]), stage


@pytest.mark.parametrize(
    ("planner", "last"),
    [(MemoryPlanner.PYPTO, "MemoryReuse"), (MemoryPlanner.DSA_RP, "MaterializeSemanticAliases")],
)
@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("what", KERNELS)
def test_they_keep_them_in_the_memory_that_they_share(what, chosen, planner, last):
    lines, golden = KERNELS[what]
    backend.set_backend_type(backend.BackendType[chosen])
    *_, (stage, node) = lowered(program(PLAIN, lines), last, planner)
    assert stage == last
    for n in (2, 4):
        generator = torch.Generator().manual_seed(n)
        x, y = (torch.randn(16, 64, generator=generator) for _ in range(2))
        found = stored_by(node["kernel"], {"x": x, "y": y, "counts": torch.tensor([n])})
        torch.testing.assert_close(found, golden(x, y, n))
