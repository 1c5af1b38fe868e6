"""On which ranks a tensor is wrong that holds the parts of all, one behind the other along the first axis."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from pypto_tmpl.compare.rule import wrong_elements
from pypto_tmpl.compare.tolerance import Tolerance

LABEL = "wrong elements by rank"


def wrong_by_rank(
    actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, equal_nan: bool = False
) -> tuple[int, ...]:
    """How many elements of each rank's part are wrong; both tensors have one shape."""
    return tuple(
        int(wrong_elements(part, wanted, tolerance, equal_nan).sum())
        for part, wanted in zip(actual, expected, strict=True)
    )


def ranks_line(counts: Sequence[int]) -> str:
    """``wrong elements by rank: rank 1 (3); right: 0``."""
    wrong = [f"rank {rank} ({count})" for rank, count in enumerate(counts) if count]
    right = [str(rank) for rank, count in enumerate(counts) if not count]
    agree = f"; right: {', '.join(right)}" if right else ""
    return f"{LABEL}: {', '.join(wrong)}{agree}"
