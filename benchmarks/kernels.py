"""How long the examples take on the simulator, over their golden functions.

    python benchmarks/kernels.py [NAME ...] [--repeat 3] [--small] [--json] [--against CHECKOUT]

Each example of examples/, and of benchmarks/long/, is compiled for a realistic size, run ``--repeat``
times on the same inputs and compared with its golden function; the best time of each is told. Sizes are set
by giving the constants of an example other values before it is executed. Torch has the threads that a run of
the harness gives it. With ``--against`` each is measured with another checkout of the project as well, the
two taking turns, and the speed-up is told.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "examples", ROOT / "benchmarks" / "long")
# Sizes of a model's decode or prefill step; the examples that are not here run as they are.
SIZES: dict[str, dict[str, int]] = {
    "decoder_layer": {"BATCH": 16, "HIDDEN": 1024, "HEADS": 16, "SEQ": 512, "INNER": 2816},
    "elementwise": {"ROWS": 1024, "COLS": 8192},
    "gemm": {"M": 256, "K": 2048, "N": 2048},
    "gemm_gelu": {"M": 256, "K": 2048, "N": 2048},
    "gemm_split_k": {"M": 128, "K": 8192, "N": 1024},
    "int8_mlp": {"ROWS": 64, "HIDDEN": 2048, "INNER": 4096},
    "layer_norm": {"ROWS": 512, "HIDDEN": 8192},
    "paged_attention": {"HEADS": 64, "DIM": 128},
    "projections": {"HIDDEN": 8192},
    "rms_norm": {"ROWS": 512, "HIDDEN": 8192},
    "rope": {"BATCH": 64, "HEADS": 32, "MAX_SEQ": 4096},
    "softmax": {"ROWS": 1024, "COLS": 4000, "TILE": 4096},
    "topk": {"ROWS": 256},
}


_RULES = ("rtol", "atol", "equal_nan", "compare_fn")


@dataclass(frozen=True)
class Example:
    """What an example hands to the harness; of the knobs those of the comparison."""

    kernel: Any
    specs: Callable[[], list[Any]]
    golden: Callable[[dict[str, Any]], None]
    knobs: dict[str, Any]


def examples() -> Iterator[str]:
    """Names of the modules that can be measured."""
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.py")):
            if "\nKERNEL = " in path.read_text(encoding="utf-8"):
                yield path.stem


def load(name: str, sizes: dict[str, int]) -> Example:
    """Run an example's file with other constants and a harness that only takes note."""
    path = next(path for folder in FOLDERS if (path := folder / f"{name}.py").is_file())
    tree, left = ast.parse(path.read_text(encoding="utf-8")), dict(sizes)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            node.value = _resized(node.targets[0], node.value, left)
    if left:
        raise SystemExit(f"example {name} has no constant {next(iter(left))!r}")
    found: list[Example] = []
    harness = ModuleType("harness")
    vars(harness)["main"] = lambda kernel, specs, golden, flags=(), **knobs: found.append(
        Example(kernel, specs, golden, {name: knobs[name] for name in _RULES if name in knobs})
    )
    sys.modules["harness"] = harness
    exec(compile(tree, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})
    return found[0]


def _resized(target: ast.expr, value: ast.expr, sizes: dict[str, int]) -> ast.expr:
    """The value of an assignment, with the sizes of the names it binds; those are taken out."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        value.elts = [_resized(*pair, sizes) for pair in zip(target.elts, value.elts, strict=True)]
    elif isinstance(target, ast.Name) and target.id in sizes:
        return ast.copy_location(ast.Constant(sizes.pop(target.id)), value)
    return value


def measure(name: str, repeat: int, is_small: bool) -> dict[str, Any]:
    """Seconds of one example, of its golden function, and how many tasks it has."""
    import torch

    from pypto_tmpl.compile import compile_options, compile_program
    from pypto_tmpl.golden.sources import JitFunction
    from pypto_tmpl.golden.threads import golden_threads
    from pypto_tmpl.golden.validation import validate_golden
    from pypto_tmpl.golden.values import generate
    from pypto_tmpl.runtime.execute import execute_build
    from pypto_tmpl.runtime.options import runtime_options

    example = load(name, {} if is_small else SIZES.get(name, {}))
    torch.manual_seed(0)
    specs = example.specs()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        build = compile_program(
            JitFunction(example.kernel, tuple(specs)).program(), Path(folder), compile_options({})
        )
        compiling = time.perf_counter() - began
        values = generate(specs)
        values.compute_golden(example.golden)
        known = {spec.name: value for spec, value in zip(specs, values.arguments(), strict=True)}
        scratch = {
            k: v.clone() if isinstance(v, torch.Tensor) else torch.tensor(v.value) for k, v in known.items()
        }
        with golden_threads():
            golden = _best(repeat, lambda: example.golden(scratch))
        starts = {name: tensor.clone() for name, tensor in values.outputs().items()}

        def start() -> None:
            for output, tensor in values.outputs().items():
                tensor.copy_(starts[output])

        options = runtime_options({"platform": "a2a3sim"})
        kernel = _best(
            repeat,
            lambda: execute_build(
                build.directory, build.manifest, values.arguments(), options, build.program
            ),
            start,
        )
        with redirect_stdout(StringIO()):
            validate_golden(values.outputs(), values.expected or {}, inputs=values.inputs(), **example.knobs)
    return {
        "example": name,
        "compile": compiling,
        "kernel": kernel,
        "golden": golden,
        "ratio": kernel / golden,
    }


def measure_elsewhere(name: str, options: argparse.Namespace, checkout: Path) -> float:
    """Seconds of one example with the package of another checkout."""
    command = [sys.executable, __file__, name, "--json", f"--repeat={options.repeat}"]
    command += ["--small"] if options.small else []
    environment = {**os.environ, "PYPTO_TMPL_BENCHMARK_OF": str(checkout)}
    shown = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return float(json.loads(shown.stdout)["kernel"])


def compared(name: str, options: argparse.Namespace) -> str:
    """How much faster an example runs than with another checkout: the best of turns by both."""
    turns = [
        [measure_elsewhere(name, options, checkout) for checkout in (options.against, ROOT)] for _ in range(3)
    ]
    before, after = (min(times) for times in zip(*turns, strict=True))
    return f"{name:<16}before {before:8.4f} s   after {after:8.4f} s   {before / after:6.2f} times as fast"


def _best(repeat: int, function: Callable[[], object], between: Callable[[], object] = lambda: None) -> float:
    times = []
    for _ in range(repeat):
        between()
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples to measure (default: all)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="the sizes that the examples run by themselves")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with another checkout")
    options = parser.parse_args()
    known = list(examples())
    for name in options.names:
        if name not in known:
            parser.error(f"no example {name!r}; examples: {', '.join(known) or 'none'}")
    for name in options.names or known:
        if options.against is not None:
            print(compared(name, options), flush=True)
            continue
        found = measure(name, options.repeat, options.small)
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            print(
                f"{name:<16}compile {found['compile']:6.2f} s   kernel {found['kernel']:8.4f} s"
                f"   golden {found['golden']:8.4f} s   ratio {found['ratio']:7.2f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.environ.get("PYPTO_TMPL_BENCHMARK_OF") or str(ROOT))
    sys.exit(main())
