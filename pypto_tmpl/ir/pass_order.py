"""Which passes run in which order (spec: passes, 2.1), and what the names of stages tell of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from pypto_tmpl.ir.stage_names import number_of, pass_of

PREFIX = (
    "InlineFunctions",
    "UnrollLoops",
    "CtrlFlowTransform",
    "ConvertToSSA",
    "Simplify",
    "NormalizeStmtStructure",
    "FlattenCallExpr",
)
TENSOR_ONLY = (
    "OutlineHierarchyScopes",
    "OutlineIncoreScopes",
    "OutlineClusterScopes",
    "ConvertTensorToTileOps",
    "OptimizeOrchTensors",
)
TILE = (
    "LowerCompositeOps",
    "FlattenTileNdTo2D",
    "LegalizeTileCast",
    "AutoTileMatmulL0",
    "CanonicalizeTileSlice",
    "InferTileMemorySpace",
    "InsertMxScaleAddr",
    "ResolveBackendOpLayouts",
    "LowerAutoVectorSplit",
    "ExpandMixedKernel",
    "InjectGMPipeBuffer",
    "SplitVectorKernel",
    "StampTfreeSplit",
    "NormalizeReturnOrder",
    "SkewCrossCorePipeline",
    "LowerPipelineToSlots",
    "LowerPipelineLoops",
    "CanonicalizeIOOrder",
    "MaterializeTensorStrides",
    "InitMemRef",
    "MaterializeSemanticAliases",
    "MemoryReuse",
    "AllocateMemoryAddr",
    "FoldNoOpReshape",
    "FuseCreateAssembleToSlice",
    "DeriveCallDirections",
    "AutoDeriveTaskDependencies",
    "ExpandManualPhaseFence",
    "SynthesizeAllReduceSignals",
    "MaterializeCommDomainScopes",
    "LowerHostTensorCollectives",
    "MaterializeDistTensorCtx",
    "Simplify",
    "MaterializeRuntimeScopes",
    "ClassifyIterArgCarry",
    "InsertCommFence",
    "MaterializeValidShapeSymbols",
)
BUFFERS = ("LowerToBuffers",)
"""What comes last where a context asks for it: all others see tiles as values."""

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "PYPTO": frozenset(),
    "PTOAS": frozenset({"MemoryReuse", "AllocateMemoryAddr"}),
    "DSA_RP": frozenset({"MemoryReuse"}),
}
"""What does not run, by the planner of memory."""


def pass_order(planner: str, *, lowers_tensors: bool, buffers: bool) -> list[str]:
    """The passes that go with a planner; those that lower tensors, and the one that makes buffers, may not be
    among them.
    """
    names = (*PREFIX, *(TENSOR_ONLY if lowers_tensors else ()), *TILE, *(BUFFERS if buffers else ()))
    return [name for name in names if name not in LEFT_OUT[planner]]


def passes_until(stem: str) -> Iterator[list[str]]:
    """The passes that have run by a stage: for each of the pipelines in which it has its name, if any has."""
    number, name = number_of(stem), pass_of(stem)
    for planner, lowers_tensors in product(LEFT_OUT, (True, False)):
        done = pass_order(planner, lowers_tensors=lowers_tensors, buffers=True)[: max(number, 0)]
        if len(done) == number and done[-1:] == [name]:
            yield done
