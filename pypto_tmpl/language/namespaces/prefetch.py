"""``pl.prefetch``: asynchronous prefetches into the cache."""

from pypto_tmpl.language.namespaces.objects import members_of

__getattr__, __dir__ = members_of("pl", "prefetch")
