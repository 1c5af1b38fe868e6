"""Kernels whose loops and branches hand on tiles of the cube core: where these lie, and what is in them then.

Nothing copies within Acc, so that what is handed on has to be computed where the carry or result lies.
"""

import textwrap
from collections.abc import Callable

import pytest
import torch
from passes.stored import places
from passes.tile_memory import stored_by
from pipeline_check import lowered

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.passes.settings import MemoryPlanner

KERNEL = """
import pypto.language as pl

@pl.program
class Products:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32],
               w: pl.Tensor[[64, 32], pl.FP32], counts: pl.Tensor[[8], pl.INT32],
               out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        n = pl.cast(pl.read(counts, [0]), pl.INDEX)
        tx = pl.load(x, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        ty = pl.load(y, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        tw = pl.load(w, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
{}
        out = pl.store(d, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32],
             w: pl.Tensor[[64, 32], pl.FP32], counts: pl.Tensor[[8], pl.INT32],
             out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        out = self.kernel(x, y, w, counts, out)
        return out
"""
COUNTS = (2, 4, 5)
PLANNERS = [
    (MemoryPlanner.PYPTO, "MemoryReuse"),
    (MemoryPlanner.DSA_RP, "MaterializeSemanticAliases"),
]
Golden = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
# Each kernel: its lines, and what it stores, longhand, of the products p = x w and q = y w, and of n.
JOINED: dict[str, tuple[str, Golden]] = {
    "a branch begins anew": (
        """
        d = pl.matmul(tx, tw)
        if n > 3:
            d = pl.matmul(ty, tw)
        """,
        lambda p, q, n: q if n > 3 else p,
    ),
    "a branch goes on, the other one begins anew": (
        """
        d = pl.matmul(tx, tw)
        if n > 3:
            d = pl.matmul_acc(d, ty, tw)
        else:
            d = pl.matmul(ty, tw)
        """,
        lambda p, q, n: p + q if n > 3 else q,
    ),
    "branches in a branch": (
        """
        if n > 3:
            if n > 4:
                d = pl.matmul(tx, tw)
            else:
                d = pl.matmul(ty, tw)
        else:
            d = pl.matmul(ty, tw)
            d = pl.matmul_acc(d, tx, tw)
        """,
        lambda p, q, n: {2: q + p, 4: q, 5: p}[n],
    ),
    "loops in branches": (
        """
        if n > 3:
            d = pl.matmul(tx, tw)
            for i in pl.range(2):
                d = pl.matmul_acc(d, ty, tw)
        else:
            d = pl.matmul(ty, tw)
            for i in pl.range(3):
                d = pl.matmul_acc(d, tx, tw)
        """,
        lambda p, q, n: p + 2 * q if n > 3 else q + 3 * p,
    ),
    "rounds that go on or begin anew": (
        """
        d = pl.matmul(tx, tw)
        for i in pl.range(3):
            if i < n - 3:
                d = pl.matmul(ty, tw)
            else:
                d = pl.matmul_acc(d, tx, tw)
        """,
        lambda p, q, n: {2: 4 * p, 4: q + 2 * p, 5: q + p}[n],
    ),
    "a round of a while begins anew": (
        """
        d = pl.matmul(tx, tw)
        k = n - 4
        while k < n:
            if k == 0:
                d = pl.matmul(ty, tw)
            k = k + 1
        """,
        lambda p, q, n: q if n < 5 else p,
    ),
    "what a branch hands on as it was": (
        """
        e = pl.matmul(tx, tw)
        if n > 3:
            d = e
        else:
            d = pl.matmul(ty, tw)
        """,
        lambda p, q, n: p if n > 3 else q,
    ),
    "an operand that a branch begins anew": (
        """
        a = pl.move(tx, target_memory=pl.Mem.Left)
        if n > 3:
            a = pl.move(ty, target_memory=pl.Mem.Left)
        d = pl.matmul(a, pl.move(tw, target_memory=pl.Mem.Right))
        """,
        lambda p, q, n: q if n > 3 else p,
    ),
    "an operand that rounds begin anew": (
        """
        a = pl.load(x, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        d = pl.matmul(a, tw)
        for i in pl.range(3):
            if i < n - 3:
                a = pl.load(y, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
            d = pl.matmul_acc(d, a, tw)
        """,
        lambda p, q, n: {2: 4 * p, 4: p + 3 * q, 5: p + 3 * q}[n],
    ),
}
# One more product lies where the second does while the first is computed, one where the first does while
# the second is read.
IN_BETWEEN: tuple[str, Golden] = (
    """
    e = pl.matmul(ty, tw)
    d = pl.matmul(tx, tw)
    out = pl.store(e, [0, 0], out)
    if n > 3:
        d = pl.matmul(ty, tw)
    f = pl.matmul(tx, tw)
    f = pl.matmul_acc(f, tx, tw)
    out = pl.store(f, [0, 0], out)
    """,
    lambda p, q, n: q if n > 3 else p,
)
# Two values that are needed at one time, and would have to lie in one place; the variable, and its line here.
REFUSED: dict[str, tuple[str, str, str]] = {
    "read behind the branch that hands it on": (
        """
        e = pl.matmul(tx, tw)
        if n > 3:
            d = e
        else:
            d = pl.matmul(ty, tw)
        out = pl.store(e, [0, 0], out)
        """,
        "d",
        "if",
    ),
    "the best of the rounds": (
        """
        d = pl.matmul(tx, tw)
        for i in pl.range(3):
            c = pl.matmul(ty, tw)
            if i == n - 4:
                d = c
        """,
        "d",
        "    if",
    ),
    "carries that change places": (
        """
        d = pl.matmul(tx, tw)
        e = pl.matmul(ty, tw)
        for i in pl.range(3):
            t = d
            d = e
            e = t
        out = pl.store(e, [0, 0], out)
        """,
        "e",
        "for",
    ),
}


