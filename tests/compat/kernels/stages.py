"""Rarer forms: an extern nobody calls, launches over blocks, task ids in arrays, a state of rank 3."""

import pypto.language as pl
from pypto.runtime import pto_isa_include_dir

R, C = 32, 64
BLK = 8
INC = pto_isa_include_dir()


@pl.jit.extern(core_type="aiv", source="kernels/add.cpp", include_dirs=[INC])
def ext_add(a: pl.Tensor[[R, C], pl.FP32], b: pl.Out[pl.Tensor[[R, C], pl.FP32]]): ...


@pl.jit.incore
def block_scale(x: pl.Tensor[[R, C], pl.FP32], y: pl.Out[pl.Tensor[[R, C], pl.FP32]]):
    i = pl.tile.get_block_idx()
    t = pl.tile.load(x, [i * BLK, 0], [BLK, C])
    s = pl.tile.rsqrt(pl.tile.adds(pl.tile.mul(t, t), 1.0))
    y = pl.tile.store(pl.tile.mul(t, s), [i * BLK, 0], y)
    return y


@pl.jit(auto_scope=False)
def stages(
    x: pl.Tensor[[R, C], pl.FP32],
    w: pl.Tensor[[C, C], pl.BF16],
    flags: pl.Tensor[[4], pl.INT32],
    mode: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[R, C], pl.FP32]],
    s: pl.Out[pl.Tensor[[R, C], pl.FP32]],
    back: pl.Out[pl.Tensor[[R, C], pl.FP32]],
    hist: pl.InOut[pl.Tensor[[2, R, C], pl.FP32]],
    counts: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
):
    with pl.manual_scope():
        ids = pl.array.create(R // BLK, pl.TASK_ID)
        none = pl.system.task_invalid()
        for i in pl.range(R // BLK):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="fill", deps=[none]) as fid:
                y[i * BLK : (i + 1) * BLK, :] = pl.add(x[i * BLK : (i + 1) * BLK, :], 1.0)
            ids[i] = fid
        gate = pl.system.task_dummy(deps=[ids])
        s, tid = pl.spmd_submit(block_scale, y, s, core_num=R // BLK, deps=[gate, ids[0]], sync_start=True)
        with pl.spmd(
            2, name_hint="both", deps=[tid], optimizations=[pl.split(pl.SplitMode.NONE, slot_num=2)]
        ) as bid:
            k = pl.tile.get_block_idx()
            r0 = k * (R // 2)
            half = pl.cast(s[r0 : r0 + R // 2, :], target_type=pl.BF16)
            prod = pl.matmul(half, w, out_dtype=pl.FP32)
            back[r0 : r0 + R // 2, :] = pl.sub(prod, 1.0)
        after = pl.system.task_dummy(deps=[bid, tid])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="hist", deps=[after], allow_early_resolve=True):
            if mode == 1 and pl.read(flags, [1]) >= 2:
                hist[1, :, :] = back[:, :]
            elif mode != 1 or not pl.read(flags, [2]) >= 4:
                hist[0, :, :] = back[:, :]
            else:
                hist[1, :, :] = pl.full([R, C], dtype=pl.FP32, value=7.0)
            total = pl.const(0, pl.INT32)
            for j in pl.range(3, -1, -1):
                f = pl.read(flags, [j])
                if f % 2 == 0:
                    total = total + f
                pl.write(counts, [0, j], total)
            for j in pl.range(4, 8, 2):
                pl.write(counts, [0, j], pl.cast(pl.max(j, 5), pl.INT32))
                pl.write(counts, [0, j + 1], pl.cast(j // 2 - 1, pl.INT32))
    return y, s, back, hist, counts


def build_specs(mode):
    import torch
    from golden import ScalarSpec, TensorSpec

    return [
        TensorSpec("x", [R, C], torch.float32, init_value=torch.randn),
        TensorSpec("w", [C, C], torch.bfloat16, init_value=lambda: torch.randn(C, C) / 8),
        TensorSpec("flags", [4], torch.int32, init_value=torch.tensor([4, 2, 3, 6])),
        ScalarSpec("mode", torch.int32, mode),
        TensorSpec("y", [R, C], torch.float32, is_output=True),
        TensorSpec("s", [R, C], torch.float32, is_output=True),
        TensorSpec("back", [R, C], torch.float32, is_output=True),
        TensorSpec("hist", [2, R, C], torch.float32, init_value=1.5, is_output=True),
        TensorSpec("counts", [1, 8], torch.int32, is_output=True),
    ]


def golden_stages(t):
    import torch

    y = t["x"] + 1
    s = y / torch.sqrt(y * y + 1)
    t["y"][:], t["s"][:] = y, s
    t["back"][:] = s.bfloat16().float() @ t["w"].float() - 1
    t["hist"][1 if t["mode"] == 1 else 0] = t["back"]
    t["counts"][0] = torch.tensor([12, 8, 6, 6, 5, 1, 6, 2])


if __name__ == "__main__":
    from launch import main, parser

    ap = parser()
    ap.add_argument("--mode", type=int, default=1)
    ns = ap.parse_args()
    main(stages, build_specs(ns.mode), golden_stages, ns, rtol=1e-2, atol=1e-2)
