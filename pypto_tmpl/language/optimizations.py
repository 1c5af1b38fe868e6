"""What ``optimizations=[...]`` of ``pl.at`` and ``pl.spmd`` takes, in a module of its own as PyPTO has it."""

from pypto_tmpl.language.surface import cross_core_slot, split

__all__ = ["cross_core_slot", "split"]
