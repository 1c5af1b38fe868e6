"""Kernels that hand on windows of tiles: these begin where only the run tells, or share bytes with others.

No type of a carry or of a result can say where such a window lies, so that it has a buffer of its own.
"""

import textwrap
from collections.abc import Callable

import pytest
import torch
from passes.tile_memory import stored_by
from pipeline_check import lowered

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.passes.settings import MemoryPlanner

KERNEL = """
import pypto.language as pl

@pl.program
class Windows:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32],
               counts: pl.Tensor[[8], pl.INT32],
               out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]) -> pl.Tensor[[8, 64], pl.FP32]:
        n = pl.cast(pl.read(counts, [0]), pl.INDEX)
        a = pl.load(x, [0, 0], [64, 64])
        b = pl.load(y, [0, 0], [64, 64])
{}
        out = pl.store(c, [0, 0], out)
        return out
"""
SLOT = 'pl.Tile[[8, 64], pl.FP32, pl.MemRef("ring", slots=2)[{}], pl.Mem.Vec]'
Golden = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]


def rows(tensor: torch.Tensor, block: int) -> torch.Tensor:
    return tensor[8 * block : 8 * block + 8]


# Each kernel: its lines, and what it stores, longhand, of x, y and n.
KERNELS: dict[str, tuple[str, Golden]] = {
    "another window in each round": (
        """
        p = pl.slice(a, [8, 64], [n * 8, 0])
        c = pl.mul(p, 0.0)
        for i in pl.range(3):
            c = pl.add(c, p)
            p = pl.slice(a, [8, 64], [i * 8, 0])
        c = pl.add(c, pl.mul(p, 3.0))
        """,
        lambda x, y, n: rows(x, n) + rows(x, 0) + rows(x, 1) + 3 * rows(x, 2),
    ),
    "another window in some round": (
        """
        p = pl.slice(a, [8, 64], [0, 0])
        for i in pl.range(1, 4):
            if i == n - 2:
                p = pl.slice(a, [8, 64], [i * 8, 0])
        c = pl.add(p, pl.slice(a, [8, 64], [0, 0]))
        """,
        lambda x, y, n: rows(x, n - 2 if n > 2 else 0) + rows(x, 0),
    ),
    "windows of one tile in two branches": (
        """
        if n > 3:
            p = pl.slice(a, [8, 64], [n * 8, 0])
        else:
            p = pl.slice(a, [8, 64], [(n + 1) * 8, 0])
        c = pl.add(p, 1.0)
        """,
        lambda x, y, n: rows(x, n if n > 3 else n + 1) + 1,
    ),
    "windows of two tiles, which are read again": (
        """
        if n > 3:
            p = pl.slice(a, [8, 64], [n * 8, 0])
        else:
            p = pl.slice(b, [8, 64], [(n + 1) * 8, 0])
        c = pl.add(pl.add(p, 1.0), pl.slice(a, [8, 64], [n * 8, 0]))
        c = pl.add(c, pl.slice(b, [8, 64], [16, 0]))
        """,
        lambda x, y, n: (rows(x, n) if n > 3 else rows(y, n + 1)) + 1 + rows(x, n) + rows(y, 2),
    ),
    "what starts as a window and is computed then": (
        """
        p = pl.slice(a, [8, 64], [n * 8, 0])
        for i in pl.range(3):
            p = pl.add(p, pl.slice(a, [8, 64], [i * 8, 0]))
        c = pl.add(p, pl.slice(a, [8, 64], [n * 8, 0]))
        """,
        lambda x, y, n: 2 * rows(x, n) + rows(x, 0) + rows(x, 1) + rows(x, 2),
    ),
    "windows that share rows and change places": (
        """
        p = pl.slice(a, [8, 64], [0, 0])
        q = pl.slice(a, [8, 64], [4, 0])
        for i in pl.range(3):
            r = p
            p = q
            q = r
        c = pl.sub(p, pl.mul(q, 3.0))
        """,
        lambda x, y, n: x[4:12] - 3 * x[:8],
    ),
    "views of windows": (
        """
        p = pl.slice(a, [16, 64], [n * 8, 0])
        q = pl.slice(p, [8, 64], [8, 0])
        for i in pl.range(3):
            q = pl.mul(q, 0.5)
        s = pl.reshape(pl.slice(b, [16, 64], [n * 8, 0]), [32, 32])
        if n > 3:
            s = pl.reshape(p, [32, 32])
        c = pl.add(q, pl.slice(pl.reshape(s, [16, 64]), [8, 64], [0, 0]))
        """,
        lambda x, y, n: rows(x, n + 1) / 8 + (rows(x, n) if n > 3 else rows(y, n)),
    ),
    "slots of a declared buffer by the round": (
        f"""
        cur: {SLOT.format(0)} = pl.load(x, [0, 0], [8, 64])
        c = pl.mul(cur, 0.0)
        for i in pl.range(3):
            nxt: {SLOT.format("(i + 1) % 2")} = pl.load(x, [i * 8 + 8, 0], [8, 64])
            c = pl.add(pl.mul(c, 2.0), cur)
            cur = nxt
        c = pl.add(pl.mul(c, 2.0), cur)
        """,
        lambda x, y, n: 8 * rows(x, 0) + 4 * rows(x, 1) + 2 * rows(x, 2) + rows(x, 3),
    ),
}


@pytest.fixture(autouse=True)
def chosen_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


@pytest.mark.parametrize(
    ("planner", "last"),
    [(MemoryPlanner.PYPTO, "MemoryReuse"), (MemoryPlanner.DSA_RP, "MaterializeSemanticAliases")],
)
@pytest.mark.parametrize("what", KERNELS)
def test_windows_that_are_handed_on_keep_their_values(what, planner, last):
    lines, golden = KERNELS[what]
    node = pl.parse(KERNEL.format(textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * 8)))
    assert isinstance(node, ir.Program)
    *_, (stage, made) = lowered(node, last, planner)
    assert stage == last
    for n in (2, 4, 5):
        generator = torch.Generator().manual_seed(n)
        x, y = (torch.randn(64, 64, generator=generator) for _ in range(2))
        found = stored_by(made["kernel"], {"x": x, "y": y, "counts": torch.tensor([n])})
        torch.testing.assert_close(found, golden(x, y, n))
