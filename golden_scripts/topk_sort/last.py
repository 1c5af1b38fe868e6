"""TopkSort. Emitted by pypto_tmpl: change the IR or a template, not this text."""

import torch
import warnings


def main(scores__ssa_v0, vals__ssa_v0, idx__ssa_v0):
    """Orchestration function. In: scores__ssa_v0. Out: vals__ssa_v0, idx__ssa_v0."""
    _compare_shapes(
        {
            "scores__ssa_v0": (scores__ssa_v0.shape, [8, 128]),
            "vals__ssa_v0": (vals__ssa_v0.shape, [8, 16]),
            "idx__ssa_v0": (idx__ssa_v0.shape, [8, 16]),
        }
    )
    idx__iter_v1, vals__iter_v1 = idx__ssa_v0, vals__ssa_v0
    for r__idx_v0 in range(8):
        vals__ssa_v3, idx__ssa_v3 = topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1)
        idx__iter_v1, vals__iter_v1 = idx__ssa_v3, vals__ssa_v3
    idx__rv_v2, vals__rv_v2 = idx__iter_v1, vals__iter_v1
    return vals__rv_v2, idx__rv_v2


def topk(scores__ssa_v0, r__idx_v0, vals__iter_v1, idx__iter_v1):
    """AIV kernel (vector core). In: scores__ssa_v0, r__idx_v0. Out: vals__iter_v1, idx__iter_v1."""
    row__tile = scores__ssa_v0[r__idx_v0 : r__idx_v0 + 1, 0:128]  # FP32[1, 128]
    ids__tile = _ci(0, [1, 128], torch.uint32, device=scores__ssa_v0.device)  # UINT32[1, 128]
    runs__tile = _sort32(row__tile, ids__tile)  # FP32[1, 256]
    merged__tile = _mrgsort_format1(runs__tile, 64)  # FP32[1, 256]
    pairs__tile = _tile_slice(merged__tile, [1, 32], [0, 0])  # FP32[1, 32]
    v__tile = pairs__tile[..., 0::2].clone()  # FP32[1, 16]
    i__tile = pairs__tile[..., 1::2].clone().view(torch.int32)  # INT32[1, 16]
    vals__tile = _tile_store(v__tile, [r__idx_v0, 0], vals__iter_v1)  # FP32[8, 16]
    idx__tile = _tile_store(i__tile, [r__idx_v0, 0], idx__iter_v1)  # INT32[8, 16]
    return vals__iter_v1, idx__iter_v1


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


def _tile_slice(tile, shape, offsets):
    """View of a window of a tile or tensor; over the edge a copy, with zeros beyond."""
    window = torch.zeros(shape, dtype=tile.dtype, device=tile.device)
    source, cells = _overlap(tile, window, offsets)
    if source.shape == window.shape:
        return source
    cells.copy_(source)
    return window


def _ci(start, shape, dtype, descending=False, device=None):
    """Row of consecutive integers from start, upwards or downwards, as a new tensor."""
    stop = start - shape[-1] if descending else start + shape[-1]
    info = torch.iinfo(dtype)
    if dtype.is_signed and info.min <= min(start, stop) and max(start, stop) <= info.max:
        row = torch.arange(start, stop, -1 if descending else 1, dtype=dtype, device=device)
    else:  # beyond the dtype integers wrap
        count = torch.arange(shape[-1], device=device)
        row = (start - count if descending else start + count).to(dtype)
    return row.reshape(shape)


def _sort32(values, payload):
    """Sort each run of 32 columns in descending order, ties kept, and interleave the payload.

    A record has 8 bytes: a value and, bit for bit in float lanes, a 32-bit payload.
    Shapes: FP32: the last extent doubles. FP16: it quadruples, records being value, 0, low half and
        high half of the payload.
    """
    runs, order = torch.sort(values.reshape(-1, 32), dim=-1, descending=True, stable=True)
    bits = payload.long().to(torch.int32).reshape(-1, 32).gather(-1, order)
    if values.dtype == torch.float32:
        records = torch.stack([runs.view(torch.int32), bits], dim=-1)
    else:
        records = torch.stack([runs.view(torch.int16).int() & 0xFFFF, bits], dim=-1)
    records = records.reshape(*values.shape[:-1], 2 * values.shape[-1])
    return records.view(values.dtype)


def _mrgsort_format1(records, block_len):
    """Merge every 4 consecutive sorted runs of block_len columns into one descending run.

    The columns are the records that _sort32 makes; equal values stay in order.
    """
    lane_count = 8 // records.element_size()
    merged = []
    for block in records.split(4 * block_len, dim=-1):
        order = torch.sort(block[..., ::lane_count], dim=-1, descending=True, stable=True).indices
        lanes = [block[..., lane::lane_count].gather(-1, order) for lane in range(lane_count)]
        merged.append(torch.stack(lanes, dim=-1).reshape(block.shape))
    return torch.cat(merged, dim=-1)
