"""Scores against a compressed cache: tasks of one phase wait for those of the other by hand."""

import argparse
import functools

import pypto.language as pl
import torch
from golden import ScalarSpec, TensorSpec, run_jit

HEADS, DIM, RANK, CACHE, BLOCK = 16, 64, 128, 256, 64
BLOCKS = CACHE // BLOCK


@pl.jit.inline
def project(q: pl.Tensor, down: pl.Tensor):
    latent = pl.create_tensor([HEADS, RANK], dtype=pl.BF16)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="project"):
        acc = pl.matmul(q[:, 0:DIM], down[:, 0:RANK], out_dtype=pl.FP32)
        latent = pl.assemble(latent, pl.cast(acc, target_type=pl.BF16, mode="rint"), [0, 0])
    return latent


@pl.jit(auto_scope=False)
def latent_scores(
    q: pl.Tensor[[HEADS, DIM], pl.BF16],
    down: pl.Tensor[[DIM, RANK], pl.BF16],
    cache: pl.Tensor[[CACHE, RANK], pl.BF16],
    length: pl.Scalar[pl.INT32],
    tops: pl.Out[pl.Tensor[[HEADS, BLOCKS], pl.FP32]],
    scores: pl.Out[pl.Tensor[[HEADS, CACHE], pl.FP32]],
):
    with pl.scope():
        latent = project(q, down)
        with pl.manual_scope():
            tids = pl.array.create(BLOCKS, pl.TASK_ID)
            for b in pl.parallel(0, BLOCKS, 1):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="score") as tid:
                    keys = pl.slice(cache, [BLOCK, RANK], [b * BLOCK, 0])
                    product = pl.matmul(
                        pl.slice(latent, [HEADS, RANK], [0, 0]), keys, b_trans=True, out_dtype=pl.FP32
                    )
                    scores = pl.assemble(scores, pl.mul(product, RANK**-0.5), [0, b * BLOCK])
                tids[b] = tid
            for b in pl.parallel(0, BLOCKS, 1):
                left = pl.cast(length, pl.INDEX) - b * BLOCK
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="top", deps=[tids[b]]):
                    if left > 0:
                        n = pl.min(left, BLOCK)
                        part = pl.slice(scores, [HEADS, BLOCK], [0, b * BLOCK], valid_shape=[HEADS, n])
                        padded = pl.fillpad(part, pad_value=pl.PadValue.min)
                        tops = pl.assemble(tops, pl.row_max(padded), [0, b])
                    else:
                        nothing = pl.full([HEADS, 8], dtype=pl.FP32, value=-1000.0)
                        tops = pl.assemble(tops, pl.row_max(nothing), [0, b])
    return tops, scores


@functools.lru_cache
def fixture(seed=3):
    generator = torch.Generator().manual_seed(seed)
    shapes = {"q": (HEADS, DIM), "down": (DIM, RANK), "cache": (CACHE, RANK)}
    return {name: torch.randn(shape, generator=generator).bfloat16() for name, shape in shapes.items()}


def specs(length):
    inputs = [
        TensorSpec(name, list(value.shape), torch.bfloat16, init_value=value)
        for name, value in fixture().items()
    ]
    return [
        *inputs,
        ScalarSpec("length", torch.int32, length),
        TensorSpec("tops", [HEADS, BLOCKS], torch.float32, is_output=True),
        TensorSpec("scores", [HEADS, CACHE], torch.float32, is_output=True),
    ]


def golden(t):
    latent = (t["q"].float() @ t["down"].float()).bfloat16().float()
    t["scores"][:] = latent @ t["cache"].float().T * RANK**-0.5
    for b in range(BLOCKS):
        part = t["scores"][:, b * BLOCK : min((b + 1) * BLOCK, int(t["length"]))]
        t["tops"][:, b] = part.amax(1) if part.shape[1] else -1000.0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3")
    parser.add_argument("--length", type=int, default=150)
    args = parser.parse_args()
    cfg = {"platform": args.platform, "log_level": None}
    found = run_jit(latent_scores, specs(args.length), golden, runtime_cfg=cfg, rtol=2e-2, atol=2e-2)
    if not found.passed:
        raise SystemExit(found.error)
