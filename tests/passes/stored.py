"""Kernels whose tiles have allocations, written as text, and where their tiles lie."""

import re
from collections.abc import Iterator

from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.memory.places import Places
from pypto_tmpl.passes.memory.placing import with_storage

PRINTED = f"# pypto.program: p{HEAD}"
TENSOR = 'pl.Tensor[[{}, 64], pl.FP32, pl.MemRef("{}", pl.const(0, pl.INT64), {})]'


def stored(
    *lines: str, kind: str = "AIV", spaces: dict[str, str] | None = None, size: int = 4096
) -> ir.Program:
    """A kernel in which ``T[A]`` is a tile in the allocation A, and ``O`` the output's type."""
    space = (spaces or {}).get("", "Vec")
    names = sorted({name for line in lines for name in re.findall(r"T\[(\w+)\]", line)})
    output = TENSOR.format(16, "ddr_1", 4096)
    head = (
        f"    @pl.function(type=pl.FunctionType.{kind})\n"
        f"    def kernel(self, x: {TENSOR.format(64, 'ddr_0', 16384)}, n: pl.Scalar[pl.INDEX],\n"
        f"               out: pl.Out[{output}]):\n"
    )
    allocs = [f"{name}: pl.Ptr = pl.tile.alloc(pl.Mem.{space}, {size})" for name in names]
    tile = rf"pl.Tile[[16, 64], pl.FP32, pl.MemRef(\1, pl.const(0, pl.INT64), {size}), pl.Mem.{space}]"
    body = [re.sub(r"T\[(\w+)\]", tile, line).replace(": O =", f": {output} =") for line in lines]
    node = pl.parse(PRINTED + head + "".join(f"        {line}\n" for line in (*allocs, *body)))
    assert isinstance(node, ir.Program)
    return with_places_of_results(node)


def with_places_of_results(node: ir.Program) -> ir.Program:
    """Carries and results lie where what they start with does; text cannot say it of carries."""
    made = []
    for function in node.functions.values():
        found = Places(function)
        found.follow_carries()
        made.append(with_storage(function, found.plan))
    return ir.Program(made, node.name, node.span)


def places(node: ir.Program) -> dict[str, str]:
    """The allocations of the tiles that statements assign, by name."""
    return {name: memref.base_.name_hint for name, memref in _memrefs(node)}


def addresses(node: ir.Program) -> dict[str, int | str]:
    """The offsets of these tiles: numbers, or expressions as text."""
    return {
        name: offset.value
        if isinstance(offset := memref.byte_offset_, ir.ConstInt)
        else ir.python_print(offset)
        for name, memref in _memrefs(node)
    }


def _memrefs(node: ir.Program) -> Iterator[tuple[str, ir.MemRef]]:
    for function in node.functions.values():
        for stmt in statements(function.body):
            type_ = stmt.var.type if isinstance(stmt, ir.AssignStmt) else None
            if isinstance(type_, ir.TileType) and type_.memref is not None:
                yield stmt.var.name_hint, type_.memref
