"""The comparators for ``compare_fn``."""

from pypto_tmpl.compare.distribution import error_distribution
from pypto_tmpl.compare.pool import mapped_pool_ratio_allclose
from pypto_tmpl.compare.ratio import ratio_allclose, ratio_reldiff
from pypto_tmpl.compare.topk import topk_pair_compare
from pypto_tmpl.compare.verdicts import Comparator, Verdict

__all__ = [
    "Comparator",
    "Verdict",
    "error_distribution",
    "mapped_pool_ratio_allclose",
    "ratio_allclose",
    "ratio_reldiff",
    "topk_pair_compare",
]
