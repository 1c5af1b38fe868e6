"""Rows copied into a wider output; the columns beyond are filled only where there are any."""

import argparse
import sys

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

PAD = 128
COLS = int(sys.argv[sys.argv.index("--cols") + 1]) if "--cols" in sys.argv else PAD
ROWS, TILE = 32, 16
FILL = -3.0


@pl.jit.inline
def fill_rest(out: pl.Tensor, r: pl.INDEX):
    rest = pl.full([TILE, PAD - COLS], dtype=pl.FP32, value=FILL)
    out[r : r + TILE, COLS:PAD] = rest
    return out


@pl.jit
def padded_columns(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    for r in pl.parallel(0, rows, TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="pad"):
            y = pl.mul(x[r : r + TILE, :], 2.0)
            out[r : r + TILE, 0:cols] = y
            if cols < PAD:
                out = fill_rest(out, r)
            elif cols > PAD:
                out[r : r + TILE, :] = y[:, cols:PAD]
    return out


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("out", [ROWS, PAD], torch.float32, is_output=True),
    ]


def golden(t):
    t["out"][:, :COLS] = t["x"] * 2
    t["out"][:, COLS:] = FILL


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("--cols", type=int, default=PAD)
    args = parser.parse_args()
    result = run_jit(
        padded_columns,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=0,
        atol=0,
    )
    if not result.passed:
        raise SystemExit(result.error)
