"""A quantised projection: rows to int8 by their largest value, an integer product, and the scales."""

import pypto.language as pl
from launch import main

M, K, N = 32, 128, 64
K_TILE, N_TILE = 64, 32
EPS = 1e-4


@pl.jit.inline
def quantise(x: pl.Tensor[[M, K], pl.BF16], q: pl.Tensor[[M, K], pl.INT8], scale: pl.Tensor[[M, 1], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="quant"):
        wide = pl.cast(x[:, :], target_type=pl.FP32)
        amax = pl.maximum(pl.row_max(pl.abs(wide)), EPS)
        step = pl.mul(amax, 1.0 / 127.0)
        scaled = pl.row_expand_div(wide, step)
        halves = pl.cast(
            pl.cast(scaled, target_type=pl.INT32, mode="rint"), target_type=pl.FP16, mode="round"
        )
        q = pl.assemble(q, pl.cast(halves, target_type=pl.INT8, mode="trunc"), [0, 0])
        scale = pl.assemble(scale, step, [0, 0])
    return q, scale


@pl.jit
def int8_linear(
    x: pl.Tensor[[M, K], pl.BF16],
    w: pl.Tensor[[N, K], pl.INT8],
    w_scale: pl.Tensor[[1, N], pl.FP32],
    q: pl.Out[pl.Tensor[[M, K], pl.INT8]],
    x_scale: pl.Out[pl.Tensor[[M, 1], pl.FP32]],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    q, x_scale = quantise(x, q, x_scale)
    for nb in pl.parallel(0, N, N_TILE):
        acc = pl.create_tensor([M, N_TILE], dtype=pl.INT32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="int8_matmul"):
            part = pl.matmul(q[:, 0:K_TILE], w[nb : nb + N_TILE, 0:K_TILE], out_dtype=pl.INT32, b_trans=True)
            for k in pl.pipeline(K_TILE, K, K_TILE, stage=2):
                part = pl.matmul_acc(
                    part, q[:, k : k + K_TILE], w[nb : nb + N_TILE, k : k + K_TILE], b_trans=True
                )
            acc = pl.assemble(acc, part, [0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="dequant"):
            wide = pl.cast(acc[:, :], target_type=pl.FP32, mode="none")
            wide = pl.row_expand_mul(wide, x_scale[:, :])
            wide = pl.col_expand_mul(wide, w_scale[:, nb : nb + N_TILE])
            y = pl.assemble(y, wide, [0, nb])
    return q, x_scale, y


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("x", [M, K], torch.bfloat16, init_value=torch.randn),
        TensorSpec("w", [N, K], torch.int8, init_value=lambda: torch.randint(-127, 128, (N, K))),
        TensorSpec("w_scale", [1, N], torch.float32, init_value=lambda: torch.rand(1, N) / 64 + 1e-3),
        TensorSpec("q", [M, K], torch.int8, is_output=True),
        TensorSpec("x_scale", [M, 1], torch.float32, is_output=True),
        TensorSpec("y", [M, N], torch.float32, is_output=True),
    ]


def golden_int8_linear(t):
    x = t["x"].float()
    step = x.abs().amax(-1, keepdim=True).clamp(min=EPS) * (1.0 / 127.0)
    q = (x / step).round()
    t["q"][:], t["x_scale"][:] = q, step
    t["y"][:] = (q.double() @ t["w"].double().T).float() * step * t["w_scale"]


if __name__ == "__main__":
    main(int8_linear, build_specs(), golden_int8_linear, rtol=1e-3, atol=1e-3)
