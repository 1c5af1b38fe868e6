"""What the emitted form of each op costs beside the plainest torch expression, on full [128, 512] operands.

    python benchmarks/ops.py [--repeat N] [--above RATIO]

The text of each op is what its macro makes of a kernel's call; the expression beside it is written by hand
(op_baselines.py). Both yield the same values, or the op is reported as wrong. They are timed in turns, and
the median of each counts. Printed: the ops whose ratio is above a limit, the slowest first, with the reason
for those above 3; the ops that have no case; the distribution. Exit status: 1 if a value differs, an op is
missing, the median ratio is above 1.1, or one is above 3 without a reason.

One core of a server (AVX-512, torch 2.13), 225 ops: median ratio 1.01. Above 3: tensor.scatter 6.9,
tile.sqrt and tensor.sqrt 4.6. Between 2 and 3 are tile.gather, tile.mgather and tensor.paged_gather, which
look for indices out of range.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import op_baselines
import torch
from op_baselines import CASES, WITHOUT_CASE, Case

# In place of this folder, whose ops.py would hide the package `ops` of the tests.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from ops.sample_calls import SampleCall, full_preamble
from ops.sampled import TABLE

torch.set_num_threads(1)

# Ops that cost more than three times as much as the plain expression, and what for.
_ROOT = "by way of FP64: FP32 roots of torch are one unit off in one of six numbers where it uses MKL"
_SCATTER = "which of equal columns wins is open in torch.scatter; most of the time finds that none are equal"
REASONS = {"tile.sqrt": _ROOT, "tensor.sqrt": _ROOT, "tensor.scatter": _SCATTER}
UNIQUE = {"tile.mscatter": "idx", "tile.scatter": "indexes", "tensor.scatter": "index"}
UNIQUE |= {"tile.scatter_update": "index", "tensor.scatter_update": "index"}


def arguments_of(case: Case) -> dict[str, torch.Tensor]:
    """Made-up operands; indices are in reach, and different from each other where the op writes at them."""
    call = SampleCall(case.op, case.sample)
    arguments = {name: value.clone() for name, value in call.arguments().items()}
    generator = torch.Generator().manual_seed(0)

    def permuted(count: int, of: int, like: torch.Tensor) -> torch.Tensor:
        return torch.randperm(of, generator=generator)[:count].to(like.dtype).reshape(like.shape)

    for name, value in arguments.items():
        if value.dtype == torch.float32 and name not in ("row_vec", "slope"):
            arguments[name] = torch.rand(value.shape, generator=generator) + 0.01
        if UNIQUE.get(case.op) == name:
            if case.op == "tensor.scatter":
                arguments[name] = torch.stack([permuted(512, 512, row) for row in value])
            else:
                arguments[name] = permuted(value.numel(), 256 if "update" in case.op else 128 * 512, value)
    if case.op == "tensor.paged_gather":
        arguments["indices"] = permuted(128, 256, arguments["indices"])
        arguments["block_table"] = permuted(16, 16, arguments["block_table"])
    if case.op == "tile.mgather":
        arguments["idx"] = permuted(128, 256, arguments["idx"])
    if case.op == "tile.gatherb":
        arguments["offset"] = permuted(128 * 64, 8192, arguments["offset"]) * 32
    if case.op.endswith(("shl", "shr")):
        arguments["rhs"] = arguments["rhs"] & 31
    return arguments


def emitted(case: Case, arguments: dict[str, Any]) -> tuple[str, Callable[[], Any]]:
    """The text of the op, and a function that evaluates it."""
    call = SampleCall(case.op, case.sample)
    text = call.text(in_kernel=True)
    return text, evaluator(text, {**full_preamble(), **arguments})


def plain(case: Case, arguments: dict[str, Any]) -> Callable[[], Any]:
    """A function that evaluates the plain expression."""
    if not isinstance(case.plain, str):
        return lambda: case.plain(**arguments)  # type: ignore[operator]
    return evaluator(case.plain, {**vars(op_baselines), **arguments})


def evaluator(text: str, names: dict[str, Any]) -> Callable[[], Any]:
    """A function of no arguments for an expression, compiled once."""
    namespace = dict(names)
    exec(f"def evaluate():\n    return {text}", namespace)
    function: Callable[[], Any] = namespace["evaluate"]
    return function


def agree(left: Any, right: Any) -> bool:
    """Whether two values are the same but for roundings."""
    if isinstance(left, tuple):
        return all(map(agree, left, right))
    if not isinstance(left, torch.Tensor):
        return bool(left == right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    return torch.allclose(left.double(), right.double(), rtol=1e-4, atol=1e-4, equal_nan=True)


def medians(functions: list[Callable[[], Any]], repeat: int) -> list[float]:
    """Seconds that each takes, measured in turns."""
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(repeat):
        for taken, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=31, help="times that each is evaluated")
    parser.add_argument("--above", type=float, default=1.5, help="print the ops with a larger ratio")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    shown: dict[str, str] = {}
    wrong = []
    for case in CASES:
        text, form = emitted(case, arguments_of(case))
        baseline = plain(case, arguments_of(case))
        if not agree(form(), baseline()):
            wrong.append(case.op)
            continue
        ours, theirs = medians([form, baseline], options.repeat)
        ratios[case.op] = ours / theirs
        shown[case.op] = f"{ours * 1e6:9.1f} {theirs * 1e6:9.1f} {ours / theirs:6.2f}  {case.op:<26} {text}"
    print("  emitted     plain  ratio  op                         text (microseconds)")
    for op in sorted(ratios, key=lambda name: -ratios[name]):
        if ratios[op] > options.above:
            print(shown[op])
            if op in REASONS:
                print(f"{'':27} {REASONS[op]}")
    uncovered = [
        op for op, entry in TABLE.items()
        if entry.is_executable and op not in {case.op for case in CASES}
        and op not in WITHOUT_CASE and TABLE.family_of(op) not in WITHOUT_CASE
    ]  # fmt: skip
    for name, reason in WITHOUT_CASE.items():
        print(f"without a case: {name}: {reason}")
    unexplained = [op for op, ratio in ratios.items() if ratio > 3 and op not in REASONS]
    middle = statistics.median(ratios.values())
    print(f"{len(ratios)} ops, median ratio {middle:.2f}, largest {max(ratios.values()):.2f}")
    for title, names in (
        ("other values", wrong),
        ("no case", uncovered),
        ("slow without a reason", unexplained),
    ):
        if names:
            print(f"{title}: {', '.join(names)}")
    return int(bool(wrong or uncovered or unexplained) or middle > 1.1)


if __name__ == "__main__":
    sys.exit(main())
