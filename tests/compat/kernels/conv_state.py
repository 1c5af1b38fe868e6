"""A causal convolution of four taps over one new token of each sequence, with a state that moves on."""

import pypto.language as pl
from launch import main

B, C, TAPS = 8, 128, 4


@pl.jit.inline
def silu(x: pl.Tensor[[B, C], pl.FP32]):
    return pl.mul(x, pl.recip(pl.add(pl.exp(pl.neg(x)), 1.0)))


@pl.jit
def conv_state(
    x: pl.Tensor[[B, C], pl.BF16],
    taps: pl.Tensor[[TAPS, C], pl.FP32],
    slots: pl.Tensor[[B], pl.INT32],
    state: pl.InOut[pl.Tensor[[2 * B * (TAPS - 1), C], pl.FP32]],
    y: pl.Out[pl.Tensor[[B, C], pl.BF16]],
):
    gathered = pl.create_tensor([(TAPS - 1) * B, C], dtype=pl.FP32)
    for b in pl.range(B):
        slot = pl.cast(pl.read(slots, [b]), pl.INDEX)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="fetch"):
            for j in pl.unroll(TAPS - 1):
                line = state[slot * (TAPS - 1) + j : slot * (TAPS - 1) + j + 1, :]
                gathered = pl.assemble(gathered, line, [j * B + b, 0])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="conv"):
        acc = pl.col_expand_mul(pl.cast(x[:, :], target_type=pl.FP32), taps[TAPS - 1 : TAPS, :])
        for j in pl.unroll(TAPS - 1):
            acc = pl.add(acc, pl.col_expand_mul(gathered[j * B : (j + 1) * B, :], taps[j : j + 1, :]))
        y = pl.assemble(y, pl.cast(silu(acc), target_type=pl.BF16, mode="rint"), [0, 0])
    for b in pl.range(B):
        slot = pl.cast(pl.read(slots, [b]), pl.INDEX)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="move_on"):
            for j in pl.unroll(TAPS - 2):
                line = gathered[(j + 1) * B + b : (j + 1) * B + b + 1, :]
                state = pl.assemble(state, line, [slot * (TAPS - 1) + j, 0])
            newest = pl.cast(x[b : b + 1, :], target_type=pl.FP32)
            state = pl.assemble(state, newest, [slot * (TAPS - 1) + TAPS - 2, 0])
    return state, y


def build_specs():
    import torch
    from golden import TensorSpec

    def slots():
        return torch.randperm(2 * B)[:B].to(torch.int32)

    return [
        TensorSpec("x", [B, C], torch.bfloat16, init_value=torch.randn),
        TensorSpec("taps", [TAPS, C], torch.float32, init_value=torch.randn),
        TensorSpec("slots", [B], torch.int32, init_value=slots),
        TensorSpec("state", [2 * B * (TAPS - 1), C], torch.float32, init_value=torch.randn, is_output=True),
        TensorSpec("y", [B, C], torch.bfloat16, is_output=True),
    ]


def golden_conv_state(t):
    import torch

    state = t["state"].view(2 * B, TAPS - 1, C)
    slots = t["slots"].long()
    window = torch.cat([state[slots], t["x"].float()[:, None]], dim=1)
    t["y"][:] = torch.nn.functional.silu((window * t["taps"]).sum(1)).bfloat16()
    state[slots] = window[:, 1:]


if __name__ == "__main__":
    from golden import ratio_allclose

    main(
        conv_state, build_specs(), golden_conv_state, compare_fn={"y": ratio_allclose(atol=1e-2, rtol=1 / 64)}
    )
