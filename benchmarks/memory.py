"""Peak memory of a run of the harness, over the bytes of its specs.

    python benchmarks/memory.py [--mib 1024] [--case NAME] [--json]

Each case runs in a process of its own, with inputs that are made while it runs; the golden function
allocates nothing. What is told is the growth of the peak resident size over that of the process with
everything imported and a small run done. The limit is 2.2 times the bytes of the specs.

    python benchmarks/memory.py --storage [--corpus DIR] [--only SUBSTRING] [--seed N]

tells of all dumps whose tiles have addresses what runs on their bytes need at most, against runs by values:
bytes of Python objects (tracemalloc) and of tensors that are alive. The limit is that of the runs by values,
and the pools; the dumps in which objects or tensors are above that are named. Lanes of groups are threads, of
which more or fewer have pools at a time; with a seed both kinds of runs have them in the order that it draws.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

LIMIT = 2.2
NOISE = 1024  # bytes of Python objects by which two runs of one script differ
ROW = 1 << 18  # elements
TENSOR = "pl.Tensor[[{rows}, {row}], pl.{dtype}]"
TEXT = """\
# pypto.program: Big
import pypto.language as pl

@pl.program
class Big:

    @pl.function
    def main(self, x: {tensor}, y: pl.{wrapper}[{tensor}]) -> {tensor}:
        for r in pl.range(0, {rows}, 1):
            with pl.at(level=pl.Level.CORE_GROUP):
                t: pl.Tensor[[1, {row}], pl.{dtype}] = pl.tensor.slice(x, [1, {row}], [r, 0])
                y: {tensor} = pl.tensor.assemble(y, t, [r, 0])
        return y
"""
# name: dtype of the tensors, whether y has an initial value, knobs of the run
CASES = {
    "float32": ("FP32", False, {}),
    "bfloat16": ("BF16", False, {}),
    "int8": ("INT8", False, {}),
    "inout": ("FP32", True, {}),
    "saved": ("FP32", False, {"save_data": True}),
    "ratio": ("BF16", False, {"compare_fn": "ratio_allclose"}),
    "distribution": ("BF16", False, {"compare_fn": "error_distribution"}),
}


def run_case(name: str, mib: int) -> dict[str, float | str]:
    """Run one case in this process; its figures."""
    import torch

    from pypto_tmpl.golden import run

    dtype, is_inout, knobs = CASES[name]
    element = {"FP32": torch.float32, "BF16": torch.bfloat16, "INT8": torch.int8}[dtype]
    with tempfile.TemporaryDirectory() as folder:
        for rows in (4, mib * 2**20 // (2 * ROW * element.itemsize)):
            before = _peak_bytes()
            specs = _specs(rows, element, is_inout)
            result = run(_program(rows, dtype, is_inout), specs, _golden, **_knobs(knobs, folder))
            assert result.passed, result.error
    size = sum(spec.extents[0] * spec.extents[1] * element.itemsize for spec in specs)
    grown = _peak_bytes() - before
    return {"case": name, "specs_mib": size / 2**20, "peak_mib": grown / 2**20, "ratio": grown / size}


def _program(rows: int, dtype: str, is_inout: bool) -> object:
    import pypto_tmpl.language as pl

    wrapper = "InOut" if is_inout else "Out"
    tensor = TENSOR.format(rows=rows, row=ROW, dtype=dtype)
    return pl.parse(TEXT.format(rows=rows, row=ROW, dtype=dtype, wrapper=wrapper, tensor=tensor))


def _specs(rows: int, dtype: object, is_inout: bool) -> list:
    from pypto_tmpl.golden import TensorSpec

    start = 0 if is_inout else None
    return [
        TensorSpec("x", [rows, ROW], dtype),  # random
        TensorSpec("y", [rows, ROW], dtype, start, is_output=True),
    ]


def _golden(values: dict) -> None:
    values["y"].copy_(values["x"])


def _knobs(knobs: dict, folder: str) -> dict:
    from pypto_tmpl import golden

    # As it is written: rows this long are more than a tile of the hardware can hold.
    found = {"compile_cfg": {"output_dir": folder}, "runtime_cfg": {"stage": "frontend"}, "save_data": False}
    found |= knobs
    if "compare_fn" in found:
        found["compare_fn"] = {"y": getattr(golden, str(found["compare_fn"]))()}
    return found


def _peak_bytes() -> int:
    """The largest resident size this process had so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _in_child(task: Callable[[str, int], object], name: str, mib: int, pipe: object) -> None:
    with open("/dev/null", "w") as nowhere:
        sys.stdout = nowhere
        pipe.send(task(name, mib))  # type: ignore[attr-defined]


