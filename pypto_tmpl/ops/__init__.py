"""The op table: what every op takes and yields, and which macro emits it."""

from pypto_tmpl.ops.calls import OpCallError, call
from pypto_tmpl.ops.loader import OpTableError, forget_changed, load_table
from pypto_tmpl.ops.model import FamilyFile, KwargSpec, OpEntry, OperandSpec, ResultSpec
from pypto_tmpl.ops.table import OpTable, UnknownOpError
from pypto_tmpl.ops.typing.words import carries_region_of, resolve_result

__all__ = [
    "FamilyFile",
    "KwargSpec",
    "OpCallError",
    "OpEntry",
    "OpTable",
    "OpTableError",
    "OperandSpec",
    "ResultSpec",
    "UnknownOpError",
    "call",
    "carries_region_of",
    "forget_changed",
    "load_table",
    "resolve_result",
]
