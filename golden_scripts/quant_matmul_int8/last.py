"""QuantMatmul

Emitted by pypto_tmpl: change the IR or a template, not this text.
Run-time helpers come first, the program after them.
"""

import json
import os
import sys
import torch

if globals() is not locals():
    raise NameError("exec this script with one namespace: names = {}; exec(script, names)")


class _Options:
    """Debug options: before a call, _OPTIONS.poison = True sets _POISON, which says what that does.

    When this script starts, the environment may set them: PYPTO_TMPL_POISON=1.
    """

    __slots__ = ()
    names = (
        *("pipe_wait_timeout_sec", "mixed_kernel_timeout_sec", "bounded_pipes", "strict_leftovers"),
        *("schedule_seed", "race_check", "poison", "packed_scales"),
    )

    def __getattr__(self, name):
        return globals().get(self._constant(name))

    def __setattr__(self, name, value):
        globals()[self._constant(name)] = value

    def _constant(self, name):
        if name not in self.names:
            raise AttributeError(f"no option {name!r}; options: {', '.join(self.names)}")
        return f"_{name.upper()}"

    def start(self, name, default):
        """The value that an option starts with: what the environment says, else the default."""
        variable = f"PYPTO_TMPL{self._constant(name)}"
        text = os.environ.get(variable) or json.dumps(default)
        try:
            return json.loads(text.lower())
        except ValueError:
            raise ValueError(f"{variable} must be 1, 0 or a number, not {text!r}") from None


_OPTIONS = _Options()


# Padding and new buffers hold NaN (integers: the lowest value) instead of zeros, and an op that
# lets such NaN into a valid cell is an error.
_POISON = _OPTIONS.start("poison", False)


# The NaN that poison is, as integers: no computation makes it, and FP32 computes on with it.
_POISON_NAN = {
    torch.float32: (torch.int32, 0x7FDE0000),
    torch.bfloat16: (torch.int16, 0x7FDE),
    torch.float16: (torch.int16, 0x7EF0),
}


def _fresh(buffer):
    """A new buffer, whose cells hold nothing yet; under _POISON it is filled with poison."""
    if _POISON and buffer.dtype in _POISON_NAN:
        integers, bits = _POISON_NAN[buffer.dtype]
        buffer.view(integers).fill_(bits)
    elif _POISON and not buffer.dtype.is_floating_point and buffer.dtype != torch.bool:
        buffer.fill_(torch.iinfo(buffer.dtype).min)
    return buffer


def _is_poison(cells):
    """Which cells hold the NaN of poison; arithmetic may have set its sign."""
    if cells.dtype not in _POISON_NAN:
        return torch.zeros_like(cells, dtype=torch.bool)
    integers, bits = _POISON_NAN[cells.dtype]
    return cells.view(integers) & torch.iinfo(integers).max == bits


def _name_of(value, frame):
    """What a frame calls a value."""
    names = [name for name, other in frame.f_locals.items() if other is value]
    return " or ".join(names) or "a value without name"


def _refuse_poison(cells, value, verb):
    """Refuse to read or write valid cells of a value if they hold poison.

    Raises: RuntimeError naming the variable and the line.
    """
    count = int(_is_poison(cells).sum())
    if count:
        frame = sys._getframe(2)
        while frame.f_globals is globals() and frame.f_code.co_name in _HELPERS:
            frame = frame.f_back
        raise RuntimeError(
            f"poison: line {frame.f_lineno}, in {frame.f_code.co_name}, {verb} {count} valid cells"
            f" of {_name_of(value, frame)} that are padding or were never written"
        )


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


def _clip(offset, size, extent):
    """Start and stop of the cells offset .. offset+size in 0 .. extent; equal if there is none."""
    start = min(max(offset, 0), extent)
    return start, max(start, min(offset + size, extent))


