"""Kernel files that call no harness: they say by their names what to run and what it should come to.

``PROGRAM`` is a program or a JIT function, ``OUTPUTS`` the names of its outputs, ``make_inputs()`` gives the
tensors and numbers by the names of the parameters, in their order, and ``golden(tensors)`` fills in the
outputs.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.golden.errors import HarnessError
from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.golden.runner import run, run_jit
from pypto_tmpl.golden.sources import HasProgram
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.runtime.distributed import DistributedConfig, DistributedConfigError

NAMES = ("PROGRAM", "OUTPUTS", "make_inputs", "golden")
_INEXACT = {torch.bfloat16: 1.6e-2, torch.float16: 4e-3}


def run_kernel_file(names: Mapping[str, Any], args: Sequence[str] = ()) -> RunResult:
    """Run what the names of a kernel file say; floats are compared as coarsely as their dtype is.

    Of the arguments of its command ``-d 0,1`` names the devices of several ranks, as harness scripts have it.
    Raises HarnessError where the file lacks one of the names, and for devices that are none.
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
    devices = _devices_in(args)
    compile_cfg = None if devices is None else {"distributed_config": devices}
    return call(program, specs, names["golden"], rtol=limit, atol=limit, compile_cfg=compile_cfg)


def _devices_in(args: Sequence[str]) -> DistributedConfig | None:
    """The devices that a command names, None where it names none; other arguments are the file's own."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-d", "--device", metavar="IDS")
    try:
        given = parser.parse_known_args(args)[0].device
        return None if given is None else DistributedConfig([int(one) for one in given.split(",")])
    except DistributedConfigError as error:
        raise HarnessError(f"-d {given}: {error}") from None
    except (ValueError, argparse.ArgumentError):
        raise HarnessError("-d takes the numbers of devices, as in: -d 0,1") from None


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
