"""Kernel files that call no harness: they say by their names what to run and what it should come to.

``PROGRAM`` is a program or a JIT function, ``OUTPUTS`` the names of its outputs, ``make_inputs()`` gives the
tensors and numbers by the names of the parameters, in their order, and ``golden(tensors)`` fills in the
outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.golden.runner import run, run_jit
from pypto_tmpl.golden.sources import HasProgram
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec

NAMES = ("PROGRAM", "OUTPUTS", "make_inputs", "golden")
_INEXACT = {torch.bfloat16: 1.6e-2, torch.float16: 4e-3}


def run_kernel_file(names: Mapping[str, Any]) -> RunResult:
    """Run what the names of a kernel file say; floats are compared as coarsely as their dtype is.

    Raises HarnessError where the file lacks one of the names.
    """
    missing = [name for name in NAMES if name not in names]
    if missing:
        raise HarnessError(
            f"the file calls neither golden.run nor golden.run_jit, and defines no {', '.join(missing)}",
            notes=[f"a file that calls no harness defines: {', '.join(NAMES)}"],
        )
    program, outputs = names["PROGRAM"], names["OUTPUTS"]
    specs = [_spec(name, value, name in outputs) for name, value in names["make_inputs"]().items()]
    dtypes = [spec.dtype for spec in specs if isinstance(spec, TensorSpec) and spec.is_output]
    limit = max([2e-3, *(_INEXACT.get(dtype, 0.0) for dtype in dtypes)])
    call = run if isinstance(program, ir.Program | HasProgram) else run_jit
    return call(program, specs, names["golden"], rtol=limit, atol=limit)


def _spec(name: str, value: object, is_output: bool) -> TensorSpec | ScalarSpec:
    match value:
        case torch.Tensor():
            start = None if is_output and not value.any() else value
            return TensorSpec(name, list(value.shape), value.dtype, start, is_output)
        case bool():
            return ScalarSpec(name, torch.bool, value)
        case int():
            return ScalarSpec(name, torch.int64, value)
        case float():
            return ScalarSpec(name, torch.float32, value)
    raise HarnessError(f"make_inputs() gives a {type(value).__name__} for {name!r}")
