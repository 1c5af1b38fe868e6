"""Time of reading decorated kernels: text to IR with the types of every op, by number of statements.

A kernel of 500 statements should take less than 150 ms, and the time should grow with the number of
statements alone.
"""

from __future__ import annotations

import argparse
import linecache
import time

from pypto_tmpl import ir
from pypto_tmpl.language import retrieval

SIZES = (125, 250, 500, 1000, 2000)
LIMIT = 0.150
HEAD = """import pypto_tmpl.language as pl

ROWS, COLS = 64, 128

@pl.function
def kernel(x: pl.Tensor[[4096, COLS], pl.FP32], w: pl.Tensor[[1, COLS], pl.FP32],
           out: pl.Out[pl.Tensor[[4096, COLS], pl.FP32]]) -> pl.Tensor[[4096, COLS], pl.FP32]:
    for r in pl.parallel(0, 4096, ROWS):
        with pl.at(level=pl.Level.CORE_GROUP):
"""
BODY = (
    "t{i} = x[r : r + ROWS, :]",
    "s{i} = pl.row_sum(pl.mul(t{i}, t{i}))",
    "v{i} = pl.rsqrt(pl.add(pl.mul(s{i}, 1.0 / COLS), 1e-6))",
    "y{i} = pl.col_expand_mul(pl.row_expand_mul(t{i}, v{i}), w)",
    "out[r : r + ROWS, :] = y{i}",
)


def source(statements: int) -> str:
    """A kernel of about that many statements."""
    lines = [BODY[i % len(BODY)].format(i=i // len(BODY)) for i in range(statements - 3)]
    return HEAD + "".join(f"            {line}\n" for line in lines) + "    return out\n"


def seconds(statements: int, repeats: int) -> float:
    """The shortest CPU time in which Python imports the kernel."""
    text, name = source(statements), f"<kernel of {statements} statements>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    code = compile(text, name, "exec")
    times = []
    for _ in range(repeats):
        retrieval.forget_sources()
        namespace: dict[str, object] = {}
        start = time.process_time()
        exec(code, namespace)
        times.append(time.process_time() - start)
        assert isinstance(namespace["kernel"], ir.Function)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="the shortest of so many runs counts")
    options = parser.parse_args()
    found = {size: seconds(size, options.repeats) for size in SIZES}
    before: float | None = None
    for size, value in found.items():
        ratio = f"  x{value / before:.2f} for twice the statements" if before else ""
        print(f"{size:5} statements: {value * 1000:7.1f} ms, {value / size * 1e6:5.0f} us each{ratio}")
        before = value
    if found[500] > LIMIT:
        print(f"500 statements take more than {LIMIT * 1000:.0f} ms")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
