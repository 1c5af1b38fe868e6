"""Sorting, merging and gathering."""

import struct
from typing import Any

import torch
from ops.references.registry import Shaped, reference


def float_of(bits: int) -> float:
    """The FP32 number of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])


@reference("tile.sort32", "tensor.sort32")
def sort32(src: Shaped, idx: Shaped, **ignored: object) -> torch.Tensor:
    """Runs of 32 (value, payload) pairs, by falling value, equal ones in order."""
    rows = []
    for values, payload in zip(src.part.tolist(), idx.data.long().tolist(), strict=True):
        row: list[float] = []
        for start in range(0, len(values), 32):
            run = sorted(range(start, start + 32), key=lambda i: (-values[i], i))
            row += [number for i in run for number in (values[i], float_of(payload[i]))]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


@reference("tile.mrgsort_format1", "tensor.mrgsort_format1")
def mrgsort_format1(src: Shaped, block_len: int, **ignored: object) -> torch.Tensor:
    """Pairs of every 4 runs, by falling value, equal ones in order."""
    rows = []
    for row in src.part.tolist():
        pairs = list(zip(row[0::2], row[1::2], strict=True))
        merged: list[float] = []
        for start in range(0, len(pairs), 2 * block_len):
            block = sorted(pairs[start : start + 2 * block_len], key=lambda pair: -pair[0])
            merged += [number for pair in block for number in pair]
        rows.append(merged)
    return torch.tensor(rows, dtype=torch.float64)


@reference("tile.gather")
def gather(src: Shaped, indices: Shaped, tmp: object = None, **ignored: object) -> torch.Tensor:
    """out[i] = flat source[indices[i]]"""
    flat = src.data.flatten().tolist()
    picked = [flat[i] for i in indices.part.flatten().tolist()]
    return torch.tensor(picked, dtype=src.part.dtype).reshape(indices.part.shape)


@reference("tensor.gather")
def gather_dim(input: Shaped, index: Shaped, dim: int, **ignored: object) -> torch.Tensor:
    """out[..., i, ...] = input[..., index[..., i, ...], ...]"""
    source = input.part.movedim(dim, -1)
    lines = index.part.movedim(dim, -1)
    out = torch.zeros(lines.shape, dtype=source.dtype)
    for line in torch.cartesian_prod(*map(torch.arange, lines.shape)).reshape(-1, lines.dim()).tolist():
        *before, last = line
        out[(*before, last)] = source[(*before, int(lines[(*before, last)]))]
    return out.movedim(-1, dim)


@reference("tile.gather_mask", "tensor.gather_mask")
def gather_mask(
    mask_pattern: str,
    result: torch.dtype,
    src: Shaped | None = None,
    input: Shaped | None = None,
    output_dtype: str | None = None,
) -> torch.Tensor:
    """The columns whose digit is 1, the rightmost digit being column 0 of each group of four."""
    operand = src or input
    assert operand is not None
    digits = mask_pattern.removeprefix("P")[::-1]
    data = operand.data.view(result)
    columns = [column for column in range(data.shape[-1]) if digits[column % 4] == "1"]
    picked = torch.stack([data[:, column] for column in columns], dim=-1)
    return picked.double() if result.is_floating_point else picked.long()


@reference("tile.mrgsort_format2", "tensor.mrgsort_format2")
def mrgsort_format2(src0: Shaped, exhausted: bool = False, **operands: Any) -> torch.Tensor:
    """At each step the greatest head of the lists, the first of equal ones; zeros up to the width."""
    operands.pop("result")
    lists = [src0, *operands.values()]
    workspace = lists.pop() if "tmp_or_src2" in operands else None
    heads = []
    for part in lists:
        row = part.part[0].tolist()
        heads.append(list(zip(row[0::2], row[1::2], strict=True)))
    width = workspace.valid[1] if workspace else sum(2 * len(pairs) for pairs in heads)
    merged: list[float] = []
    while any(heads):
        best = max((pairs for pairs in heads if pairs), key=lambda pairs: pairs[0][0])
        merged += best.pop(0)
        if exhausted and not best:
            break
    return torch.tensor([merged + [0.0] * (width - len(merged))], dtype=torch.float64)
