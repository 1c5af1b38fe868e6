"""What ranks in one process cost: a tensor-parallel MLP on several ranks, beside as many runs of one.

    python benchmarks/ranks.py [--rows N] [--width N] [--repeat N]

Each rank multiplies by its part of the weights, and all partial products are added up by an all-reduce over
windows. A single run is the same program on one rank, which has nobody to meet. Scripts are those of the
program as it is written. All are measured in turns by the CPU time that they take, and the best of each
counts, so that other work on the machine does not decide. Exit status: 1 if four ranks take more than 1.3
times four single runs.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen

torch.set_num_threads(1)

COUNTS = (1, 2, 4, 8)
MOST = 1.3  # times four single runs
PROGRAM = """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Mlp:
    @pl.function(type=pl.FunctionType.InCore)
    def add_up(
        self,
        part: pl.InOut[pld.DistributedTensor[[{rows}, {width}], pl.FP32]],
        sig: pl.InOut[pld.DistributedTensor[[{ranks}, 1], pl.INT32]],
        y: pl.Out[pl.Tensor[[{rows}, {width}], pl.FP32]],
    ) -> pl.Tensor[[{rows}, {width}], pl.FP32]:
        part = pld.tensor.allreduce(part, sig, op=pld.ReduceOp.Sum)
        y = pl.store(pl.load(part, [0, 0], [{rows}, {width}]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(
        self,
        x: pl.Tensor[[{rows}, {width}], pl.FP32],
        up: pl.Tensor[[{width}, {width}], pl.FP32],
        down: pl.Tensor[[{width}, {width}], pl.FP32],
        y: pl.Out[pl.Tensor[[{rows}, {width}], pl.FP32]],
        part: pld.DistributedTensor[[{rows}, {width}], pl.FP32],
        sig: pld.DistributedTensor[[{ranks}, 1], pl.INT32],
    ) -> pl.Tensor[[{rows}, {width}], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            part[:, :] = pl.matmul(pl.maximum(pl.matmul(x, up), 0.0), down)
        y = self.add_up(part, sig, y)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(
        self,
        x: pl.Tensor[[{rows}, {width}], pl.FP32],
        up: pl.Tensor[[{ranks}, {width}, {width}], pl.FP32],
        down: pl.Tensor[[{ranks}, {width}, {width}], pl.FP32],
        y: pl.Out[pl.Tensor[[{ranks}, {rows}, {width}], pl.FP32]],
    ) -> pl.Tensor[[{ranks}, {rows}, {width}], pl.FP32]:
        part_buf = pld.alloc_window_buffer([{rows}, {width}], dtype=pl.FP32)
        sig_buf = pld.alloc_window_buffer([{ranks}, 1], dtype=pl.INT32)
        for r in pl.range(pld.world_size()):
            part = pld.window(part_buf, [{rows}, {width}], dtype=pl.FP32)
            sig = pld.window(sig_buf, [{ranks}, 1], dtype=pl.INT32)
            self.chip(x, up[r], down[r], y[r], part, sig, device=r)
        return y
"""


def make_run(ranks: int, rows: int, width: int) -> Callable[[], object]:
    """A call of the MLP on so many ranks, which has been found right."""
    text = torch_codegen(pl.parse(PROGRAM.format(ranks=ranks, rows=rows, width=width)))
    names: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, f"<{ranks} ranks>", "exec"), names)
    x = torch.randn(rows, width)
    up, down = torch.randn(2, ranks, width, width) / width**0.5
    y = torch.zeros(ranks, rows, width)

    def run() -> object:
        return names["host"](x, up, down, y)

    run()
    expected = sum((x @ up[r]).relu() @ down[r] for r in range(ranks))
    if not torch.allclose(y, torch.as_tensor(expected).expand_as(y), rtol=1e-3, atol=1e-3):
        raise SystemExit(f"the MLP is wrong on {ranks} ranks")
    return run


def seconds_of(run: Callable[[], object]) -> float:
    """CPU time of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> int:
    """Measure, print, and say by the exit status whether ranks are cheap enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args()
    runs = {count: make_run(count, args.rows, args.width) for count in COUNTS}
    best = dict.fromkeys(COUNTS, float("inf"))
    for _ in range(args.repeat):
        for count, run in runs.items():
            best[count] = min(best[count], seconds_of(run))
    print("ranks   CPU time   of as many single runs")
    for count, seconds in best.items():
        print(f"{count:5}  {seconds * 1e3:6.1f} ms   {seconds / (count * best[1]):.2f}")
    return int(best[4] > MOST * 4 * best[1])


if __name__ == "__main__":
    sys.exit(main())
