"""How long text dumps take to read and to print, and how the time grows with their size.

usage: python benchmarks/text.py [--repeat N]

Measures every dump of tests/corpus, or of the corpus that PYPTO_TMPL_CORPUS names: reading the text,
reading the msgpack beside it, printing. Then reads and prints programs of 1,000, 10,000 and 50,000
statements. Times are CPU times, the best of N runs, per dump the mean over all dumps.
"""

import argparse
import gc
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pypto_tmpl.language as pl
from pypto_tmpl import ir

SIZES = (1_000, 10_000, 50_000)


def corpus() -> Path:
    """The corpus that the environment names, else the one of this repository."""
    named = os.environ.get("PYPTO_TMPL_CORPUS")
    return Path(named) if named else Path(__file__).resolve().parent.parent / "tests" / "corpus"


def seconds(run: Callable[[], object], repeat: int) -> float:
    """The shortest of some runs, with the garbage collector as it is for users."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def over(function: Callable[[object], object], inputs: Iterable[object]) -> Callable[[], None]:
    """A run over all inputs."""

    def run() -> None:
        for value in inputs:
            function(value)

    return run


def report_dumps(repeat: int) -> None:
    """Milliseconds a dump, over a whole corpus."""
    texts = sorted(corpus().glob("dumps/*/*/*.py"))
    binaries = [path.with_suffix(".msgpack") for path in texts if path.with_suffix(".msgpack").exists()]
    programs = [pl.loads(path) for path in texts]
    rows: list[tuple[str, Callable[[object], object], list[object]]] = [
        ("read .py", lambda path: pl.loads(str(path)), list(texts)),
        ("read .msgpack", lambda path: ir.deserialize_from_file(str(path)), list(binaries)),
        ("print", lambda node: ir.python_print(node, format=False), list(programs)),
    ]
    print(f"{len(texts)} dumps in {corpus()}")
    for name, function, inputs in rows:
        if inputs:
            mean = seconds(over(function, inputs), repeat) / len(inputs)
            print(f"  {name:14} {mean * 1e3:7.2f} ms a dump")


def program_of(statements: int) -> str:
    """A program of that many statements, of the kinds that real dumps have."""
    tile = "pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_0, pl.const(0, pl.INT64), 4096), pl.Mem.Vec]"
    lines = [
        "# pypto.program: Large",
        "import pypto.language as pl",
        "",
        "@pl.program",
        "class Large:",
        "    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)",
        "    def kernel(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):",
        "        mem_vec_0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)",
        f"        t_0: {tile} = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
    ]
    for i in range(1, statements - 2):
        lines.append(f"        t_{i}: {tile} = pl.tile.adds(t_{i - 1}, 0.5)")
    return "\n".join([*lines, "        return y", ""])


def report_growth(repeat: int) -> None:
    """Microseconds a statement, which stay the same where the time grows with the size."""
    print("growth")
    for size in SIZES:
        text = program_of(size)
        node = pl.parse(text)
        reading = seconds(lambda text=text: pl.parse(text), repeat) / size
        printing = seconds(lambda node=node: ir.python_print(node, format=False), repeat) / size
        print(f"  {size:6} statements: read {reading * 1e6:6.1f} us, print {printing * 1e6:6.1f} us each")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    report_dumps(arguments.repeat)
    report_growth(arguments.repeat)


if __name__ == "__main__":
    main()
