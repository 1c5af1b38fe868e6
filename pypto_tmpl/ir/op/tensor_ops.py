"""Calls of ops on tensors in global memory."""

from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pl", "tensor"), others={"create_tensor": "create"})
