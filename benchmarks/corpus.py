"""Milliseconds per dump for reading, emitting, formatting and running, over a corpus of real dumps.

    python benchmarks/corpus.py [--corpus DIR] [--format]

DIR holds programs/ and dumps/ (default: $PYPTO_TMPL_CORPUS, else tests/corpus). Formatting is slow and
only measured with --format. Emission is best of three, the rest is measured once. The first of the three is
shown too: texts of calls are kept, so that only then those that no program before had are made.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
from corpus_check import load_program, prepared_inputs  # noqa: E402

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.codegen.formatting import format_script  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402

torch.set_num_threads(1)


def timed(job: Callable[[], Any], repeat: int = 1) -> tuple[Any, float]:
    """Value of a job and its best time in milliseconds."""
    best, value = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        value = job()
        best = min(best, time.perf_counter() - start)
    return value, best * 1e3


def load(script: str) -> dict[str, Any]:
    """Names of an executed script."""
    namespace: dict[str, Any] = {}
    exec(compile(script, "<script>", "exec"), namespace)
    return namespace


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    default = os.environ.get("PYPTO_TMPL_CORPUS", ROOT / "tests/corpus")
    parser.add_argument("--corpus", type=Path, default=default)
    parser.add_argument("--format", action="store_true")
    options = parser.parse_args()
    paths = sorted(Path(options.corpus, "dumps").glob("*/*/*.msgpack"))
    torch_codegen(ir.deserialize_from_file(str(paths[0])))  # templates are loaded once per process
    names = ("read", "emit", "emit first", "compile", "run")
    figures: dict[str, list[float]] = {name: [] for name in names}
    if options.format:
        figures["format"] = []
    for path in paths:
        node, ms = timed(partial(ir.deserialize_from_file, str(path)))
        figures["read"].append(ms)
        emit = partial(torch_codegen, node, check_shapes=True)
        script, first = timed(emit)
        figures["emit first"].append(first)
        figures["emit"].append(min(first, timed(emit, 2)[1]))
        if options.format:
            figures["format"].append(timed(partial(format_script, script))[1])
        namespace, ms = timed(partial(load, script))
        figures["compile"].append(ms)
        program = load_program(Path(options.corpus, "programs", f"{path.parent.parent.name}.py"))
        entry, tensors = namespace[program.entry], prepared_inputs(program)
        figures["run"].append(timed(partial(entry, *tensors.values()))[1])
    print(f"{len(paths)} dumps; milliseconds per dump")
    print(f"{'':10}{'mean':>9}{'median':>9}{'largest':>9}")
    for name, values in figures.items():
        row = (statistics.mean(values), statistics.median(values), max(values))
        print(f"{name:10}" + "".join(f"{value:9.2f}" for value in row))


if __name__ == "__main__":
    main()
