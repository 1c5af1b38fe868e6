"""Passes over programs, pipelines of them, and what watches and checks them."""

from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.verifier import Diagnostic, DiagnosticSeverity, VerificationError
from pypto_tmpl.ir.verifier.codes import (
    NestedCallErrorType,
    SSAErrorType,
    TypeCheckErrorType,
    UseAfterDefErrorType,
)
from pypto_tmpl.passes.base import (
    FunctionPass,
    Pass,
    PassError,
    ProgramPass,
    create_function_pass,
    create_program_pass,
)
from pypto_tmpl.passes.catalogue import PASSES, make_pass
from pypto_tmpl.passes.checks import CHECKED_PROPERTIES
from pypto_tmpl.passes.checks.tensor_views import verify_tensor_view_canonical
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.cores.expand_mixed_kernel import ExpandMixedKernel as expand_mixed_kernel
from pypto_tmpl.passes.cores.inject_gm_pipe_buffer import InjectGMPipeBuffer as inject_gm_pipe_buffer
from pypto_tmpl.passes.cores.lower_auto_vector_split import LowerAutoVectorSplit as lower_auto_vector_split
from pypto_tmpl.passes.cores.normalize_return_order import NormalizeReturnOrder as normalize_return_order
from pypto_tmpl.passes.cores.split_vector_kernel import SplitVectorKernel as split_vector_kernel
from pypto_tmpl.passes.cores.stamp_tfree_split import StampTfreeSplit as stamp_tfree_split
from pypto_tmpl.passes.diagnostics import DiagnosticCheck, DiagnosticCheckSet
from pypto_tmpl.passes.distribution.insert_comm_fence import InsertCommFence as insert_comm_fence
from pypto_tmpl.passes.distribution.lower_host_tensor_collectives import (
    LowerHostTensorCollectives as lower_host_tensor_collectives,
)
from pypto_tmpl.passes.distribution.materialize_comm_domain_scopes import (
    MaterializeCommDomainScopes as materialize_comm_domain_scopes,
)
from pypto_tmpl.passes.distribution.materialize_dist_tensor_ctx import (
    MaterializeDistTensorCtx as materialize_dist_tensor_ctx,
)
from pypto_tmpl.passes.distribution.synthesize_all_reduce_signals import (
    SynthesizeAllReduceSignals as synthesize_allreduce_signals,
)
from pypto_tmpl.passes.instruments import (
    CallbackInstrument,
    DiagnosticInstrument,
    PassInstrument,
    ReportInstrument,
    TimingInstrument,
    VerificationInstrument,
)
from pypto_tmpl.passes.memory.allocate_memory_addr import AllocateMemoryAddr as allocate_memory_addr
from pypto_tmpl.passes.memory.fold_no_op_reshape import FoldNoOpReshape as fold_no_op_reshape
from pypto_tmpl.passes.memory.init_mem_ref import InitMemRef as init_mem_ref
from pypto_tmpl.passes.memory.lower_to_buffers import (
    LowerToBuffers as lower_to_buffers,
)
from pypto_tmpl.passes.memory.materialize_semantic_aliases import (
    MaterializeSemanticAliases as materialize_semantic_aliases,
)
from pypto_tmpl.passes.memory.materialize_tensor_strides import (
    MaterializeTensorStrides as materialize_tensor_strides,
)
from pypto_tmpl.passes.memory.memory_reuse import MemoryReuse as memory_reuse
from pypto_tmpl.passes.memory_spaces.infer_tile_memory_space import (
    InferTileMemorySpace as infer_tile_memory_space,
)
from pypto_tmpl.passes.memory_spaces.insert_mx_scale_addr import InsertMxScaleAddr as insert_mx_scale_addr
from pypto_tmpl.passes.outline.cluster_scopes import OutlineClusterScopes as outline_cluster_scopes
from pypto_tmpl.passes.outline.hierarchy_scopes import OutlineHierarchyScopes as outline_hierarchy_scopes
from pypto_tmpl.passes.outline.incore_scopes import OutlineIncoreScopes as outline_incore_scopes
from pypto_tmpl.passes.pipeline import PassPipeline
from pypto_tmpl.passes.pipelining import order as stmt_dependency_analysis
from pypto_tmpl.passes.pipelining.canonicalize_io_order import (
    CanonicalizeIOOrder as canonicalize_io_order,
)
from pypto_tmpl.passes.pipelining.lower_pipeline_loops import LowerPipelineLoops as lower_pipeline_loops
from pypto_tmpl.passes.pipelining.lower_pipeline_to_slots import (
    LowerPipelineToSlots as lower_pipeline_to_slots,
)
from pypto_tmpl.passes.pipelining.skew_cross_core_pipeline import (
    SkewCrossCorePipeline as skew_cross_core_pipeline,
)
from pypto_tmpl.passes.properties import (
    IRPropertySet,
    PassProperties,
    get_default_verify_properties,
    get_structural_properties,
    get_verified_properties,
    verify_properties,
)
from pypto_tmpl.passes.round_trip import make_roundtrip_instrument
from pypto_tmpl.passes.scalars.simplify import Simplify as simplify
from pypto_tmpl.passes.settings import (
    DiagnosticPhase,
    MemoryPlanner,
    RuntimeKind,
    VerificationLevel,
    VerificationMode,
    get_default_diagnostic_phase,
    get_default_verification_level,
    runtime_kind_from_name,
    runtime_kind_to_name,
)
from pypto_tmpl.passes.structure.convert_to_ssa import ConvertToSSA as convert_to_ssa
from pypto_tmpl.passes.structure.ctrl_flow_transform import CtrlFlowTransform as ctrl_flow_transform
from pypto_tmpl.passes.structure.flatten_call_expr import FlattenCallExpr as flatten_call_expr
from pypto_tmpl.passes.structure.inline_functions import InlineFunctions as inline_functions
from pypto_tmpl.passes.structure.normalize_stmt_structure import (
    NormalizeStmtStructure as normalize_stmt_structure,
)
from pypto_tmpl.passes.structure.unroll_loops import UnrollLoops as unroll_loops
from pypto_tmpl.passes.tasks.auto_derive_task_dependencies import (
    AutoDeriveTaskDependencies as auto_derive_task_dependencies,
)
from pypto_tmpl.passes.tasks.classify_iter_arg_carry import ClassifyIterArgCarry as classify_iter_arg_carry
from pypto_tmpl.passes.tasks.derive_call_directions import DeriveCallDirections as derive_call_directions
from pypto_tmpl.passes.tasks.expand_manual_phase_fence import (
    ExpandManualPhaseFence as expand_manual_phase_fence,
)
from pypto_tmpl.passes.tasks.materialize_runtime_scopes import (
    MaterializeRuntimeScopes as materialize_runtime_scopes,
)
from pypto_tmpl.passes.tensor.fuse_create_assemble_to_slice import (
    FuseCreateAssembleToSlice as fuse_create_assemble_to_slice,
)
from pypto_tmpl.passes.tensor.materialize_valid_shape_symbols import (
    MaterializeValidShapeSymbols as materialize_valid_shape_symbols,
)
from pypto_tmpl.passes.tensor.optimize_orch_tensors import (
    OptimizeOrchTensors as optimize_orch_tensors,
)
from pypto_tmpl.passes.tensor_to_tile.convert_tensor_to_tile_ops import (
    ConvertTensorToTileOps as convert_tensor_to_tile_ops,
)
from pypto_tmpl.passes.tiles import l0_choice as l0_tile_chooser
from pypto_tmpl.passes.tiles.auto_tile_matmul_l0 import AutoTileMatmulL0 as auto_tile_matmul_l0
from pypto_tmpl.passes.tiles.canonicalize_tile_slice import CanonicalizeTileSlice as canonicalize_tile_slice
from pypto_tmpl.passes.tiles.flatten_tile_nd_to_2d import FlattenTileNdTo2D as flatten_tile_nd_to_2d
from pypto_tmpl.passes.tiles.legalize_tile_cast import LegalizeTileCast as legalize_tile_cast
from pypto_tmpl.passes.tiles.lower_composite_ops import LowerCompositeOps as lower_composite_ops
from pypto_tmpl.passes.tiles.resolve_backend_op_layouts import (
    ResolveBackendOpLayouts as resolve_backend_op_layouts,
)
from pypto_tmpl.passes.verification import DiagnosticCheckRegistry, PropertyVerifierRegistry, run_verifier

