"""The comparators for ``compare_fn``."""

from pypto_tmpl.compare.verdicts import Comparator, Verdict
from pypto_tmpl.golden.distribution import error_distribution
from pypto_tmpl.golden.pool import mapped_pool_ratio_allclose
from pypto_tmpl.golden.ratio import ratio_allclose, ratio_reldiff
from pypto_tmpl.golden.topk import topk_pair_compare

__all__ = [
    "Comparator",
    "Verdict",
    "error_distribution",
    "mapped_pool_ratio_allclose",
    "ratio_allclose",
    "ratio_reldiff",
    "topk_pair_compare",
]
