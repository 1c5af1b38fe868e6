"""What a verifier finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ir.span import Span


class IRProperty(Enum):
    """What a program may be known to have; the values are upstream's bit positions (spec: IR, 13.2).

    The last one is of a stage that upstream has not got.
    """

    SSAForm = 0
    TypeChecked = 1
    NoNestedCalls = 2
    NormalizedStmtStructure = 3
    NoRedundantBlocks = 4
    SplitIncoreOrch = 5
    HasMemRefs = 6
    IncoreTileOps = 7
    AllocatedMemoryAddr = 8
    MixedKernelExpanded = 9
    ClusterOutlined = 10
    TileOps2D = 11
    TileMemoryInferred = 12
    BreakContinueValid = 13
    UseAfterDef = 14
    HierarchyOutlined = 15
    StructuredCtrlFlow = 16
    VectorKernelSplit = 17
    OutParamNotShadowed = 18
    NoNestedInCore = 19
    InOutUseValid = 20
    PipelineLoopValid = 21
    PipelineResolved = 22
    CallDirectionsResolved = 23
    TileTypeCoherence = 24
    InlineFunctionsEliminated = 25
    OrchestrationReferencesResolved = 26
    TensorViewCanonical = 27
    ArrayNotEscaped = 28
    CommDomainScopesMaterialized = 29
    DistTensorCtxMaterialized = 30
    RuntimeScopesMaterialized = 31
    AssignTypeSymmetry = 32
    ManualDepsOnSubmitOnly = 33
    ReturnParamsExplicit = 34
    UnrollResolved = 35
    AivSplitValid = 36
    HardSyncallOccupancyValid = 37
    IterArgCarryClassified = 38
    AccToGmStoreValid = 39
    AtomicAddDtypeValid = 40
    DestinationPassing = 41


class DiagnosticSeverity(Enum):
    """How bad a finding is; the value is the word for it in texts."""

    Error = "error"
    Warning = "warning"
    PerfHint = "perf_hint"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One violation: the rule, upstream's code for it, what is wrong and where."""

    rule_name: str
    error_code: int
    message: str
    span: Span
    function: str
    severity: DiagnosticSeverity = DiagnosticSeverity.Error
    hint_code: str = ""

    def __str__(self) -> str:
        where = f" [{self.span}]" if self.span.is_valid() else ""
        return f"{self.severity.value}: {self.rule_name} {self.error_code}: {self.message}{where}"


class VerificationError(PyptoTmplError, ValueError):
    """A program violates properties it should have; ``diagnostics`` lists them all."""

    slug = "verification"

    def __init__(self, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(
            f"{len(diagnostics)} violation(s) of the IR's rules",
            notes=[f"{item} (function {item.function!r})" for item in diagnostics],
        )
        self.diagnostics = tuple(diagnostics)


class TooLargeError(PyptoTmplError, ValueError):
    """A function is too large to be checked."""

    slug = "too-large"


class Findings:
    """Collects the violations of one rule in one function."""

    def __init__(self, rule_name: str, function: str) -> None:
        self.rule_name = rule_name
        self.function = function
        self.found: list[Diagnostic] = []

    def add(self, code: int, message: str, span: Span) -> None:
        self.found.append(Diagnostic(self.rule_name, code, message, span, self.function))
