"""Checks of a program on request; loading and running a dump never run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.unfolded import MAX_PARTS
from pypto_tmpl.ir.verifier import control_flow, definitions, launching, outputs, stages, typing
from pypto_tmpl.ir.verifier.diagnostics import (
    Diagnostic,
    DiagnosticSeverity,
    Findings,
    IRProperty,
    TooLargeError,
    VerificationError,
)
from pypto_tmpl.ir.verifier.walking import occurrences

STRUCTURAL_PROPERTIES: tuple[IRProperty, ...] = (
    IRProperty.TypeChecked,
    IRProperty.BreakContinueValid,
    IRProperty.NoRedundantBlocks,
    IRProperty.UseAfterDef,
    IRProperty.OutParamNotShadowed,
    IRProperty.NoNestedInCore,
    IRProperty.InOutUseValid,
    IRProperty.PipelineLoopValid,
    IRProperty.ArrayNotEscaped,
    IRProperty.ManualDepsOnSubmitOnly,
    IRProperty.AtomicAddDtypeValid,
)
"""Properties that hold after every pass."""

DEFAULT_PROPERTIES: tuple[IRProperty, ...] = (
    IRProperty.SSAForm,
    IRProperty.TypeChecked,
    IRProperty.NoNestedCalls,
    IRProperty.BreakContinueValid,
    IRProperty.NoRedundantBlocks,
    IRProperty.UseAfterDef,
    IRProperty.OutParamNotShadowed,
    IRProperty.NoNestedInCore,
    IRProperty.TileTypeCoherence,
    IRProperty.ArrayNotEscaped,
)
"""Properties that upstream checks in an explicit run; the first ones hold only once passes made them so."""

_FunctionCheck = Callable[[Function, Findings], None]
_ProgramCheck = Callable[[Function, Findings, "Program | None"], None]
_FUNCTION_CHECKS: dict[IRProperty, tuple[str, _FunctionCheck]] = {
    IRProperty.SSAForm: ("SSAVerify", definitions.ssa_form),
    IRProperty.TypeChecked: ("TypeCheck", typing.type_checked),
    IRProperty.NoNestedCalls: ("NoNestedCall", control_flow.no_nested_calls),
    IRProperty.NormalizedStmtStructure: ("NormalizedStmtStructure", control_flow.no_redundant_blocks),
    IRProperty.NoRedundantBlocks: ("NoRedundantBlocks", control_flow.no_redundant_blocks),
    IRProperty.BreakContinueValid: ("BreakContinueCheck", control_flow.break_continue_valid),
    IRProperty.UseAfterDef: ("UseAfterDefCheck", definitions.use_after_def),
    IRProperty.OutParamNotShadowed: ("OutParamNotShadowed", outputs.out_param_not_shadowed),
    IRProperty.NoNestedInCore: ("NoNestedInCore", control_flow.no_nested_incore),
    IRProperty.PipelineLoopValid: ("PipelineLoopValid", control_flow.pipeline_loop_valid),
    IRProperty.TileTypeCoherence: ("TileTypeCoherence", typing.tile_type_coherence),
    IRProperty.ArrayNotEscaped: ("ArrayNotEscaped", typing.array_not_escaped),
    IRProperty.ManualDepsOnSubmitOnly: ("ManualDepsOnSubmitOnly", outputs.manual_deps_on_submit_only),
    IRProperty.AtomicAddDtypeValid: ("AtomicAddDtypeValid", outputs.atomic_add_dtype_valid),
    IRProperty.StructuredCtrlFlow: ("StructuredCtrlFlow", stages.structured_ctrl_flow),
    IRProperty.UnrollResolved: ("UnrollResolved", stages.unroll_resolved),
    IRProperty.PipelineResolved: ("PipelineResolved", stages.pipeline_resolved),
    IRProperty.HierarchyOutlined: ("HierarchyOutlined", stages.hierarchy_outlined),
    IRProperty.SplitIncoreOrch: ("SplitIncoreOrch", stages.split_incore_orch),
    IRProperty.ClusterOutlined: ("ClusterOutlined", stages.cluster_outlined),
    IRProperty.TileMemoryInferred: ("TileMemoryInferred", launching.tile_memory_inferred),
    IRProperty.AccToGmStoreValid: ("AccToGmStoreValid", launching.acc_to_gm_store_valid),
    IRProperty.RuntimeScopesMaterialized: (
        "RuntimeScopesMaterialized",
        launching.runtime_scopes_materialized,
    ),
    IRProperty.IterArgCarryClassified: ("IterArgCarryClassified", launching.iter_arg_carry_classified),
}
_PROGRAM_CHECKS: dict[IRProperty, tuple[str, _ProgramCheck]] = {
    IRProperty.InOutUseValid: ("InOutUseValid", outputs.in_out_use_valid),
    IRProperty.InlineFunctionsEliminated: ("InlineFunctionsEliminated", stages.inline_functions_eliminated),
    IRProperty.OrchestrationReferencesResolved: (
        "OrchestrationReferencesResolved",
        stages.orchestration_references_resolved,
    ),
    IRProperty.CallDirectionsResolved: ("CallDirectionsResolved", launching.call_directions_resolved),
}
CHECKED_PROPERTIES: tuple[IRProperty, ...] = tuple(
    wanted for wanted in IRProperty if wanted in _FUNCTION_CHECKS or wanted in _PROGRAM_CHECKS
)
"""Properties that a check proves; passes are taken at their word for the others."""


def verify(
    node: Program | Function, properties: Iterable[IRProperty] = STRUCTURAL_PROPERTIES
) -> list[Diagnostic]:
    """Violations of the given properties, function by function, in the order of the properties.

    Raises ValueError for a property that has no check (``CHECKED_PROPERTIES``), and TooLargeError for a
    function that shares so many statements that they cannot be visited.
    """
    program = node if isinstance(node, Program) else None
    found: list[Diagnostic] = []
    chosen = list(properties)
    if unchecked := [wanted.name for wanted in chosen if wanted not in CHECKED_PROPERTIES]:
        checked = ", ".join(wanted.name for wanted in CHECKED_PROPERTIES)
        raise ValueError(f"there is no check of {', '.join(unchecked)}; there are checks of {checked}")
    for function in node.functions.values() if isinstance(node, Program) else [node]:
        if occurrences(function.body) > MAX_PARTS:
            raise TooLargeError(
                f"function {function.name!r} has over {MAX_PARTS} statements, shared ones included"
            )
        for wanted in chosen:
            if wanted in _PROGRAM_CHECKS:
                rule_name, program_check = _PROGRAM_CHECKS[wanted]
                findings = Findings(rule_name, function.name)
                program_check(function, findings, program)
            else:
                rule_name, check = _FUNCTION_CHECKS[wanted]
                findings = Findings(rule_name, function.name)
                check(function, findings)
            found += findings.found
    return found


def verify_or_throw(
    node: Program | Function, properties: Iterable[IRProperty] = STRUCTURAL_PROPERTIES
) -> None:
    """Raise VerificationError with a report if a property is violated."""
    found = verify(node, properties)
    if any(item.severity is DiagnosticSeverity.Error for item in found):
        raise VerificationError(found)


__all__ = [
    "CHECKED_PROPERTIES",
    "DEFAULT_PROPERTIES",
    "STRUCTURAL_PROPERTIES",
    "Diagnostic",
    "DiagnosticSeverity",
    "IRProperty",
    "TooLargeError",
    "VerificationError",
    "verify",
    "verify_or_throw",
]
