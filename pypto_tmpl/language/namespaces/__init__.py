"""The op namespaces of the language as Python sees them: ``pl.add``, ``pl.tile.load``, ``pld.tensor.put``."""
