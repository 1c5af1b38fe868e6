"""``pl.add``, ``pl.load``: ops of several namespaces under one name, chosen by the operands."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pl")
