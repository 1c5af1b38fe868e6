"""Time reading and writing the wire format: real dumps, then programs of growing size.

usage: python benchmarks/wire.py [DUMPS]

DUMPS is a folder with .msgpack files at any depth; by default the dumps in tests/corpus. Each figure is the
best of five runs in CPU time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pypto_tmpl import ir

DUMPS = Path(__file__).resolve().parent.parent / "tests" / "corpus" / "dumps"
STATEMENTS = (1_000, 10_000, 50_000)
RUNS = 5


def best(action: Callable[[Any], object], value: object, runs: int = RUNS) -> float:
    """Milliseconds of the fastest of some runs of ``action(value)``."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        action(value)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def kernel(statements: int) -> ir.Function:
    """A function of tile additions, each on the result of the one before."""
    span = ir.Span.unknown()
    dims = [ir.ConstInt(extent, ir.DataType.INDEX, span) for extent in (16, 64)]
    tile = ir.TileType(dims, ir.DataType.FP32, memory_space=ir.MemorySpace.Vec)
    last = first = ir.Var("x", tile, span)
    body: list[ir.Stmt] = []
    for number in range(statements):
        at = ir.Span("kernel.py", number + 1, 5)
        made = ir.Var(f"y_{number}", tile, at)
        body.append(ir.AssignStmt(made, ir.Call(ir.Op("tile.add"), [last, first], tile, at), at))
        last = made
    body.append(ir.ReturnStmt([last], span))
    return ir.Function("kernel", [first], [tile], ir.SeqStmts(body, span), span, ir.FunctionType.AIV)


def report_dumps(folder: Path) -> None:
    blobs = [path.read_bytes() for path in sorted(folder.rglob("*.msgpack"))]
    if not blobs:
        sys.exit(f"no .msgpack files under {folder}")
    size = statistics.mean(len(blob) for blob in blobs) / 1024
    print(f"{len(blobs)} dumps, {size:.0f} KiB on average; ms per dump")
    for name, times in (
        ("read", [best(ir.deserialize, blob) for blob in blobs]),
        ("write", [best(ir.serialize, ir.deserialize(blob)) for blob in blobs]),
    ):
        mean, median = statistics.mean(times), statistics.median(times)
        print(f"{name:6} mean {mean:6.2f}   median {median:6.2f}   slowest {max(times):6.2f}")


def report_growth() -> None:
    print("ms per 1,000 nodes")
    for statements in STATEMENTS:
        node = kernel(statements)
        data = ir.serialize(node)
        nodes = sum(1 for _ in ir.walk(node)) / 1000
        read, write = best(ir.deserialize, data, 3), best(ir.serialize, node, 3)
        size = len(data) / 2**20
        print(
            f"{statements:6} statements ({size:5.1f} MiB)   "
            f"read {read / nodes:6.2f}   write {write / nodes:6.2f}"
        )


if __name__ == "__main__":
    report_dumps(Path(sys.argv[1]) if len(sys.argv) > 1 else DUMPS)
    report_growth()
