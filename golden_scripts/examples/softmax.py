"""_jit_softmax. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
import warnings


def softmax(x, out):
    """Orchestration function. In: x. Out: out."""
    _compare_shapes({"x": (x.shape, [128, 200]), "out": (out.shape, [128, 200])})
    for r in range(0, 128, 32):
        part = _tensor_slice(x, [32, 256], [r, 0], [32, 200])  # FP32[32, 256] valid [32, 200]
        padded = _fillpad(part, "min", [32, 200])  # FP32[32, 256]
        e = torch.exp(padded - torch.amax(padded, dim=-1, keepdim=True))  # FP32[32, 256]
        p = e / torch.sum(e, dim=-1, keepdim=True)  # FP32[32, 256]
        out = _assemble(out, p, [r, 0], [32, 200])  # FP32[128, 200]
    return out


# Run-time helpers follow.
if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")


def _compare_shapes(tensors):
    """Warn of tensors whose extents are not those of their parameters."""
    found = []
    for parameter, (shape, declared) in tensors.items():
        if [*shape] != declared:
            found.append(f"tensor {parameter!r} has shape {[*shape]}, the parameter has {declared}")
    if found:
        warnings.warn("; ".join(found), UserWarning, stacklevel=3)


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of the cells that a tensor and the valid part of a block laid on it have in common."""
    if valid_shape is not None:
        block = block[tuple(slice(max(extent, 0)) for extent in valid_shape)]
    rank = max(tensor.dim(), block.dim())
    tensor, block = (value[(None,) * (rank - value.dim())] for value in (tensor, block))
    starts = [0] * (rank - len(offsets)) + [*offsets]
    ends = [start + extent for start, extent in zip(starts, block.shape)]
    cells = tensor[tuple(slice(max(start, 0), max(end, 0)) for start, end in zip(starts, ends))]
    firsts = [max(-start, 0) for start in starts]
    return cells, block[tuple(slice(at, at + size) for at, size in zip(firsts, cells.shape))]


def _tile_load(tensor, offsets, shape, valid_shape=None):
    """Copy a window of a tensor into a new tile, zero beyond the tensor and outside valid_shape."""
    tile = torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    source, cells = _overlap(tensor, tile, offsets, valid_shape)
    cells.copy_(source)
    return tile


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor."""
    cells, part = _overlap(tensor, tile, offsets, valid_shape)
    cells.copy_(part)
    return tensor


def _assemble(target, source, offsets, valid_shape=None):
    """Write the valid part of a source into a target at offsets and return the target."""
    return _tile_store(source, offsets, target, valid_shape)


def _tensor_slice(tensor, shape, offsets, valid_shape=None):
    """Copy a window of a tensor; cells beyond the tensor's edge or outside valid_shape are zero."""
    return _tile_load(tensor, offsets, shape, valid_shape)


def _pad_number(dtype, pad):
    """The number that pads a dtype: 0 for "zero", its lowest for "min", its highest for "max".

    Raises: ValueError for any other word.
    """
    if pad not in ("zero", "min", "max"):
        raise ValueError(f"{pad!r} is no padding value: zero, min or max")
    if pad == "zero":
        return 0
    if dtype.is_floating_point:
        return float("inf") if pad == "max" else float("-inf")
    return getattr(torch.iinfo(dtype), pad)


def _fillpad(tile, pad, valid_shape):
    """Copy of a tile whose cells outside valid_shape hold "zero", "min" or "max" of its dtype."""
    padded = torch.full_like(tile, _pad_number(tile.dtype, pad))
    valid = tuple(slice(0, max(extent, 0)) for extent in valid_shape)
    padded[valid] = tile[valid]
    return padded
