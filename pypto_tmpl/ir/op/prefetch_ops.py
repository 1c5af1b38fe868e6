"""Calls of ops that prefetch tensors into the cache."""

from pypto_tmpl import ir
from pypto_tmpl.ops import call
from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pl", "prefetch"))


def wait(event: ir.Expr, session_handle: ir.Expr, span: ir.Span | None = None) -> ir.Call:
    """Wait for a cache prefetch."""
    return call("prefetch.wait", event, session_handle, span=span)
