"""How long the examples take on the simulator, over their golden functions.

    python benchmarks/kernels.py [NAME ...] [--repeat 3] [--small] [--json]

Each example of examples/ is compiled for a realistic size, run ``--repeat`` times on the same inputs and
compared with its golden function; the best time of each is told. An example is a module with KERNEL,
``specs``, ``golden`` and, where it needs them, TOLERANCES. Torch has the threads that a run of the harness
gives it.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
# Sizes of a model's decode or prefill step; arguments of the example's ``specs``.
SIZES: dict[str, dict[str, int]] = {
    "projections": {"rows": 16, "hidden": 8192},
    "rms_norm": {"rows": 512, "hidden": 8192},
    "layer_norm": {"rows": 512, "hidden": 8192},
    "softmax": {"rows": 1024, "cols": 4096},
    "elementwise": {"rows": 1024, "cols": 8192},
    "gemm": {"m": 256, "n": 2048, "k": 2048},
    "gemm_bias_relu": {"m": 256, "n": 2048, "k": 2048},
    "gemm_split_k": {"m": 128, "n": 1024, "k": 4096},
    "quantised_mlp": {"rows": 64, "hidden": 2048, "inner": 4096},
    "dynamic_grid": {"rows": 2011},
    "rope": {"tokens": 512, "heads": 32, "half": 64},
    "top_k": {"rows": 256},
}


def examples() -> Iterator[str]:
    """Names of the modules that can be measured."""
    for path in sorted(EXAMPLES.glob("*.py")):
        if "\nKERNEL = " in path.read_text(encoding="utf-8"):
            yield path.stem


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

    example = import_module(name)
    torch.manual_seed(0)
    specs = example.specs(**({} if is_small else _sizes(name, example)))
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        build = compile_program(
            JitFunction(example.KERNEL, tuple(specs)).program(), Path(folder), compile_options({})
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
            limits = getattr(example, "TOLERANCES", {})
            validate_golden(values.outputs(), values.expected or {}, **limits)
    return {
        "example": name,
        "compile": compiling,
        "kernel": kernel,
        "golden": golden,
        "ratio": kernel / golden,
    }


def _sizes(name: str, example: ModuleType) -> dict[str, int]:
    """The realistic sizes; a size that the example does not have is an error, not ignored."""
    sizes = SIZES.get(name, {})
    known = inspect.signature(example.specs).parameters
    unknown = [size for size in sizes if size not in known]
    if unknown:
        raise SystemExit(f"example {name} has no size {unknown[0]!r}; sizes: {', '.join(known)}")
    return sizes


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
    options = parser.parse_args()
    known = list(examples())
    for name in options.names:
        if name not in known:
            parser.error(f"no example {name!r}; examples: {', '.join(known) or 'none'}")
    for name in options.names or known:
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
    sys.path[:0] = [str(ROOT), str(EXAMPLES)]
    sys.exit(main())
