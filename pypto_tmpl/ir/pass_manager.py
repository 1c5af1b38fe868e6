"""Upstream's path to the manager of passes."""

from pypto_tmpl.passes.dumping import PassDumpLevel, coerce_dump_level
from pypto_tmpl.passes.manager import PassManager
from pypto_tmpl.passes.strategies import OptimizationStrategy

__all__ = ["OptimizationStrategy", "PassDumpLevel", "PassManager", "coerce_dump_level"]
