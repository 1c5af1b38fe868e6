"""Sums of row tiles; rows that fill no tile come after an early return that whole tiles take."""

import argparse
import sys

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

ROWS = int(sys.argv[sys.argv.index("--rows") + 1]) if "--rows" in sys.argv else 64
COLS, TILE = 64, 16
WHOLE = ROWS // TILE * TILE


@pl.jit
def tail_after_return(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for r in pl.parallel(0, WHOLE, TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="tile"):
            out[r : r + TILE, :] = pl.row_sum(pl.exp(x[r : r + TILE, :]))
    if WHOLE == ROWS:
        return out
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="tail"):
        rest = x[WHOLE:ROWS, :]
        out[WHOLE:ROWS, :] = pl.row_sum(pl.exp(rest))
    return out


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("out", [ROWS, 1], torch.float32, is_output=True),
    ]


def golden(t):
    t["out"][:] = t["x"].exp().sum(-1, keepdim=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("--rows", type=int, default=ROWS)
    args = parser.parse_args()
    result = run_jit(
        tail_after_return,
        specs=specs(),
        golden_fn=golden,
        runtime_cfg={"platform": args.platform},
        rtol=1e-5,
        atol=1e-5,
    )
    if not result.passed:
        raise SystemExit(result.error)
