"""The harness that runs a kernel end to end and compares it with its golden function."""

from pypto_tmpl.golden.comparators import (
    error_distribution,
    mapped_pool_ratio_allclose,
    ratio_allclose,
    ratio_reldiff,
    topk_pair_compare,
)
from pypto_tmpl.golden.result import RunResult
from pypto_tmpl.golden.runner import run, run_jit
from pypto_tmpl.golden.spec import ScalarSpec, TensorSpec
from pypto_tmpl.golden.validation import validate_golden

__all__ = [
    "RunResult",
    "ScalarSpec",
    "TensorSpec",
    "error_distribution",
    "mapped_pool_ratio_allclose",
    "ratio_allclose",
    "ratio_reldiff",
    "run",
    "run_jit",
    "topk_pair_compare",
    "validate_golden",
]
