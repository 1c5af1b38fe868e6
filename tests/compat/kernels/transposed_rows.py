"""Columns gathered by index tensors, a transpose between two layouts, and halves put side by side."""

import pypto.language as pl
from launch import main

R, C = 32, 64
HALF = C // 2


@pl.jit
def transposed_rows(
    x: pl.Tensor[[R, C], pl.FP32],
    order: pl.Tensor[[R, C], pl.INT32],
    swapped: pl.Out[pl.Tensor[[R, C], pl.FP32]],
    turned: pl.Out[pl.Tensor[[C, R], pl.FP32]],
    picked: pl.Out[pl.Tensor[[R, C], pl.FP32]],
    bounds: pl.Out[pl.Tensor[[1, C], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="swap"):
        halves = pl.concat(pl.neg(x[:, HALF:C]), x[:, 0:HALF])
        swapped = pl.assemble(swapped, halves, [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="turn"):
        turned = pl.assemble(turned, pl.transpose(x[:, :], axis1=0, axis2=1), [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="pick"):
        picked = pl.assemble(picked, pl.gather(x[:, :], dim=-1, index=order[:, :]), [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="bounds"):
        bounds = pl.assemble(bounds, pl.sub(pl.col_max(x[:, :]), pl.col_min(x[:, :])), [0, 0])
    return swapped, turned, picked, bounds


def build_specs():
    import torch
    from golden import TensorSpec

    def order():
        return torch.stack([torch.randperm(C) for _ in range(R)]).to(torch.int32)

    return [
        TensorSpec("x", [R, C], torch.float32, init_value=torch.randn),
        TensorSpec("order", [R, C], torch.int32, init_value=order),
        TensorSpec("swapped", [R, C], torch.float32, is_output=True),
        TensorSpec("turned", [C, R], torch.float32, is_output=True),
        TensorSpec("picked", [R, C], torch.float32, is_output=True),
        TensorSpec("bounds", [1, C], torch.float32, is_output=True),
    ]


def golden_transposed_rows(t):
    import torch

    x = t["x"]
    t["swapped"][:] = torch.cat([-x[:, HALF:], x[:, :HALF]], dim=-1)
    t["turned"][:] = x.T
    t["picked"][:] = torch.gather(x, 1, t["order"].long())
    t["bounds"][:] = x.amax(0) - x.amin(0)


if __name__ == "__main__":
    main(transposed_rows, build_specs(), golden_transposed_rows, rtol=0.0, atol=0.0)
