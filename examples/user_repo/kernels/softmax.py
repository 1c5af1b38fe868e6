"""Softmax over rows that are shorter than the tile: padding is filled with the dtype's minimum first."""

import pypto.language as pl

ROWS, COLS, TILE, BLOCK = 64, 100, 128, 32


@pl.jit
def softmax(
    x: pl.Tensor[[ROWS, COLS], pl.FP32],
    out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for r in pl.parallel(0, ROWS, BLOCK):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="softmax"):
            part = pl.slice(x, [BLOCK, TILE], [r, 0], valid_shape=[BLOCK, COLS])
            padded = pl.fillpad(part, pad_value=pl.PadValue.min)
            e = pl.exp(pl.row_expand_sub(padded, pl.row_max(padded)))
            p = pl.row_expand_div(e, pl.row_sum(e))
            out = pl.assemble(out, pl.set_validshape(p, BLOCK, COLS), [r, 0])
    return out
