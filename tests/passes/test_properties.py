"""Sets of properties, and what each pass says of itself."""

import pytest

from pypto_tmpl import ir, passes

P = ir.IRProperty
VERIFIED = [
    "SSAForm",
    "TypeChecked",
    "MixedKernelExpanded",
    "AllocatedMemoryAddr",
    "BreakContinueValid",
    "NoRedundantBlocks",
    "InOutUseValid",
    "CallDirectionsResolved",
    "ManualDepsOnSubmitOnly",
    "ReturnParamsExplicit",
    "AivSplitValid",
    "TileMemoryInferred",
    "HardSyncallOccupancyValid",
    "IterArgCarryClassified",
    "RuntimeScopesMaterialized",
    "DistTensorCtxMaterialized",
    "AccToGmStoreValid",
    "AtomicAddDtypeValid",
]
TILES = "SSAForm SplitIncoreOrch IncoreTileOps TileOps2D NormalizedStmtStructure"
KERNELS = "SSAForm SplitIncoreOrch IncoreTileOps TileOps2D TileMemoryInferred NormalizedStmtStructure"
BASE = "SSAForm SplitIncoreOrch IncoreTileOps TileOps2D TileMemoryInferred NormalizedStmtStructure"
FENCED = "NoNestedCalls NormalizedStmtStructure CallDirectionsResolved"
# Required, produced and invalidated properties by the specification.
MEMORY = "SplitIncoreOrch IncoreTileOps HasMemRefs TileOps2D"
RECORDS = {
    "InlineFunctions": ("", "InlineFunctionsEliminated", ""),
    "UnrollLoops": ("", "UnrollResolved", ""),
    "CtrlFlowTransform": ("", "StructuredCtrlFlow", ""),
    "ConvertToSSA": ("", "SSAForm", "NormalizedStmtStructure"),
    "Simplify": ("", "", ""),
    "NormalizeStmtStructure": ("", "NormalizedStmtStructure", ""),
    "FlattenCallExpr": (
        "SSAForm NormalizedStmtStructure",
        "SSAForm NoNestedCalls NormalizedStmtStructure",
        "",
    ),
    "OutlineHierarchyScopes": ("SSAForm", "SSAForm HierarchyOutlined OrchestrationReferencesResolved", ""),
    "OutlineIncoreScopes": ("SSAForm", "SSAForm SplitIncoreOrch AivSplitValid", ""),
    "OutlineClusterScopes": ("SSAForm", "SSAForm ClusterOutlined", ""),
    "ConvertTensorToTileOps": (
        "SSAForm SplitIncoreOrch NormalizedStmtStructure",
        "SSAForm IncoreTileOps NormalizedStmtStructure AivSplitValid",
        "AivSplitValid",
    ),
    "OptimizeOrchTensors": ("SplitIncoreOrch IncoreTileOps", "SplitIncoreOrch IncoreTileOps", ""),
    "LowerCompositeOps": ("", "", ""),
    "FlattenTileNdTo2D": (
        "SSAForm IncoreTileOps NormalizedStmtStructure",
        "SSAForm TileOps2D NormalizedStmtStructure",
        "",
    ),
    "LegalizeTileCast": ("", "", ""),
    "AutoTileMatmulL0": (TILES, TILES, ""),
    "CanonicalizeTileSlice": (TILES, TILES, ""),
    "InferTileMemorySpace": (
        "SSAForm IncoreTileOps SplitIncoreOrch NormalizedStmtStructure",
        "SSAForm TileMemoryInferred NormalizedStmtStructure AivSplitValid AccToGmStoreValid",
        "AivSplitValid",
    ),
    "InsertMxScaleAddr": (
        "SSAForm IncoreTileOps SplitIncoreOrch NormalizedStmtStructure TileMemoryInferred",
        "SSAForm IncoreTileOps SplitIncoreOrch NormalizedStmtStructure TileMemoryInferred",
        "",
    ),
    "ResolveBackendOpLayouts": (
        "SSAForm IncoreTileOps SplitIncoreOrch TileOps2D",
        "SSAForm IncoreTileOps SplitIncoreOrch TileOps2D NormalizedStmtStructure",
        "",
    ),
    "InjectGMPipeBuffer": (
        "SSAForm MixedKernelExpanded NormalizedStmtStructure",
        "SSAForm MixedKernelExpanded NormalizedStmtStructure",
        "",
    ),
    "StampTfreeSplit": ("SplitIncoreOrch", "", ""),
    "NormalizeReturnOrder": ("SplitIncoreOrch IncoreTileOps", "ReturnParamsExplicit", ""),
    "LowerAutoVectorSplit": (f"{KERNELS} AivSplitValid", KERNELS, "AivSplitValid"),
    "ExpandMixedKernel": (
        KERNELS,
        "SSAForm MixedKernelExpanded NormalizedStmtStructure HardSyncallOccupancyValid",
        "",
    ),
    "SplitVectorKernel": (
        "SSAForm MixedKernelExpanded",
        "SSAForm VectorKernelSplit NormalizedStmtStructure",
        "",
    ),
    "SkewCrossCorePipeline": (BASE, BASE, ""),
    "LowerPipelineToSlots": (BASE, BASE, ""),
    "LowerPipelineLoops": (BASE, BASE, ""),
    "CanonicalizeIOOrder": (BASE, f"{BASE} PipelineResolved", ""),
    "MaterializeTensorStrides": (BASE, f"{BASE} TensorViewCanonical", ""),
    "InitMemRef": (
        "SSAForm SplitIncoreOrch IncoreTileOps TileOps2D TileMemoryInferred",
        "HasMemRefs NormalizedStmtStructure",
        "SSAForm",
    ),
    "MaterializeSemanticAliases": (
        "SplitIncoreOrch IncoreTileOps HasMemRefs TileOps2D NormalizedStmtStructure",
        "NormalizedStmtStructure",
        "",
    ),
    "FoldNoOpReshape": ("SplitIncoreOrch IncoreTileOps HasMemRefs TileOps2D", "", ""),
    "MemoryReuse": (MEMORY + " NormalizedStmtStructure", "NormalizedStmtStructure", ""),
    "AllocateMemoryAddr": (MEMORY, "AllocatedMemoryAddr", ""),
    "FuseCreateAssembleToSlice": ("SplitIncoreOrch", "", ""),
    "DeriveCallDirections": ("SplitIncoreOrch", "CallDirectionsResolved", ""),
    "AutoDeriveTaskDependencies": ("SplitIncoreOrch CallDirectionsResolved", "CallDirectionsResolved", ""),
    "ExpandManualPhaseFence": (FENCED, FENCED, ""),
    "MaterializeRuntimeScopes": ("SplitIncoreOrch CallDirectionsResolved", "RuntimeScopesMaterialized", ""),
    "ClassifyIterArgCarry": (
        "CallDirectionsResolved RuntimeScopesMaterialized",
        "IterArgCarryClassified RuntimeScopesMaterialized",
        "",
    ),
    "SynthesizeAllReduceSignals": ("", "", ""),
    "MaterializeCommDomainScopes": ("", "CommDomainScopesMaterialized", ""),
    "LowerHostTensorCollectives": ("CommDomainScopesMaterialized", "CommDomainScopesMaterialized", ""),
    "MaterializeDistTensorCtx": (
        "CommDomainScopesMaterialized ReturnParamsExplicit",
        "CommDomainScopesMaterialized DistTensorCtxMaterialized",
        "",
    ),
    "InsertCommFence": ("SplitIncoreOrch", "", ""),
    "MaterializeValidShapeSymbols": ("", "", ""),
    "LowerToBuffers": ("SSAForm HasMemRefs TileOps2D", "DestinationPassing", "NoNestedCalls"),
}


