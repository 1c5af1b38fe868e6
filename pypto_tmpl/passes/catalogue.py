"""The passes by their names as in dump files."""

from __future__ import annotations

from typing import Any

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.passes.base import Pass
from pypto_tmpl.passes.cores.expand_mixed_kernel import ExpandMixedKernel
from pypto_tmpl.passes.cores.inject_gm_pipe_buffer import InjectGMPipeBuffer
from pypto_tmpl.passes.cores.lower_auto_vector_split import LowerAutoVectorSplit
from pypto_tmpl.passes.cores.normalize_return_order import NormalizeReturnOrder
from pypto_tmpl.passes.cores.split_vector_kernel import SplitVectorKernel
from pypto_tmpl.passes.cores.stamp_tfree_split import StampTfreeSplit
from pypto_tmpl.passes.distribution.insert_comm_fence import InsertCommFence
from pypto_tmpl.passes.distribution.lower_host_tensor_collectives import LowerHostTensorCollectives
from pypto_tmpl.passes.distribution.materialize_comm_domain_scopes import MaterializeCommDomainScopes
from pypto_tmpl.passes.distribution.materialize_dist_tensor_ctx import MaterializeDistTensorCtx
from pypto_tmpl.passes.distribution.synthesize_all_reduce_signals import SynthesizeAllReduceSignals
from pypto_tmpl.passes.memory.allocate_memory_addr import AllocateMemoryAddr
from pypto_tmpl.passes.memory.fold_no_op_reshape import FoldNoOpReshape
from pypto_tmpl.passes.memory.init_mem_ref import InitMemRef
from pypto_tmpl.passes.memory.lower_to_buffers import LowerToBuffers
from pypto_tmpl.passes.memory.materialize_semantic_aliases import MaterializeSemanticAliases
from pypto_tmpl.passes.memory.materialize_tensor_strides import MaterializeTensorStrides
from pypto_tmpl.passes.memory.memory_reuse import MemoryReuse
from pypto_tmpl.passes.memory_spaces.infer_tile_memory_space import InferTileMemorySpace
from pypto_tmpl.passes.memory_spaces.insert_mx_scale_addr import InsertMxScaleAddr
from pypto_tmpl.passes.outline.cluster_scopes import OutlineClusterScopes
from pypto_tmpl.passes.outline.hierarchy_scopes import OutlineHierarchyScopes
from pypto_tmpl.passes.outline.incore_scopes import OutlineIncoreScopes
from pypto_tmpl.passes.pipelining.canonicalize_io_order import CanonicalizeIOOrder
from pypto_tmpl.passes.pipelining.lower_pipeline_loops import LowerPipelineLoops
from pypto_tmpl.passes.pipelining.lower_pipeline_to_slots import LowerPipelineToSlots
from pypto_tmpl.passes.pipelining.skew_cross_core_pipeline import SkewCrossCorePipeline
from pypto_tmpl.passes.scalars.simplify import Simplify
from pypto_tmpl.passes.structure.convert_to_ssa import ConvertToSSA
from pypto_tmpl.passes.structure.ctrl_flow_transform import CtrlFlowTransform
from pypto_tmpl.passes.structure.flatten_call_expr import FlattenCallExpr
from pypto_tmpl.passes.structure.inline_functions import InlineFunctions
from pypto_tmpl.passes.structure.normalize_stmt_structure import NormalizeStmtStructure
from pypto_tmpl.passes.structure.unroll_loops import UnrollLoops
from pypto_tmpl.passes.tasks.auto_derive_task_dependencies import AutoDeriveTaskDependencies
from pypto_tmpl.passes.tasks.classify_iter_arg_carry import ClassifyIterArgCarry
from pypto_tmpl.passes.tasks.derive_call_directions import DeriveCallDirections
from pypto_tmpl.passes.tasks.expand_manual_phase_fence import ExpandManualPhaseFence
from pypto_tmpl.passes.tasks.materialize_runtime_scopes import MaterializeRuntimeScopes
from pypto_tmpl.passes.tensor.fuse_create_assemble_to_slice import FuseCreateAssembleToSlice
from pypto_tmpl.passes.tensor.materialize_valid_shape_symbols import MaterializeValidShapeSymbols
from pypto_tmpl.passes.tensor.optimize_orch_tensors import OptimizeOrchTensors
from pypto_tmpl.passes.tensor_to_tile.convert_tensor_to_tile_ops import ConvertTensorToTileOps
from pypto_tmpl.passes.tiles.auto_tile_matmul_l0 import AutoTileMatmulL0
from pypto_tmpl.passes.tiles.canonicalize_tile_slice import CanonicalizeTileSlice
from pypto_tmpl.passes.tiles.flatten_tile_nd_to_2d import FlattenTileNdTo2D
from pypto_tmpl.passes.tiles.legalize_tile_cast import LegalizeTileCast
from pypto_tmpl.passes.tiles.lower_composite_ops import LowerCompositeOps
from pypto_tmpl.passes.tiles.resolve_backend_op_layouts import ResolveBackendOpLayouts

PASSES: dict[str, type[Pass]] = {
    cls.__name__: cls
    for cls in (
        InlineFunctions,
        UnrollLoops,
        CtrlFlowTransform,
        ConvertToSSA,
        Simplify,
        NormalizeStmtStructure,
        FlattenCallExpr,
        OutlineHierarchyScopes,
        OutlineIncoreScopes,
        OutlineClusterScopes,
        ConvertTensorToTileOps,
        OptimizeOrchTensors,
        LowerCompositeOps,
        FlattenTileNdTo2D,
        LegalizeTileCast,
        AutoTileMatmulL0,
        CanonicalizeTileSlice,
        InferTileMemorySpace,
        InsertMxScaleAddr,
        ResolveBackendOpLayouts,
        LowerAutoVectorSplit,
        ExpandMixedKernel,
        InjectGMPipeBuffer,
        SplitVectorKernel,
        StampTfreeSplit,
        NormalizeReturnOrder,
        SkewCrossCorePipeline,
        LowerPipelineToSlots,
        LowerPipelineLoops,
        CanonicalizeIOOrder,
        MaterializeTensorStrides,
        InitMemRef,
        MaterializeSemanticAliases,
        MemoryReuse,
        AllocateMemoryAddr,
        FoldNoOpReshape,
        FuseCreateAssembleToSlice,
        DeriveCallDirections,
        AutoDeriveTaskDependencies,
        ExpandManualPhaseFence,
        SynthesizeAllReduceSignals,
        MaterializeCommDomainScopes,
        LowerHostTensorCollectives,
        MaterializeDistTensorCtx,
        MaterializeRuntimeScopes,
        ClassifyIterArgCarry,
        InsertCommFence,
        MaterializeValidShapeSymbols,
        LowerToBuffers,
    )
}


def make_pass(name: str, **options: Any) -> Pass:
    """A pass by its name as in dump files. Raises ValueError for what is no pass."""
    if name not in PASSES:
        raise ValueError(f"{name!r} is no pass; {allowed_note('passes', list(PASSES), name)}")
    return PASSES[name](**options)
