"""Programs of several ranks in tests: their text, their stages, and runs of their scripts."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import torch

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import BackendType
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.ir.pass_manager import OptimizationStrategy
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import pass_names

HEAD = """import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Ranked:
"""
BARRIER = """
for q in pl.range({ranks}):
    if q != me:
        pld.system.notify({signal}, peer=q, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
for q in pl.range({ranks}):
    if q != me:
        pld.system.wait({signal}, offsets=[q, 0], expected={count}, cmp=pld.WaitCmp.Ge)
"""


def barrier(ranks: int, signal: str = "sig", count: int = 1) -> str:
    """Lines in which every rank waits until all have come; ``me`` is the own one."""
    return BARRIER.format(ranks=ranks, signal=signal, count=count)


def function(kind: str, name: str, params: str, body: str, result: str = "") -> str:
    """The text of a function: ``kind`` is InCore, Orchestration or host; a body is any lines."""
    how = {"host": "level=pl.Level.HOST, role=pl.Role.Orchestrator"}.get(kind, f"type=pl.FunctionType.{kind}")
    arrow = f" -> {result}" if result else ""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    text = f"@pl.function({how})\ndef {name}(self{', ' if params else ''}{params}){arrow}:\n{lines}\n"
    return textwrap.indent(text, "    ")


def program(*functions: str) -> ir.Program:
    """The program of these functions."""
    return pl.parse(HEAD + "\n".join(functions))


def stages(node: ir.Program, until: str = "") -> Iterator[tuple[str, ir.Program]]:
    """A program as it is written, and what every pass makes of it that changes it, before ``until``."""
    backend.reset_for_testing()
    backend.set_backend_type(BackendType.Ascend910B)
    try:
        yield "frontend", node
        for name in pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO):
            if name == until:
                return
            with passes.PassContext(memory_planner=MemoryPlanner.PYPTO):
                after = passes.make_pass(name)(node)
            if after is not node:
                yield name, after
            node = after
    finally:
        backend.reset_for_testing()


def script(node: ir.Program, preamble: str = "script", **options: Any) -> dict[str, Any]:
    """The names of the script of a program."""
    return load_script(torch_codegen(node, options=options, preamble=preamble), "<script>")


def call(names: Mapping[str, Any], devices: int | list[int], *args: Any) -> Any:
    """What the host function of a script returns on these devices; warnings of left signals are dropped."""
    names["_ranks"].device_ids = [*range(devices)] if isinstance(devices, int) else devices
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "signals are left over", RuntimeWarning)
        return names["host"](*args)


def host(windows: str, dispatches: str, params: str = "", result: str = "") -> str:
    """A host function: ``windows`` has lines of a name, a shape and a dtype, as in ``sig [2, 1] INT32``."""
    made: list[str] = []
    for line in windows.strip().splitlines():
        name, rest = line.split(" ", 1)
        shape, dtype = rest.rsplit(" ", 1)
        made += [
            f"{name} = pld.alloc_window_buffer({shape}, dtype=pl.{dtype})",
            f"{name}_w = pld.window({name}, {shape}, dtype=pl.{dtype})",
        ]
    body = "\n".join([*made, textwrap.dedent(dispatches).strip("\n")])
    return function("host", "host", params, body, result)


def tensor(*shape: int, dtype: str = "FP32", way: str = "") -> str:
    """The annotation of a tensor; ``way`` is Out or InOut."""
    text = f"pl.Tensor[[{', '.join(map(str, shape))}], pl.{dtype}]"
    return f"pl.{way}[{text}]" if way else text


def window(*shape: int, dtype: str = "FP32", way: str = "") -> str:
    """The annotation of a window."""
    text = f"pld.DistributedTensor[[{', '.join(map(str, shape))}], pl.{dtype}]"
    return f"pl.{way}[{text}]" if way else text


def each_stage(node: ir.Program, until: str = "", **options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names of the script of every stage before a pass."""
    return ((name, script(stage, **options)) for name, stage in stages(node, until))


def single_kernel(
    ranks: int,
    windows: Mapping[str, tuple[int, ...]],
    body: str,
    *,
    inputs: Mapping[str, tuple[int, ...]] = {},
    outputs: Mapping[str, tuple[int, ...]] = {},
    dtypes: Mapping[str, str] = {},
    loop: str = "pld.world_size()",
) -> ir.Program:
    """A program of one kernel on every rank, whose parameters are inputs, outputs, then windows, by name.

    The host's tensors have an axis of ranks in front. ``dtypes`` are those that are not FP32. The body
    returns the first output, if there is one.
    """
    of = {name: dtypes.get(name, "FP32") for name in (*inputs, *outputs, *windows)}
    tensors = [f"{name}: {tensor(*shape, dtype=of[name])}" for name, shape in inputs.items()]
    tensors += [f"{name}: {tensor(*shape, dtype=of[name], way='Out')}" for name, shape in outputs.items()]
    given = [f"{name}: {window(*shape, dtype=of[name], way='InOut')}" for name, shape in windows.items()]
    plain = [f"{name}: {window(*shape, dtype=of[name])}" for name, shape in windows.items()]
    names = ", ".join(of)
    first = next(iter(outputs), None)
    result = "" if first is None else tensor(*outputs[first], dtype=of[first])
    call_kernel = (
        f"self.kernel({names})" if first is None else f"{first} = self.kernel({names})\nreturn {first}"
    )
    stacked = [f"{name}: {tensor(ranks, *shape, dtype=of[name])}" for name, shape in inputs.items()]
    stacked += [
        f"{name}: {tensor(ranks, *shape, dtype=of[name], way='Out')}" for name, shape in outputs.items()
    ]
    args = ", ".join([*(f"{name}[r]" for name in (*inputs, *outputs)), *(f"{name}_w" for name in windows)])
    lines = "\n".join(f"{name} {list(shape)} {of[name]}" for name, shape in windows.items())
    last = "return 0" if first is None else f"return {first}"
    return program(
        function("InCore", "kernel", ", ".join([*tensors, *given]), body, result),
        function("Orchestration", "chip", ", ".join([*tensors, *plain]), call_kernel, result),
        host(
            lines,
            f"for r in pl.range({loop}):\n    self.chip({args}, device=r)\n{last}",
            ", ".join(stacked),
            "" if first is None else tensor(ranks, *outputs[first], dtype=of[first]),
        ),
    )


@cache
def counted(*shape: int) -> torch.Tensor:
    """0, 1, 2, ... in FP32."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)
