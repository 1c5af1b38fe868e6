"""Tiles with a slope for what is negative, in a workspace of their own dtype, with a view by name."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run

ROWS, COLS, USED = 32, 64, 20
PART = pl.TileView(valid_shape=[USED, COLS])


@pl.program
class LeakyTiles:
    @pl.function(type=pl.FunctionType.InCore)
    def leaky(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP16],
        slope: pl.FP32,
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP16]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP16]:
        t: pl.Tile[[ROWS, COLS], pl.FP16, pl.Mem.Vec, PART] = pl.load(
            x, [0, 0], [ROWS, COLS], valid_shape=[USED, COLS]
        )
        factor = pl.expands(t, pl.cast(slope, pl.FP16))
        out = pl.store(pl.prelu(t, factor, t), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[ROWS, COLS], pl.FP16], out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP16]]
    ) -> pl.Tensor[[ROWS, COLS], pl.FP16]:
        out = self.leaky(x, 0.25, out)
        return out


def specs():
    return [
        TensorSpec("x", [ROWS, COLS], torch.float16, init_value=torch.randn),
        TensorSpec("out", [ROWS, COLS], torch.float16, is_output=True),
    ]


def golden(t):
    x = t["x"][:USED]
    t["out"][:USED] = torch.where(x > 0, x, (x.float() * 0.25).half())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run(LeakyTiles, specs=specs(), golden_fn=golden, runtime_cfg={"platform": args.platform})
    if not result.passed:
        raise SystemExit(result.error)
