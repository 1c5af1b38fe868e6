"""Calls of ops on tensors of several ranks."""

from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pld", "tensor"))
