"""Calls of ops that tell ranks apart and let them signal each other."""

from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pld", "system"))
