"""Attention over a window of keys that ends at each query's position; the rest of the window is filled up."""

import math

import pypto.language as pl
from launch import main

B, H, D = 4, 16, 64
SEQ, WIN = 128, 64
SCALE = 1.0 / math.sqrt(D)
S = pl.dynamic("S")


@pl.jit
def window_attention(
    q: pl.Tensor[[B * H, D], pl.BF16],
    k: pl.Tensor[[S, D], pl.BF16],
    v: pl.Tensor[[S, D], pl.BF16],
    lens: pl.Tensor[[B], pl.INT32],
    out: pl.Out[pl.Tensor[[B * H, D], pl.FP32]],
):
    for b in pl.parallel(B):
        n = pl.cast(pl.read(lens, [b]), pl.INDEX)
        first = pl.max(n - WIN, 0)
        valid = pl.min(n, WIN)
        scores = pl.create_tensor([H, WIN], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="qk"):
            kw = pl.slice(k, [WIN, D], [first, 0])
            s = pl.matmul(q[b * H : (b + 1) * H, :], kw, out_dtype=pl.FP32, b_trans=True)
            scores = pl.assemble(scores, s, [0, 0])
        weights = pl.create_tensor([H, WIN], dtype=pl.BF16)
        total = pl.create_tensor([H, 1], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="softmax"):
            row = pl.slice(scores, [H, WIN], [0, 0], valid_shape=[H, valid])
            row = pl.fillpad(pl.mul(row, SCALE), pad_value=pl.PadValue.min)
            e = pl.exp(pl.row_expand_sub(row, pl.row_max(row)))
            total = pl.assemble(total, pl.row_sum(e), [0, 0])
            weights = pl.assemble(weights, pl.cast(e, target_type=pl.BF16, mode="round"), [0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="pv"):
            vw = pl.slice(v, [WIN, D], [first, 0])
            o = pl.matmul(weights[:, :], vw, out_dtype=pl.FP32)
            out = pl.assemble(out, pl.row_expand_div(o, total[:, :]), [b * H, 0])
    return out


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("q", [B * H, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("k", [SEQ, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("v", [SEQ, D], torch.bfloat16, init_value=torch.randn),
        TensorSpec("lens", [B], torch.int32, init_value=torch.tensor([5, 64, 100, 128])),
        TensorSpec("out", [B * H, D], torch.float32, is_output=True),
    ]


def golden_window_attention(t):
    import torch

    q, k, v = (t[name].float() for name in ("q", "k", "v"))
    for b, n in enumerate(t["lens"].tolist()):
        window = slice(max(n - WIN, 0), n)
        s = q[b * H : (b + 1) * H] @ k[window].T * SCALE
        e = torch.exp(s - s.amax(-1, keepdim=True))
        o = e.bfloat16().float() @ v[window]
        t["out"][b * H : (b + 1) * H] = o / e.sum(-1, keepdim=True)


if __name__ == "__main__":
    main(window_attention, build_specs(), golden_window_attention, rtol=5e-3, atol=5e-3)
