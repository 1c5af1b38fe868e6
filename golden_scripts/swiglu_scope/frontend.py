"""SwigluScope

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


# Names of the run-time helpers, which stand above: what comes below is the program.
_HELPERS = frozenset(name for name in globals() if name.startswith("_"))


def scope(attn, hidden, wo, gamma, w_gate, w_up, w_down, out):
    """Opaque function."""
    _check_tensor("attn", attn, [16, 256], torch.bfloat16)
    _check_tensor("hidden", hidden, [16, 256], torch.bfloat16)
    _check_tensor("wo", wo, [256, 256], torch.bfloat16)
    _check_tensor("gamma", gamma, [1, 256], torch.float32)
    _check_tensor("w_gate", w_gate, [256, 512], torch.bfloat16)
    _check_tensor("w_up", w_up, [256, 512], torch.bfloat16)
    _check_tensor("w_down", w_down, [512, 256], torch.bfloat16)
    _check_tensor("out", out, [16, 256], torch.bfloat16)
    resid = _fresh(torch.zeros([16, 256], dtype=torch.float32, device=attn.device))
    _check_tensor("resid", resid, [16, 256], torch.float32)
    for n in range(0, 256, 64):
        acc = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("acc", acc, [16, 64], torch.float32)
        for k in range(0, 256, 128):
            a_k = attn[0:16, k : k + 128]
            _check_tensor("a_k", a_k, [16, 128], torch.bfloat16)
            w_k = wo[k : k + 128, n : n + 64]
            _check_tensor("w_k", w_k, [128, 64], torch.bfloat16)
            acc = acc + torch.matmul(a_k.float(), w_k.float())
            _check_tensor("acc", acc, [16, 64], torch.float32)
        h_n = hidden[0:16, n : n + 64].to(torch.float32)
        _check_tensor("h_n", h_n, [16, 64], torch.float32)
        resid = _assemble(resid, (acc + h_n), [0, n])
        _check_tensor("resid", resid, [16, 256], torch.float32)
    normed = _fresh(torch.zeros([16, 256], dtype=torch.bfloat16, device=attn.device))
    _check_tensor("normed", normed, [16, 256], torch.bfloat16)
    ms = torch.sum((resid * resid), dim=-1, keepdim=True) * 0.00390625
    _check_tensor("ms", ms, [16, 1], torch.float32)
    inv = torch.rsqrt((ms + 1e-06))
    _check_tensor("inv", inv, [16, 1], torch.float32)
    scaled = (resid * inv) * gamma
    _check_tensor("scaled", scaled, [16, 256], torch.float32)
    normed = _assemble(normed, scaled.to(torch.bfloat16), [0, 0])
    _check_tensor("normed", normed, [16, 256], torch.bfloat16)
    act = _fresh(torch.zeros([16, 512], dtype=torch.bfloat16, device=attn.device))
    _check_tensor("act", act, [16, 512], torch.bfloat16)
    for n_1 in range(0, 512, 64):
        gate = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("gate", gate, [16, 64], torch.float32)
        up = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("up", up, [16, 64], torch.float32)
        for k_1 in range(0, 256, 128):
            x_k = normed[0:16, k_1 : k_1 + 128]
            _check_tensor("x_k", x_k, [16, 128], torch.bfloat16)
            gate = gate + torch.matmul(x_k.float(), w_gate[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
            _check_tensor("gate", gate, [16, 64], torch.float32)
            up = up + torch.matmul(x_k.float(), w_up[k_1 : k_1 + 128, n_1 : n_1 + 64].float())
            _check_tensor("up", up, [16, 64], torch.float32)
        sig = torch.reciprocal((torch.exp((-gate)) + 1.0))
        _check_tensor("sig", sig, [16, 64], torch.float32)
        m = (gate * sig) * up
        _check_tensor("m", m, [16, 64], torch.float32)
        act = _assemble(act, m.to(torch.bfloat16), [0, n_1])
        _check_tensor("act", act, [16, 512], torch.bfloat16)
    for n_2 in range(0, 256, 64):
        down = torch.full([16, 64], 0.0, dtype=torch.float32, device=attn.device)
        _check_tensor("down", down, [16, 64], torch.float32)
        for k_2 in range(0, 512, 128):
            m_k = act[0:16, k_2 : k_2 + 128]
            _check_tensor("m_k", m_k, [16, 128], torch.bfloat16)
            down = down + torch.matmul(m_k.float(), w_down[k_2 : k_2 + 128, n_2 : n_2 + 64].float())
            _check_tensor("down", down, [16, 64], torch.float32)
        y = down + resid[0:16, n_2 : n_2 + 64]
        _check_tensor("y", y, [16, 64], torch.float32)
        out = _assemble(out, y.to(torch.bfloat16), [0, n_2])
        _check_tensor("out", out, [16, 256], torch.bfloat16)
    return out
