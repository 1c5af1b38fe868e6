"""Bits of counters: unsigned parameters, whose tensors torch holds as signed ones of the same bits."""

import argparse

import pypto.language as pl
import torch
from golden import TensorSpec, run_jit

ROWS, COLS = 16, 64


@pl.jit
def mixed_bits(
    x: pl.Tensor[[ROWS, COLS], pl.UINT32],
    y: pl.Tensor[[ROWS, COLS], pl.UINT16],
    wide: pl.Out[pl.Tensor[[ROWS, COLS], pl.UINT32]],
    narrow: pl.Out[pl.Tensor[[ROWS, COLS], pl.UINT16]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="wide"):
        wide[:, :] = pl.and_(pl.shr(x, 3), 0x0FFFFFFF)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="narrow"):
        narrow[:, :] = pl.or_(pl.shr(y, 1), 1)
    return wide, narrow


def specs():
    def bits(dtype):
        info = torch.iinfo(dtype)
        return lambda: torch.randint(info.min, info.max, (ROWS, COLS), dtype=dtype)

    return [
        TensorSpec("x", [ROWS, COLS], torch.int32, init_value=bits(torch.int32)),
        TensorSpec("y", [ROWS, COLS], torch.int16, init_value=bits(torch.int16)),
        TensorSpec("wide", [ROWS, COLS], torch.int32, is_output=True),
        TensorSpec("narrow", [ROWS, COLS], torch.int16, is_output=True),
    ]


def golden(t):
    t["wide"][:] = ((t["x"].long() & 0xFFFFFFFF) >> 3 & 0x0FFFFFFF).int()
    t["narrow"][:] = ((t["y"].long() & 0xFFFF) >> 1 | 1).short()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3sim")
    args = parser.parse_args()
    result = run_jit(
        mixed_bits, specs=specs(), golden_fn=golden, runtime_cfg={"platform": args.platform}, rtol=0, atol=0
    )
    if not result.passed:
        raise SystemExit(result.error)
