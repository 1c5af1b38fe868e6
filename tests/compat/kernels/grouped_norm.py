"""Norm of the heads of a query projection, each by itself, with a gain that a flag leaves out."""

import argparse

import pypto.language as pl
from golden import TensorSpec, run_jit
from pypto.ir.distributed_compiled_program import DistributedConfig  # noqa: F401

T, HEADS, D = 16, 4, 64
EPS = 1e-6
parser = argparse.ArgumentParser()
parser.add_argument("-p", "--platform", default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"])
parser.add_argument("-d", "--device", type=str, default="0")
parser.add_argument("--no-gain", action="store_true")
ARGS = parser.parse_args()
HAS_GAIN = not ARGS.no_gain


@pl.jit(auto_scope=False)
def grouped_norm(
    x: pl.Tensor[[T, HEADS * D], pl.FP32],
    gain: pl.Tensor[[1, D], pl.FP32],
    y: pl.Out[pl.Tensor[[T, HEADS * D], pl.FP32]],
):
    with pl.scope():
        for t in pl.parallel(T):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="head_norm"):
                heads = pl.reshape(x[t : t + 1, :], [HEADS, D])
                inv = pl.rsqrt(pl.add(pl.mul(pl.row_sum(pl.mul(heads, heads)), 1.0 / D), EPS))
                normed = pl.row_expand_mul(heads, inv)
                if HAS_GAIN:
                    normed = pl.col_expand_mul(normed, gain)
                y = pl.assemble(y, pl.reshape(normed, [1, HEADS * D]), [t, 0])
    return y


def golden_grouped_norm(t):
    import torch

    x = t["x"].view(T, HEADS, D)
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
    t["y"][:] = (y * t["gain"] if HAS_GAIN else y).view(T, HEADS * D)


def specs():
    import torch

    return [
        TensorSpec("x", [T, HEADS * D], torch.float32, init_value=torch.randn),
        TensorSpec("gain", [1, D], torch.float32, init_value=torch.rand),
        TensorSpec("y", [T, HEADS * D], torch.float32, is_output=True),
    ]


if __name__ == "__main__":
    result = run_jit(
        fn=grouped_norm,
        specs=specs(),
        golden_fn=golden_grouped_norm,
        runtime_cfg={"platform": ARGS.platform, "device_id": int(ARGS.device), "log_level": None},
        rtol=1e-4,
        atol=1e-4,
    )
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)
