"""Sets of properties of programs: what passes promise, what a pipeline checks of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import chosen_facts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.verifier import Diagnostic, DiagnosticSeverity
from pypto_tmpl.passes import checks
from pypto_tmpl.passes.member_sets import MemberSet

VERIFIED_PROPERTIES: tuple[IRProperty, ...] = (
    IRProperty.SSAForm,
    IRProperty.TypeChecked,
    IRProperty.MixedKernelExpanded,
    IRProperty.AllocatedMemoryAddr,
    IRProperty.BreakContinueValid,
    IRProperty.NoRedundantBlocks,
    IRProperty.InOutUseValid,
    IRProperty.CallDirectionsResolved,
    IRProperty.ManualDepsOnSubmitOnly,
    IRProperty.ReturnParamsExplicit,
    IRProperty.AivSplitValid,
    IRProperty.TileMemoryInferred,
    IRProperty.HardSyncallOccupancyValid,
    IRProperty.IterArgCarryClassified,
    IRProperty.RuntimeScopesMaterialized,
    IRProperty.DistTensorCtxMaterialized,
    IRProperty.AccToGmStoreValid,
    IRProperty.AtomicAddDtypeValid,
    IRProperty.DestinationPassing,
)
"""Properties that a pipeline checks by itself."""


class IRPropertySet(MemberSet[IRProperty]):
    """A set of properties of programs."""


@dataclass(frozen=True, slots=True)
class PassProperties:
    """What a pass needs of a program, what holds after it, and what may hold no longer."""

    required: IRPropertySet = field(default_factory=IRPropertySet)
    produced: IRPropertySet = field(default_factory=IRPropertySet)
    invalidated: IRPropertySet = field(default_factory=IRPropertySet)


def get_verified_properties() -> IRPropertySet:
    """What a pipeline checks by itself."""
    return IRPropertySet(VERIFIED_PROPERTIES)


def get_structural_properties() -> IRPropertySet:
    """What holds at every stage."""
    return IRPropertySet(ir.STRUCTURAL_PROPERTIES)


def get_default_verify_properties() -> IRPropertySet:
    """What ``run_verifier`` checks unless told otherwise."""
    return IRPropertySet(ir.DEFAULT_PROPERTIES)


def violations(properties: Iterable[IRProperty], program: ir.Program) -> list[Diagnostic]:
    """What violates the properties, on the chosen backend if there is one.

    Raises ValueError for a property that has no check.
    """
    return checks.verify(program, properties, chosen_facts())


def verify_or_throw(properties: Iterable[IRProperty], program: ir.Program) -> None:
    """Raise VerificationError with a report if anything violates the properties."""
    found = violations(properties, program)
    if any(item.severity is DiagnosticSeverity.Error for item in found):
        raise ir.VerificationError(found)


def verify_properties(properties: Iterable[IRProperty], program: ir.Program, pass_name: str) -> None:
    """Raise VerificationError, which names the pass, unless the program has those properties.

    Raises ValueError for a property that has no check.
    """
    try:
        verify_or_throw(properties, program)
    except ir.VerificationError as error:
        error.add_note(f"found by the verifier at the pass {pass_name}")
        raise


def with_checks(properties: Iterable[IRProperty]) -> IRPropertySet:
    """Those of the properties that have a check."""
    return IRPropertySet(properties).intersection(checks.CHECKED_PROPERTIES)