def _overlap(tensor, block, offsets, valid_shape=None):
    """Views of a tensor and of a block laid on it at offsets: the cells that both have.

    Of the block only the part inside valid_shape counts. It keeps its place: what lies beyond the
    tensor's edge, also before 0, is left out. A block of lower rank lies on the trailing axes.
    """
    rank = max(tensor.dim(), block.dim())
    valid = [1] * (rank - block.dim()) + [*(block.shape if valid_shape is None else valid_shape)]
    offsets = [0] * (rank - len(offsets)) + [*offsets]
    tensor = tensor[(None,) * (rank - tensor.dim())]
    block = block[(None,) * (rank - block.dim())]
    for axis, offset in enumerate(offsets):
        size = min(valid[axis], block.shape[axis])
        start, stop = _clip(offset, size, tensor.shape[axis])
        tensor = tensor.narrow(axis, start, stop - start)
        block = block.narrow(axis, start - offset if stop > start else 0, stop - start)
    return tensor, block


def _inside(tensor, offsets, shape):
    """View of a window of a tensor, None if some of it lies outside or it has fewer axes."""
    extents = tensor.shape
    if not len(offsets) == len(shape) == len(extents):
        return None
    for axis, offset in enumerate(offsets):
        size, extent = shape[axis], extents[axis]
        if offset or size != extent:
            if offset < 0 or offset + size > extent:
                return None
            tensor = tensor.narrow(axis, offset, size)
    return tensor


def _note_edge(tile, cells, offsets, valid_shape):
    """Note in a new tile which cells its tensor had, where the tensor's edge cut the window."""
    rank = tile.dim()
    wanted = tile.shape if valid_shape is None else map(min, valid_shape, tile.shape)
    found = cells.shape[cells.dim() - rank :]
    if [*found] != [*wanted]:
        starts = ([0] * rank + [max(-offset, 0) for offset in offsets])[-rank:]
        tile.found = [slice(start, start + size) for start, size in zip(starts, found)]


def _drop_edge(tile, offsets, valid_shape):
    """A tile without the cells that its tensor did not have, and where the others go.

    Other tiles stay as they are: only a load over the edge of a tensor makes such cells.
    """
    found = getattr(tile, "found", None)
    if found is None:
        return tile, offsets, valid_shape
    starts = [part.start for part in found]
    offsets = [0] * (tile.dim() - len(offsets)) + [*offsets]
    moves = [0] * (len(offsets) - len(starts)) + starts
    if valid_shape is not None:
        valid_shape = [max(size - start, 0) for size, start in zip(valid_shape, starts)]
    return tile[tuple(found)], [*map(sum, zip(offsets, moves))], valid_shape


def _tile_load(tensor, offsets, shape, valid_shape=None, may_be_padding=False):
    """Copy a window of a tensor into a new tile, padded beyond the tensor and outside valid_shape.

    Shapes: a window of fewer axes than the tensor addresses the trailing ones.
    """
    source = _inside(tensor, offsets, shape) if valid_shape is None else None
    is_whole = source is not None
    if not is_whole:
        tile = torch.empty(shape, dtype=tensor.dtype, device=tensor.device)
        source, cells = _overlap(tensor, tile, offsets, valid_shape)
        if cells.shape != tile.shape:
            _fresh(tile.zero_())
            _note_edge(tile, cells, offsets, valid_shape)
    if _POISON and not may_be_padding:
        _refuse_poison(source, tensor, "reads")
    if is_whole:
        return source.clone(memory_format=torch.contiguous_format)
    cells.copy_(source)
    return tile


def _tile_store(tile, offsets, tensor, valid_shape=None):
    """Write the valid part of a tile into a tensor at offsets and return the tensor.

    What falls outside the tensor is dropped, and what a load found outside of its own. The tensor's
    dtype is kept: wider floats round half to even.
    """
    part, offsets, valid_shape = _drop_edge(tile, offsets, valid_shape)
    cells = _inside(tensor, offsets, part.shape) if valid_shape is None else None
    if cells is None:
        cells, part = _overlap(tensor, part, offsets, valid_shape)
    if _POISON:
        _refuse_poison(part, tile, "writes")
    cells.copy_(part)
    if hasattr(tensor, "found"):  # a tile: what is written into it counts
        del tensor.found
    return tensor


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


