"""Running programs at any stage of the pass pipeline, and finding where their numbers go wrong.

What needs torch is imported when it is used: emitting a script does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.debug.torch_codegen import emit_script, torch_codegen

if TYPE_CHECKING:
    from pypto_tmpl.compare.shape import ErrorShape
    from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
    from pypto_tmpl.compare.tolerance import Tolerance
    from pypto_tmpl.compare.verdicts import Comparator
    from pypto_tmpl.debug.checking import validate_pass_ir_codegen_results
    from pypto_tmpl.debug.search.bisect import first_divergence
    from pypto_tmpl.debug.search.divergence import Divergence
    from pypto_tmpl.debug.stages.dumps import Stage, StageNotFoundError, find_stages
    from pypto_tmpl.debug.trace.diff import diff_traces
    from pypto_tmpl.debug.trace.records import Trace
    from pypto_tmpl.debug.trace.run import trace_dump
    from pypto_tmpl.debug.trace.store import load_trace, save_trace
    from pypto_tmpl.debug.validate.results import ValidationError, ValidationResult
    from pypto_tmpl.debug.validate.schedule import StageResult
    from pypto_tmpl.debug.validate.validation import Options, Validation
    from pypto_tmpl.debug.validate.workers import WorkerDiedError, WorkerPool
    from pypto_tmpl.execution.entry import EntryError, select_entry
    from pypto_tmpl.execution.load import ScriptError, load_script
    from pypto_tmpl.execution.named import MissingTensorError, TensorShapeError
    from pypto_tmpl.execution.options import OptionError, script_options, set_options
    from pypto_tmpl.execution.origins import source_lines

_HOMES = {
    "Comparator": "compare.verdicts",
    "Divergence": "debug.search.divergence",
    "EntryError": "execution.entry",
    "ErrorShape": "compare.shape",
    "MissingTensorError": "execution.named",
    "OptionError": "execution.options",
    "Options": "debug.validate.validation",
    "Rules": "compare.tensors",
    "ScriptError": "execution.load",
    "Stage": "debug.stages.dumps",
    "StageNotFoundError": "debug.stages.dumps",
    "StageResult": "debug.validate.schedule",
    "TensorShapeError": "execution.named",
    "TensorVerdict": "compare.tensors",
    "Tolerance": "compare.tolerance",
    "Trace": "debug.trace.records",
    "Validation": "debug.validate.validation",
    "ValidationError": "debug.validate.results",
    "ValidationResult": "debug.validate.results",
    "WorkerDiedError": "debug.validate.workers",
    "WorkerPool": "debug.validate.workers",
    "compare_tensors": "compare.tensors",
    "diff_traces": "debug.trace.diff",
    "find_stages": "debug.stages.dumps",
    "first_divergence": "debug.search.bisect",
    "load_script": "execution.load",
    "load_trace": "debug.trace.store",
    "save_trace": "debug.trace.store",
    "script_options": "execution.options",
    "select_entry": "execution.entry",
    "set_options": "execution.options",
    "source_lines": "execution.origins",
    "trace_dump": "debug.trace.run",
    "validate_pass_ir_codegen_results": "debug.checking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"pypto_tmpl.{_HOMES[name]}"), name)


__all__ = [
    "Comparator",
    "Divergence",
    "EntryError",
    "ErrorShape",
    "MissingTensorError",
    "OptionError",
    "Options",
    "Rules",
    "ScriptError",
    "Stage",
    "StageNotFoundError",
    "StageResult",
    "TensorShapeError",
    "TensorVerdict",
    "Tolerance",
    "Trace",
    "TraceSelection",
    "Validation",
    "ValidationError",
    "ValidationResult",
    "WorkerDiedError",
    "WorkerPool",
    "compare_tensors",
    "diff_traces",
    "find_stages",
    "first_divergence",
    "load_script",
    "load_trace",
    "save_trace",
    "script_options",
    "select_entry",
    "set_options",
    "emit_script",
    "source_lines",
    "torch_codegen",
    "trace_dump",
    "validate_pass_ir_codegen_results",
]