def measure(name: str, mib: int) -> dict[str, float | str]:
    """Figures of a case, run in a fresh process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_in_child, args=(run_case, name, mib, theirs))
    process.start()
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:
        raise SystemExit(f"case {name} failed") from None
    process.join()
    return found


def run_peaks(corpus: Path, label: str, script: str) -> tuple[int, int, int]:
    """The peaks of a run of a script in bytes: of Python objects, of tensors, and of pools of tiles."""
    import gc
    import tracemalloc

    from alive import Alive, counting
    from storage import load, runs

    job = runs(corpus, label, script)
    gc.collect()
    tracemalloc.start()
    try:
        job()
        objects = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    alive = Alive()
    names = load(script)
    if "_pool" in names:
        names["_pool"] = alive.making_pools(names["_pool"])
    job = runs(corpus, label, script, names)
    with counting(alive, names):
        job()
    return objects, alive.peak, alive.pools


def compare_storage(corpus: Path, only: str, seed: int | None) -> int:
    """Print the peaks of both kinds of runs; the exit status tells whether all are within the limit."""
    from storage import stored_dumps

    from pypto_tmpl.debug import torch_codegen

    totals = [0] * 5
    options = {} if seed is None else {"schedule_seed": seed}
    over = []
    dumps = 0
    for label, node in stored_dumps(corpus, only):
        scripts = [
            torch_codegen(node, check_shapes=True, storage=storage, options=options)
            for storage in (False, True)
        ]
        values, on_bytes = (run_peaks(corpus, label, script) for script in scripts)
        row = (values[0], on_bytes[0], values[1], on_bytes[1], on_bytes[2])
        totals = [total + one for total, one in zip(totals, row, strict=True)]
        dumps += 1
        if on_bytes[0] + on_bytes[1] > values[0] + values[1] + on_bytes[2] + NOISE:
            over.append((label, row))
    print(f"{dumps} dumps; KiB in all: Python objects by values {totals[0] / 1024:.0f}, on bytes", end=" ")
    print(f"{totals[1] / 1024:.0f}; tensors by values {totals[2] / 1024:.0f}, on bytes", end=" ")
    print(f"{totals[3] / 1024:.0f}, of which pools {totals[4] / 1024:.0f}")
    for label, row in over:
        told = ", ".join(str(one) for one in row)
        print(f"more than by values and the pools: {label} ({told})")
    limit = totals[0] + totals[2] + totals[4]
    print(f"in all {(totals[1] + totals[3]) / limit:.2f} of the limit; {len(over)} of {dumps} dumps over it")
    return 1 if totals[1] + totals[3] > limit or not dumps else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mib", type=int, default=1024, help="bytes of all specs (default %(default)s MiB)")
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--storage", action="store_true", help="runs on the bytes of tiles instead")
    default = Path(__file__).resolve().parent.parent / "tests/corpus"
    parser.add_argument("--corpus", type=Path, default=os.environ.get("PYPTO_TMPL_CORPUS", default))
    parser.add_argument("--only", default="", help="part of <program>/<backend>/<stage>")
    parser.add_argument("--seed", type=int, help="the order of the lanes of groups, with --storage")
    options = parser.parse_args()
    if options.storage:
        return compare_storage(Path(options.corpus), options.only, options.seed)
    worst = 0.0
    for name in options.case or CASES:
        found = measure(name, options.mib)
        worst = max(worst, float(found["ratio"]))
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            print(
                f"{name:<14}specs {found['specs_mib']:7.0f} MiB   peak {found['peak_mib']:7.0f} MiB"
                f"   ratio {found['ratio']:.3f}",
                flush=True,
            )
    if not options.json:
        print(f"largest ratio {worst:.3f}, limit {LIMIT}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.exit(main())
