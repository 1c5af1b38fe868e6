"""The stages of PyPTO's default pipeline under the planner PYPTO, as its dumps are numbered."""

PASSES = """
InlineFunctions UnrollLoops CtrlFlowTransform ConvertToSSA Simplify NormalizeStmtStructure FlattenCallExpr
OutlineHierarchyScopes OutlineIncoreScopes OutlineClusterScopes ConvertTensorToTileOps OptimizeOrchTensors
LowerCompositeOps FlattenTileNdTo2D LegalizeTileCast AutoTileMatmulL0 CanonicalizeTileSlice InferTileMemorySpace
InsertMxScaleAddr ResolveBackendOpLayouts LowerAutoVectorSplit ExpandMixedKernel InjectGMPipeBuffer
SplitVectorKernel StampTfreeSplit NormalizeReturnOrder SkewCrossCorePipeline LowerPipelineToSlots
LowerPipelineLoops CanonicalizeIOOrder MaterializeTensorStrides InitMemRef MaterializeSemanticAliases MemoryReuse
AllocateMemoryAddr FoldNoOpReshape FuseCreateAssembleToSlice DeriveCallDirections AutoDeriveTaskDependencies
ExpandManualPhaseFence SynthesizeAllReduceSignals MaterializeCommDomainScopes LowerHostTensorCollectives
MaterializeDistTensorCtx Simplify MaterializeRuntimeScopes ClassifyIterArgCarry InsertCommFence
MaterializeValidShapeSymbols
""".split()
STAGES = ["00_frontend", *(f"{number:02d}_after_{name}" for number, name in enumerate(PASSES, 1))]
LAST = STAGES[-1]


def dump_files(*stages):
    """The files of some stages in a build directory, of all where none are named."""
    return [f"passes_dump/{stage}{suffix}" for stage in stages or STAGES for suffix in (".msgpack", ".py")]
