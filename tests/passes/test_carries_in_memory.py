"""Carries of kernels on both cores whose types tell other bytes than those that they have, on these bytes."""

import textwrap
from collections.abc import Callable

import pytest
import torch
from pipeline_check import lowered

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.round_trip import read_again
from pypto_tmpl.storage.overwrites import overwrites

SCOPE = """
import pypto.language as pl

@pl.program
class Carried:
    @pl.function
    def main(self, x: pl.Tensor[[64, 16], pl.FP32], w: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
             out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP{}):
{}
            out = pl.assemble(out, s, [0, 0])
        return out
"""
LANES = {mode: f", optimizations=[pl.split(pl.SplitMode.{mode})]" for mode in ("UP_DOWN", "LEFT_RIGHT")}
SUM = """
s = pl.mul(pl.matmul(pl.slice(x, [16, 16], [0, 0]), w), 0.5)
for i in pl.{}(3{}):
    s = pl.add(s, pl.matmul(pl.slice(x, [16, 16], [i * 16 + 16, 0]), w))
"""
BRANCH = """
s = pl.maximum(pl.slice(x, [16, 16], [0, 0]), w)
p = pl.matmul(s, w)
if n > 1:
    s = pl.mul(pl.add(s, p), 0.5)
"""
NESTED = """
s = pl.mul(pl.matmul(pl.slice(x, [16, 16], [0, 0]), w), 0.5)
for i in pl.pipeline(1, 4, stage=2):
    for j in pl.pipeline(4, stage=2):
        s = pl.add(s, pl.slice(x, [16, 16], [i * 16, 0]))
"""
HELD = """
held = pl.matmul(pl.slice(x, [16, 16], [0, 0]), w)
s = pl.mul(held, 0.5)
for i in pl.range(3):
    s = pl.add(s, pl.matmul(pl.slice(x, [16, 16], [i * 16 + 16, 0]), w))
s = pl.add(s, held)
"""
ONE_ROUND = """
s = pl.slice(x, [16, 16], [0, 0])
p = pl.matmul(s, w)
h = s
for i in pl.pipeline(0, 1, 1, stage=2):
    for j in pl.pipeline(n, stage={}):
        s = pl.add(s, h)
        h = pl.slice(x, [16, 16], [16, 0])
s = pl.maximum(s, p)
"""
Golden = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def summed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x[:16] / 2 + x[16:32] + x[32:48] + x[48:]) @ w


def branched(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    s = torch.maximum(x[:16], w)
    return (s + s @ w) / 2


def nested(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x[:16] @ w / 2 + 4 * (x[16:32] + x[32:48] + x[48:])


def held(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x[:16] * 1.5 + x[16:32] + x[32:48] + x[48:]) @ w


def twice(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.maximum(2 * x[:16] + x[16:32], x[:16] @ w)


CASES: dict[str, tuple[str, str, Golden]] = {
    "starts by rows, goes on in boxes": ("", SUM.format("range", ""), summed),
    "a branch by rows, one in boxes": ("", BRANCH, branched),
    "rows of lanes": (LANES["UP_DOWN"], SUM.format("pipeline", ", stage=2"), summed),
    "columns of lanes": (LANES["LEFT_RIGHT"], SUM.format("pipeline", ", stage=2"), summed),
    "columns of lanes in a branch": (LANES["LEFT_RIGHT"], BRANCH, branched),
    "loops of lanes in each other": (LANES["UP_DOWN"], NESTED, nested),
    "loops of columns in each other": (LANES["LEFT_RIGHT"], NESTED, nested),
    "a loop of lanes that is gone": (LANES["UP_DOWN"], ONE_ROUND.format(1), twice),
    "a loop of lanes that is gone, with one of two copies": (LANES["UP_DOWN"], ONE_ROUND.format(2), twice),
    "a popped tile that is read behind a loop of pops": ("", HELD, held),
}


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def stages(options: str, lines: str, chosen: str) -> list[tuple[str, ir.Program]]:
    """What the passes make of a kernel of these lines."""
    backend.set_backend_type(backend.BackendType[chosen])
    node = pl.parse(SCOPE.format(options, textwrap.indent(lines.strip("\n"), " " * 12)))
    assert isinstance(node, ir.Program)
    return list(lowered(node, "AllocateMemoryAddr"))


@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("what", CASES)
def test_the_bytes_hold_what_the_kernel_computes(what, chosen):
    options, lines, golden = CASES[what]
    generator = torch.Generator().manual_seed(1)
    x, w = (torch.randn(*shape, generator=generator) for shape in ((64, 16), (16, 16)))
    made = dict(stages(options, lines, chosen))
    for stage in ("MemoryReuse", "AllocateMemoryAddr"):
        assert not overwrites(made[stage], load_table())
        names: dict[str, Callable[..., object]] = {}
        exec(torch_codegen(made[stage], storage=True, format=False), names)
        out = torch.full((16, 16), 9.0)
        names["main"](x, w, 2, out)
        torch.testing.assert_close(out, golden(x, w), rtol=1e-4, atol=1e-4)
    for stage, node in made.items():
        read_again(stage, node)


def carried(node: ir.Program) -> list[tuple[int, ...]]:
    """The declared extents of the tiles that loops carry."""
    loops = [
        stmt for f in node.functions.values() for stmt in statements(f.body) if isinstance(stmt, ir.ForStmt)
    ]
    types = [carry.type for loop in loops for carry in loop.iter_args]
    return [tuple(dim.value for dim in type_.shape) for type_ in types if isinstance(type_, ir.TileType)]


@pytest.mark.parametrize(
    ("mode", "lines", "shape"),
    [
        # its rows lie like the first ones of the whole, and nothing asks for the region
        ("UP_DOWN", SUM.format("range", "") + "s = pl.mul(s, 1.0)", (16, 16)),
        ("UP_DOWN", SUM.format("range", ""), (8, 16)),  # stored
        ("LEFT_RIGHT", SUM.format("range", "") + "s = pl.mul(s, 1.0)", (16, 8)),
    ],
)
def test_carries_are_declared_as_halves_where_the_whole_would_tell_wrong(mode, lines, shape):
    made = dict(stages(LANES[mode], lines, "Ascend910B"))
    assert carried(made["LowerAutoVectorSplit"]) == [shape]


def test_all_that_an_asked_result_comes_from_is_declared_as_halves():
    made = dict(stages(LANES["UP_DOWN"], NESTED, "Ascend910B"))
    assert carried(made["LowerAutoVectorSplit"]) == [(8, 16), (8, 16)]