def _round_to_grid(exact, smallest_normal, eps, mode):
    """Round float64 numbers to those of a float dtype without bounds; infinities and NaN stay.

    Modes as in _round_to_integral, but "none" is "rint", and "odd" sets the last bit of an inexact
    result. `eps` is the distance of the dtype's neighbours above 1.
    """
    power = torch.ldexp(torch.full_like(exact, 0.5), torch.frexp(exact).exponent)
    quantum = power.clamp(min=smallest_normal) * eps  # distance of neighbours in the dtype
    steps = exact / quantum
    if mode == "odd":
        whole = torch.trunc(steps)
        to_odd = (whole != steps) & (whole % 2 == 0)
        whole = whole + torch.copysign(to_odd.to(steps.dtype), steps)
    else:
        whole = _round_to_integral(steps, "rint" if mode == "none" else mode)
    return torch.where(exact.isfinite(), whole * quantum, exact)


def _cast_narrow(x, dtype, mode):
    """Convert to a float dtype with fewer significant bits, rounding once, as the mode says.

    Modes as in _round_to_grid. Out of range: 16-bit dtypes become infinite, 8-bit ones saturate.
    """
    info = torch.finfo(dtype)
    rounded = _round_to_grid(x.to(torch.float64), info.smallest_normal, info.eps, mode)
    if info.bits == 8:
        return torch.clamp(rounded, info.min, info.max).to(dtype)
    return torch.where(rounded.abs() > info.max, rounded * float("inf"), rounded).to(dtype)


def _cast_to_int(x, dtype, mode):
    """Convert floats to an integer dtype: round as the mode says, then saturate; NaN becomes 0."""
    info = torch.iinfo(dtype)
    rounded = _round_to_integral(x.to(torch.float64), mode)
    too_low, too_high = rounded <= info.min, rounded >= info.max
    inside = torch.where(too_low | too_high | rounded.isnan(), 0.0, rounded).to(torch.int64)
    return torch.where(too_low, info.min, torch.where(too_high, info.max, inside)).to(dtype)


def _cast_int_to_float(x, dtype, mode):
    """Convert integers to a float dtype, rounding once, as the mode says (see _cast_narrow)."""
    wide = x.to(torch.int64)
    # float64 holds 53 bits: of longer numbers, the leading bits and whether any other is set.
    sticky = (wide & 0xFFF != 0).to(torch.int64) << 11
    wide = torch.where(wide.abs() >> 53 == 0, wide, wide >> 12 << 12 | sticky)
    return _cast_narrow(wide.to(torch.float64), dtype, mode)


# Names of the run-time helpers, which stand above: what comes below is the program.
_HELPERS = frozenset(name for name in globals() if name.startswith("_"))


def main(x__ssa_v0, w__ssa_v0, w_scale__ssa_v0, xq__ssa_v0, out__ssa_v0):
    """Orchestration function."""
    _check_tensor("x__ssa_v0", x__ssa_v0, [32, 128], torch.float32)
    _check_tensor("w__ssa_v0", w__ssa_v0, [128, 64], torch.int8)
    _check_tensor("w_scale__ssa_v0", w_scale__ssa_v0, [1, 64], torch.float32)
    _check_tensor("xq__ssa_v0", xq__ssa_v0, [32, 128], torch.int8)
    _check_tensor("out__ssa_v0", out__ssa_v0, [32, 64], torch.float32)
    scales__ssa_v0 = _fresh(torch.zeros([32, 1], dtype=torch.float32, device=x__ssa_v0.device))
    _check_tensor("scales__ssa_v0", scales__ssa_v0, [32, 1], torch.float32)
    ret__tmp_v0 = main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0)
    scales__ssa_v1 = ret__tmp_v0[0]
    _check_tensor("scales__ssa_v1", scales__ssa_v1, [32, 1], torch.float32)
    xq__ssa_v1 = ret__tmp_v0[1]
    _check_tensor("xq__ssa_v1", xq__ssa_v1, [32, 128], torch.int8)
    acc__ssa_v0 = _fresh(torch.zeros([32, 64], dtype=torch.int32, device=x__ssa_v0.device))
    _check_tensor("acc__ssa_v0", acc__ssa_v0, [32, 64], torch.int32)
    acc__ssa_v1 = main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0)
    _check_tensor("acc__ssa_v1", acc__ssa_v1, [32, 64], torch.int32)
    out__ssa_v1 = main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0)
    _check_tensor("out__ssa_v1", out__ssa_v1, [32, 64], torch.float32)
    return xq__ssa_v1, out__ssa_v1


