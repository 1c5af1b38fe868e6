"""``pld``: ops across ranks under short names."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pld")
