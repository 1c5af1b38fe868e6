"""How long the examples take to compile, and to run as a whole, in a process that is warm.

    python benchmarks/compile.py [NAME ...] [--repeat 3] [--profile]

Each example of examples/ is compiled into a new build directory, dumps of all stages included, and run under
the harness: compiled, its inputs and golden computed, executed, compared. Times are CPU times, the best of N,
after a first round that does not count. What the process knows of the example is forgotten before each: it is
read, specialised and formatted anew, as when somebody compiles it for the first time. With ``--profile`` the
functions in which compiling spends its time are told, too.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from kernels import Example, examples, load

LIMITS = {"compile": 0.6, "run": 2.5}  # seconds, on the machine that the limits are of


def compiled(example: Example, folder: str) -> None:
    """Compile an example from its source to its build in a folder."""
    from pypto_tmpl import ir
    from pypto_tmpl.compile.assembler import PtoasMissingWarning
    from pypto_tmpl.golden.sources import JitFunction

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PtoasMissingWarning)
        ir.compile(JitFunction(example.kernel, tuple(example.specs())).program(), folder)


def executed(example: Example, folder: str) -> None:
    """Run an example under the harness, with its build in a folder."""
    from pypto_tmpl.golden import run_jit

    with redirect_stdout(StringIO()):
        result = run_jit(
            example.kernel,
            example.specs(),
            example.golden,
            compile_cfg={"output_dir": folder},
            **example.knobs,
        )
    if not result.passed:
        raise SystemExit(result.error)


def fresh(name: str) -> Example:
    """An example of which nothing is known yet."""
    from pypto_tmpl.codegen.formatting import format_script

    format_script.cache_clear()
    return load(name, {})


def seconds(work: Callable[[Example, str], None], name: str, repeat: int) -> float:
    """The CPU time of the fastest of some rounds; removing the build is no part of it."""
    found = []
    for _ in range(repeat):
        example = fresh(name)
        gc.collect()
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            work(example, folder)
            found.append(time.process_time() - began)
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    own = Path(__file__).resolve().parent.parent / "examples"
    names = args.names or [name for name in examples() if (own / f"{name}.py").is_file()]
    print(f"{'example':<18}{'compile':>9}{'run':>9}   limits {LIMITS['compile']}, {LIMITS['run']}")
    for name in names:
        seconds(executed, name, 1)
        compiling, running = (seconds(work, name, args.repeat) for work in (compiled, executed))
        print(f"{name:<18}{compiling:>8.2f}s{running:>8.2f}s", flush=True)
        if args.profile:
            profile = cProfile.Profile()
            with tempfile.TemporaryDirectory() as folder:
                profile.runcall(compiled, fresh(name), folder)
            pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
