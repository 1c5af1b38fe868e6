"""Names that users find in one package though another, built on it, makes them; loaded when asked for.

Nothing in the project takes them from there; these are the only references that point upwards, and only the
``__getattr__`` of a package follows them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

FACES: dict[str, dict[str, str]] = {
    "pypto_tmpl": {
        "backend": "pypto_tmpl",
        "debug": "pypto_tmpl",
        "ir": "pypto_tmpl",
        "language": "pypto_tmpl",
        "passes": "pypto_tmpl",
        "runtime": "pypto_tmpl",
        "DataType": "pypto_tmpl.ir",
    },
    "pypto_tmpl.ir": {
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
    "pypto_tmpl.runtime": {
        "TensorSpec": "pypto_tmpl.golden.spec",
        "run": "pypto_tmpl.compile.api",
    },
    # A kernel is an object of the language, and calling it runs it.
    "pypto_tmpl.language.jit": {
        "compile_kernel": "pypto_tmpl.compile.kernels",
        "lower": "pypto_tmpl.compile.lower",
        "run_kernel": "pypto_tmpl.compile.kernels",
    },
}


def find_face(package: str, name: str) -> Any:
    """What ``package`` shows under ``name``. Raises AttributeError, as modules do, where that is nothing."""
    home = FACES[package].get(name)
    if home is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    if home == package:
        return import_module(f"{home}.{name}")
    return getattr(import_module(home), name)
