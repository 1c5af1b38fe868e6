"""Kernels whose tiles have places, written out as the printer writes them."""

import re
import textwrap
from collections.abc import Sequence

import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

KERNEL = """# pypto.program: Placed
import pypto.language as pl

@pl.program
class Placed:
    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)
    def kernel(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        mem: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 65536)
        other: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 65536)
{}
        return out
"""  # noqa: E501  # the printer breaks no lines
TILE = re.compile(r"(\w+) @ (?:(\w+)\+)?(-?\w+) (\w+)\[(\d+), (\d+)\]")
"""``t @ 0x400 FP32[16, 64]``: a tile at an address; ``t @ other+0 ...``: not in the allocation ``mem``."""
BITS = {"FP32": 32, "INT32": 32, "FP16": 16, "BF16": 16} | dict.fromkeys(["UINT8", "INT8"], 8)
BITS |= dict.fromkeys(["INT4", "UINT4", "FP4", "HF4"], 4)


def _typed(found: re.Match[str]) -> str:
    name, base, address, dtype, rows, columns = found.groups()
    size = -(-int(rows) * int(columns) * BITS[dtype] // 8)
    place = f"pl.MemRef({base or 'mem'}, pl.const({int(address, 0)}, pl.INT64), {size})"
    return f"{name}: pl.Tile[[{rows}, {columns}], pl.{dtype}, {place}, pl.Mem.Vec]"


def placed(body: str) -> ir.Program:
    """The program of one kernel, of lines in which ``t @ 0x400 FP32[16, 64] = ...`` binds a placed tile.

    ``load(x)`` and ``store(t)`` are whole tiles of tensors.
    """
    load = r"pl.tile.load(\1, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
    store = r"o_\1: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(\1, [0, 0], out)"
    lines = re.sub(r"\bload\((\w)\)", load, re.sub(r"\bstore\((\w+)\)", store, TILE.sub(_typed, body)))
    text = KERNEL.format(textwrap.indent(textwrap.dedent(lines).strip("\n"), " " * 8))
    program = pl.parse(text)
    assert isinstance(program, ir.Program)
    return program


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors of distinct numbers."""
    x = torch.arange(1024, dtype=torch.float32).reshape(16, 64)
    return x, 0.5 - x / 7


def run(
    program: ir.Program, n: int = 0, *, storage: bool = True, pushed: Sequence[torch.Tensor] = ()
) -> torch.Tensor:
    """What the kernel stores of ``inputs()`` and of what the cube core has ``pushed``; 9 where nothing."""
    names: dict = {}
    exec(torch_codegen(program, check_shapes=True, storage=storage), names)
    for tile in pushed if "_cross_core_rt" in names else ():
        names["_cross_core_rt"].push_to_aiv(tile, 0)
    out = torch.full((16, 64), 9.0)
    names["kernel"](*inputs(), n, out)
    return out
