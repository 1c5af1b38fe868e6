"""CastRounding

Emitted by pypto_tmpl: change the IR or a template, not this text.
"""

import torch


def main(x, rint, round_, floor, ceil, trunc):
    """Opaque function."""
    _check_tensor("x", x, [16, 64], torch.float32)
    _check_tensor("rint", rint, [16, 64], torch.int32)
    _check_tensor("round_", round_, [16, 64], torch.int32)
    _check_tensor("floor", floor, [16, 64], torch.int32)
    _check_tensor("ceil", ceil, [16, 64], torch.int32)
    _check_tensor("trunc", trunc, [16, 64], torch.int32)
    rint = _assemble(rint, _cast_to_int(x, torch.int32, "rint"), [0, 0])
    _check_tensor("rint", rint, [16, 64], torch.int32)
    round_ = _assemble(round_, _cast_to_int(x, torch.int32, "round"), [0, 0])
    _check_tensor("round_", round_, [16, 64], torch.int32)
    floor = _assemble(floor, _cast_to_int(x, torch.int32, "floor"), [0, 0])
    _check_tensor("floor", floor, [16, 64], torch.int32)
    ceil = _assemble(ceil, _cast_to_int(x, torch.int32, "ceil"), [0, 0])
    _check_tensor("ceil", ceil, [16, 64], torch.int32)
    trunc = _assemble(trunc, _cast_to_int(x, torch.int32, "trunc"), [0, 0])
    _check_tensor("trunc", trunc, [16, 64], torch.int32)
    return rint, round_, floor, ceil, trunc


# Run-time helpers follow.
if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")


# torch computes little with wide unsigned integers, so callers may bring them in a signed carrier.
_CARRIERS = {
    torch.uint16: (torch.int32, torch.int64),
    torch.uint32: (torch.int32, torch.int64),
    torch.uint64: (torch.int64,),
}


def _check_dtype(name, value, dtype):
    """Refuse a value that is not a tensor of the given dtype, or of a carrier of it.

    Raises: TypeError naming the variable, what it is and what was expected.
    """
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name}: got {type(value).__name__}, expected a tensor of {dtype}")
    if value.dtype != dtype and value.dtype not in _CARRIERS.get(dtype, ()):
        raise TypeError(f"{name}: got a tensor of {value.dtype}, expected {dtype}")


def _check_tensor(name, value, shape, dtype):
    """Refuse a value that is not a tensor of the given dtype and shape; None stands for any extent.

    Raises: TypeError as _check_dtype; ValueError naming the variable and both shapes.
    """
    _check_dtype(name, value, dtype)
    got = [*value.shape]
    if len(got) != len(shape) or any(want not in (None, have) for have, want in zip(got, shape)):
        expected = ", ".join("any" if want is None else str(want) for want in shape)
        raise ValueError(f"{name}: got shape {got}, expected [{expected}]")


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of the cells that a tensor and the valid part of a block laid on it have in common."""
    rank = max(tensor.dim(), block.dim())
    valid = [1] * (rank - block.dim()) + [*(block.shape if valid_shape is None else valid_shape)]
    tensor = tensor[(None,) * (rank - tensor.dim())]
    block = block[(None,) * (rank - block.dim())]
    for axis, offset in enumerate([0] * (rank - len(offsets)) + [*offsets]):
        start = max(offset, 0)
        stop = min(offset + min(valid[axis], block.shape[axis]), tensor.shape[axis])
        if stop <= start:
            start = stop = offset = 0
        tensor = tensor.narrow(axis, start, stop - start)
        block = block.narrow(axis, start - offset, stop - start)
    return tensor, block


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
