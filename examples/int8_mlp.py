"""A two-layer MLP with INT8 weights: activations are quantised per row, products are INT32."""

import torch
from harness import main

import pypto_tmpl.language as pl
from pypto_tmpl.golden import TensorSpec, ratio_allclose

ROWS, HIDDEN, INNER, TILE = 32, 128, 256, 128


@pl.jit.inline
def quantized_matmul(x: pl.Tensor, weight: pl.Tensor, weight_scale: pl.Tensor):
    """x times an INT8 matrix whose columns have scales, back in FP32."""
    rows, depth = x.shape
    cols = weight.shape[1]
    codes = pl.create_tensor([rows, depth], dtype=pl.INT8)
    scales = pl.create_tensor([rows, 1], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="quantize"):
        largest = pl.maximum(pl.row_max(x), pl.neg(pl.row_min(x)))
        scale = pl.mul(pl.maximum(largest, 1e-8), 1.0 / 127.0)
        whole = pl.cast(pl.row_expand_div(x, scale), target_type=pl.INT32, mode="rint")
        half = pl.cast(whole, target_type=pl.FP16, mode="rint")
        codes = pl.assemble(codes, pl.cast(half, target_type=pl.INT8, mode="trunc"), [0, 0])
        scales = pl.assemble(scales, scale, [0, 0])
    out = pl.create_tensor([rows, cols], dtype=pl.FP32)
    for n in pl.parallel(0, cols, TILE):
        product = pl.create_tensor([rows, TILE], dtype=pl.INT32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="product"):
            product = pl.assemble(
                product, pl.matmul(codes, weight[:, n : n + TILE], out_dtype=pl.INT32), [0, 0]
            )
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="dequantize"):
            y = pl.row_expand_mul(pl.cast(product, target_type=pl.FP32), scales)
            out[:, n : n + TILE] = pl.col_expand_mul(y, weight_scale[:, n : n + TILE])
    return out


@pl.jit
def int8_mlp(
    x: pl.Tensor[[ROWS, HIDDEN], pl.FP32],
    up: pl.Tensor[[HIDDEN, INNER], pl.INT8],
    up_scale: pl.Tensor[[1, INNER], pl.FP32],
    down: pl.Tensor[[INNER, HIDDEN], pl.INT8],
    down_scale: pl.Tensor[[1, HIDDEN], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.FP32]],
):
    inner = quantized_matmul(x, up, up_scale)
    active = pl.create_tensor([ROWS, INNER], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="relu"):
        active = pl.assemble(active, pl.maximum(inner, 0.0), [0, 0])
    y = quantized_matmul(active, down, down_scale)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="residual"):
        out = pl.assemble(out, pl.add(x, y), [0, 0])
    return out


KERNEL = int8_mlp


def specs():
    def codes(*shape):
        return lambda: torch.randint(-127, 128, shape)

    def scales(cols):
        return lambda: torch.rand(1, cols) / 1000 + 1e-4

    return [
        TensorSpec("x", [ROWS, HIDDEN], torch.float32, torch.randn),
        TensorSpec("up", [HIDDEN, INNER], torch.int8, codes(HIDDEN, INNER)),
        TensorSpec("up_scale", [1, INNER], torch.float32, scales(INNER)),
        TensorSpec("down", [INNER, HIDDEN], torch.int8, codes(INNER, HIDDEN)),
        TensorSpec("down_scale", [1, HIDDEN], torch.float32, scales(HIDDEN)),
        TensorSpec("out", [ROWS, HIDDEN], torch.float32, is_output=True),
    ]


def golden(t):
    def layer(x, weight, weight_scale):
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / 127
        codes = (x / scale).round().clamp(-127, 127)
        return (codes.double() @ weight.double()).float() * scale * weight_scale

    inner = layer(t["x"], t["up"], t["up_scale"]).clamp(min=0)
    t["out"][:] = t["x"] + layer(inner, t["down"], t["down_scale"])


if __name__ == "__main__":
    # a value that lies on a step of the quantisation may fall to either side
    main(KERNEL, specs, golden, compare_fn={"out": ratio_allclose(atol=1e-2, rtol=1e-2)})