def main_incore_0(x__ssa_v0, scales__ssa_v0, xq__ssa_v0):
    """AIV function."""
    _check_dtype("x__ssa_v0", x__ssa_v0, torch.float32)
    _check_dtype("scales__ssa_v0", scales__ssa_v0, torch.float32)
    _check_dtype("xq__ssa_v0", xq__ssa_v0, torch.int8)
    x__tile = x__ssa_v0[0:32, 0:128].clone()
    _check_tensor("x__tile", x__tile, [32, 128], torch.float32)
    tmp_tile = _fresh(torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device))
    _check_tensor("tmp_tile", tmp_tile, [32, 128], torch.float32)
    t__tile = torch.amax(x__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile", t__tile, [32, 1], torch.float32)
    tmp_tile_1 = _fresh(torch.zeros([32, 128], dtype=torch.float32, device=x__ssa_v0.device))
    _check_tensor("tmp_tile_1", tmp_tile_1, [32, 128], torch.float32)
    t__tile_1 = torch.amin(x__tile, dim=-1, keepdim=True)
    _check_tensor("t__tile_1", t__tile_1, [32, 1], torch.float32)
    t__tile_2 = -t__tile_1
    _check_tensor("t__tile_2", t__tile_2, [32, 1], torch.float32)
    amax__rm_a0_tmp_v0 = t__tile.reshape([1, 32])
    _check_tensor("amax__rm_a0_tmp_v0", amax__rm_a0_tmp_v0, [1, 32], torch.float32)
    amax__rm_a1_tmp_v1 = t__tile_2.reshape([1, 32])
    _check_tensor("amax__rm_a1_tmp_v1", amax__rm_a1_tmp_v1, [1, 32], torch.float32)
    amax__row_major_tmp_v2 = torch.maximum(amax__rm_a0_tmp_v0, amax__rm_a1_tmp_v1)
    _check_tensor("amax__row_major_tmp_v2", amax__row_major_tmp_v2, [1, 32], torch.float32)
    amax__tile = amax__row_major_tmp_v2.reshape([32, 1])
    _check_tensor("amax__tile", amax__tile, [32, 1], torch.float32)
    scale__rm_a0_tmp_v3 = amax__tile.reshape([1, 32])
    _check_tensor("scale__rm_a0_tmp_v3", scale__rm_a0_tmp_v3, [1, 32], torch.float32)
    scale__row_major_tmp_v4 = scale__rm_a0_tmp_v3 * 0.007874015748031496
    _check_tensor("scale__row_major_tmp_v4", scale__row_major_tmp_v4, [1, 32], torch.float32)
    scale__tile = scale__row_major_tmp_v4.reshape([32, 1])
    _check_tensor("scale__tile", scale__tile, [32, 1], torch.float32)
    scales__tile = _tile_store(scale__tile, [0, 0], scales__ssa_v0)
    _check_tensor("scales__tile", scales__tile, [32, 1], torch.float32)
    q__tile = x__tile / scale__tile
    _check_tensor("q__tile", q__tile, [32, 128], torch.float32)
    q32__tile = _cast_to_int(q__tile, torch.int32, "rint")
    _check_tensor("q32__tile", q32__tile, [32, 128], torch.int32)
    q16__tile = _cast_int_to_float(q32__tile, torch.float16, "rint")
    _check_tensor("q16__tile", q16__tile, [32, 128], torch.float16)
    t__tile_3 = _cast_to_int(q16__tile, torch.int8, "trunc")
    _check_tensor("t__tile_3", t__tile_3, [32, 128], torch.int8)
    xq__tile = _tile_store(t__tile_3, [0, 0], xq__ssa_v0)
    _check_tensor("xq__tile", xq__tile, [32, 128], torch.int8)
    return scales__ssa_v0, xq__ssa_v0


def main_incore_1(xq__ssa_v1, w__ssa_v0, acc__ssa_v0):
    """AIC function."""
    _check_dtype("xq__ssa_v1", xq__ssa_v1, torch.int8)
    _check_dtype("w__ssa_v0", w__ssa_v0, torch.int8)
    _check_dtype("acc__ssa_v0", acc__ssa_v0, torch.int32)
    xq__ssa_v1_mat = _tile_load(xq__ssa_v1, [0, 0], [32, 128])
    _check_tensor("xq__ssa_v1_mat", xq__ssa_v1_mat, [32, 128], torch.int8)
    w__ssa_v0_mat = w__ssa_v0[0:128, 0:64]
    _check_tensor("w__ssa_v0_mat", w__ssa_v0_mat, [128, 64], torch.int8)
    xq__ssa_v1_mat_Left = xq__ssa_v1_mat
    _check_tensor("xq__ssa_v1_mat_Left", xq__ssa_v1_mat_Left, [32, 128], torch.int8)
    w__ssa_v0_mat_Right = w__ssa_v0_mat
    _check_tensor("w__ssa_v0_mat_Right", w__ssa_v0_mat_Right, [128, 64], torch.int8)
    t__tile = torch.matmul(xq__ssa_v1_mat_Left.int(), w__ssa_v0_mat_Right.int())
    _check_tensor("t__tile", t__tile, [32, 64], torch.int32)
    acc__tile = _tile_store(t__tile, [0, 0], acc__ssa_v0)
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.int32)
    return acc__ssa_v0


