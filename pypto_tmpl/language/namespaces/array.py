"""``pl.array``: arrays of scalars in local memory."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pl", "array")
