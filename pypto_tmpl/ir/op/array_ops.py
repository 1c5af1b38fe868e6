"""Calls of ops on arrays of scalars."""

from pypto_tmpl.ops.calls.functions import members_of

__getattr__, __dir__ = members_of(__name__, ("pl", "array"))
