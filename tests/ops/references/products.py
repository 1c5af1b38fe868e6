"""Matrix products, one dot product at a time."""

import torch
from ops.references.registry import Shaped, reference


@reference("tile.matmul", "tensor.matmul", "tile.matmul_acc", "tensor.matmul_acc")
@reference("tile.batch_matmul", "tile.batch_matmul_acc", "tile.matmul_bias")
@reference("tile.gemv", "tile.gemv_acc", "tile.gemv_bias")
def product(
    lhs: Shaped,
    rhs: Shaped,
    result: torch.dtype,
    acc: Shaped | None = None,
    init_cond: bool = False,
    a_trans: bool = False,
    b_trans: bool = False,
    bias: Shaped | None = None,
    **ignored: object,
) -> torch.Tensor:
    """Rows of lhs times columns of rhs, over the valid K of lhs, onto bias or acc unless init_cond holds."""
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
    if bias is not None:
        out += torch.stack([bias.data[0, : right.shape[-1]]] * left.shape[-2]).to(out.dtype)
    if acc is not None and not init_cond:
        out = acc.data[tuple(slice(0, extent) for extent in out.shape)].to(out.dtype) + out
    return out


@reference("tile.matmul_mx", "tile.matmul_mx_acc", "tile.matmul_mx_bias")
def product_mx(
    lhs: Shaped,
    lhs_scale: Shaped,
    rhs: Shaped,
    rhs_scale: Shaped,
    result: torch.dtype,
    acc: Shaped | None = None,
    bias: Shaped | None = None,
) -> torch.Tensor:
    """Sum over k of lhs[i, k] * 2 ** (ls[i, k // 32] - 127) * rhs[k, j] * 2 ** (rs[k // 32, j] - 127)"""
    rows, length = lhs.valid
    columns = rhs.valid[1]
    exponents = [scale.data.view(torch.uint8).long() - 127 for scale in (lhs_scale, rhs_scale)]
    out = torch.zeros(rows, columns, dtype=torch.float64)
    for k in range(length):
        left = torch.ldexp(lhs.part[:, k], exponents[0][:rows, k // 32])
        right = torch.ldexp(rhs.part[k], exponents[1][k // 32, :columns])
        out += torch.outer(left, right)
    if acc is not None:
        out += acc.part
    return out if bias is None else out + bias.part[:, :columns]


@reference("tile.tget_scale_addr")
def scale_tile(dst_scale: Shaped, **ignored: object) -> torch.Tensor:
    """The scales as they are."""
    return dst_scale.part
