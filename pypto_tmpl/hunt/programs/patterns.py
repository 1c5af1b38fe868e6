"""Calls of ops of which samples of the table make no program: their operands belong together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """Lines of a kernel (``tile``) or of a scope (``tensor``), with its parameters; results are parameters.

    ``backend`` is the only one that has the ops, "" where both have.
    """

    namespace: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    results: tuple[str, ...]
    backend: str = ""


def _scaled_products(source: random.Random) -> Pattern:
    """Products of numbers in blocks of 32 that share a scale; factors go to the matrix unit by themselves."""
    rows = source.choice([16, 32])
    parameters = (
        f"a: pl.Tensor[[{rows}, 128], pl.FP8E4M3FN]",
        f"a_scale: pl.Tensor[[{rows}, 4], pl.FP8E8M0, pl.MX_A_ZZ]",
        "b: pl.Tensor[[128, 32], pl.FP8E4M3FN]",
        "b_scale: pl.Tensor[[4, 32], pl.FP8E8M0, pl.MX_B_NN]",
        "bias: pl.Tensor[[1, 32], pl.FP32]",
        f"out: pl.Out[pl.Tensor[[{rows}, 32], pl.FP32]]",
        f"rest: pl.Out[pl.Tensor[[{rows}, 32], pl.FP32]]",
    )
    lines = []
    for half in range(2):
        lines += [
            f"a{half} = pl.load(a, [0, {64 * half}], [{rows}, 64], target_memory=pl.Mem.Mat)",
            f"s{half} = pl.load(a_scale, [0, {2 * half}], [{rows}, 2], target_memory=pl.Mem.Mat)",
            f"b{half} = pl.load(b, [{64 * half}, 0], [64, 32], target_memory=pl.Mem.Mat)",
            f"t{half} = pl.load(b_scale, [{2 * half}, 0], [2, 32], target_memory=pl.Mem.Mat)",
        ]
    lines += [
        "z = pl.load(bias, [0, 0], [1, 32], target_memory=pl.Mem.Mat)",
        "c = pl.matmul_mx_bias(a0, s0, b0, t0, z)",
        "d = pl.matmul_mx_acc(c, a1, s1, b1, t1)",
        "out = pl.store(d, [0, 0], out)",
        "e = pl.matmul_mx(a1, s1, b1, t1)",
        "rest = pl.store(e, [0, 0], rest)",
    ]
    return Pattern("tile", parameters, tuple(lines), ("out", "rest"), "Ascend950")


def _batch_sum(source: random.Random) -> Pattern:
    """A product of a batch of one that is added to another one: accumulators of several have no place."""
    batch, depth = 1, source.choice([16, 32])
    parameters = (
        f"a: pl.Tensor[[{batch}, 16, {depth}], pl.FP32]",
        f"b: pl.Tensor[[{batch}, {depth}, 16], pl.FP32]",
        f"out: pl.Out[pl.Tensor[[{batch}, 16, 16], pl.FP32]]",
    )
    lines = (
        f"l = pl.load(a, [0, 0, 0], [{batch}, 16, {depth}], target_memory=pl.Mem.Mat)",
        f"r = pl.load(b, [0, 0, 0], [{batch}, {depth}, 16], target_memory=pl.Mem.Mat)",
        "c = pl.tile.batch_matmul(l, r)",
        "d = pl.tile.batch_matmul_acc(c, l, r)",
        "out = pl.store(d, [0, 0, 0], out)",
    )
    return Pattern("tile", parameters, lines, ("out",))


def _matches(source: random.Random) -> Pattern:
    """The columns of a tensor that compare so with a number, and how many they are."""
    return _compared(source, is_tile=False)


def _matches_of_tiles(source: random.Random) -> Pattern:
    """The columns of a tile that compare so with a number, and how many they are."""
    return _compared(source, is_tile=True)


def _compared(source: random.Random, *, is_tile: bool) -> Pattern:
    mode, number = source.choice(["eq", "ne", "lt", "le", "gt", "ge"]), source.choice(["0.0", "0.25", "-0.1"])
    keywords = f'cmp_mode="{mode}", out_cols=32' + source.choice(["", ", offset=7"])
    parameters = (
        "a: pl.Tensor[[16, 32], pl.FP32]",
        "out: pl.Out[pl.Tensor[[16, 32], pl.INT32]]",
        "counts: pl.Out[pl.Tensor[[16, 1], pl.INT32]]",
    )
    if is_tile:
        lines = [
            "t = pl.load(a, [0, 0], [16, 32])",
            "w = pl.tile.create([16, 32], dtype=pl.UINT8)",
            f"columns, found = pl.tile.gather_compare(t, {number}, w, {keywords})",
            "out = pl.store(columns, [0, 0], out)",
            "counts = pl.store(pl.tile.reshape(found, [16, 1]), [0, 0], counts)",
        ]
    else:
        lines = [
            f"columns, found = pl.tensor.gather(a, kvalue={number}, {keywords})",
            "out = pl.assemble(out, columns, [0, 0])",
            "counts = pl.assemble(counts, pl.reshape(found, [16, 1]), [0, 0])",
        ]
    return Pattern("tile" if is_tile else "tensor", parameters, tuple(lines), ("out", "counts"))


def _repeated(source: random.Random) -> Pattern:
    """A tensor that is repeated along one axis."""
    shape = source.choice([[1, 8, 32], [4, 1, 32], [4, 8, 1]])
    parameters = (f"a: pl.Tensor[{shape}, pl.FP32]", "out: pl.InOut[pl.Tensor[[4, 8, 32], pl.FP32]]")
    return Pattern("tensor", parameters, ("out = pl.expand_clone(a, out)",), ("out",))


def _other_dtype(source: random.Random) -> Pattern:
    """The bytes of a tensor as numbers of another kind."""
    dtype, columns = source.choice([("INT32", 32), ("INT16", 64), ("FP16", 64)])
    parameters = ("a: pl.Tensor[[16, 32], pl.INT32]", f"out: pl.Out[pl.Tensor[[16, {columns}], pl.{dtype}]]")
    lines = [f"v = pl.tensor.reinterpret_view(pl.tensor.ands(a, 15), pl.{dtype})"]
    lines.append(f"out = pl.assemble(out, pl.add(v, {'v' if dtype != 'FP16' else '0.0'}), [0, 0])")
    return Pattern("tensor", parameters, tuple(lines), ("out",))


def _sorted(source: random.Random) -> Pattern:
    """Blocks of 32 that are sorted, with the places that their numbers had."""
    rows, columns = source.choice([1, 4]), source.choice([32, 64])
    parameters = (
        f"a: pl.Tensor[[{rows}, {columns}], pl.FP32]",
        f"places: pl.Tensor[[{rows}, {columns}], pl.UINT32]",
        f"out: pl.Out[pl.Tensor[[{rows}, {2 * columns}], pl.FP32]]",
    )
    lines = ("v = pl.tensor.sort32(a, places)", "out = pl.assemble(out, v, [0, 0])")
    return Pattern("tensor", parameters, lines, ("out",))


def _casts(source: random.Random) -> Pattern:
    """A cast that takes several instructions, in each mode of rounding.

    What goes through FP16 is exact there: PyPTO's passes round twice, and so do ours.
    """
    dtype, target = source.choice(
        [("FP32", "INT8"), ("FP32", "UINT8"), ("FP16", "BF16"), ("BF16", "INT16"), ("INT32", "BF16")]
    )
    mode = source.choice(["rint", "round", "floor", "ceil", "trunc"])
    parameters = (f"a: pl.Tensor[[16, 64], pl.{dtype}]", f"out: pl.Out[pl.Tensor[[16, 64], pl.{target}]]")
    scaled = {"FP32": "pl.mul(w, 0.25)", "INT32": "pl.tile.muls(t, 37)"}.get(dtype, "pl.mul(t, 9.25)")
    if target == "UINT8":
        scaled = f"pl.tile.maximums({scaled}, 0.0)"
    whole = 'pl.cast(pl.cast(pl.mul(t, 37.0), target_type=pl.INT32, mode="rint"), target_type=pl.FP32)'
    lines = (
        "t = pl.load(a, [0, 0], [16, 64])",
        *([f"w = {whole}"] if dtype == "FP32" else []),
        f"s = {scaled}",
        f'u = pl.cast(s, target_type=pl.{target}, mode="{mode}")',
        "out = pl.store(u, [0, 0], out)",
    )
    return Pattern("tile", parameters, lines, ("out",))


def _windows(source: random.Random) -> Pattern:
    """Windows of a tile that begin anywhere, and of a panel whose parts are factors."""
    parameters = (
        "a: pl.Tensor[[16, 64], pl.FP32]",
        "b: pl.Tensor[[64, 32], pl.FP32]",
        "n: pl.Scalar[pl.INDEX]",
        "out: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]",
        "total: pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    )
    column = source.choice(["12", "8", "n", "n * 8", "pl.min(n * 8, 20)"])
    row, height = source.choice([(0, 16), (3, 1), (8, 8), (2, 4)])
    depth = source.choice([16, 32])
    at = source.choice([0, depth, 64 - depth])
    lines = [
        "t = pl.load(a, [0, 0], [16, 64])",
        f"s = pl.tile.slice(t, [{height}, 16], [{row}, {column}])",
        f"u = {source.choice(['pl.exp(s)', 'pl.add(s, s)', 'pl.mul(s, 0.5)'])}",
        f"out = pl.store(u, [{row}, 0], out)",
        "l = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)",
        "r = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)",
        f"lp = pl.tile.slice(l, [16, {depth}], [0, {at}])",
        f"rp = pl.tile.slice(r, [{depth}, 32], [{at}, 0])",
        "p = pl.matmul(lp, rp)",
        "total = pl.store(p, [0, 0], total)",
    ]
    return Pattern("tile", parameters, tuple(lines), ("out", "total"))


def _large_product(source: random.Random) -> Pattern:
    """A product that is too deep, or too large, for the memories of the matrix unit."""
    rows, depth, columns = source.choice([(16, 1200, 16), (64, 320, 96), (96, 128, 256), (16, 96, 640)])
    parameters = (
        f"a: pl.Tensor[[{rows}, {depth}], pl.FP32]",
        f"b: pl.Tensor[[{depth}, {columns}], pl.FP32]",
        f"out: pl.Out[pl.Tensor[[{rows}, {columns}], pl.FP32]]",
    )
    return Pattern("tensor", parameters, ("out = pl.assemble(out, pl.matmul(a, b), [0, 0])",), ("out",))


def _flattened(source: random.Random) -> Pattern:
    """Blocks of rows that are taken as one."""
    blocks, rows = source.choice([(2, 8), (4, 4), (1, 16)])
    value = source.choice(["pl.exp(u)", "pl.mul(u, 0.5)", "pl.add(u, u)"])
    parameters = (
        f"a: pl.Tensor[[{blocks}, {rows}, 32], pl.FP32]",
        "out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    )
    lines = (
        f"t = pl.load(a, [0, 0, 0], [{blocks}, {rows}, 32])",
        "u = pl.tile.reshape(t, [16, 32])",
        f"v = {value}",
        "out = pl.store(v, [0, 0], out)",
    )
    return Pattern("tile", parameters, lines, ("out",))


def _pages(source: random.Random) -> Pattern:
    """Pages of a cache, which a table tells the places of: as many as the table is long."""
    count, columns = source.choice([2, 3, 4]), source.choice([32, 64])
    value = source.choice(["page", "pl.mul(page, 0.5)", "pl.exp(page)"])
    parameters = (
        f"cache: pl.Tensor[[128, {columns}], pl.FP32]",
        f"table: pl.Tensor[[{count}], pl.INT32]",
        f"out: pl.Out[pl.Tensor[[{16 * count}, {columns}], pl.FP32]]",
    )
    lines = (
        "for i in pl.range(pl.tensor.dim(table, 0)):",
        "    place = pl.cast(pl.tensor.read(table, [i]), pl.INDEX)",
        f"    page = pl.slice(cache, [16, {columns}], [place * 16, 0])",
        f"    out = pl.assemble(out, pl.add({value}, page), [i * 16, 0])",
    )
    return Pattern("tensor", parameters, lines, ("out",))


def _gathered_factor(source: random.Random) -> Pattern:
    """A factor that is put together in the memory of the matrix unit, of rows that a table names."""
    dtype, place = source.choice(["FP16", "BF16"]), source.choice(["row", "row * 8"])
    parameters = (
        f"a: pl.Tensor[[64, 32], pl.{dtype}]",
        "table: pl.Tensor[[16], pl.INT32]",
        f"b: pl.Tensor[[32, 32], pl.{dtype}]",
        "out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    )
    lines = (
        f"rows = pl.tensor.create_l1([16, 32], dtype=pl.{dtype})",
        "for i in pl.range(16):",
        "    row = pl.cast(pl.tensor.read(table, [i]), pl.INDEX)",
        f"    rows = pl.tensor.gather_row(rows, a, [i, 0], [{place}, 0], [1, 32])",
        "out = pl.assemble(out, pl.matmul(rows, b, out_dtype=pl.FP32), [0, 0])",
    )
    return Pattern("tensor", parameters, lines, ("out",))


PATTERNS: tuple[Callable[[random.Random], Pattern], ...] = (
    _scaled_products,
    _batch_sum,
    _matches,
    _matches_of_tiles,
    _repeated,
    _other_dtype,
    _sorted,
    _casts,
    _windows,
    _large_product,
    _flattened,
    _pages,
    _gathered_factor,
)
