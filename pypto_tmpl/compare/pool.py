"""``mapped_pool_ratio_allclose``: paged caches, of which only the rows that a mapping names are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pypto_tmpl.compare.elements import parts, shape_difference
from pypto_tmpl.compare.ratio import ratio_allclose
from pypto_tmpl.compare.rule import comparable
from pypto_tmpl.compare.verdicts import Comparator, Verdict

_MAPPING_DTYPES = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
_NO_ROW = -1


def mapped_pool_ratio_allclose(
    mapping_name: str,
    *,
    mapping_shape: Sequence[int],
    block_size: int,
    leading_rank_axis: bool = False,
    pool_name: str = "pool",
    atol: float | None = None,
    rtol: float | None = None,
    max_error_ratio: float = 0.005,
) -> Comparator:
    """Compare a pool ``[blocks, block_size, ...]`` (or ``[ranks, blocks, block_size, ...]``).

    The input ``mapping_name`` names the rows that were written, ``block * block_size + offset``, -1 for
    none. These are compared as ``ratio_allclose`` does; every other row must equal the golden exactly.
    Raises ValueError for a mapping shape or block size that makes no sense.
    """
    shape = tuple(mapping_shape)
    _check_layout(shape, block_size, leading_rank_axis)
    layout = _Layout(mapping_name, shape, block_size, leading_rank_axis, pool_name)
    rows_agree = ratio_allclose(atol, rtol, max_error_ratio)

    def compare(actual: torch.Tensor, expected: torch.Tensor, **context: Any) -> Verdict:
        found = layout.mapped(actual, expected, context["inputs"])
        return (False, f"    {found}") if isinstance(found, str) else rows_agree(*found, **context)

    compare.__name__ = (
        f"mapped_pool_ratio_allclose({mapping_name}, block_size={block_size}, atol={atol}, rtol={rtol}, "
        f"max_error_ratio={max_error_ratio})"
    )
    return compare


def _check_layout(shape: tuple[int, ...], block_size: int, has_ranks: bool) -> None:
    if not shape or any(extent <= 0 for extent in shape):
        raise ValueError(f"mapping_shape must have positive extents, got {shape}")
    if block_size <= 0:
        raise ValueError(f"block_size must be > 0, got {block_size}")
    if has_ranks and len(shape) < 2:
        raise ValueError(f"mapping_shape with leading_rank_axis has two or more extents, got {shape}")


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the pool is laid out, and what the mapping must look like."""

    mapping_name: str
    mapping_shape: tuple[int, ...]
    block_size: int
    has_ranks: bool
    pool_name: str

    def mapped(
        self, actual: torch.Tensor, expected: torch.Tensor, inputs: Mapping[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor] | str:
        """The mapped rows of both sides, or what is wrong with the pool, the mapping or another row."""
        if (why := shape_difference(actual, expected) or self.wrong(actual, inputs)) is not None:
            return why
        rows, count = self.rows(inputs), self.row_count(actual)
        if (why := self.wrong_rows(rows, count)) is not None:
            return why
        width = actual.numel() // math.prod(self.lead(actual)) if actual.numel() else 0
        ours, golden = (t.reshape(len(rows), count, width) for t in (actual, expected))
        for rank, named in enumerate(rows):
            if (why := self.changed_row(ours[rank], golden[rank], named, rank)) is not None:
                return why
        picked = [torch.cat([t[rank, named] for rank, named in enumerate(rows)]) for t in (ours, golden)]
        return picked[0], picked[1]

    def lead(self, pool: torch.Tensor) -> tuple[int, ...]:
        """Extents of the pool that number its rows, ranks included."""
        return tuple(pool.shape[: 3 if self.has_ranks else 2])

    def row_count(self, pool: torch.Tensor) -> int:
        """Rows of one rank."""
        return math.prod(self.lead(pool)[1 if self.has_ranks else 0 :])

    def wrong(self, pool: torch.Tensor, inputs: Mapping[str, torch.Tensor]) -> str | None:
        """What is wrong with the pool's or the mapping's shape."""
        lead = self.lead(pool)
        if len(lead) != (3 if self.has_ranks else 2) or lead[-1] != self.block_size:
            form = "[ranks, blocks, block_size, ...]" if self.has_ranks else "[blocks, block_size, ...]"
            return f"{self.pool_name} is {tuple(pool.shape)}, not {form} with block_size={self.block_size}"
        mapping = inputs.get(self.mapping_name)
        if mapping is None:
            return (
                f"compare_fn misconfigured: mapping_name={self.mapping_name!r} not found in "
                f"inputs={sorted(inputs)}"
            )
        if mapping.dtype not in _MAPPING_DTYPES:
            return f"mapping {self.mapping_name!r} is {mapping.dtype}, not an integer tensor"
        if tuple(mapping.shape) != self.mapping_shape:
            return f"mapping {self.mapping_name!r} is {tuple(mapping.shape)}, not {self.mapping_shape}"
        if self.has_ranks and lead[0] != self.mapping_shape[0]:
            return f"{self.pool_name} has {lead[0]} ranks, mapping {self.mapping_name!r} {mapping.shape[0]}"
        return None

    def rows(self, inputs: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        """The rows that the mapping names, for each rank."""
        mapping = inputs[self.mapping_name].detach().to("cpu", torch.int64)
        ranks = mapping.reshape(self.mapping_shape[0] if self.has_ranks else 1, -1)
        return [rank[rank != _NO_ROW] for rank in ranks]

    def wrong_rows(self, rows: Sequence[torch.Tensor], count: int) -> str | None:
        """What is wrong with the rows that the mapping names."""
        for rank, named in enumerate(rows):
            where = f"mapping {self.mapping_name!r}{self._rank(rank)}"
            outside = named[(named < 0) | (named >= count)]
            if outside.numel():
                return f"{where} names row {int(outside[0])}, outside of [0, {count})"
            values, times = torch.unique(named, return_counts=True)
            if bool((times > 1).any()):
                return f"{where} names row {int(values[times > 1][0])} more than once"
        return None

    def changed_row(
        self, actual: torch.Tensor, expected: torch.Tensor, named: torch.Tensor, rank: int
    ) -> str | None:
        """The first row that the mapping does not name and that differs from the golden."""
        width = actual.shape[1]
        changes = torch.zeros(actual.shape[0], dtype=torch.int64)
        for part in parts(actual, expected):
            one, other = comparable(part.actual), comparable(part.expected)
            places = (one != other).nonzero().flatten() + part.start
            changes += torch.bincount(places // max(width, 1), minlength=actual.shape[0])
        changes[named] = 0
        changed = changes.nonzero().flatten()
        if not changed.numel():
            return None
        row = int(changed[0])
        return (
            f"unmapped physical {self.pool_name} row changed:{self._rank(rank)} row={row} "
            f"changed_values={int(changes[row])} mapping={self.mapping_name!r}"
        )

    def _rank(self, rank: int) -> str:
        return f" rank={rank}" if self.has_ranks else ""
