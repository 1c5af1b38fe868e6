"""Which passes run in which order (spec: passes, 2.1)."""

from __future__ import annotations

from enum import Enum, unique

from pypto_tmpl.passes.settings import MemoryPlanner

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

_LEFT_OUT = {
    MemoryPlanner.PYPTO: frozenset[str](),
    MemoryPlanner.PTOAS: frozenset({"MemoryReuse", "AllocateMemoryAddr"}),
    MemoryPlanner.DSA_RP: frozenset({"MemoryReuse"}),
}


@unique
class OptimizationStrategy(Enum):
    """Lists of passes; ``DebugTileOptimization`` leaves out what lowers tensors, for kernels of tiles."""

    Default = "Default"
    DebugTileOptimization = "DebugTileOptimization"


def pass_names(strategy: OptimizationStrategy, planner: MemoryPlanner, *, buffers: bool = False) -> list[str]:
    """The passes of a strategy, in order, with which a planner of memory goes; ``buffers`` come last."""
    tensor_only = () if strategy is OptimizationStrategy.DebugTileOptimization else TENSOR_ONLY
    last = BUFFERS if buffers else ()
    return [name for name in (*PREFIX, *tensor_only, *TILE, *last) if name not in _LEFT_OUT[planner]]
