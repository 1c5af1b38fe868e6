"""Rows sent to experts: counters that kernels read and write, and rows that a condition leaves out."""

import pypto.language as pl
from launch import main

T, D, E, CAP = 24, 32, 4, 8


@pl.jit(auto_scope=False)
def token_router(
    x: pl.Tensor[[T, D], pl.FP32],
    choice: pl.Tensor[[T], pl.INT32],
    counts: pl.Out[pl.Tensor[[1, 8], pl.INT32]],
    routed: pl.Out[pl.Tensor[[E * CAP, D], pl.FP32]],
    sums: pl.Out[pl.Tensor[[E, D], pl.FP32]],
):
    with pl.scope():
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="clear") as cleared:
            counts = pl.assemble(counts, pl.full([1, 8], dtype=pl.INT32, value=0), [0, 0])
            routed = pl.assemble(routed, pl.full([E * CAP, D], dtype=pl.FP32, value=0.0), [0, 0])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="route", deps=[cleared]) as sent:
            for t in pl.range(T):
                e = pl.cast(pl.read(choice, [t]), pl.INDEX)
                n = pl.cast(pl.read(counts, [0, e]), pl.INDEX)
                if n < CAP:
                    routed[e * CAP + n : e * CAP + n + 1, :] = x[t : t + 1, :]
                    pl.write(counts, [0, e], pl.cast(n + 1, pl.INT32))
        tids = pl.array.create(E, pl.TASK_ID)
        for e in pl.unroll(E):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="reduce", deps=[sent]) as tid:
                sums = pl.assemble(sums, pl.col_sum(routed[e * CAP : (e + 1) * CAP, :]), [e, 0])
            tids[e] = tid
        pl.system.task_dummy(deps=[tids[e] for e in range(E)])
    return counts, routed, sums


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("x", [T, D], torch.float32, init_value=torch.randn),
        TensorSpec("choice", [T], torch.int32, init_value=lambda: torch.randint(0, E, (T,))),
        TensorSpec("counts", [1, 8], torch.int32, is_output=True),
        TensorSpec("routed", [E * CAP, D], torch.float32, is_output=True),
        TensorSpec("sums", [E, D], torch.float32, is_output=True),
    ]


def golden_token_router(t):
    used = [0] * E
    t["counts"].zero_()
    t["routed"].zero_()
    for token, e in enumerate(t["choice"].tolist()):
        if used[e] < CAP:
            t["routed"][e * CAP + used[e]] = t["x"][token]
            used[e] += 1
    for e in range(E):
        t["counts"][0, e] = used[e]
        t["sums"][e] = t["routed"][e * CAP : (e + 1) * CAP].sum(0)


if __name__ == "__main__":
    main(token_router, build_specs(), golden_token_router, rtol=1e-5, atol=1e-5)
