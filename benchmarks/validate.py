"""Seconds for validating all stages of a corpus of real dumps, start of the workers excluded.

    python benchmarks/validate.py [--corpus DIR] [--jobs N] [--only SUBSTRING]

DIR holds programs/ and dumps/ (default: $PYPTO_TMPL_CORPUS, else tests/corpus). Each dump directory is
one validation; all of them share one pool of workers. Inputs and expected tensors come from the
programs' own functions, before the clock starts. A verdict that is not "as expected" is printed, and the
exit status is 1.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpus_check import load_program, prepared_inputs, tolerance  # noqa: E402

from pypto_tmpl.debug import Options, Validation, WorkerPool  # noqa: E402


def validations(corpus: Path, only: str, executor: WorkerPool | None) -> Iterator[Validation]:
    for folder in sorted(Path(corpus, "dumps").glob("*/*")):
        if only not in str(folder):
            continue
        program = load_program(Path(corpus, "programs", f"{folder.parent.name}.py"))
        tensors = prepared_inputs(program)
        wanted = {name: tensor.clone() for name, tensor in tensors.items()}
        program.golden(wanted)
        expected = {name: wanted[name] for name in program.outputs}
        tight = {name: tolerance(tensor.dtype) for name, tensor in expected.items()}
        tolerances = {name: (pair["rtol"], pair["atol"]) for name, pair in tight.items()}
        options = Options(tolerances=tolerances, executor=executor, jobs=None if executor else 1)
        yield Validation(folder, tensors, expected, options)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = os.environ.get("PYPTO_TMPL_CORPUS", ROOT / "tests/corpus")
    parser.add_argument("--corpus", type=Path, default=default)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="1: all in this process")
    parser.add_argument("--only", default="", help="part of <program>/<backend>")
    options = parser.parse_args()
    began = time.perf_counter()
    with nullcontext() if options.jobs == 1 else WorkerPool(options.jobs) as pool:
        if pool is not None:
            pool.wait_until_ready()
        started = time.perf_counter() - began
        todo = list(validations(options.corpus, options.only, pool))
        began = time.perf_counter()
        results = [stage for validation in todo for stage in validation.results()]
        seconds = time.perf_counter() - began
    bad = [stage for stage in results if not stage.passed]
    for stage in bad:
        print(f"not as expected: {stage.stage.path}")
    same = sum(bool(stage.same_as) for stage in results)
    print(f"{len(results)} stages of {len(todo)} dumps in {seconds:.2f} s with {options.jobs} jobs")
    print(f"{same} stages had the IR or script of the one before; {len(results) - len(bad)} verdicts right")
    if pool is not None:
        print(f"start of the workers, not counted: {started:.2f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
