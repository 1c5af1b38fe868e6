"""Packed FP4, with which torch computes nothing: its numbers, one an element."""

from __future__ import annotations

import torch

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # of the low three bits of a code
_NUMBERS = torch.tensor([sign * number for sign in (1, -1) for number in _MAGNITUDES])


def as_numbers(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of FP4, two numbers in an element, as float32 with twice the last extent; others as they are.

    Of the two, the one in the low half of the byte comes first. One without axes has both in its only axis.
    """
    if tensor.dtype != torch.float4_e2m1fn_x2:
        return tensor
    codes = tensor.contiguous().view(torch.uint8)
    halves = torch.stack([codes & 0xF, codes >> 4], dim=-1)
    numbers = _NUMBERS.to(codes.device)[halves.long()]
    return numbers.flatten(-2) if tensor.dim() else numbers
