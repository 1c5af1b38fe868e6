"""``pld.tensor``: collectives and copies of tensors across ranks."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pld", "tensor")
