"""A gated projection in one mixed kernel: products on the matrix unit, the gate on both vector lanes."""

import pypto.language as pl
from launch import main

M, K, N = 64, 128, 64
M_TILE = 32


@pl.jit
def fused_mlp(
    x: pl.Tensor[[M, K], pl.BF16],
    w_gate: pl.Tensor[[K, N], pl.BF16],
    w_up: pl.Tensor[[K, N], pl.BF16],
    y: pl.Out[pl.Tensor[[M, N], pl.BF16]],
):
    for m in pl.parallel(0, M, M_TILE):
        with pl.at(
            level=pl.Level.CORE_GROUP, name_hint="mlp", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]
        ):
            rows = x[m : m + M_TILE, :]
            gate = pl.matmul(rows, w_gate, out_dtype=pl.FP32)
            up = pl.matmul(rows, w_up, out_dtype=pl.FP32)
            act = pl.mul(gate, pl.recip(pl.add(pl.exp(pl.neg(gate)), 1.0)))
            y = pl.assemble(y, pl.cast(pl.mul(act, up), target_type=pl.BF16, mode="rint"), [m, 0])
    return y


def build_specs():
    import torch
    from golden import TensorSpec

    def weight():
        return torch.randn(K, N) / K**0.5

    return [
        TensorSpec("x", [M, K], torch.bfloat16, init_value=torch.randn),
        TensorSpec("w_gate", [K, N], torch.bfloat16, init_value=weight),
        TensorSpec("w_up", [K, N], torch.bfloat16, init_value=weight),
        TensorSpec("y", [M, N], torch.bfloat16, is_output=True),
    ]


def golden_fused_mlp(t):
    import torch

    x = t["x"].float()
    t["y"][:] = torch.nn.functional.silu(x @ t["w_gate"].float()) * (x @ t["w_up"].float())


if __name__ == "__main__":
    from golden import ratio_allclose

    main(fused_mlp, build_specs(), golden_fused_mlp, compare_fn={"y": ratio_allclose(atol=1e-3, rtol=1 / 64)})
