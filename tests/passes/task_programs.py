"""Orchestration over three kernels, for the passes over tasks."""

from passes.kernels import program

from pypto_tmpl import ir

KERNELS = """
    @pl.function(type=pl.FunctionType.InCore)
    def fill(self, out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        done = pl.store(pl.tile.full([16, 16], dtype=pl.FP32, value=1.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def copy(
        self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        done = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def grow(
        self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        tile = pl.load(x, [0, 0], [16, 16])
        done = pl.store(pl.add(tile, tile), [0, 0], x)
        return x
"""
MAIN = """
    @pl.function(type=pl.FunctionType.{type}{attrs})
    def main(
        self, a: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
        out: pl.{direction}[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
"""


def tasks(
    *lines: str, direction: str = "Out", type: str = "Orchestration", auto_scope: bool | None = None
) -> ir.Program:
    """A program whose ``main`` has the input ``a``, the number ``n`` and the output ``out``."""
    attrs = "" if auto_scope is None else f", auto_scope={auto_scope}"
    head = MAIN.format(type=type, direction=direction, attrs=attrs)
    return program(KERNELS + head + "".join(f"        {line}\n" for line in lines))
