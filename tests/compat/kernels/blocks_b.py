"""Middle helper; its locals have the names of the others' locals."""

import pypto.language as pl
from blocks_a import TILE, add_norm

SCALE = 2.0


@pl.jit.inline(auto_scope=False)
def block(
    x: pl.Tensor, r: pl.Tensor, out: pl.Tensor, after: pl.Scalar[pl.TASK_ID], flip: pl.Scalar[pl.INT32]
):
    tids = pl.array.create(4, pl.TASK_ID)
    with pl.scope():
        for i in pl.unroll(4):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="block", deps=[after]) as tid:
                acc = pl.mul(x[:, i * TILE : (i + 1) * TILE], SCALE)
                tmp = add_norm(acc, r[:, i * TILE : (i + 1) * TILE])
                if flip == 1:
                    out[:, i * TILE : (i + 1) * TILE] = pl.neg(tmp)
                else:
                    out[:, i * TILE : (i + 1) * TILE] = tmp
            tids[i] = tid
    done = pl.system.task_dummy(deps=[tids[i] for i in range(4)])
    return out, done
