"""Result types of calls, from the words with which the op table describes them."""

from pypto_tmpl.ops.typing.functions import extents_by_dimension, returned_type
from pypto_tmpl.ops.typing.operands import InferenceError, MissingRuleError, Operands, operands_by_name
from pypto_tmpl.ops.typing.results import built_type, infer_type
from pypto_tmpl.ops.typing.words import carries_region_of, resolve_result

__all__ = [
    "InferenceError",
    "MissingRuleError",
    "Operands",
    "built_type",
    "carries_region_of",
    "extents_by_dimension",
    "infer_type",
    "operands_by_name",
    "resolve_result",
    "returned_type",
]
