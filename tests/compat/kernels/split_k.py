"""A product whose depth is shared by the blocks of an SPMD task, which add their parts into one tensor."""

import pypto.language as pl
from launch import main

M, K, N = 32, 256, 64
BLOCKS = 4
K_PART = K // BLOCKS


@pl.jit(auto_scope=False)
def split_k(
    a: pl.Tensor[[M, K], pl.BF16],
    b: pl.Tensor[[K, N], pl.BF16],
    bias: pl.Tensor[[1, N], pl.FP32],
    y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    with pl.manual_scope():
        total = pl.create_tensor([M, N], dtype=pl.FP32, init_value=0.0)
        with pl.spmd(BLOCKS, name_hint="parts", allow_early_resolve=True) as parts:
            k0 = pl.tile.get_block_idx() * K_PART
            part = pl.matmul(a[:, k0 : k0 + K_PART], b[k0 : k0 + K_PART, :], out_dtype=pl.FP32)
            total = pl.assemble(total, part, [0, 0], atomic=pl.AtomicType.Add)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="finish", deps=[parts]):
            y = pl.assemble(y, pl.maximum(pl.col_expand_add(total[:, :], bias), 0.0), [0, 0])
    return y


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("a", [M, K], torch.bfloat16, init_value=torch.randn),
        TensorSpec("b", [K, N], torch.bfloat16, init_value=lambda: torch.randn(K, N) / K**0.5),
        TensorSpec("bias", [1, N], torch.float32, init_value=torch.randn),
        TensorSpec("y", [M, N], torch.float32, is_output=True),
    ]


def golden_split_k(t):
    t["y"][:] = (t["a"].float() @ t["b"].float() + t["bias"]).relu()


if __name__ == "__main__":
    main(split_k, build_specs(), golden_split_k)
