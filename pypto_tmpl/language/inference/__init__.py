"""Result types of calls, from the words with which the op table describes them."""

from pypto_tmpl.language.inference.calls import call_type, extents_by_dimension, op_type
from pypto_tmpl.language.inference.operands import InferenceError, MissingRuleError, Operands
from pypto_tmpl.language.inference.results import built_type, infer_type

__all__ = [
    "InferenceError",
    "MissingRuleError",
    "Operands",
    "built_type",
    "call_type",
    "extents_by_dimension",
    "infer_type",
    "op_type",
]
