"""How long passes take on recorded programs, and how the time grows with the size of a program.

usage: python benchmarks/passes.py [--repeat N] [--growth-of-all]

Gives every pass what is recorded before it, over all runs (a program for a backend) of tests/corpus or of
the corpus that PYPTO_TMPL_CORPUS names. Then runs passes one after the other on
programs of 1,000 to 20,000 statements; a pass is linear where its time per statement stays the same. These
are the passes on tensors and FuseCreateAssembleToSlice, or all, which take twice as long together.

Times are CPU times, the best of N runs: where programs are larger than the smallest ones, of as many
fewer as they are larger. The op table is read once, before. Nothing is verified.
"""

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, ops, passes
from pypto_tmpl.ir.pass_order import PREFIX, TENSOR_ONLY
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

T = TypeVar("T")

SIZES = (1_000, 5_000, 20_000)
LIMITS = {"on tensors": 2.0, "all": 6.0}  # seconds, for the 66 runs of the whole corpus
TENSOR = "pl.Tensor[[8, 8], pl.FP32]"
HEAD = f"""
import pypto.language as pl

@pl.program
class Large:
    @pl.function(type=pl.FunctionType.Inline)
    def scaled(self, a: {TENSOR}, b: {TENSOR}):
        a = pl.mul(a, 0.5)
        return pl.add(a, b)

    @pl.function(type=pl.FunctionType.InCore)
    def jumping(self, x: {TENSOR}, n: pl.Scalar[pl.INDEX], out: pl.Out[{TENSOR}]):
{{kernel}}
    @pl.function
    def main(self, x: {TENSOR}, n: pl.Scalar[pl.INDEX], out: pl.Out[{TENSOR}]) -> {TENSOR}:
        v = pl.add(x, 1.0)
{{main}}
        return out
"""
LOOP = """\
        for i in pl.range(n + {k}):
            if n < i:
                break
            dead{k} = n * {k} + i
            t = pl.load(x, [(i + {k}) % 8, 0], [1, 8])
            out = pl.store(t, [i % 8, 0], out)
"""
REGION = """\
        with pl.at(level=pl.Level.CORE_GROUP):
            v = self.scaled(v, x)
            for i{k} in pl.unroll(2):
                v = pl.add(pl.mul(v, 0.5), x)
            if n < {k}:
                v = pl.mul(v, 2.0)
            out = pl.assemble(out, pl.slice(v, [1, 8], [{k} % 8, 0]), [{k} % 8, 0])
        b{k} = pl.create_tensor([1, 8], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            b{k} = pl.assemble(b{k}, pl.slice(v, [1, 8], [0, 0]), [0, 0])
        out = pl.assemble(out, b{k}, [{k} % 8, 0])
"""
STATEMENTS = 20  # of a loop and a region together
ON_TENSORS = (*PREFIX, *TENSOR_ONLY, "FuseCreateAssembleToSlice")


def large_program(statements: int) -> ir.Program:
    """A program of about so many statements, some of which each pass changes."""
    parts = range(statements // STATEMENTS)
    texts = ("".join(piece.format(k=k) for k in parts) for piece in (LOOP, REGION))
    return pl.parse(HEAD.format(**dict(zip(("kernel", "main"), texts, strict=True))))


def timed(run: Callable[[], T], repeat: int) -> tuple[float, T]:
    """The seconds of the shortest run, with the garbage collector as it is for users, and what it gave."""
    best: tuple[float, T] | None = None
    for _ in range(repeat):
        start = time.process_time()
        given = run()
        taken = time.process_time() - start
        best = (taken, given) if best is None or taken < best[0] else best
    assert best is not None
    return best


def pass_times(folder: Path, repeat: int) -> Iterator[tuple[str, float]]:
    """The passes, in order, and the seconds that each takes on what is recorded before it in a run.

    Where that is not recorded it is what the pass before makes.
    """
    gc.collect()
    node = ir.deserialize_from_file(str(folder / "00_frontend.msgpack"))
    for position, name in enumerate(pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO)):
        for recorded in folder.glob(f"{position:02}_*.msgpack"):
            node = ir.deserialize_from_file(str(recorded))
        assert isinstance(node, ir.Program)
        taken, node = timed(partial(passes.make_pass(name), node), repeat)
        yield name, taken


def report_recorded(repeat: int) -> None:
    """Milliseconds of each pass over a whole corpus, and of all."""
    named = os.environ.get("PYPTO_TMPL_CORPUS")
    corpus = Path(named) if named else Path(__file__).resolve().parent.parent / "tests" / "corpus"
    totals = dict.fromkeys(passes.PASSES, 0.0)
    folders = sorted({path.parent for path in corpus.glob("dumps/*/*/00_frontend.msgpack")})
    if not folders:
        sys.exit(f"no 00_frontend.msgpack under {corpus / 'dumps'}")
    table, _ = timed(ops.load_table, 1)
    for folder in folders:
        backend.reset_for_testing()
        backend.set_backend_type(backend.BackendType[folder.name])
        for name, taken in pass_times(folder, repeat):
            totals[name] += taken
    print(f"{len(folders)} runs of {corpus}; ms over all")
    for name, total in totals.items():
        print(f"{name:28}{total * 1e3:8.0f}")
    print(f"{'reading the op table':28}{table * 1e3:8.0f}")
    sums = {
        "on tensors": table + sum(totals[name] for name in ON_TENSORS),
        "all": table + sum(totals.values()),
    }
    for what, total in sums.items():
        print(f"{what:28}{total * 1e3:8.0f}   (at most {LIMITS[what] * 1e3:.0f} for the 66 runs)")


def report_growth(repeat: int, of_all: bool) -> None:
    """Microseconds a statement of the passes on tensors, or of all, for programs of several sizes."""
    times: dict[str, list[float]] = {name: [] for name in (passes.PASSES if of_all else ON_TENSORS)}
    for size in SIZES:
        node = large_program(size)
        for name, found in times.items():
            gc.collect()
            taken, node = timed(partial(passes.make_pass(name), node), max(1, repeat * SIZES[0] // size))
            found.append(taken / size)
    print(f"\nus per statement, in programs of {', '.join(f'{size:,}' for size in SIZES)} statements")
    for name, found in times.items():
        print(f"{name:28}" + "".join(f"{value * 1e6:8.1f}" for value in found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--growth-of-all", action="store_true", help="not of the passes on tensors alone")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # the first table is there while the second one is made
    report_recorded(options.repeat)
    report_growth(options.repeat, options.growth_of_all)


if __name__ == "__main__":
    main()
