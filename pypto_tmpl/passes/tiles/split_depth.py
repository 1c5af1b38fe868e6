"""Sums over the depth that a program has written as a pipeline, of results that are too large."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts


def with_output_blocks(function: ir.Function, backend: BackendFacts) -> ir.Function:
    return function
