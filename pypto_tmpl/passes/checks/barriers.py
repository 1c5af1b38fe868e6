"""Barriers of all cores: whoever waits for all has to run beside all."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.passes.checks.calls import call_of, launches

BARRIER = "system.syncall"
HARD = "hard"
_WRAPPERS = (ir.FunctionType.Group, ir.FunctionType.Spmd)


def hard_syncall_occupancy_valid(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """A kernel with a hard barrier of all cores is launched on all of them, and all blocks start together.

    How many these are, a backend tells: clusters for a kernel that has cube work, else vector cores. A
    number of blocks that is known only at run time is taken on trust.
    """
    if _is_launched(function):
        return
    launched = {name: _kernels(name, program) for name in {one.op.name for one in launches(function)}}
    waiting = {name: kernels for name, kernels in launched.items() if any(map(_has_barrier, kernels))}
    for launch in launches(function):
        kernels = waiting.get(launch.op.name)
        if kernels is None:
            continue
        if isinstance(launch, ir.Submit):
            blocks, together = launch.core_num, launch.sync_start
        else:
            blocks, together = launch.attrs.get("core_num"), launch.attrs.get("sync_start", False)
        what = f"the launch of {launch.op.name!r}, which waits for all cores at a hard syncall,"
        if not together:
            findings.add(0, f"{what} has no sync_start=True", launch.span)
        count = blocks if isinstance(blocks, int) or blocks is None else constant_value(blocks)
        if blocks is None:
            findings.add(0, f"{what} has no core_num", launch.span)
        elif backend is not None and count is not None and count != (cores := _cores(kernels, backend)):
            findings.add(0, f"{what} has {count} blocks for {cores} cores of the {backend.name}", launch.span)


def _is_launched(function: ir.Function) -> bool:
    return is_incore_type(function.func_type) or function.func_type in _WRAPPERS


def _kernels(name: str, program: ir.Program) -> list[ir.Function]:
    """A function that is launched, and those that it launches in turn."""
    found: dict[str, ir.Function] = {}
    todo = [name]
    while todo:
        function = program.get_function(todo.pop())
        if function is not None and function.name not in found and _is_launched(function):
            found[function.name] = function
            todo += (launch.op.name for launch in launches(function))
    return list(found.values())


def _has_barrier(function: ir.Function) -> bool:
    calls = map(call_of, statements(function.body))
    barriers = (call for call in calls if call is not None and call.op.name == BARRIER)
    return any(call.kwargs.get("mode", HARD) == HARD for call in barriers)


def _cores(kernels: list[ir.Function], backend: BackendFacts) -> int:
    has_cube = any(kernel.func_type is ir.FunctionType.AIC for kernel in kernels)
    return backend.core_count(ir.CoreType.CUBE if has_cube else ir.CoreType.VECTOR)
