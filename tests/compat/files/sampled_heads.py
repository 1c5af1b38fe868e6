"""Logits to samples: a temperature, noise that is given, the best of each row, halves put together."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

ROWS, VOCAB, PART = 16, 512, 256


@pl.jit.incore
def best_of(x: pl.Tensor[[ROWS, PART], pl.FP32], at: pl.Out[pl.Tensor[[ROWS, 1], pl.INT32]]):
    rows = pl.load(x, [0, 0], [ROWS, PART])
    scratch = pl.create_tile([ROWS, PART], dtype=pl.FP32)
    at = pl.store(pl.tile.row_argmax(rows, scratch), [0, 0], at)
    return at


@pl.jit
def sampled_heads(
    logits: pl.Tensor[[ROWS, VOCAB], pl.FP32],
    noise: pl.Tensor[[ROWS, VOCAB], pl.FP32],
    heat: pl.Tensor[[ROWS, 1], pl.FP32],
    first: pl.Out[pl.Tensor[[ROWS, 1], pl.INT32]],
    mass: pl.Out[pl.Tensor[[ROWS, 1], pl.FP32]],
    kept: pl.Out[pl.Tensor[[ROWS, VOCAB], pl.FP32]],
):
    warm = pl.create_tensor([ROWS, PART], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="warm"):
        scaled = pl.row_expand_div(logits[:, 0:PART], heat[:, 0:1])
        warm = pl.assemble(warm, pl.add(scaled, noise[:, 0:PART]), [0, 0])
    first = best_of(warm, first)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="mass"):
        left = pl.exp(pl.row_expand_sub(logits[:, 0:PART], pl.row_max(logits[:, 0:PART])))
        right = pl.exp(pl.neg(pl.abs(logits[:, PART:VOCAB])))
        both = pl.concat(left, right)
        mass = pl.assemble(mass, pl.row_sum(both), [0, 0])
        kept = pl.assemble(kept, both, [0, 0])
    return first, mass, kept


def specs():
    return [
        TensorSpec("logits", [ROWS, VOCAB], torch.float32, init_value=torch.randn),
        TensorSpec("noise", [ROWS, VOCAB], torch.float32, init_value=lambda: torch.rand(ROWS, VOCAB)),
        TensorSpec("heat", [ROWS, 1], torch.float32, init_value=lambda: 0.5 + torch.rand(ROWS, 1)),
        TensorSpec("first", [ROWS, 1], torch.int32, is_output=True),
        TensorSpec("mass", [ROWS, 1], torch.float32, is_output=True),
        TensorSpec("kept", [ROWS, VOCAB], torch.float32, is_output=True),
    ]


def golden(t):
    logits = t["logits"]
    t["first"][:] = (logits / t["heat"] + t["noise"])[:, :PART].argmax(1, keepdim=True)
    left = (logits[:, :PART] - logits[:, :PART].amax(1, keepdim=True)).exp()
    t["kept"][:] = torch.cat([left, (-logits[:, PART:].abs()).exp()], 1)
    t["mass"][:] = t["kept"].sum(1, keepdim=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args, _ = parser.parse_known_args()
    res = run_jit(
        fn=sampled_heads,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-4,
        atol=1e-4,
    )
    assert res.passed, res.error
