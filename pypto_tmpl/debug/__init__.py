"""Running programs at any stage of the pass pipeline, and finding where their numbers go wrong.

What needs torch is imported when it is used: emitting a script does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.debug.torch_codegen import torch_codegen

if TYPE_CHECKING:
    from pypto_tmpl.debug.binding import MissingTensorError, TensorShapeError
    from pypto_tmpl.debug.bisect import first_divergence
    from pypto_tmpl.debug.checking import validate_pass_ir_codegen_results
    from pypto_tmpl.debug.comparison import Rules, TensorVerdict, compare_tensors
    from pypto_tmpl.debug.divergence import Divergence
    from pypto_tmpl.debug.entry import EntryError, select_entry
    from pypto_tmpl.debug.error_shape import ErrorShape
    from pypto_tmpl.debug.execution import ScriptError, load_script
    from pypto_tmpl.debug.origins import source_lines
    from pypto_tmpl.debug.results import ValidationError, ValidationResult
    from pypto_tmpl.debug.schedule import StageResult
    from pypto_tmpl.debug.script_record import OptionError, script_options, set_options
    from pypto_tmpl.debug.stages import Stage, StageNotFoundError, find_stages
    from pypto_tmpl.debug.tolerance import Tolerance
    from pypto_tmpl.debug.trace import Trace
    from pypto_tmpl.debug.trace_diff import diff_traces
    from pypto_tmpl.debug.trace_run import trace_dump
    from pypto_tmpl.debug.trace_store import load_trace, save_trace
    from pypto_tmpl.debug.validation import Options, Validation
    from pypto_tmpl.debug.workers import WorkerDiedError, WorkerPool
    from pypto_tmpl.verdicts import Comparator

_HOMES = {
    "Comparator": "comparison",
    "Divergence": "divergence",
    "EntryError": "entry",
    "ErrorShape": "error_shape",
    "MissingTensorError": "binding",
    "OptionError": "script_record",
    "Options": "validation",
    "Rules": "comparison",
    "ScriptError": "execution",
    "Stage": "stages",
    "StageNotFoundError": "stages",
    "StageResult": "schedule",
    "TensorShapeError": "binding",
    "TensorVerdict": "comparison",
    "Tolerance": "tolerance",
    "Trace": "trace",
    "Validation": "validation",
    "ValidationError": "results",
    "ValidationResult": "results",
    "WorkerDiedError": "workers",
    "WorkerPool": "workers",
    "compare_tensors": "comparison",
    "diff_traces": "trace_diff",
    "find_stages": "stages",
    "first_divergence": "bisect",
    "load_script": "execution",
    "load_trace": "trace_store",
    "save_trace": "trace_store",
    "script_options": "script_record",
    "select_entry": "entry",
    "set_options": "script_record",
    "source_lines": "origins",
    "trace_dump": "trace_run",
    "validate_pass_ir_codegen_results": "checking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


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
    "source_lines",
    "torch_codegen",
    "trace_dump",
    "validate_pass_ir_codegen_results",
]
