"""Matrix products, one dot product at a time."""

import torch
from ops.references.registry import Shaped, reference


@reference("tile.matmul", "tensor.matmul", "tile.matmul_acc", "tensor.matmul_acc")
def product(
    lhs: Shaped,
    rhs: Shaped,
    result: torch.dtype,
    acc: Shaped | None = None,
    init_cond: bool = False,
    a_trans: bool = False,
    b_trans: bool = False,
    **ignored: object,
) -> torch.Tensor:
    """Rows of lhs times columns of rhs, over the valid K of lhs, onto acc unless init_cond holds."""
    left, right = lhs.part, rhs.part
    left = left.mT if a_trans else left
    right = right.mT if b_trans else right
    length = left.shape[-1]
    if left.dim() == 1:
        left = left.unsqueeze(0)
    if right.dim() == 1:
        right = right.unsqueeze(-1)
    batch = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = left.expand(*batch, *left.shape[-2:])
    right = right.expand(*batch, *right.shape[-2:])
    out = torch.zeros(*batch, left.shape[-2], right.shape[-1], dtype=left.dtype)
    for k in range(length):
        out += left[..., :, k : k + 1] * right[..., k : k + 1, :]
    if lhs.data.dim() == 1:
        out = out.squeeze(-2)
    if rhs.data.dim() == 1:
        out = out.squeeze(-1)
    if acc is not None and not init_cond:
        out = acc.data[tuple(slice(0, extent) for extent in out.shape)].to(out.dtype) + out
    return out
