"""What runs on the bytes of tiles cost, against runs by values, over a corpus of real dumps.

    python benchmarks/storage.py [--corpus DIR] [--only SUBSTRING] [--repeat N] [--profile]

DIR holds programs/ and dumps/ (default: $PYPTO_TMPL_CORPUS, else tests/corpus); of each directory of dumps
those whose tiles have addresses count. Told are processor seconds of emitting, and of running (best of N), of
both kinds of scripts, their ratio, and the programs with the largest ones; with --profile also where runs on
bytes spend their time. The limit is a ratio of 1.6 for running, and the exit status tells whether it is kept.
"""

import argparse
import cProfile
import os
import pstats
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
from corpus_check import load_program, prepared_inputs  # noqa: E402

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402
from pypto_tmpl.execution.entry import functions_of  # noqa: E402
from pypto_tmpl.storage.places import has_addresses  # noqa: E402

torch.set_num_threads(1)
LIMIT = 1.6
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of one dump, by values and on bytes."""

    label: str
    emit: tuple[float, float]
    run: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times as long the run on bytes takes."""
        return self.run[1] / self.run[0]


def timed(job: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """Value of a job and its least processor time."""
    best, value = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        value = job()
        best = min(best, time.process_time() - start)
    return value, best


def load(script: str) -> dict[str, Any]:
    """Names of an executed script."""
    namespace: dict[str, Any] = {}
    exec(compile(script, "<script>", "exec"), namespace)
    return namespace


def runs(corpus: Path, label: str, script: str, names: dict[str, Any] | None = None) -> Callable[[], Any]:
    """A run of a script on inputs of its program, which it may change; it has been run once already.

    ``names`` are those of the script where it is loaded already.
    """
    program = load_program(corpus / "programs" / f"{label.partition('/')[0]}.py")
    entry, tensors = (names or load(script))[program.entry], prepared_inputs(program)
    run = partial(entry, *tensors.values())
    run()
    return run


def stored_dumps(corpus: Path, only: str) -> Iterator[tuple[str, ir.Program]]:
    """The dumps whose tiles have addresses, by label."""
    for path in sorted((corpus / "dumps").glob("*/*/*.msgpack")):
        label = path.relative_to(corpus / "dumps").with_suffix("").as_posix()
        node = ir.deserialize_from_file(str(path)) if only in label else None
        if isinstance(node, ir.Program) and has_addresses(functions_of(node)):
            yield label, node


def costs(corpus: Path, only: str, repeat: int, profile: cProfile.Profile | None) -> Iterator[Cost]:
    for label, node in stored_dumps(corpus, only):
        emit, run = [], []
        for storage in (False, True):
            script, seconds = timed(partial(torch_codegen, node, check_shapes=True, storage=storage), 2)
            emit.append(seconds)
            job = runs(corpus, label, script)
            run.append(timed(job, repeat)[1])
        if profile is not None:
            profile.runcall(job)
        yield Cost(label, (emit[0], emit[1]), (run[0], run[1]))


def main() -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    default = os.environ.get("PYPTO_TMPL_CORPUS", ROOT / "tests/corpus")
    parser.add_argument("--corpus", type=Path, default=default)
    parser.add_argument("--only", default="", help="part of <program>/<backend>/<stage>")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    profile = cProfile.Profile() if options.profile else None
    found = list(costs(Path(options.corpus), options.only, options.repeat, profile))
    if not found:
        print("no dump with addresses")
        return 2
    print(f"{len(found)} dumps; seconds in all{'':9}{'values':>9}{'bytes':>9}{'ratio':>9}")
    for name in ("emit", "run"):
        values, on_bytes = (sum(getattr(cost, name)[at] for cost in found) for at in (0, 1))
        ratio = on_bytes / values
        print(f"{name:32}{values:9.3f}{on_bytes:9.3f}{ratio:9.2f}")
    for cost in sorted(found, key=lambda cost: -cost.ratio)[:SHOWN]:
        print(f"{cost.ratio:6.2f}  {1e3 * cost.run[0]:8.2f} ms {1e3 * cost.run[1]:8.2f} ms  {cost.label}")
    if profile is not None:
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)
    print(f"running takes {ratio:.2f} times as long; limit {LIMIT}")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
