"""Kernels of both cores that hand on what they pop: copied before the slot in the pipe is given back."""

import textwrap
from collections.abc import Callable

import pytest
import torch
from pipeline_check import STRICT, lowered

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import own_expressions, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.cores.kernel import evaluated_call

SCOPE = """
import pypto.language as pl

@pl.program
class HandedOn:
    @pl.function
    def main(self, x: pl.Tensor[[64, 32], pl.FP32], w: pl.Tensor[[32, 32], pl.FP32],
             out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
{}
            out = pl.assemble(out, s, [0, 0])
        return out
"""


def started_with(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    s = x[:16] @ w
    return s / 8 + x[:16] / 4 + x[16:32] / 2 + x[32:48]


# Each kernel: its lines, and what it stores, longhand.
KERNELS: dict[str, tuple[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]] = {
    "by a branch": (
        """
        s = pl.full([16, 32], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            a = pl.slice(x, [16, 32], [i * 16, 0])
            if i % 2 == 0:
                d = pl.matmul(a, w, out_dtype=pl.FP32)
            else:
                d = pl.mul(a, 2.0)
            s = pl.add(s, d)
        """,
        lambda x, w: (x[:16] + x[32:48]) @ w + 2 * (x[16:32] + x[48:]),
    ),
    "to a loop": (
        """
        s = pl.matmul(pl.slice(x, [16, 32], [0, 0]), w, out_dtype=pl.FP32)
        for i in pl.range(3):
            s = pl.add(pl.mul(s, 0.5), pl.slice(x, [16, 32], [i * 16, 0]))
        """,
        started_with,
    ),
    "to the next round": (
        """
        p = pl.mul(pl.slice(x, [16, 32], [0, 0]), 1.0)
        s = pl.full([16, 32], dtype=pl.FP32, value=0.0)
        for i in pl.range(3):
            s = pl.add(s, p)
            p = pl.matmul(pl.slice(x, [16, 32], [i * 16, 0]), w, out_dtype=pl.FP32)
        s = pl.add(s, pl.mul(p, 3.0))
        """,
        lambda x, w: x[:16] + (x[:16] + x[16:32] + 3 * x[32:48]) @ w,
    ),
}


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def handed_on(function: ir.Function) -> list[ir.Expr]:
    """The tiles that loops of a function start with, and that bodies yield."""
    found: list[ir.Expr] = []
    for stmt in statements(function.body):
        if isinstance(stmt, ir.ForStmt):
            found += [carry.initValue for carry in stmt.iter_args]
        if isinstance(stmt, ir.ForStmt | ir.IfStmt):
            end = trailing_yield(stmt.body if isinstance(stmt, ir.ForStmt) else stmt.then_body)
            found += () if end is None else end.value
    return [value for value in found if isinstance(value.type, ir.TileType)]


@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("what", KERNELS)
def test_what_is_popped_is_copied_before_it_is_handed_on(what, chosen):
    lines, golden = KERNELS[what]
    backend.set_backend_type(backend.BackendType[chosen])
    node = pl.parse(SCOPE.format(textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * 12)))
    assert isinstance(node, ir.Program)
    *_, (stage, made) = lowered(node, "ExpandMixedKernel")
    assert stage == "ExpandMixedKernel"
    (lane,) = (each for each in made.functions.values() if each.func_type is ir.FunctionType.AIV)
    popped, freed = set[int](), set[int]()
    for stmt in statements(lane.body):
        used = {id(var) for var in used_variables(*own_expressions(stmt))}
        assert not used & freed
        end = facts.of_value(evaluated_call(stmt)).pipe_end
        if end == "pop" and isinstance(stmt, ir.AssignStmt):
            popped.add(id(stmt.var))
        elif end == "free":
            freed |= used
    assert popped and popped == freed
    assert handed_on(lane) and not popped & {id(value) for value in handed_on(lane)}
    names: dict[str, Callable[..., object]] = {}
    exec(torch_codegen(made, check_shapes=True, format=False, options=STRICT), names)
    generator = torch.Generator().manual_seed(1)
    x, w = (torch.randn(*shape, generator=generator) for shape in ((64, 32), (32, 32)))
    out = torch.full((16, 32), 9.0)
    names["main"](x, w, out)
    torch.testing.assert_close(out, golden(x, w), rtol=1e-4, atol=1e-4)
