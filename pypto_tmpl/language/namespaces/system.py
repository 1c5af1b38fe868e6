"""``pl.system``: events, barriers, pipes and tasks."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pl", "system")