def test_all_properties_have_their_names():
    assert len(P) == 42  # PyPTO's 41 and ours
    assert [wanted.value for wanted in P] == list(range(42))
    assert P(41) is P.DestinationPassing
    assert (P(5), P(22), P(37)) == (P.SplitIncoreOrch, P.PipelineResolved, P.HardSyncallOccupancyValid)


def test_the_three_sets():
    assert {p.name for p in passes.get_verified_properties()} == {*VERIFIED, "DestinationPassing"}
    assert passes.get_structural_properties() == passes.IRPropertySet(ir.STRUCTURAL_PROPERTIES)
    assert passes.get_default_verify_properties() == passes.IRPropertySet(ir.DEFAULT_PROPERTIES)


@pytest.mark.parametrize("name", passes.PASSES)
def test_what_a_pass_needs_makes_and_spoils(name):
    pass_ = passes.make_pass(name)
    found = (
        pass_.get_required_properties(),
        pass_.get_produced_properties(),
        pass_.get_invalidated_properties(),
    )
    assert [{p.name for p in members} for members in found] == [set(names.split()) for names in RECORDS[name]]


def test_sets_of_properties():
    some = passes.IRPropertySet([P.TypeChecked, P.SSAForm])
    assert some.to_list() == [P.SSAForm, P.TypeChecked]
    some.insert(P.NoNestedCalls)
    some.remove(P.TypeChecked)
    some.remove(P.TypeChecked)
    assert some == passes.IRPropertySet([P.SSAForm, P.NoNestedCalls])
    assert some.contains(P.SSAForm) and not some.contains(P.TypeChecked)
    other = passes.IRPropertySet([P.SSAForm])
    assert some.contains_all(other) and not other.contains_all(some)
    assert some.union_with(other) == some and some.intersection(other) == other
    assert some.difference(other).to_list() == [P.NoNestedCalls]
    assert some.difference(some).empty() and len(some) == 2
    assert repr(other) == "IRPropertySet({SSAForm})"
    with pytest.raises(TypeError, match="unhashable"):
        hash(some)


def test_kinds_of_runtime():
    assert passes.runtime_kind_to_name(passes.RuntimeKind.HOST_BUILD_GRAPH) == "host_build_graph"
    assert passes.runtime_kind_from_name("host_build_graph") is passes.RuntimeKind.HOST_BUILD_GRAPH
    with pytest.raises(ValueError, match="'host_graph' is no kind of runtime"):
        passes.runtime_kind_from_name("host_graph")
