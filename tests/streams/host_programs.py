"""Programs whose host drives several chips, as users write them; their lines are those of this file."""

import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld


@pl.program
class Rounds:
    """Branches, numbers and tensors that loops carry, slices, a tensor of the host."""

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[1, 64], pl.FP32],
        n: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    ) -> pl.Tensor[[1, 64], pl.FP32]:
        y = pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self,
        x: pl.Tensor[[1, 64], pl.FP32],
        n: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    ) -> pl.Tensor[[1, 64], pl.FP32]:
        y = self.kernel(x, n, y)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(
        self,
        xs: pl.Tensor[[3, 1, 64], pl.FP32],
        flag: pl.Scalar[pl.INT64],
        ys: pl.Out[pl.Tensor[[3, 1, 64], pl.FP32]],
    ) -> pl.Tensor[[3, 1, 64], pl.FP32]:
        mid = pl.create_tensor([1, 64], dtype=pl.FP32)
        total = flag - flag
        for r in pl.range(2):
            if flag > 2:  # noqa: SIM108
                k = pl.cast(r * 2, pl.INT64)
            else:
                k = flag // 2
            total = total + k + 1
            self.chip(xs[r], pl.cast(total, pl.INT32), ys[r], device=r)
        for r in pl.range(2):
            mid = self.chip(xs[r], 7, mid)
            ys = pl.assemble(ys, mid, [2, 0, 0])
        return ys


@pl.program
class WithSubWorkers:
    """Python on the host between the dispatches, with and without a body."""

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        x: pl.Tensor[[1, 64], pl.FP32],
        n: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    ) -> pl.Tensor[[1, 64], pl.FP32]:
        y = pl.store(pl.add(pl.load(x, [0, 0], [1, 64]), pl.cast(n, pl.FP32)), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self,
        x: pl.Tensor[[1, 64], pl.FP32],
        n: pl.Scalar[pl.INT32],
        y: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    ) -> pl.Tensor[[1, 64], pl.FP32]:
        y = self.kernel(x, n, y)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def scale(
        y: pl.InOut[pl.Tensor[[2, 1, 64], pl.FP32]],
        x: pl.Tensor[[2, 1, 64], pl.FP32],
        by: pl.Scalar[pl.INT64],
    ) -> pl.Tensor[[2, 1, 64], pl.FP32]:
        for row in range(len(x)):
            y[row] *= by

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def log(y: pl.Tensor[[1, 64], pl.FP32], k: pl.Scalar[pl.INT64]): ...

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(
        self,
        xs: pl.Tensor[[2, 1, 64], pl.FP32],
        ys: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]],
        zs: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    ) -> pl.Tensor[[1, 64], pl.FP32]:
        for r in pl.range(2):
            self.chip(xs[r], 1, ys[r], device=r)
        scaled: pl.Tensor[[2, 1, 64], pl.FP32] = self.scale(ys, xs, 3)
        zs = self.chip(scaled[0], 1, zs, device=0)
        self.log(zs, 7)
        return zs


@pl.program
class Refused:
    """What the driver has no text for."""

    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]]
    ) -> pld.DistributedTensor[[1, 64], pl.FP32]:
        x = pl.store(pl.load(x, [0, 0], [1, 64]), [0, 0], x)
        return x

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self, x: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]]
    ) -> pld.DistributedTensor[[1, 64], pl.FP32]:
        x = self.kernel(x)
        return x

    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def note(x: pl.Tensor[[1, 64], pl.FP32]):
        print(x)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[1, 64], pl.FP32]):
        buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
        self.note(x)
        for r in pl.range(pld.world_size()):
            win = pld.window(buf, [1, 64], dtype=pl.FP32)
            y = pl.create_tensor([1, 64], dtype=pl.FP32)
            pl.assemble(y, x, [0, 0])
            self.chip(win, device=r)
        self.note(x)
