"""A stack of two blocks, each a helper of a helper of other modules; scopes are placed by hand."""

import blocks_b
import pypto.language as pl
from blocks_b import TILE, block
from pypto.backend import BackendType, set_backend_type  # noqa: F401
from pypto.ir.distributed_compiled_program import DistributedConfig  # noqa: F401

COLS = 4 * TILE
R = pl.dynamic("R")
LAYERS = 2
FLIP = (0, 1)


@pl.jit.inline(auto_scope=False)
def stack(x: pl.Tensor, r: pl.Tensor, out: pl.Tensor, start: pl.Scalar[pl.TASK_ID]):
    rows = pl.tensor.dim(x, 0)
    tmp = pl.create_tensor([rows, COLS], dtype=pl.FP32, init_value=0.0, manual_dep=True)
    tids = pl.array.create(LAYERS, pl.TASK_ID)
    tmp, done = block(x, r, tmp, start, FLIP[0])
    tids[0] = done
    out, done = block(tmp, r, out, done, FLIP[1])
    tids[1] = done
    final = pl.system.task_dummy(deps=[tids[k] for k in range(LAYERS)])
    return out, final


@pl.jit(auto_scope=False)
def nested(
    x: pl.Tensor,
    r: pl.Tensor,
    scale: pl.Scalar[pl.FP32],
    out: pl.Out[pl.Tensor],
    picked: pl.Out[pl.Tensor],
):
    rows = pl.dynamic("rows")
    x.bind_dynamic(0, rows)
    r.bind_dynamic(0, rows)
    out.bind_dynamic(0, rows)
    picked.bind_dynamic(0, rows)
    n = x.shape[0]
    start = pl.system.task_dummy(deps=[])
    buf = pl.create_tensor([n, COLS], dtype=pl.FP32)
    buf, done = stack(x, r, buf, start)
    with pl.scope():
        for row in pl.parallel(0, n):
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="scale", deps=[done], no_dep_args=[buf]) as tid:
                line = pl.mul(buf[row : row + 1, :], scale)
                out = pl.assemble(out, line, [row, 0])
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="pick", deps=[tid]):
                first = pl.read(out, [row, 0])
                if first > 0.0:
                    picked[row : row + 1, :] = out[row : row + 1, :]
                else:
                    picked[row : row + 1, :] = pl.full([1, COLS], dtype=pl.FP32, value=-1.0)
    return out, picked


def build_specs(rows):
    import torch
    from golden import ScalarSpec, TensorSpec

    return [
        TensorSpec("x", [rows, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("r", [rows, COLS], torch.float32, init_value=torch.randn),
        ScalarSpec("scale", torch.float32, 1.25),
        TensorSpec("out", [rows, COLS], torch.float32, is_output=True),
        TensorSpec("picked", [rows, COLS], torch.float32, is_output=True),
    ]


def golden_nested(t):
    import torch

    def layer(x, r):
        h = ((x * blocks_b.SCALE + r) * 0.5).view(-1, 4, TILE)
        return (h / torch.sqrt((h * h).mean(-1, keepdim=True) + 1e-6)).view(-1, COLS)

    h = layer(t["x"], t["r"])
    t["out"][:] = -layer(h, t["r"]) * t["scale"]
    t["picked"][:] = torch.where(t["out"][:, :1] > 0, t["out"], torch.tensor(-1.0))


if __name__ == "__main__":
    from launch import main

    main(nested, build_specs(16), golden_nested)
