"""Sums of windows that are valid in part, or whose extents are known late: at every stage of the pipeline."""

from __future__ import annotations

import pytest
import torch
from ranks.ranked import HEAD, call, counted, each_stage, function, host, script, stages, tensor, window

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes

Shape = tuple[int, ...]
FREE = "".join(f'{name} = pl.dynamic("{name}")\n' for name in ("NR", "N", "K"))


def reduced(ranks: int, shape: Shape, part: str, line: str, signal: str, dtype: str = "FP32") -> ir.Program:
    """Ranks fill a window, make a collective of it as ``part`` (an annotation), and copy it out."""
    rows = 2 * (ranks - 1) if "ring" in line else ranks
    cells = [rows, ranks] if "ring" in line else [rows, 1]
    x, y = tensor(*shape, dtype=dtype), tensor(*shape, dtype=dtype, way="Out")
    data, first, size = window(*shape, dtype=dtype), [0] * len(shape), list(shape)
    sig = f"pld.DistributedTensor[{signal or cells}, pl.INT32]"
    copy = f"pl.store(pl.load({{}}, {first}, {size}), {first}, {{}})"
    stacked = f"xs: {tensor(ranks, *shape, dtype=dtype)}, ys: {tensor(ranks, *shape, dtype=dtype, way='Out')}"
    text = [
        function(
            "InCore",
            "fill",
            f"x: {x}, data: pl.InOut[{data}]",
            f"data = {copy.format('x', 'data')}\nreturn data",
            data,
        ),
        function(
            "InCore", "reduce", f"data: pl.InOut[{part}], sig: pl.InOut[{sig}]", f"{line}\nreturn data", part
        ),
        function("InCore", "take", f"data: {data}, y: {y}", f"y = {copy.format('data', 'y')}\nreturn y", x),
        function(
            "Orchestration",
            "chip",
            f"x: {x}, y: {y}, data: {data}, part: {part}, sig: {sig}",
            "data = self.fill(x, data)\npart = self.reduce(part, sig)\ny = self.take(data, y)\nreturn y",
            x,
        ),
        host(
            f"data {size} {dtype}\nsig {cells} INT32",
            f"""
part = pld.window(data, {size}, dtype=pl.{dtype})
for r in pl.range(pld.world_size()):
    self.chip(xs[r], ys[r], data_w, part, sig_w, device=r)
return ys
""",
            stacked,
            tensor(ranks, *shape, dtype=dtype),
        ),
    ]
    return pl.parse(HEAD.replace("@pl.program", f"{FREE}\n@pl.program") + "\n".join(text))


def summed(ranks: int, shape: Shape, valid: Shape, mode: str, dtype: str = "FP32") -> ir.Program:
    """The sum over all ranks of the valid part of their windows."""
    view = f"pl.TensorView(valid_shape={list(valid)}, layout=pl.TensorLayout.ND)"
    part = f"pld.DistributedTensor[{list(shape)}, pl.{dtype}, {view}]"
    line = f'data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Sum, mode="{mode}")'
    return reduced(ranks, shape, part, line, "", dtype)


@pytest.mark.parametrize(
    ("ranks", "shape", "valid", "mode", "dtype"),
    [
        (2, (4, 16), (3, 5), "mesh", "FP32"),
        (3, (4, 16), (3, 5), "mesh", "FP16"),
        (2, (2, 4, 16), (1, 3, 7), "mesh", "FP32"),
        (4, (2, 4, 16), (2, 4, 7), "mesh", "FP32"),
        (3, (4, 16), (3, 16), "ring", "FP32"),
        (4, (4, 16), (1, 7), "ring", "FP16"),
        (2, (2, 4, 16), (1, 1, 5), "ring", "FP32"),
    ],
)
def test_what_is_not_valid_keeps_its_values(
    ranks: int, shape: Shape, valid: Shape, mode: str, dtype: str
) -> None:
    xs = (counted(ranks, *shape) % 31 - 15).to({"FP32": torch.float32, "FP16": torch.float16}[dtype])
    box = (slice(None), *map(slice, valid))
    expected = xs.clone()
    expected[box] = xs[box].sum(0)
    for stage, names in each_stage(summed(ranks, shape, valid, mode, dtype)):
        ys = torch.full_like(xs, 9)
        call(names, ranks, xs, ys)
        assert torch.equal(ys, expected), stage


@pytest.mark.parametrize(
    ("shape", "valid", "mode", "message"),
    [
        ((4, 16), (3, 5), "ring", "target valid_shape must be a contiguous row-major prefix"),
        ((2, 4, 16), (2, 3, 7), "mesh", "target valid_shape cannot be represented by a single 2D view"),
        ((100, 64), (90, 63), "mesh", "partial valid_shape must fit within one 16384-byte mesh chunk"),
    ],
)
def test_parts_that_no_sum_takes(shape: Shape, valid: Shape, mode: str, message: str) -> None:
    node = summed(2, shape, valid, mode)
    with pytest.raises(passes.PassError, match=message) as caught:
        list(stages(node))
    assert "pld.tensor.allreduce: " in str(caught.value)
    assert "in function 'reduce', variable 'data__ssa_v1'" in str(caught.value)
    assert "<string>:17:16" in str(caught.value)


def test_parts_that_no_sum_takes_before_it_is_lowered() -> None:
    xs = counted(2, 4, 16)
    with pytest.raises(ValueError, match="target valid_shape must be a contiguous row-major prefix"):
        call(script(summed(2, (4, 16), (3, 5), "ring")), 2, xs, xs.clone())
    xs = counted(2, 100, 64)
    with pytest.raises(ValueError, match="partial valid_shape must fit within one 16384-byte mesh chunk"):
        call(script(summed(2, (100, 64), (90, 63), "mesh")), 2, xs, xs.clone())


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("[1, N]", "allreduce(data, sig, op=pld.ReduceOp.Sum)"),
        ("[1, N]", 'allreduce(data, sig, op=pld.ReduceOp.Sum, mode="ring")'),
        ("[N, K]", "allreduce(data, sig, op=pld.ReduceOp.Sum)"),
        ("[N, 40]", "broadcast(data, sig, root=1)"),
        ("[1, K]", "broadcast(data, sig, root=1)"),
    ],
)
def test_extents_that_are_known_when_a_window_comes(part: str, line: str) -> None:
    ranks, shape = 3, (2 if part.startswith("[N") else 1, 40)
    xs = counted(ranks, *shape) % 17
    expected = (xs[1] if line.startswith("broadcast") else xs.sum(0)).expand_as(xs)
    node = reduced(
        ranks,
        shape,
        f"pld.DistributedTensor[{part}, pl.FP32]",
        f"data = pld.tensor.{line}",
        "[4, 3]" if "ring" in line else "[NR, 1]",
    )
    for stage, names in each_stage(node):
        ys = torch.full_like(xs, 9)
        call(names, ranks, xs, ys)
        assert torch.equal(ys, expected), stage
