"""Names that users find in one package though another, built on it, makes them; loaded when asked for.

Nothing in the project takes them from there; these are the only references that point upwards, and only the
``__getattr__`` of a package follows them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _names(*lines: str) -> list[str]:
    return " ".join(lines).split()


_CORE = _names(
    "DT_BF16 DT_BOOL DT_FP16 DT_FP32 DT_FP4 DT_FP8E4M3FN DT_FP8E5M2 DT_FP8E8M0 DT_HF4 DT_HF8 DT_INDEX",
    "DT_INT16 DT_INT32 DT_INT4 DT_INT64 DT_INT8 DT_UINT16 DT_UINT32 DT_UINT4 DT_UINT64 DT_UINT8 Error",
    "InternalError LogLevel check get_log_level internal_check internal_check_span log_debug log_error",
    "log_event log_fatal log_info log_warn set_log_level",
)
_ENUM_MEMBERS = _names(
    "AIC AIV ALL Acc Bias CHIP CHIP_DIE CLUSTER_0 CLUSTER_1 CLUSTER_2 CORE_GROUP CUBE Cluster",
    "CommDomain DDR DN FIX GLOBAL Graph Group HOST Hierarchy In InCore InOut Inline LEFT_RIGHT Left",
    "LeftScale M MTE1 MTE2 MTE3 MX_A_ZZ MX_B_NN Mat ND NONE NZ Opaque Orchestration Orchestrator Out",
    "Parallel Pipeline Python Right RightScale Runtime S ScalarLocal Sequential SplitAiv Spmd SubWorker",
    "UP_DOWN Unroll V VECTOR Vec col_major max min none_box null row_major zero",
)
_DIRECTIONS = _names(
    "inout input no_dep output output_existing scalar_dir",
)
_HELPERS = _names(
    "ParentStmtAnalysis collect_def_vars deduce_call_return_type deep_clone find_yield_stmt",
    "flatten_to_stmts get_last_yield_stmt make_call substitute_expr substitute_stmt",
)
_CONVERSIONS = _names(
    "ConversionContext has_op_conversion op_conversion register_op_conversion",
    "register_op_conversion_custom",
)

FACES: dict[str, dict[str, str]] = {
    "pypto_tmpl": {
        **dict.fromkeys(_CORE, "pypto_tmpl.upstream.core"),
        "codegen": "pypto_tmpl",
        "compile_profiling": "pypto_tmpl.upstream",
        "testing": "pypto_tmpl.upstream",
        "backend": "pypto_tmpl",
        "debug": "pypto_tmpl",
        "ir": "pypto_tmpl",
        "language": "pypto_tmpl",
        "passes": "pypto_tmpl",
        "runtime": "pypto_tmpl",
        "DataType": "pypto_tmpl.ir",
    },
    "pypto_tmpl.ir": {
        **dict.fromkeys(_ENUM_MEMBERS, "pypto_tmpl.upstream.ir_members"),
        **dict.fromkeys(_DIRECTIONS, "pypto_tmpl.ir.directions"),
        **dict.fromkeys(_HELPERS, "pypto_tmpl.upstream.ir_helpers"),
        **dict.fromkeys(_CONVERSIONS, "pypto_tmpl.upstream.conversions"),
        "IRBuilder": "pypto_tmpl.upstream.ir_builder",
        "comm_layout": "pypto_tmpl.upstream",
        "tensor_view_semantics": "pypto_tmpl.upstream",
        "CompiledProgram": "pypto_tmpl.compile.compiled_program",
        "DiagnosticCheck": "pypto_tmpl.passes.diagnostics",
        "DiagnosticCheckSet": "pypto_tmpl.passes.diagnostics",
        "DiagnosticPhase": "pypto_tmpl.passes.settings",
        "IRMutator": "pypto_tmpl.rewrite.visitor",
        "IRVisitor": "pypto_tmpl.rewrite.visitor",
        "OptimizationStrategy": "pypto_tmpl.passes.strategies",
        "PassContext": "pypto_tmpl.passes.context",
        "PassDumpLevel": "pypto_tmpl.passes.dumping",
        "PassManager": "pypto_tmpl.passes.manager",
        "VerificationLevel": "pypto_tmpl.passes.settings",
        "VerificationMode": "pypto_tmpl.passes.settings",
        "compile": "pypto_tmpl.compile.api",
        "create_op_call": "pypto_tmpl.ops.registry",
        "get_op": "pypto_tmpl.ops.registry",
        "get_op_arg_effect": "pypto_tmpl.ops.registry",
        "get_op_memory_spec": "pypto_tmpl.ops.registry",
        "get_op_write_channel": "pypto_tmpl.ops.registry",
        "is_op_registered": "pypto_tmpl.ops.registry",
        "keyword_names": "pypto_tmpl.ops.registry",  # by which ops tell their keywords
        "make_roundtrip_instrument": "pypto_tmpl.passes.round_trip",
        "op": "pypto_tmpl.ir",
        "op_has_declared_arg_effect": "pypto_tmpl.ops.registry",
        "op_has_declared_arg_effects": "pypto_tmpl.ops.registry",
        "pass_manager": "pypto_tmpl.ir",
    },
    "pypto_tmpl.backend": {"pto_backend": "pypto_tmpl.upstream"},
    "pypto_tmpl.runtime": {
        "BenchmarkStats": "pypto_tmpl.upstream.bench",
        "ChipWorker": "pypto_tmpl.upstream.worker",
        "DeviceTensor": "pypto_tmpl.upstream.device_tensor",
        "DistributedRunHandle": "pypto_tmpl.upstream.distributed_worker",
        "DistributedWorker": "pypto_tmpl.upstream.distributed_worker",
        "RegistrationHandle": "pypto_tmpl.upstream.worker",
        "RunResult": "pypto_tmpl.upstream.runner",
        "ScalarSpec": "pypto_tmpl.upstream.tensor_spec",
        "StackedDeviceTensor": "pypto_tmpl.upstream.device_tensor",
        "TensorSpec": "pypto_tmpl.golden.spec",
        "TraceInvocation": "pypto_tmpl.upstream.bench",
        "TraceSpan": "pypto_tmpl.upstream.bench",
        "Worker": "pypto_tmpl.upstream.worker",
        "benchmark": "pypto_tmpl.upstream.bench",
        "compile_program": "pypto_tmpl.upstream.runner",
        "configure_log": "pypto_tmpl.upstream.log_config",
        "ensure_pto_isa_root": "pypto_tmpl.runtime.isa",
        "execute_distributed_compiled": "pypto_tmpl.upstream.distributed_runner",
        "log_level": "pypto_tmpl.upstream.log_config",
        "run": "pypto_tmpl.compile.api",
    },
    "pypto_tmpl.upstream.core": {
        "arith": "pypto_tmpl.upstream",
        "backend": "pypto_tmpl",
        "codegen": "pypto_tmpl.upstream",
        "ir": "pypto_tmpl",
        "passes": "pypto_tmpl",
    },
    # A kernel is an object of the language, and calling it runs it.
    "pypto_tmpl.language.jit": {
        "compile_kernel": "pypto_tmpl.compile.kernels",
        "lower_kernel": "pypto_tmpl.compile.kernels",
        "run_kernel": "pypto_tmpl.compile.kernels",
    },
}


def find_face(package: str, name: str) -> Any:
    """What ``package`` shows under ``name``. Raises AttributeError, as modules do, where that is nothing."""
    home = FACES[package].get(name)
    if home is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = import_module(home) if home != package else None
    if module is None or not hasattr(module, name):  # a module of its own
        return import_module(f"{home}.{name}")
    return getattr(module, name)
