"""CastRounding. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
import warnings


def main(x, rint, round_, floor, ceil, trunc):
    """Opaque function. In: x. Out: rint, round_, floor, ceil, trunc."""
    _compare_shapes(
        {
            "x": (x.shape, [16, 64]),
            "rint": (rint.shape, [16, 64]),
            "round_": (round_.shape, [16, 64]),
            "floor": (floor.shape, [16, 64]),
            "ceil": (ceil.shape, [16, 64]),
            "trunc": (trunc.shape, [16, 64]),
        }
    )
    rint = _assemble(rint, _cast_to_int(x, torch.int32, "rint"), [0, 0])  # INT32[16, 64]
    round_ = _assemble(round_, _cast_to_int(x, torch.int32, "round"), [0, 0])  # INT32[16, 64]
    floor = _assemble(floor, _cast_to_int(x, torch.int32, "floor"), [0, 0])  # INT32[16, 64]
    ceil = _assemble(ceil, _cast_to_int(x, torch.int32, "ceil"), [0, 0])  # INT32[16, 64]
    trunc = _assemble(trunc, _cast_to_int(x, torch.int32, "trunc"), [0, 0])  # INT32[16, 64]
    return rint, round_, floor, ceil, trunc


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


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor."""
    cells, part = _overlap(tensor, tile, offsets, valid_shape)
    cells.copy_(part)
    return tensor


def _assemble(target, source, offsets, valid_shape=None):
    """Write the valid part of a source into a target at offsets and return the target."""
    return _tile_store(source, offsets, target, valid_shape)


def _round_to_integral(x, mode):
    """Round every element of a float64 tensor to an integer, exactly as the mode says.

    "rint": ties to even; "round": ties away from zero; "odd": ties to odd; "floor"; "ceil";
    "trunc" and "none": toward zero. NaN and infinities stay.
    """
    if mode == "rint":
        return torch.round(x)
    if mode == "floor":
        return torch.floor(x)
    if mode == "ceil":
        return torch.ceil(x)
    whole = torch.trunc(x)
    if mode in ("trunc", "none"):
        return whole
    rest = (x - whole).abs()
    away = rest > 0.5
    away |= (rest == 0.5) & (whole % 2 == 0) if mode == "odd" else rest == 0.5
    return whole + torch.copysign(away.to(x.dtype), x)


def _cast_to_int(x, dtype, mode):
    """Convert floats to an integer dtype: round as the mode says, then saturate; NaN becomes 0."""
    info = torch.iinfo(dtype)
    rounded = _round_to_integral(x.to(torch.float64), mode)
    too_low, too_high = rounded <= info.min, rounded >= info.max
    inside = torch.where(too_low | too_high | rounded.isnan(), 0.0, rounded).to(torch.int64)
    return torch.where(too_low, info.min, torch.where(too_high, info.max, inside)).to(dtype)
