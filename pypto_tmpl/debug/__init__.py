"""Running programs at any stage of the pass pipeline, and finding where their numbers go wrong."""

from pypto_tmpl.debug.comparison import Comparator, Rules, TensorVerdict, compare_tensors
from pypto_tmpl.debug.entry import EntryError, select_entry
from pypto_tmpl.debug.error_shape import ErrorShape
from pypto_tmpl.debug.execution import MissingTensorError, ScriptError, load_script
from pypto_tmpl.debug.results import ValidationError, ValidationResult
from pypto_tmpl.debug.schedule import StageResult
from pypto_tmpl.debug.stages import Stage, StageNotFoundError, find_stages
from pypto_tmpl.debug.tolerance import Tolerance
from pypto_tmpl.debug.torch_codegen import torch_codegen
from pypto_tmpl.debug.validation import Options, Validation, validate_pass_ir_codegen_results
from pypto_tmpl.debug.workers import WorkerDiedError, WorkerPool

__all__ = [
    "Comparator",
    "EntryError",
    "ErrorShape",
    "MissingTensorError",
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
    "select_entry",
    "torch_codegen",
    "validate_pass_ir_codegen_results",
]
