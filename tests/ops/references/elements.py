"""Single elements, and gathers and scatters one element at a time."""

import torch
from ops.references.arithmetic import scalar_like
from ops.references.movement import cells, holds, numbers_of
from ops.references.registry import Shaped, reference


@reference("tile.read")
def tile_read(tile: Shaped, indices: list[int], **ignored: object) -> torch.Tensor:
    """One element."""
    return numbers_of(tile.data)[tuple(indices)]


@reference("tile.write", "tensor.write")
def write(
    indices: list[int],
    value: float,
    result: torch.dtype,
    tile: Shaped | None = None,
    tensor: Shaped | None = None,
) -> torch.Tensor:
    """target[indices] = value"""
    target = tile or tensor
    assert target is not None
    out = numbers_of(target.data)
    out[tuple(indices)] = scalar_like(value, result)
    return out[tuple(slice(0, extent) for extent in target.valid)]


@reference("tile.mgather")
def mgather(
    mem: Shaped, idx: Shaped, coalesce: str = "row", gather_oob: str = "undefined", **ignored: object
) -> torch.Tensor:
    """out[r, :] = mem[idx.flat[r], :], or out[i, j] = flat mem[idx[i, j]]"""
    numbers = numbers_of(mem.data)
    entries = [*numbers] if coalesce == "row" else [*numbers.flatten()]
    picked = []
    for signed in idx.data.flatten().tolist():
        index = signed + 2**32 if signed < 0 else signed
        if index < len(entries):
            picked.append(entries[index])
        elif gather_oob == "clamp":
            picked.append(entries[-1])
        elif gather_oob == "wrap":
            picked.append(entries[index % len(entries)])
        else:
            picked.append(torch.zeros_like(entries[0]))
    out = torch.stack(picked)
    return out if coalesce == "row" else out.reshape(idx.data.shape)


def put(target: torch.Tensor, indices: Shaped, values: torch.Tensor) -> torch.Tensor:
    """flat target[indices[i]] = values[i], one after the other."""
    shape = target.shape
    out = numbers_of(target).flatten()
    numbers = numbers_of(values)
    for cell in cells(indices.data.shape):
        index = int(indices.data[cell])
        if holds(indices.valid, cell) and 0 <= index < len(out):
            out[index] = numbers[cell]
    return out.reshape(shape)


@reference("tile.mscatter")
def mscatter(src: Shaped, idx: Shaped, output_tensor: Shaped, **ignored: object) -> torch.Tensor:
    """flat output_tensor[idx[i, j]] = src[i, j]"""
    return put(output_tensor.data, idx, src.data)
