"""Kernel files through the whole pipeline of passes, and what its last stage computes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from pypto_tmpl import backend, golden, ir
from pypto_tmpl.compat import script_result
from pypto_tmpl.debug import select_entry, torch_codegen
from pypto_tmpl.golden.sources import GivenProgram, JitFunction
from pypto_tmpl.golden.validation import validate_golden
from pypto_tmpl.golden.values import RunValues, generate
from pypto_tmpl.ir.pass_manager import OptimizationStrategy, PassManager


@dataclass
class HarnessCall:
    """What a file gives to ``golden.run`` or ``golden.run_jit``."""

    source: GivenProgram | JitFunction
    specs: Sequence[golden.TensorSpec | golden.ScalarSpec]
    golden_fn: Callable[..., Any]
    tolerances: dict[str, Any]

    def program(self) -> ir.Program:
        """The program before the passes."""
        return self.source.program()


def harness_calls(path: Path, *options: str) -> list[HarnessCall]:
    """The calls of the harness in a file that is run with these options; nothing is compiled."""
    found: list[HarnessCall] = []

    def record(source: type[GivenProgram] | type[JitFunction]) -> Callable[..., golden.RunResult]:
        def run(
            fn: Any = None, specs: Any = (), golden_fn: Any = None, *, program: Any = None, **more: Any
        ) -> golden.RunResult:
            kept = {key: more[key] for key in ("rtol", "atol", "compare_fn") if more.get(key) is not None}
            given = program if fn is None else fn
            made = JitFunction(given, specs) if source is JitFunction else GivenProgram(given)
            found.append(HarnessCall(made, specs, golden_fn, kept))
            return golden.RunResult(True)

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(golden, "run_jit", record(JitFunction))
        patch.setattr(golden, "run", record(GivenProgram))
        status, _ = script_result(path, options)
    assert status == 0
    return found


@contextmanager
def chosen_backend(name: str) -> Iterator[None]:
    """A backend for the process, for a while."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[name])
    try:
        yield
    finally:
        backend.reset_for_testing()


def last_stage(program: ir.Program, backend_name: str) -> ir.Program:
    """The program after all passes of the Default strategy."""
    with chosen_backend(backend_name):
        return PassManager.get_strategy(OptimizationStrategy.Default).run_passes(program)


def compare(node: ir.Program, call: HarnessCall, seed: int = 0) -> None:
    """Run a stage on the inputs of a file and hold it against the file's golden function."""
    torch.manual_seed(seed)
    values: RunValues = generate(call.specs)
    values.compute_golden(call.golden_fn)
    entry = select_entry(node)
    namespace: dict[str, Any] = {}
    exec(compile(torch_codegen(node), f"<{entry.name}>", "exec"), namespace)
    arguments = [
        spec.to_python() if isinstance(spec, golden.ScalarSpec) else values.values[spec.name]
        for spec in call.specs
    ]
    namespace[entry.name](*arguments)
    assert values.expected is not None
    validate_golden(values.outputs(), values.expected, inputs=values.inputs(), **call.tolerances)


def forget(folder: Path) -> None:
    """Let files of a folder be imported anew, as their shapes depend on the command line."""
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)
