"""Small programs for tests, as text of the language."""

import pypto_tmpl.language as pl

_HEAD = """\
# pypto.program: {name}
import pypto.language as pl
{dims}
@pl.program
class {name}:
"""
_TENSOR = "pl.Tensor[[{shape}], pl.{dtype}]"


def _program(name, body, dims=()):
    declared = "".join(f'\n{dim} = pl.dynamic("{dim}")' for dim in dims)
    return pl.parse(_HEAD.format(name=name, dims=declared + "\n") + body, f"{name.lower()}.py")


def scale():
    """y = x * n, with a kernel and an orchestration function; x and y are FP32[4, 8]."""
    tensor, tile = "pl.Tensor[[4, 8], pl.FP32]", "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]"
    params = f"self, x: {tensor}, n: pl.Scalar[pl.FP32], y: pl.Out[{tensor}]"
    return _program(
        "Scale",
        f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel({params}) -> {tensor}:
        t: {tile} = pl.tile.load(x, [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)
        u: {tile} = pl.tile.muls(t, n)
        z: {tensor} = pl.tile.store(u, [0, 0], y)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main({params}) -> {tensor}:
        z: {tensor} = self.kernel(x, n, y)
        return z
""",
    )


def copy(dtype="FP32", shape="4, 8"):
    """y = x, cell by cell, one function."""
    tensor = _TENSOR.format(shape=shape, dtype=dtype)
    return _program(
        "Copy",
        f"""
    @pl.function
    def main(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        y: {tensor} = pl.tensor.assemble(y, x, [{", ".join("0" for _ in shape.split(","))}])
        return y
""",
    )


def accumulate():
    """total += x, in place; FP32[4]."""
    tensor = "pl.Tensor[[4], pl.FP32]"
    return _program(
        "Accumulate",
        f"""
    @pl.function
    def main(self, x: {tensor}, total: pl.InOut[{tensor}]) -> {tensor}:
        total: {tensor} = pl.tensor.assemble(total, pl.tensor.add(total, x), [0])
        return total
""",
    )


def twice():
    """a = x + 1, b = x + 2; FP32[4]."""
    tensor = "pl.Tensor[[4], pl.FP32]"
    return _program(
        "Twice",
        f"""
    @pl.function
    def main(self, x: {tensor}, a: pl.Out[{tensor}], b: pl.Out[{tensor}]) -> {tensor}:
        a: {tensor} = pl.tensor.assemble(a, pl.tensor.adds(x, 1.0), [0])
        b: {tensor} = pl.tensor.assemble(b, pl.tensor.adds(x, 2.0), [0])
        return b
""",
    )


def dynamic_sum():
    """y[N] = a[N] + b[M]: a run in which N and M differ raises."""
    tensor = "pl.Tensor[[N], pl.FP32]"
    return _program(
        "DynamicSum",
        f"""
    @pl.function
    def main(self, a: {tensor}, b: pl.Tensor[[M], pl.FP32], y: pl.Out[{tensor}]) -> {tensor}:
        s: {tensor} = pl.tensor.add(a, b)
        y: {tensor} = pl.tensor.assemble(y, s, [0])
        return y
""",
        dims=("N", "M"),
    )
