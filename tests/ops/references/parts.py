"""Two operands of which either may be valid where the other is not."""

import itertools

import torch
from ops.references.arithmetic import BINARY
from ops.references.registry import Shaped, reference


@reference("tile.part_add", "tensor.part_add", name="add")
@reference("tile.part_mul", "tensor.part_mul", name="mul")
@reference("tile.part_max", "tensor.part_max", name="max")
@reference("tile.part_min", "tensor.part_min", name="min")
def part(src0: Shaped, src1: Shaped, result: torch.dtype, name: str) -> torch.Tensor:
    """The region of src0: both combined where both are valid, else src0, which is."""
    is_float = result.is_floating_point
    out = src0.part.to(result).double() if is_float else src0.part.clone()
    other = src1.data.to(result).double() if is_float else src1.data.long()
    for cell in itertools.product(*map(range, out.shape)):
        # An axis of extent 1 is repeated.
        place = tuple(0 if extent == 1 else i for i, extent in zip(cell, other.shape, strict=True))
        if all(i < extent for i, extent in zip(place, src1.valid, strict=True)):
            out[cell] = BINARY[name](out[cell].item(), other[place].item())
    return out
