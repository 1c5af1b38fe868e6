"""Comparisons, packed masks, and selection by them."""

import operator

import torch
from ops.references.arithmetic import each, held, scalar_like
from ops.references.registry import Shaped, reference

COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compared(lhs: Shaped, rhs: Shaped | float, cmp_type: str, dtype: torch.dtype) -> torch.Tensor:
    """1 where the numbers compare so; a scalar takes the dtype."""
    right = rhs.part if isinstance(rhs, Shaped) else held(rhs, dtype)
    return each(lambda x, y: int(COMPARISONS[cmp_type](x, y)), lhs.part, right)


@reference("tile.cmp", "tile.cmps")
def packed_comparison(lhs: Shaped, rhs: Shaped | float, cmp_type: str, **ignored: object) -> torch.Tensor:
    """Byte k of row i: the sum of 2 ** b over its bits b, that of column 8 * k + b being the comparison."""
    bits = compared(lhs, rhs, cmp_type, lhs.data.dtype).tolist()
    width = -(-lhs.valid[-1] // 8)
    rows = [
        [sum(bit << b for b, bit in enumerate(row[8 * k : 8 * k + 8])) for k in range(width)] for row in bits
    ]
    return torch.tensor(rows, dtype=torch.int64).reshape(lhs.valid[0], width)


@reference("tensor.cmp")
def comparison(lhs: Shaped, rhs: Shaped | float, cmp_type: str, result: torch.dtype) -> torch.Tensor:
    """1 or 0"""
    return compared(lhs, rhs, cmp_type, result)


def bits_of(mask: Shaped) -> list[list[int]]:
    """The bits of each row, those of a byte and the bytes of a number lowest first."""
    width = mask.data.element_size() * 8
    return [[(number >> b) & 1 for number in row for b in range(width)] for row in mask.data.long().tolist()]


@reference("tile.sel")
def sel(mask: Shaped, lhs: Shaped, rhs: Shaped, result: torch.dtype, **ignored: object) -> torch.Tensor:
    """out[i, j] = lhs[i, j] where bit j of row i is 1, else rhs[i, j]"""
    numbers = [side.part.double() if result.is_floating_point else side.part for side in (lhs, rhs)]
    return chosen(mask, *torch.broadcast_tensors(*numbers))


@reference("tile.sels")
def sels(mask: Shaped, src: Shaped, scalar: float, result: torch.dtype, **ignored: object) -> torch.Tensor:
    """out[i, j] = src[i, j] where bit j of row i is 1, else the scalar"""
    return chosen(mask, src.part, scalar_like(scalar, result).to(src.part.dtype).expand(src.part.shape))


def chosen(mask: Shaped, ones: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    """Element by element."""
    bits, out = bits_of(mask), zeros.clone()
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if bits[i][j]:
                out[i, j] = ones[i, j]
    return out
