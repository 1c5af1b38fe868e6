"""Buffers that a program declares for its tiles are there after all passes, whatever the tiles go through."""

import re

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.ir.pass_manager import PassManager

HEAD = """
import pypto.language as pl

@pl.program
class p:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[{x}, pl.FP32], out: pl.Out[pl.Tensor[{out}, pl.{dtype}]]
        ) -> pl.Tensor[{out}, pl.{dtype}]:
"""
MAIN = """
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[{x}, pl.FP32], out: pl.Out[pl.Tensor[{out}, pl.{dtype}]]
        ) -> pl.Tensor[{out}, pl.{dtype}]:
        out = self.kernel(x, out)
        return out
"""
# What a pass gives another type, or takes apart: shapes, dtype of the output, lines.
KERNELS = {
    "a load": (
        ("[16, 64]", "[16, 64]", "FP32"),
        't: pl.Tile[[16, 64], pl.FP32, pl.MemRef("own"), pl.Mem.Vec] = pl.load(x, [0, 0], [16, 64])',
        "u = pl.exp(t)",
    ),
    "three axes": (
        ("[2, 16, 64]", "[2, 16, 64]", "FP32"),
        't: pl.Tile[[2, 16, 64], pl.FP32, pl.MemRef("own"), pl.Mem.Vec] = pl.load(x, [0, 0, 0], [2, 16, 64])',
        "u = pl.exp(t)",
    ),
    "a cast in two steps": (
        ("[16, 64]", "[16, 64]", "INT8"),
        "t = pl.load(x, [0, 0], [16, 64])",
        'u: pl.Tile[[16, 64], pl.INT8, pl.MemRef("own"), pl.Mem.Vec] = '
        'pl.cast(t, target_type=pl.INT8, mode="rint")',
    ),
    "a column": (
        ("[16, 64]", "[16, 1]", "FP32"),
        "t = pl.load(x, [0, 0], [16, 64])",
        "tmp = pl.create_tile([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        "s = pl.row_sum(t, tmp)",
        'u: pl.Tile[[16, 1], pl.FP32, pl.MemRef("own"), pl.Mem.Vec] = pl.exp(s)',
    ),
    "a sine": (
        ("[16, 64]", "[16, 64]", "FP32"),
        "t = pl.load(x, [0, 0], [16, 64])",
        'u: pl.Tile[[16, 64], pl.FP32, pl.MemRef("own"), pl.Mem.Vec] = pl.sin(t)',
    ),
    "a slot of the round": (
        ("[64, 64]", "[16, 64]", "FP32"),
        "s = pl.load(x, [0, 0], [16, 64])",
        "for i in pl.range(4):",
        '    t: pl.Tile[[16, 64], pl.FP32, pl.MemRef("own", slots=2)[i % 2], pl.Mem.Vec] = '
        "pl.load(x, [i * 16, 0], [16, 64])",
        "    s = pl.add(s, t)",
        "u = pl.exp(s)",
    ),
}


@pytest.mark.parametrize("what", KERNELS)
def test_a_declared_buffer_is_kept(what):
    (x, out, dtype), *lines = KERNELS[what]
    offsets = ", ".join("0" for _ in out.split(","))
    store = f"out = pl.store(u, [{offsets}], out)"
    body = "".join(f"        {line}\n" for line in (*lines, store, "return out"))
    text = (HEAD + body + MAIN).replace("{x}", x).replace("{out}", out).replace("{dtype}", dtype)
    node = pl.parse(text)
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    try:
        after = PassManager.get_strategy().run_passes(node)
    finally:
        backend.reset_for_testing()
    printed = ir.python_print(after, format=False)
    assert len(re.findall(r"\bown: pl\.Ptr = pl\.tile\.alloc\(.*pinned=True\)", printed)) == 1
    assert re.search(r"\w+: pl\.Tile\[.*pl\.MemRef\(own, ", printed)
