"""Arithmetic over scalar expressions: ranges, remainders, order, simplest forms (``pypto.arith``)."""

from pypto_tmpl.upstream.arith.analyzers import (
    Analyzer,
    CanonicalSimplifier,
    ConstIntBoundAnalyzer,
    ConstraintContext,
    IntSetAnalyzer,
    ModularSetAnalyzer,
    RewriteSimplifier,
    TransitiveComparisonAnalyzer,
)
from pypto_tmpl.upstream.arith.domains import CompareResult, ConstIntBound, IntSet, ModularSet
from pypto_tmpl.upstream.arith.numbers import extended_euclidean, floordiv, floormod, fold_const, gcd, lcm

__all__ = [
    "Analyzer",
    "CanonicalSimplifier",
    "CompareResult",
    "ConstIntBound",
    "ConstIntBoundAnalyzer",
    "ConstraintContext",
    "IntSet",
    "IntSetAnalyzer",
    "ModularSet",
    "ModularSetAnalyzer",
    "RewriteSimplifier",
    "TransitiveComparisonAnalyzer",
    "extended_euclidean",
    "floordiv",
    "floormod",
    "fold_const",
    "gcd",
    "lcm",
]
