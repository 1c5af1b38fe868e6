"""Middle helper; its locals have the names of the others' locals."""

import pypto.language as pl
from blocks_a import TILE, add_norm

SCALE = 2.0
ROWS = 8


@pl.jit.inline(auto_scope=False)
def block(
    x: pl.Tensor, r: pl.Tensor, out: pl.Tensor, after: pl.Scalar[pl.TASK_ID], flip: pl.Scalar[pl.INT32]
):
    tids = pl.array.create(4, pl.TASK_ID)
    rows = pl.tensor.dim(x, 0)
    with pl.scope():
        for i in pl.unroll(4):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="block", deps=[after]) as tid:
                for r0 in pl.range(0, rows, ROWS):
                    acc = pl.mul(pl.slice(x, [ROWS, TILE], [r0, i * TILE]), SCALE)
                    tmp = add_norm(acc, pl.slice(r, [ROWS, TILE], [r0, i * TILE]))
                    if flip == 1:
                        out = pl.assemble(out, pl.neg(tmp), [r0, i * TILE])
                    else:
                        out = pl.assemble(out, tmp, [r0, i * TILE])
            tids[i] = tid
    done = pl.system.task_dummy(deps=[tids[i] for i in range(4)])
    return out, done
