"""Calls of ops that move tiles between ranks."""

from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pld", "tile"))