__all__ = [
    "CHECKED_PROPERTIES",
    "CallbackInstrument",
    "Diagnostic",
    "DiagnosticCheck",
    "DiagnosticCheckRegistry",
    "DiagnosticCheckSet",
    "DiagnosticInstrument",
    "DiagnosticPhase",
    "DiagnosticSeverity",
    "FunctionPass",
    "IRProperty",
    "IRPropertySet",
    "MemoryPlanner",
    "NestedCallErrorType",
    "PASSES",
    "Pass",
    "PassContext",
    "PassError",
    "PassInstrument",
    "PassPipeline",
    "PassProperties",
    "ProgramPass",
    "PropertyVerifierRegistry",
    "ReportInstrument",
    "RuntimeKind",
    "SSAErrorType",
    "TimingInstrument",
    "TypeCheckErrorType",
    "UseAfterDefErrorType",
    "VerificationError",
    "VerificationInstrument",
    "VerificationLevel",
    "VerificationMode",
    "allocate_memory_addr",
    "auto_derive_task_dependencies",
    "auto_tile_matmul_l0",
    "canonicalize_io_order",
    "canonicalize_tile_slice",
    "classify_iter_arg_carry",
    "convert_tensor_to_tile_ops",
    "convert_to_ssa",
    "create_function_pass",
    "create_program_pass",
    "ctrl_flow_transform",
    "derive_call_directions",
    "expand_manual_phase_fence",
    "expand_mixed_kernel",
    "flatten_call_expr",
    "flatten_tile_nd_to_2d",
    "fold_no_op_reshape",
    "fuse_create_assemble_to_slice",
    "get_default_diagnostic_phase",
    "get_default_verification_level",
    "get_default_verify_properties",
    "get_structural_properties",
    "get_verified_properties",
    "infer_tile_memory_space",
    "init_mem_ref",
    "inject_gm_pipe_buffer",
    "inline_functions",
    "insert_comm_fence",
    "insert_mx_scale_addr",
    "l0_tile_chooser",
    "legalize_tile_cast",
    "lower_auto_vector_split",
    "lower_composite_ops",
    "lower_host_tensor_collectives",
    "lower_pipeline_loops",
    "lower_pipeline_to_slots",
    "lower_to_buffers",
    "make_pass",
    "make_roundtrip_instrument",
    "materialize_comm_domain_scopes",
    "materialize_dist_tensor_ctx",
    "materialize_runtime_scopes",
    "materialize_semantic_aliases",
    "materialize_tensor_strides",
    "materialize_valid_shape_symbols",
    "memory_reuse",
    "normalize_return_order",
    "normalize_stmt_structure",
    "optimize_orch_tensors",
    "outline_cluster_scopes",
    "outline_hierarchy_scopes",
    "outline_incore_scopes",
    "resolve_backend_op_layouts",
    "run_verifier",
    "runtime_kind_from_name",
    "runtime_kind_to_name",
    "simplify",
    "skew_cross_core_pipeline",
    "split_vector_kernel",
    "stamp_tfree_split",
    "stmt_dependency_analysis",
    "synthesize_allreduce_signals",
    "unroll_loops",
    "verify_properties",
    "verify_tensor_view_canonical",
]
