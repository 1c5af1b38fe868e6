"""Chunked prefill: ragged row tiles of a dynamic batch, helpers that return nothing, carried task ids."""

import math
from dataclasses import dataclass

import pypto.language as pl


@dataclass(frozen=True)
class Cfg:
    hidden: int = 64
    tile: int = 16
    experts: int = 4

    @property
    def scale(self) -> float:
        return 1.0 / math.sqrt(self.hidden)


CFG = Cfg()
HID, TILE, E = CFG.hidden, CFG.tile, CFG.experts
NEG = float("-inf")
LN2 = math.log(2.0)
TOK = pl.dynamic("TOK")
MAX_TOK = 48


@pl.jit.inline
def fill(dst: pl.Tensor, value: pl.Scalar[pl.FP32], rows: pl.Scalar[pl.INDEX]):
    """Writes its argument and returns nothing."""
    for r0 in pl.parallel(0, rows, TILE):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="fill"):
            dst[r0 : r0 + TILE, :] = pl.full([TILE, HID], dtype=pl.FP32, value=2.0)


@pl.jit.inline(auto_scope=False)
def expert_tasks(
    x: pl.Tensor[[TOK, HID], pl.FP32],
    counts: pl.Tensor[[E], pl.INT32],
    out: pl.Tensor[[E * MAX_TOK, HID], pl.FP32],
    gate: pl.Scalar[pl.TASK_ID],
):
    tids = pl.array.create(E, pl.TASK_ID)
    prev = gate
    for e in pl.range(E):
        n = pl.cast(pl.read(counts, [e]), pl.INDEX)
        tiles = (n + TILE - 1) // TILE
        with pl.spmd(MAX_TOK // TILE, name_hint="expert", deps=[prev, gate]) as tid:
            tb = pl.tile.get_block_idx()
            r0 = tb * TILE
            if tb < tiles:
                rows = pl.min(TILE, n - r0)
                part = pl.slice(x, [TILE, HID], [r0, 0], valid_shape=[rows, HID])
                scaled = pl.mul(part, pl.cast(e + 1, pl.FP32))
                out = pl.assemble(out, scaled, [e * MAX_TOK + r0, 0])
        tids[e] = tid
        prev = tid
    last = pl.system.task_dummy(deps=[tids[e] for e in range(E) if e % 2 == 0])
    done = pl.system.task_dummy(deps=[last, tids[E - 1]])
    return out, done


@pl.jit(auto_scope=False)
def prefill(
    x: pl.Tensor[[TOK, HID], pl.FP32],
    counts: pl.Tensor[[E], pl.INT32],
    ids: pl.Tensor[[TOK], pl.INT64],
    out: pl.InOut[pl.Tensor[[E * MAX_TOK, HID], pl.FP32]],
    summed: pl.Out[pl.Tensor[[TOK, HID], pl.FP32]],
    merged: pl.Out[pl.Tensor[[1, 256], pl.FP32]],
    best: pl.Out[pl.Tensor[[TOK, 1], pl.FP32]],
    mask: pl.Out[pl.Tensor[[TILE, HID], pl.FP32]],
) -> tuple[pl.Tensor[[E * MAX_TOK, HID], pl.FP32], pl.Tensor[[TOK, HID], pl.FP32]]:
    tokens, hidden = x.shape
    padded = (tokens + TILE - 1) // TILE * TILE
    gate = pl.system.task_dummy(deps=[])
    with pl.scope():
        twos = pl.create_tensor([MAX_TOK, HID], dtype=pl.FP32)
        fill(twos, 2.0, MAX_TOK)
        out, done = expert_tasks(x, counts, out, gate)
        for r0 in pl.range(0, padded, TILE):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="sum", deps=[done]) as st:
                rows = pl.min(TILE, tokens - r0)
                acc = pl.slice(twos, [TILE, HID], [r0, 0], valid_shape=[rows, HID])
                for e in pl.unroll(E):
                    block = pl.slice(out, [TILE, HID], [e * MAX_TOK + r0, 0], valid_shape=[rows, HID])
                    acc = pl.add(pl.mul(block, 0.5), acc)
                summed = pl.assemble(summed, acc, [r0, 0])
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="best", deps=[st]):
                m = pl.row_max(
                    pl.fillpad(
                        pl.set_validshape(
                            pl.slice(summed, [TILE, HID], [r0, 0], valid_shape=[rows, HID]), rows, HID
                        ),
                        pad_value=pl.PadValue.min,
                    )
                )
                m = pl.set_validshape(pl.mul(m, LN2 * CFG.scale), rows, 1)
                best = pl.assemble(best, m, [r0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="merge"):
            row = pl.reshape(x[0:2, :], [1, 128])
            runs = pl.sort32(row, pl.arange(0, [1, 128], dtype=pl.UINT32))
            merged = pl.assemble(merged, pl.tensor.mrgsort(runs, block_len=64), [0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="mask"):
            a = pl.slice(x, [TILE, HID], [0, 0])
            b = pl.slice(x, [TILE, HID], [TILE, 0])
            i0 = pl.cast(pl.read(ids, [0]), pl.INDEX)
            line = pl.slice(x, [1, HID], [i0, 0])
            if i0 % 2 == 1:
                t = pl.add(a, b)
                u = pl.col_expand_mul(t, line)
            else:
                t = pl.sub(a, b)
                u = pl.col_expand_mul(t, line)
            mask[:, :] = pl.add(u, t)
    return out, summed, merged, best, mask


def build_specs(n=41):
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("x", [n, HID], torch.float32, init_value=torch.randn),
        TensorSpec("counts", [E], torch.int32, init_value=lambda: torch.tensor([0, 5, 16, 41])),
        TensorSpec("ids", [n], torch.int64, init_value=lambda: torch.arange(n).flip(0) + (-3)),
        TensorSpec("out", [E * MAX_TOK, HID], torch.float32, init_value=torch.randn, is_output=True),
        TensorSpec("summed", [n, HID], torch.float32, is_output=True),
        TensorSpec("merged", [1, 256], torch.float32, is_output=True),
        TensorSpec("best", [n, 1], torch.float32, is_output=True),
        TensorSpec("mask", [TILE, HID], torch.float32, is_output=True),
    ]


def golden_prefill(t):
    import torch

    x = t["x"]
    n = x.shape[0]
    out = t["out"].view(E, MAX_TOK, HID)
    for e in range(E):
        c = int(t["counts"][e])
        out[e, :c] = x[:c] * (e + 1)
    t["summed"][:] = 2 + 0.5 * out[:, :n].sum(0)
    t["best"][:] = t["summed"].amax(-1, keepdim=True) * math.log(2) / 8
    v, i = torch.sort(x[:2].reshape(-1), descending=True)
    t["merged"][0, 0::2] = v
    i0 = int(t["ids"][0])
    a, b = x[:TILE], x[TILE : 2 * TILE]
    r = a + b if i0 % 2 else a - b
    t["mask"][:] = r * x[i0] + r


def values_only(actual, expected, **kwargs):
    import torch

    ok = torch.allclose(actual[0, 0::2], expected[0, 0::2])
    return ok, "" if ok else "values differ"


if __name__ == "__main__":
    from launch import main

    main(prefill, build_specs(), golden_prefill, compare_fn={"merged": values_only})
