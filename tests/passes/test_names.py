"""Every name of PyPTO's passes is one of ours, with the members that it has there."""

import importlib

import pytest

from pypto_tmpl import compat, passes

# PyPTO's names, but for the modules l0_tile_chooser and stmt_dependency_analysis, which are of ours.
FUNCTIONS = """\
allocate_memory_addr auto_derive_task_dependencies auto_tile_matmul_l0 canonicalize_io_order
canonicalize_tile_slice classify_iter_arg_carry convert_tensor_to_tile_ops convert_to_ssa create_function_pass
create_program_pass ctrl_flow_transform derive_call_directions expand_manual_phase_fence expand_mixed_kernel
flatten_call_expr flatten_tile_nd_to_2d fold_no_op_reshape fuse_create_assemble_to_slice
get_default_diagnostic_phase get_default_verification_level get_default_verify_properties
get_structural_properties get_verified_properties infer_tile_memory_space init_mem_ref inject_gm_pipe_buffer
inline_functions insert_comm_fence insert_mx_scale_addr legalize_tile_cast lower_auto_vector_split
lower_composite_ops lower_host_tensor_collectives lower_pipeline_loops lower_pipeline_to_slots
materialize_comm_domain_scopes materialize_dist_tensor_ctx materialize_runtime_scopes
materialize_semantic_aliases materialize_tensor_strides materialize_valid_shape_symbols memory_reuse
normalize_return_order normalize_stmt_structure optimize_orch_tensors outline_cluster_scopes
outline_hierarchy_scopes outline_incore_scopes resolve_backend_op_layouts run_verifier runtime_kind_from_name
runtime_kind_to_name simplify skew_cross_core_pipeline split_vector_kernel stamp_tfree_split
synthesize_allreduce_signals unroll_loops verify_properties verify_tensor_view_canonical
"""
SET = "insert remove contains empty difference union_with to_list"
CLASSES = {
    "CallbackInstrument": "get_name",
    "Diagnostic": "severity rule_name error_code hint_code message span",
    "DiagnosticCheckRegistry": "run_checks get_all_checks get_warning_checks get_perf_hint_checks",
    "DiagnosticCheckSet": SET,
    "DiagnosticInstrument": "get_name",
    "IRPropertySet": f"{SET} contains_all intersection",
    "Pass": "get_name get_required_properties get_produced_properties get_invalidated_properties",
    "PassContext": "get_verification_level get_diagnostic_phase get_disabled_diagnostics get_instruments "
    "get_memory_planner get_enable_pypto_l0c_double_buffer get_runtime current",
    "PassInstrument": "get_name",
    "PassPipeline": "add_pass run get_pass_names get_passes",
    "PassProperties": "required produced invalidated",
    "PropertyVerifierRegistry": "verify verify_or_throw generate_report",
    "ReportInstrument": "get_output_dir get_name",
    "VerificationInstrument": "get_name",
}
ENUMS = {
    "DiagnosticCheck": "UnusedVariable UnusedControlFlowResult TileInnermostDimGranularity "
    "OutParamWriteDropped",
    "DiagnosticPhase": "NONE PRE_PIPELINE POST_PASS POST_PIPELINE",
    "DiagnosticSeverity": "Error Warning PerfHint",
    "IRProperty": "SSAForm TypeChecked NoNestedCalls NormalizedStmtStructure NoRedundantBlocks "
    "SplitIncoreOrch HasMemRefs IncoreTileOps AllocatedMemoryAddr MixedKernelExpanded "
    "ClusterOutlined HierarchyOutlined TileOps2D TileMemoryInferred BreakContinueValid "
    "UseAfterDef StructuredCtrlFlow VectorKernelSplit OutParamNotShadowed NoNestedInCore "
    "InOutUseValid PipelineLoopValid PipelineResolved UnrollResolved CallDirectionsResolved "
    "TileTypeCoherence InlineFunctionsEliminated OrchestrationReferencesResolved "
    "TensorViewCanonical ArrayNotEscaped CommDomainScopesMaterialized DistTensorCtxMaterialized "
    "RuntimeScopesMaterialized AssignTypeSymmetry ManualDepsOnSubmitOnly ReturnParamsExplicit "
    "AivSplitValid HardSyncallOccupancyValid IterArgCarryClassified AccToGmStoreValid "
    "AtomicAddDtypeValid",
    "MemoryPlanner": "PYPTO DSA_RP PTOAS",
    "NestedCallErrorType": "CALL_IN_CALL_ARGS CALL_IN_IF_CONDITION CALL_IN_FOR_RANGE CALL_IN_BINARY_EXPR "
    "CALL_IN_UNARY_EXPR",
    "RuntimeKind": "TENSORMAP_AND_RINGBUFFER HOST_BUILD_GRAPH",
    "SSAErrorType": "MULTIPLE_ASSIGNMENT NAME_SHADOWING MISSING_YIELD ITER_ARGS_RETURN_VARS_MISMATCH "
    "YIELD_COUNT_MISMATCH SCOPE_VIOLATION MISPLACED_YIELD",
    "TypeCheckErrorType": "TYPE_KIND_MISMATCH DTYPE_MISMATCH SHAPE_DIMENSION_MISMATCH SHAPE_VALUE_MISMATCH "
    "SIZE_MISMATCH IF_CONDITION_MUST_BE_SCALAR FOR_RANGE_MUST_BE_SCALAR CONDITION_MUST_BE_BOOL "
    "TENSOR_PADDING_MISMATCH DISTRIBUTED_WINDOW_IDENTITY_MISMATCH TILE_VIEW_MISMATCH",
    "UseAfterDefErrorType": "USE_BEFORE_DEF",
    "VerificationLevel": "NONE BASIC ROUNDTRIP",
    "VerificationMode": "NONE BEFORE AFTER BEFORE_AND_AFTER",
}
OURS = {"DestinationPassing"}


@pytest.mark.parametrize("module", ["pypto.passes", "pypto.pypto_core.passes"])
def test_every_name_is_there(module):
    with compat.answering():
        found = importlib.import_module(module)
    assert found is passes
    assert {*FUNCTIONS.split(), *CLASSES, *ENUMS} - {*found.__all__} == set()
    assert all(callable(getattr(found, name)) for name in FUNCTIONS.split())
    for name, members in CLASSES.items():
        assert {*members.split()} - {*dir(getattr(found, name))} == set(), name
    for name, members in ENUMS.items():
        assert {*getattr(found, name).__members__} - OURS == {*members.split()}, name


def test_numbers_of_violations():
    assert passes.SSAErrorType(6).name == "SCOPE_VIOLATION" and len(passes.SSAErrorType) == 7
    assert [error.value for error in passes.TypeCheckErrorType] == list(range(101, 112))
    assert passes.UseAfterDefErrorType.USE_BEFORE_DEF.value == 401


def test_checks_of_what_is_no_fault():
    registry, check = passes.DiagnosticCheckRegistry, passes.DiagnosticCheck
    hints = [check.TileInnermostDimGranularity]
    assert registry.get_all_checks().to_list() == list(check)
    assert registry.get_perf_hint_checks().to_list() == hints
    assert registry.get_warning_checks().to_list() == [one for one in check if one not in hints]
