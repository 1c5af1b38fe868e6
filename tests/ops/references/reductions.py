"""Reductions: one number, or one index, for the valid elements along an axis."""

import math
from collections.abc import Callable

import torch
from ops.references.registry import Shaped, reference

Row = list[float]


def total(row: Row, dtype: torch.dtype) -> float:
    """The sum; the order is open."""
    return math.fsum(row) if dtype.is_floating_point else sum(row)


def stepwise(step: Callable[[float, float], float]) -> Callable[[Row, torch.dtype], float]:
    """One element after the other, in the dtype of the elements."""

    def reduce(row: Row, dtype: torch.dtype) -> float:
        result = row[0]
        for number in row[1:]:
            result = step(result, number)
            if not dtype.is_floating_point:
                result = int(result) % (1 << 64)
            else:
                result = torch.tensor(result, dtype=torch.float64).to(dtype).item()
        return result if dtype.is_floating_point else (result + (1 << 63)) % (1 << 64) - (1 << 63)

    return reduce


def in_pairs(row: Row, dtype: torch.dtype) -> float:
    """The tree of pairs of a sum with a workspace; an odd last element goes to the first pair."""
    add = stepwise(lambda x, y: x + y)
    while len(row) > 1:
        pairs = [add(row[start : start + 2], dtype) for start in range(0, len(row) - 1, 2)]
        row = [add([pairs[0], row[-1]], dtype), *pairs[1:]] if len(row) % 2 else pairs
    return add(row, dtype)


def extreme(choose: Callable[[Row], float]) -> Callable[[Row, torch.dtype], float]:
    """The greatest or least; NaN where there is one."""
    return lambda row, dtype: math.nan if any(math.isnan(x) for x in row) else choose(row)


def position(choose: Callable[[Row], float]) -> Callable[[Row, torch.dtype], float]:
    """Where the first of the greatest or least stands; a NaN is more extreme than any number."""

    def find(row: Row, dtype: torch.dtype) -> float:
        nans = [index for index, x in enumerate(row) if math.isnan(x)]
        return nans[0] if nans else row.index(choose(row))

    return find


def reduced(
    function: Callable[[Row, torch.dtype], float], operand: Shaped, axis: int, keep_dim: bool
) -> torch.Tensor:
    """The function of the valid elements along an axis."""
    rows = operand.part.movedim(axis, -1)
    numbers = [function(row, operand.data.dtype) for row in rows.reshape(-1, rows.shape[-1]).tolist()]
    is_integer = all(isinstance(number, int) for number in numbers)
    out = torch.tensor(numbers, dtype=torch.int64 if is_integer else torch.float64).reshape(rows.shape[:-1])
    return out.unsqueeze(axis) if keep_dim else out


FUNCTIONS = {
    "row_sum": total,
    "row_max": extreme(max),
    "row_min": extreme(min),
    "row_prod": stepwise(lambda x, y: x * y),
    "col_sum": stepwise(lambda x, y: x + y),
    "col_max": extreme(max),
    "col_min": extreme(min),
    "col_prod": stepwise(lambda x, y: x * y),
    "row_argmax": position(max),
    "row_argmin": position(min),
    "col_argmax": position(max),
    "col_argmin": position(min),
}


def of_tile(tile: Shaped, name: str, tmp_tile: Shaped | None = None, **ignored: object) -> torch.Tensor:
    """row_*: over the last axis, col_*: over the first"""
    function = in_pairs if name == "col_sum" and tmp_tile is not None else FUNCTIONS[name]
    return reduced(function, tile, -1 if name.startswith("row") else 0, True)


def of_tensor(
    input: Shaped, name: str, axis: int | None = None, keep_dim: bool = True, **ignored: object
) -> torch.Tensor:
    """row_*: over the last axis unless told otherwise, col_*: over the second to last"""
    usual = -1 if name.startswith("row") else -2
    return reduced(FUNCTIONS[name], input, usual if axis is None else axis, keep_dim)


for _name in FUNCTIONS:
    reference(f"tile.{_name}", name=_name)(of_tile)
    reference(f"tensor.{_name}", name=_name)(of_tensor)
