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


def diamond():
    """p = x + 1; q = p + 1 and r = p + 1; y = q * r: four tasks, FP32[4, 8]."""
    tensor, tile = "pl.Tensor[[4, 8], pl.FP32]", "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]"
    made = f"{tensor} = pl.tensor.create([4, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND)"
    whole = "[0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec"
    return _program(
        "Diamond",
        f"""
    @pl.function(type=pl.FunctionType.InCore)
    def grow(self, a: {tensor}, o: pl.Out[{tensor}]) -> {tensor}:
        t: {tile} = pl.tile.load(a, {whole})
        u: {tile} = pl.tile.adds(t, 1.0)
        z: {tensor} = pl.tile.store(u, [0, 0], o)
        return z

    @pl.function(type=pl.FunctionType.InCore)
    def join(self, a: {tensor}, b: {tensor}, o: pl.Out[{tensor}]) -> {tensor}:
        t: {tile} = pl.tile.load(a, {whole})
        s: {tile} = pl.tile.load(b, {whole})
        u: {tile} = pl.tile.mul(t, s)
        z: {tensor} = pl.tile.store(u, [0, 0], o)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        p: {made}
        q: {made}
        r: {made}
        p1: {tensor} = self.grow(x, p)
        q1: {tensor} = self.grow(p1, q)
        r1: {tensor} = self.grow(p1, r)
        z: {tensor} = self.join(q1, r1, y)
        return z
""",
    )


def submits():
    """y = x + 1 in a manual scope: two tasks of one kernel, an empty one, and a third that waits for it.

    The first task is dumped; the second one's tensors order nothing.
    """
    tensor, tile = "pl.Tensor[[4], pl.FP32]", "pl.Tile[[4], pl.FP32, pl.Mem.Vec]"
    made = f"{tensor} = pl.tensor.create([4], dtype=pl.FP32, layout=pl.TensorLayout.ND)"
    result = f"pl.Tuple[{tensor}, pl.Scalar[pl.TASK_ID]]"
    task = "pl.Scalar[pl.TASK_ID]"
    return _program(
        "Submits",
        f"""
    @pl.function(type=pl.FunctionType.InCore)
    def grow(self, a: {tensor}, n: pl.Scalar[pl.FP32], o: pl.Out[{tensor}]) -> {tensor}:
        t: {tile} = pl.tile.load(a, [0], [4], [4], target_memory=pl.Mem.Vec)
        u: {tile} = pl.tile.adds(t, n)
        z: {tensor} = pl.tile.store(u, [0], o)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {tensor}, n: pl.Scalar[pl.FP32], y: pl.Out[{tensor}]) -> {tensor}:
        p: {made}
        q: {made}
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            a: {result} = pl.submit(self.grow, x, n, p, dumps=[p])
            t0: {task} = a[1]
            b: {result} = pl.submit(self.grow, pl.no_dep(p), n, q)
            t1: {task} = b[1]
            bar: {task} = pl.system.task_dummy(deps=[t0, t1])
            c: {result} = pl.submit(self.grow, x, n, y, deps=[bar])
            t2: {task} = c[1]
        return y
""",
    )


def blocks():
    """y = -x by three blocks of two rows each, one launch of a kernel; FP32[6, 8]."""
    tensor, tile = "pl.Tensor[[6, 8], pl.FP32]", "pl.Tile[[2, 8], pl.FP32, pl.Mem.Vec]"
    return _program(
        "Blocks",
        f"""
    @pl.function(type=pl.FunctionType.AIV)
    def rows(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        b: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()
        t: {tile} = pl.tile.load(x, [b * 2, 0], [2, 8], [2, 8], target_memory=pl.Mem.Vec)
        u: {tile} = pl.tile.neg(t)
        z: {tensor} = pl.tile.store(u, [b * 2, 0], y)
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        s: pl.Tuple[{tensor}, pl.Scalar[pl.TASK_ID]] = pl.spmd_submit(self.rows, x, y, core_num=3)
        z: {tensor} = s[0]
        return z
""",
    )


def rows_in_a_loop(kind):
    """y = -(x + 1) row by row in a loop of that kind, two scopes a row, then z = 2 * y; FP32[3, 8]."""
    tensor, row = "pl.Tensor[[3, 8], pl.FP32]", "pl.Tensor[[1, 8], pl.FP32]"
    at = "with pl.at(level=pl.Level.CORE_GROUP, name_hint={!r}):"
    return _program(
        "RowsInALoop",
        f"""
    @pl.function
    def main(self, x: {tensor}, y: pl.Out[{tensor}], z: pl.Out[{tensor}]) -> {tensor}:
        p: {tensor} = pl.tensor.create([3, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        for i in pl.{kind}(0, 3):
            {at.format("grow")}
                t: {row} = pl.tensor.slice(x, [1, 8], [i, 0])
                p: {tensor} = pl.tensor.assemble(p, pl.tensor.adds(t, 1.0), [i, 0])
            {at.format("negate")}
                u: {row} = pl.tensor.slice(p, [1, 8], [i, 0])
                y: {tensor} = pl.tensor.assemble(y, pl.tensor.neg(u), [i, 0])
        {at.format("double")}
            z: {tensor} = pl.tensor.assemble(z, pl.tensor.add(y, y), [0, 0])
        return z
""",
    )


def conditional():
    """y = x + 1 if n > 0, else y stays; then z = y + 1: a launch that may not happen, and one after it."""
    tensor, tile = "pl.Tensor[[4], pl.FP32]", "pl.Tile[[4], pl.FP32, pl.Mem.Vec]"
    result = f"pl.Tuple[{tensor}, pl.Scalar[pl.TASK_ID]]"
    return _program(
        "Conditional",
        f"""
    @pl.function(type=pl.FunctionType.InCore)
    def grow(self, a: {tensor}, o: pl.Out[{tensor}]) -> {tensor}:
        t: {tile} = pl.tile.load(a, [0], [4], [4], target_memory=pl.Mem.Vec)
        u: {tile} = pl.tile.adds(t, 1.0)
        w: {tensor} = pl.tile.store(u, [0], o)
        return w

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: {tensor}, n: pl.Tensor[[1], pl.INT32], y: pl.Out[{tensor}], z: pl.Out[{tensor}]
    ) -> {tensor}:
        a: {result} = pl.submit(self.grow, x, y, predicate=pl.tensor.read(n, [0]) > 0)
        y1: {tensor} = a[0]
        w: {tensor} = self.grow(y1, z)
        return w
""",
    )


def marked_scope():
    """t = x + 1, y = t * t in two scopes; the first marks what it makes. FP32[4]."""
    tensor = "pl.Tensor[[4], pl.FP32]"
    return _program(
        "MarkedScope",
        f"""
    @pl.function
    def main(self, x: {tensor}, y: pl.Out[{tensor}]) -> {tensor}:
        with pl.at(level=pl.Level.CORE_GROUP, dumps=[y]):
            y: {tensor} = pl.tensor.assemble(y, pl.tensor.adds(x, 1.0), [0])
        with pl.at(level=pl.Level.CORE_GROUP):
            y: {tensor} = pl.tensor.assemble(y, pl.tensor.mul(y, y), [0])
        return y
""",
    )