@pytest.fixture(autouse=True)
def chosen_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def text(lines: str) -> str:
    return KERNEL.format(textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * 8))


def after(lines: str, planner: MemoryPlanner, last: str) -> ir.Program:
    node = pl.parse(text(lines))
    assert isinstance(node, ir.Program)
    *_, (stage, made) = lowered(node, last, planner)
    assert stage == last
    return made


def check(node: ir.Program, golden: Golden) -> None:
    """On the bytes of its allocations, and as a script, the kernel stores what the golden function says."""
    names: dict[str, Callable[..., object]] = {}
    exec(torch_codegen(node, check_shapes=True, format=False), names)
    for n in COUNTS:
        generator = torch.Generator().manual_seed(n)
        x, y, w = (torch.randn(*shape, generator=generator) for shape in ((32, 64), (32, 64), (64, 32)))
        counts, out = torch.tensor([n] + [0] * 7, dtype=torch.int32), torch.full((32, 32), 9.0)
        wanted = golden(x @ w, y @ w, n)
        found = stored_by(node["kernel"], {"x": x, "y": y, "w": w, "counts": counts})
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
        names["main"](x, y, w, counts, out)
        torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("planner", "last"), PLANNERS)
@pytest.mark.parametrize("what", JOINED)
def test_what_is_handed_on_is_computed_where_it_has_to_lie(what, planner, last):
    lines, golden = JOINED[what]
    node = after(lines, planner, last)
    check(node, golden)
    assert not any(name.endswith("_mv") for name in places(node))


def test_both_get_a_buffer_of_their_own_where_others_lie_in_between():
    lines, golden = IN_BETWEEN
    node = after(lines, *PLANNERS[0])
    check(node, golden)
    found = {name: base for name, base in places(node).items() if base.startswith("mem_acc")}
    e, d, then, f, _ = found.values()
    assert d == then and len({e, d, f}) == 3


@pytest.mark.parametrize(("planner", "last"), PLANNERS)
@pytest.mark.parametrize("what", REFUSED)
def test_values_that_are_needed_at_one_time_are_refused(what, planner, last):
    lines, variable, at = REFUSED[what]
    what = rf"'{variable}' has to be kept in another place of Acc"
    with pytest.raises(passes.PassError, match=what) as raised:
        after(lines, planner, last)
    error = raised.value
    assert error.function == "kernel" and error.variable.startswith(f"{variable}__")
    assert text(lines).splitlines()[error.line - 1].startswith(" " * 8 + at)
