"""``topk_pair_compare``: indices of a top-k whose ties may be ordered in any way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from pypto_tmpl.compare.elements import shape_difference
from pypto_tmpl.compare.verdicts import Comparator, Verdict


def topk_pair_compare(
    vals_name: str, *, dim: int = -1, descending: bool = True, max_show: int = 10
) -> Comparator:
    """Compare an index output; where an index differs, the scores around it must still be in order.

    The scores are those that were computed, the output ``vals_name``: at a differing position along ``dim``
    they must be no larger than the one before and no smaller than the one after (the other way round when
    ascending), so that indices of equal scores may be swapped.
    """

    def topk_pair_compare(
        actual: torch.Tensor,
        expected: torch.Tensor,
        *,
        actual_outputs: Mapping[str, torch.Tensor],
        **context: Any,
    ) -> Verdict:
        if vals_name not in actual_outputs:
            return False, (
                f"    compare_fn misconfigured: vals_name={vals_name!r} not found in actual "
                f"outputs={sorted(actual_outputs)}"
            )
        scores = actual_outputs[vals_name].detach().to("cpu", torch.float32)
        wrong = _wrong_shapes(actual, expected, scores, vals_name, dim)
        if wrong is not None:
            return False, f"    {wrong}"
        differs = (actual.to(torch.int64) != expected.to(torch.int64)).movedim(dim, -1)
        bad = (differs & ~_ordered(scores.movedim(dim, -1), descending)).movedim(-1, dim)
        count = int(bad.sum())
        if not count:
            return True, ""
        places = bad.nonzero()[:max_show].tolist()
        lines = [
            f"{count} index mismatches with scores of {vals_name!r} out of {_order(descending)} order",
            f"first {len(places)}:",
            *(_place(place, actual, expected, scores, dim) for place in places),
        ]
        return False, "\n".join(f"    {line}" for line in lines)

    return topk_pair_compare


def _order(descending: bool) -> str:
    return "descending" if descending else "ascending"


def _wrong_shapes(
    actual: torch.Tensor, expected: torch.Tensor, scores: torch.Tensor, vals_name: str, dim: int
) -> str | None:
    if (why := shape_difference(actual, expected)) is not None:
        return f"index {why}"
    if actual.shape != scores.shape:
        found = f"indices {tuple(actual.shape)}, {vals_name!r} {tuple(scores.shape)}"
        return f"index and value shapes differ: {found}"
    if not -actual.dim() <= dim < actual.dim():
        return f"dim={dim} out of range for indices of {actual.dim()} dimensions"
    return None


def _ordered(scores: torch.Tensor, descending: bool) -> torch.Tensor:
    """Where the scores along the last dimension are in order with both neighbours; NaN never is."""
    before, after = scores[..., :-1], scores[..., 1:]
    pairs = before >= after if descending else before <= after
    ordered = torch.ones_like(scores, dtype=torch.bool)
    ordered[..., 1:] &= pairs
    ordered[..., :-1] &= pairs
    return ordered


def _place(
    place: list[int], actual: torch.Tensor, expected: torch.Tensor, scores: torch.Tensor, dim: int
) -> str:
    at = tuple(place)
    row = scores[tuple(slice(None) if axis == dim % len(at) else i for axis, i in enumerate(at))]
    k = at[dim]
    window = row[max(k - 1, 0) : k + 2].tolist()
    return (
        f"{place} actual={int(actual[at])}, expected={int(expected[at])}, "
        f"score={float(scores[at])}, around it {window}"
    )
