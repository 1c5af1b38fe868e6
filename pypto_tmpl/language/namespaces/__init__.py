"""The op namespaces of the language (``pl.add``, ``pl.tile.load``, ``pld.tensor.put``): calls to IR."""

from pypto_tmpl.language.namespaces.build import build_call
from pypto_tmpl.language.namespaces.context import (
    Argument,
    CallContext,
    NoRuleOpCallError,
    OpCallError,
    UnknownOpCallError,
)

__all__ = ["Argument", "CallContext", "NoRuleOpCallError", "OpCallError", "UnknownOpCallError", "build_call"]
