"""Tensors of block scales: packed in memory (MX_A_ZZ, MX_B_NN), by row and column in tiles."""

from typing import Any

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

LAYOUTS = {"MX_A_ZZ": (32, 6), "MX_B_NN": (6, 32)}


def packed(logical: torch.Tensor, layout: str) -> torch.Tensor:
    """The scales as they lie in memory: one number after the other, by the formula of the layout."""
    flat = torch.zeros(logical.numel(), dtype=torch.uint8)
    groups = logical.shape[1 if layout == "MX_A_ZZ" else 0]
    for i in range(logical.shape[0]):
        for j in range(logical.shape[1]):
            m, g = (i, j) if layout == "MX_A_ZZ" else (j, i)
            place = ((m // 16 * (groups // 2) + g // 2) * 16 + m % 16) * 2 + g % 2
            flat[place] = logical.view(torch.uint8)[i, j]
    return flat.reshape(logical.shape).view(torch.float8_e8m0fnu)


def some_scales(*shape: int) -> torch.Tensor:
    numbers = torch.arange(shape[0] * shape[1]).reshape(shape)
    return (numbers % 13 + 121).to(torch.uint8).view(torch.float8_e8m0fnu)


def called(text: str, *args: torch.Tensor, packed_scales: bool = True) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    program = pl.parse("import pypto.language as pl\n" + text)
    exec(torch_codegen(program, options={"packed_scales": packed_scales}), scope)
    scope["f"](*args)
    return scope


PRODUCT = """
@pl.function(type=pl.FunctionType.InCore)
def f(
    a: pl.Tensor[[32, 128], pl.FP8E4M3FN], a_scale: pl.Tensor[[32, 4], pl.FP8E8M0, pl.MX_A_ZZ],
    b: pl.Tensor[[128, 32], pl.FP8E4M3FN], b_scale: pl.Tensor[[4, 32], pl.FP8E8M0, pl.MX_B_NN],
    bias: pl.Tensor[[1, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
) -> pl.Tensor[[32, 32], pl.FP32]:
    a0 = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
    s0 = pl.load(a_scale, [0, 0], [32, 2], target_memory=pl.Mem.Mat)
    b0 = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
    t0 = pl.load(b_scale, [0, 0], [2, 32], target_memory=pl.Mem.Mat)
    a1 = pl.load(a, [0, 64], [32, 64], target_memory=pl.Mem.Mat)
    s1 = pl.load(a_scale, [0, 2], [32, 2], target_memory=pl.Mem.Mat)
    b1 = pl.load(b, [64, 0], [64, 32], target_memory=pl.Mem.Mat)
    t1 = pl.load(b_scale, [2, 0], [2, 32], target_memory=pl.Mem.Mat)
    c = {first}
    d = pl.matmul_mx_acc(c, a1, s1, b1, t1)
    out = pl.store(d, [0, 0], out)
    return out
"""


@pytest.mark.parametrize("has_bias", [False, True])
def test_products_of_packed_scales(has_bias: bool) -> None:
    torch.manual_seed(1)
    a, b = (torch.randn(shape).to(torch.float8_e4m3fn) for shape in ((32, 128), (128, 32)))
    bias, out = torch.randn(1, 32), torch.zeros(32, 32)
    a_scale, b_scale = some_scales(32, 4), some_scales(4, 32)
    text = PRODUCT
    if has_bias:
        text = text.replace(
            "    c =", "    z = pl.load(bias, [0, 0], [1, 32], target_memory=pl.Mem.Mat)\n    c ="
        )
    first = "pl.matmul_mx_bias(a0, s0, b0, t0, z)" if has_bias else "pl.matmul_mx(a0, s0, b0, t0)"
    called(text.format(first=first), a, packed(a_scale, "MX_A_ZZ"), b, packed(b_scale, "MX_B_NN"), bias, out)
    left = a.double() * a_scale.double().repeat_interleave(32, 1)
    right = b.double() * b_scale.double().repeat_interleave(32, 0)
    expected = left @ right + (bias if has_bias else 0.0)
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-4)


def test_without_the_option_scales_come_by_row_and_column() -> None:
    torch.manual_seed(1)
    a, b = (torch.randn(shape).to(torch.float8_e4m3fn) for shape in ((32, 128), (128, 32)))
    a_scale, b_scale, out = some_scales(32, 4), some_scales(4, 32), torch.zeros(32, 32)
    text = PRODUCT.format(first="pl.matmul_mx(a0, s0, b0, t0)")
    called(text, a, a_scale, b, b_scale, torch.zeros(1, 32), out, packed_scales=False)
    left = a.double() * a_scale.double().repeat_interleave(32, 1)
    right = b.double() * b_scale.double().repeat_interleave(32, 0)
    torch.testing.assert_close(out.double(), left @ right, rtol=1e-5, atol=1e-4)


COPY = """
@pl.function(type=pl.FunctionType.InCore)
def f(x: pl.Tensor[{shape}, pl.FP8E8M0{source}], out: pl.Out[pl.Tensor[{shape}, pl.FP8E8M0{target}]]):
    t = pl.load(x, {offsets}, {window}, valid_shape={valid}, target_memory=pl.Mem.Vec)
    pl.store(t, {offsets}, out)
"""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("valid", [[16, 4], [13, 3]], ids=str)
@pytest.mark.parametrize("way", ["load", "store", "both"])
def test_windows_are_by_row_and_column(layout: str, valid: list[int], way: str) -> None:
    """A window that begins in the middle of a block, read from packed scales, written to them, or both."""
    shape, offsets, window = [*LAYOUTS[layout]], [4, 1], [16, 4]
    if layout == "MX_B_NN":
        offsets, window, valid = offsets[::-1], window[::-1], valid[::-1]
    x, before = some_scales(*shape), torch.full(shape, 99, dtype=torch.uint8).view(torch.float8_e8m0fnu)
    text = COPY.format(
        shape=shape, offsets=offsets, window=window, valid=valid,
        source="" if way == "store" else f", pl.{layout}", target="" if way == "load" else f", pl.{layout}",
    )  # fmt: skip
    expected = before.view(torch.uint8).clone()
    cells = tuple(slice(start, start + size) for start, size in zip(offsets, valid, strict=True))
    expected[cells] = x.view(torch.uint8)[cells]
    out = before.clone()
    called(text, x if way == "store" else packed(x, layout), out)
    wanted = expected if way == "load" else packed(expected.view(torch.float8_e8m0fnu), layout)
    assert torch.equal(out.view(torch.uint8), wanted.view(torch.uint8))


@pytest.mark.parametrize(
    ("layout", "shape", "block"),
    [
        ("MX_A_ZZ", (24, 4), "16 rows by 2"),
        ("MX_A_ZZ", (16, 3), "16 rows by 2"),
        ("MX_B_NN", (3, 16), "2 rows by 16"),
    ],
)
def test_scales_come_in_whole_blocks(layout: str, shape: tuple[int, int], block: str) -> None:
    text = COPY.format(
        shape=[*shape], offsets=[0, 0], window=[1, 1], valid=[1, 1], source=f", pl.{layout}", target=""
    )
    with pytest.raises(ValueError, match=rf"scales in layout {layout} come in {block}, not \[{shape[0]}, "):
        called(text, some_scales(*shape), some_scales(*shape))


def test_other_ops_do_not_take_them_for_rows() -> None:
    program = pl.parse(
        "import pypto.language as pl\n@pl.function(type=pl.FunctionType.Orchestration)\n"
        "def f(x: pl.Tensor[[32, 4], pl.FP8E8M0, pl.MX_A_ZZ]):\n"
        "    y = pl.slice(x, [16, 2], [0, 0])\n    return y\n"
    )
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program)
    assert "operator 'tensor.slice' on a tensor in layout MX_A_ZZ" in str(caught.value)
    assert "which is packed in memory: only tile.load and tile.store know how" in str(caught.value)
