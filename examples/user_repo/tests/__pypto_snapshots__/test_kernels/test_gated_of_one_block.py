"""_jit_gated

Emitted by pypto_tmpl: change the IR or a template, not this text.
Run-time helpers come first, the program after them.
"""

import json
import os
import sys
import torch
import warnings

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


def _extents_differ(dimension, extents):
    """How parameters disagree about a dynamic dimension, None if they do not."""
    (first, known), *others = extents.items()
    for place, extent in others:
        if extent != known:
            return f"dimension {dimension} is {known} in {first}, and {extent} in {place}"
    return None


def _compare_shapes(tensors, numbers=None):
    """Warn, once a call, of tensors that have not the extents of their parameters or disagree about a dimension.

    tensors: by parameter, its shape and what it declares: numbers, names of dimensions, None for any extent.
    numbers: the dimensions that are parameters.
    """
    found, dimensions = [], {name: {name: value} for name, value in (numbers or {}).items()}
    for parameter, (shape, declared) in tensors.items():
        differs = len(shape) != len(declared)
        for axis, (extent, want) in enumerate(zip(shape, declared)):
            differs = differs or isinstance(want, int) and extent != want
            if isinstance(want, str):
                dimensions.setdefault(want, {})[f"axis {axis} of {parameter}"] = extent
        if differs:
            wanted = ", ".join("?" if want is None else str(want) for want in declared)
            found.append(f"tensor {parameter!r} has shape {[*shape]}, the parameter has [{wanted}]")
    found += filter(None, map(_extents_differ, dimensions, dimensions.values()))
    if found:
        warnings.warn("; ".join(found), UserWarning, stacklevel=3)


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


def _assemble(target, source, offsets, valid_shape=None):
    """Write the valid part of a source into a target at offsets and return the target."""
    return _tile_store(source, offsets, target, valid_shape)


def _round_to_bf16(x):
    """Convert FP32 to BF16, ties away from zero: as _cast_narrow does, but on the bits."""
    nearest = (x.view(torch.int32) + 0x8000 >> 16).to(torch.int16).view(torch.bfloat16)
    return torch.where(x.isnan(), x.to(torch.bfloat16), nearest)


# Names of the run-time helpers, which stand above: what comes below is the program.
_HELPERS = frozenset(name for name in globals() if name.startswith("_"))


def gated(x, gate, scale, out):
    """Orchestration function."""
    _compare_shapes(
        {"x": (x.shape, [32, 128]), "gate": (gate.shape, [32, 128]), "out": (out.shape, [32, 128])}
    )
    for r in range(0, 32, 32):
        g = gate[r : r + 32, 0:128].to(torch.float32) * 0.5
        sigmoid = torch.reciprocal((torch.exp((-g)) + 1.0))
        y = x[r : r + 32, 0:128].to(torch.float32) * sigmoid
        out = _assemble(out, _round_to_bf16(y), [r, 0])
    return out
