"""What a dispatch has changed in tensors of the host, of which each process has its own copy.

Only cells that differ from what they were are told, since several ranks may write parts of one tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

Changes = list[tuple[Any, Any]]  # of each tensor: places in its cells, None for all of them; their bytes
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def cells_of(tensor: torch.Tensor) -> torch.Tensor:
    """The cells of a tensor in a row, as integers that tell all bits apart; a copy where they have gaps."""
    flat = tensor.detach().reshape(-1)
    return flat.view(_INTEGERS.get(tensor.element_size(), torch.uint8))


def copies_of(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What tensors are now."""
    return [cells_of(one).clone() for one in tensors]


def changes_in(tensors: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> Changes:
    """What has changed in tensors."""
    found: Changes = []
    for tensor, old in zip(tensors, before, strict=True):
        new = cells_of(tensor)
        places = (new != old).nonzero().reshape(-1)
        is_all = len(places) == len(new)
        found.append((None, new.numpy().copy()) if is_all else (places.numpy(), new[places].numpy()))
    return found


def apply_changes(tensors: Sequence[torch.Tensor], changes: Changes) -> None:
    """Make the changes of another process in the own copies of the same tensors."""
    for tensor, (places, values) in zip(tensors, changes, strict=True):
        cells = cells_of(tensor)
        if places is None:
            cells.copy_(torch.from_numpy(values))
        else:
            cells[torch.from_numpy(places)] = torch.from_numpy(values)
        if not tensor.is_contiguous():
            tensor.copy_(cells.view(tensor.dtype).view(tensor.shape))
