"""A program class that a function builds for its shapes, run as a program and not as a JIT function."""

import pypto.language as pl
from launch import parser
from pypto.backend import BackendType
from pypto.ir.pass_manager import OptimizationStrategy


def build_layer_program(rows: int, cols: int, row_tile: int = 16):
    @pl.program
    class LayerProgram:
        @pl.function(type=pl.FunctionType.Opaque)
        def layer(
            self,
            x: pl.Tensor[[rows, cols], pl.BF16],
            residual: pl.Tensor[[rows, cols], pl.FP32],
            gamma: pl.Tensor[[1, cols], pl.FP32],
            beta: pl.Tensor[[1, cols], pl.FP32],
            y: pl.Out[pl.Tensor[[rows, cols], pl.FP32]],
        ) -> pl.Tensor[[rows, cols], pl.FP32]:
            for r in pl.parallel(0, rows, row_tile):
                with pl.at(level=pl.Level.CORE_GROUP, name_hint="layer_norm"):
                    h = pl.add(
                        pl.cast(x[r : r + row_tile, :], target_type=pl.FP32), residual[r : r + row_tile, :]
                    )
                    mean = pl.mul(pl.row_sum(h), 1.0 / cols)
                    centred = pl.row_expand_sub(h, mean)
                    var = pl.mul(pl.row_sum(pl.mul(centred, centred)), 1.0 / cols)
                    inv = pl.recip(pl.sqrt(pl.add(var, 1e-5)))
                    scaled = pl.col_expand_mul(pl.row_expand_mul(centred, inv), gamma)
                    y = pl.assemble(y, pl.col_expand_add(scaled, beta), [r, 0])
            return y

    return LayerProgram


ROWS, COLS = 48, 64
TARGETS = {"a2": BackendType.Ascend910B, "a5": BackendType.Ascend950}
STRATEGY = OptimizationStrategy.Default


def build_specs():
    import torch
    from golden import TensorSpec

    return [
        TensorSpec("x", [ROWS, COLS], torch.bfloat16, init_value=torch.randn),
        TensorSpec("residual", [ROWS, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("gamma", [1, COLS], torch.float32, init_value=torch.rand),
        TensorSpec("beta", [1, COLS], torch.float32, init_value=torch.randn),
        TensorSpec("y", [ROWS, COLS], torch.float32, is_output=True),
    ]


def golden_layer(t):
    import torch

    h = t["x"].float() + t["residual"]
    t["y"][:] = torch.nn.functional.layer_norm(h, [COLS], t["gamma"][0], t["beta"][0])


if __name__ == "__main__":
    from golden import run

    ns = parser().parse_args()
    result = run(
        program=build_layer_program(ROWS, COLS),
        specs=build_specs(),
        golden_fn=golden_layer,
        compile_cfg={"dump_passes": ns.dump_passes},
        runtime_cfg={"platform": ns.platform, "device_id": ns.device},
        rtol=1e-3,
        atol=1e-3,
    )
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)
