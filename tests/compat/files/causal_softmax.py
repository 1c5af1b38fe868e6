"""Softmax of scores below a causal edge, in loops that some sizes leave without rounds."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

SEQ, TILE = 64, 16
LEAD = SEQ % TILE
NEG = -1.0e30


@pl.jit.inline
def softmax(x: pl.Tensor[[TILE, SEQ], pl.FP32]):
    e = pl.exp(pl.row_expand_sub(x, pl.row_max(x)))
    return pl.row_expand_div(e, pl.row_sum(e))


@pl.jit
def causal_softmax(scores: pl.Tensor[[SEQ, SEQ], pl.FP32], out: pl.Out[pl.Tensor[[SEQ, SEQ], pl.FP32]]):
    for r in pl.range(LEAD):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="lead"):
            out[r : r + 1, :] = scores[r : r + 1, SEQ : SEQ + LEAD]
    for b in pl.unroll(SEQ // TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="block"):
            masked = pl.full([TILE, SEQ], dtype=pl.FP32, value=NEG)
            masked[:, 0 : (b + 1) * TILE] = scores[b * TILE : (b + 1) * TILE, 0 : (b + 1) * TILE]
            out[b * TILE : (b + 1) * TILE, :] = softmax(masked)
    return out


def specs():
    return [
        TensorSpec("scores", [SEQ, SEQ], torch.float32, init_value=torch.randn),
        TensorSpec("out", [SEQ, SEQ], torch.float32, is_output=True),
    ]


def golden(t):
    blocks = torch.arange(SEQ) // TILE
    t["out"][:] = t["scores"].masked_fill(blocks[None, :] > blocks[:, None], NEG).softmax(-1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        causal_softmax,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-5,
        atol=1e-6,
    )
    if not result.passed:
        raise SystemExit(result.error)
