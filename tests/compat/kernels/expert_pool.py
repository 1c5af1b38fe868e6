"""A mixture of experts for one batch: gate scores, and the outputs of all experts weighted and summed."""

import pypto.language as pl
from launch import main

T, D, E = 16, 64, 8
FF = 64
PAD = 32


@pl.jit.inline
def gate(x: pl.Tensor[[T, D], pl.BF16], w: pl.Tensor[[D, PAD], pl.BF16], bias: pl.Tensor[[1, PAD], pl.FP32]):
    scores = pl.create_tensor([T, PAD], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="gate_logits"):
        scores = pl.assemble(scores, pl.matmul(x, w, out_dtype=pl.FP32), [0, 0])
    probs = pl.create_tensor([T, PAD], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="gate_softmax"):
        logits = pl.col_expand_add(scores[:, :], bias)
        top = pl.row_max(logits)
        e = pl.exp(pl.row_expand_sub(logits, top))
        probs = pl.assemble(probs, pl.row_expand_div(e, pl.row_sum(e)), [0, 0])
    return probs


@pl.jit.inline
def expert(
    x: pl.Tensor[[T, D], pl.BF16],
    up: pl.Tensor[[D, FF], pl.BF16],
    down: pl.Tensor[[FF, D], pl.BF16],
    y: pl.Tensor[[T, D], pl.FP32],
    weight: pl.Tensor[[T, 1], pl.FP32],
):
    hidden = pl.create_tensor([T, FF], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="up"):
        h = pl.matmul(x, up, out_dtype=pl.FP32)
        h = pl.mul(h, pl.recip(pl.add(pl.exp(pl.neg(h)), 1.0)))
        hidden = pl.assemble(hidden, pl.cast(h, target_type=pl.BF16, mode="rint"), [0, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="down"):
        part = pl.row_expand_mul(pl.matmul(hidden, down, out_dtype=pl.FP32), weight)
        y = pl.assemble(y, pl.add(y[:, :], part), [0, 0])
    return y


@pl.jit
def expert_pool(
    x: pl.Tensor[[T, D], pl.BF16],
    w_gate: pl.Tensor[[D, PAD], pl.BF16],
    bias: pl.Tensor[[1, PAD], pl.FP32],
    up: pl.Tensor[[E * D, FF], pl.BF16],
    down: pl.Tensor[[E * FF, D], pl.BF16],
    probs: pl.Out[pl.Tensor[[T, PAD], pl.FP32]],
    y: pl.Out[pl.Tensor[[T, D], pl.FP32]],
):
    scores = gate(x, w_gate, bias)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="start"):
        probs = pl.assemble(probs, scores[:, :], [0, 0])
        y = pl.assemble(y, pl.full([T, D], dtype=pl.FP32, value=0.0), [0, 0])
    for i in pl.range(E):
        weight = pl.create_tensor([T, 1], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="pick"):
            for t in pl.range(T):
                pl.write(weight, [t, 0], pl.read(scores, [t, i]))
        y = expert(x, up[i * D : (i + 1) * D, :], down[i * FF : (i + 1) * FF, :], y, weight)
    return probs, y


def build_specs():
    import torch
    from golden import TensorSpec

    def bias():
        found = torch.full((1, PAD), -1e4)
        found[:, :E] = torch.randn(E) * 0.1
        return found

    def scaled(*shape):
        return lambda: torch.randn(*shape) / shape[-1] ** 0.5

    return [
        TensorSpec("x", [T, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("w_gate", [D, PAD], torch.bfloat16, init_value=scaled(D, PAD)),
        TensorSpec("bias", [1, PAD], torch.float32, init_value=bias),
        TensorSpec("up", [E * D, FF], torch.bfloat16, init_value=scaled(E * D, FF)),
        TensorSpec("down", [E * FF, D], torch.bfloat16, init_value=scaled(E * FF, D)),
        TensorSpec("probs", [T, PAD], torch.float32, is_output=True),
        TensorSpec("y", [T, D], torch.float32, is_output=True),
    ]


def golden_expert_pool(t):
    import torch

    x = t["x"].float()
    t["probs"][:] = torch.softmax(x @ t["w_gate"].float() + t["bias"], dim=-1)
    total = torch.zeros(T, D)
    for i in range(E):
        h = torch.nn.functional.silu(x @ t["up"][i * D : (i + 1) * D].float()).bfloat16().float()
        total += t["probs"][:, i : i + 1] * (h @ t["down"][i * FF : (i + 1) * FF].float())
    t["y"][:] = total


if __name__ == "__main__":
    from golden import ratio_allclose

    close = ratio_allclose(atol=1e-2, rtol=1 / 128)
    main(expert_pool, build_specs(), golden_expert_pool, rtol=2e-3, atol=2e-3, compare_fn={"y": close})
