"""Running programs at any stage of the pass pipeline, and finding where their numbers go wrong.

What needs torch is imported when it is used: emitting a script does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pypto_tmpl.debug.torch_codegen import torch_codegen

if TYPE_CHECKING:
    from pypto_tmpl.debug.comparison import Comparator, Rules, TensorVerdict, compare_tensors
    from pypto_tmpl.debug.entry import EntryError, select_entry
    from pypto_tmpl.debug.error_shape import ErrorShape
    from pypto_tmpl.debug.execution import MissingTensorError, ScriptError, load_script
    from pypto_tmpl.debug.origins import source_lines
    from pypto_tmpl.debug.results import ValidationError, ValidationResult
    from pypto_tmpl.debug.schedule import StageResult
    from pypto_tmpl.debug.script_record import OptionError, script_options, set_options
    from pypto_tmpl.debug.stages import Stage, StageNotFoundError, find_stages
    from pypto_tmpl.debug.tolerance import Tolerance
    from pypto_tmpl.debug.validation import Options, Validation, validate_pass_ir_codegen_results
    from pypto_tmpl.debug.workers import WorkerDiedError, WorkerPool

_HOMES = {
    "Comparator": "comparison",
    "EntryError": "entry",
    "ErrorShape": "error_shape",
    "MissingTensorError": "execution",
    "OptionError": "script_record",
    "Options": "validation",
    "Rules": "comparison",
    "ScriptError": "execution",
    "Stage": "stages",
    "StageNotFoundError": "stages",
    "StageResult": "schedule",
    "TensorVerdict": "comparison",
    "Tolerance": "tolerance",
    "Validation": "validation",
    "ValidationError": "results",
    "ValidationResult": "results",
    "WorkerDiedError": "workers",
    "WorkerPool": "workers",
    "compare_tensors": "comparison",
    "find_stages": "stages",
    "load_script": "execution",
    "script_options": "script_record",
    "select_entry": "entry",
    "set_options": "script_record",
    "source_lines": "origins",
    "validate_pass_ir_codegen_results": "validation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = [
    "Comparator",
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
    "TensorVerdict",
    "Tolerance",
    "Validation",
    "ValidationError",
    "ValidationResult",
    "WorkerDiedError",
    "WorkerPool",
    "compare_tensors",
    "find_stages",
    "load_script",
    "script_options",
    "select_entry",
    "set_options",
    "source_lines",
    "torch_codegen",
    "validate_pass_ir_codegen_results",
]