def main_incore_2(acc__ssa_v1, scales__ssa_v1, w_scale__ssa_v0, out__ssa_v0):
    """AIV function."""
    _check_dtype("acc__ssa_v1", acc__ssa_v1, torch.int32)
    _check_dtype("scales__ssa_v1", scales__ssa_v1, torch.float32)
    _check_dtype("w_scale__ssa_v0", w_scale__ssa_v0, torch.float32)
    _check_dtype("out__ssa_v0", out__ssa_v0, torch.float32)
    acc__tile = _tile_load(acc__ssa_v1, [0, 0], [32, 64])
    _check_tensor("acc__tile", acc__tile, [32, 64], torch.int32)
    scales__tile = _tile_load(scales__ssa_v1, [0, 0], [32, 1])
    _check_tensor("scales__tile", scales__tile, [32, 1], torch.float32)
    w_scale__tile = w_scale__ssa_v0[0:1, 0:64]
    _check_tensor("w_scale__tile", w_scale__tile, [1, 64], torch.float32)
    f__tile = _cast_int_to_float(acc__tile, torch.float32, "round")
    _check_tensor("f__tile", f__tile, [32, 64], torch.float32)
    t__tile = f__tile * scales__tile
    _check_tensor("t__tile", t__tile, [32, 64], torch.float32)
    y__tile = t__tile * w_scale__tile
    _check_tensor("y__tile", y__tile, [32, 64], torch.float32)
    out__tile = _tile_store(y__tile, [0, 0], out__ssa_v0)
    _check_tensor("out__tile", out__tile, [32, 64], torch.float32)
    return out__ssa_v0
