"""Checks of properties that need more than the IR: facts of ops and of the hardware.

What the IR alone tells is checked in ``ir.verifier``; ``verify`` takes either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.verifier import Diagnostic
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.passes.checks.barriers import hard_syncall_occupancy_valid
from pypto_tmpl.passes.checks.contexts import dist_tensor_ctx_materialized
from pypto_tmpl.passes.checks.destinations import destination_passing
from pypto_tmpl.passes.checks.lanes import aiv_split_valid
from pypto_tmpl.passes.checks.memory import allocated_memory_addr
from pypto_tmpl.passes.checks.pipes import mixed_kernel_expanded
from pypto_tmpl.passes.checks.returned import return_params_explicit

_Check = Callable[[ir.Function, Findings, ir.Program, BackendFacts | None], None]
_CHECKS: dict[IRProperty, _Check] = {
    IRProperty.AllocatedMemoryAddr: allocated_memory_addr,
    IRProperty.MixedKernelExpanded: mixed_kernel_expanded,
    IRProperty.DistTensorCtxMaterialized: dist_tensor_ctx_materialized,
    IRProperty.ReturnParamsExplicit: return_params_explicit,
    IRProperty.AivSplitValid: aiv_split_valid,
    IRProperty.HardSyncallOccupancyValid: hard_syncall_occupancy_valid,
    IRProperty.DestinationPassing: destination_passing,
}
CHECKED_PROPERTIES: tuple[IRProperty, ...] = tuple(
    wanted for wanted in IRProperty if wanted in _CHECKS or wanted in ir.CHECKED_PROPERTIES
)
"""Properties that a check proves; passes are taken at their word for the others."""


def verify(
    program: ir.Program, properties: Iterable[IRProperty], backend: BackendFacts | None = None
) -> list[Diagnostic]:
    """Violations of the given properties; what the hardware limits is checked where a backend is given.

    Raises ValueError for a property that has no check (``CHECKED_PROPERTIES``), and TooLargeError for a
    function that shares so many statements that they cannot be visited.
    """
    chosen = list(properties)
    if unchecked := [wanted.name for wanted in chosen if wanted not in CHECKED_PROPERTIES]:
        checked = ", ".join(wanted.name for wanted in CHECKED_PROPERTIES)
        raise ValueError(f"there is no check of {', '.join(unchecked)}; there are checks of {checked}")
    if not chosen:
        return []
    found = ir.verify(program, [wanted for wanted in chosen if wanted not in _CHECKS])
    for function in program.functions.values():
        for wanted in chosen:
            if wanted in _CHECKS:
                findings = Findings(wanted.name, function.name)
                _CHECKS[wanted](function, findings, program, backend)
                found += findings.found
    return found


__all__ = ["CHECKED_PROPERTIES", "verify"]
