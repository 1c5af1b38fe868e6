"""Calls of ops from arguments: by a spelling (``pl.add``, ``pld.tensor.put``) or by the registered name."""

from pypto_tmpl.ops.calls.build import build_call
from pypto_tmpl.ops.calls.by_name import call
from pypto_tmpl.ops.calls.context import (
    Argument,
    CallContext,
    NoRuleOpCallError,
    OpCallError,
    UnknownOpCallError,
)

__all__ = [
    "Argument",
    "CallContext",
    "NoRuleOpCallError",
    "OpCallError",
    "UnknownOpCallError",
    "build_call",
    "call",
]
