"""Windows, writes, padding and other shapes, cell by cell."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from ops.references.registry import Shaped, reference, wrapped


def cells(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a box."""
    return itertools.product(*map(range, shape))


def holds(box: Sequence[int], cell: Sequence[int]) -> bool:
    """Whether an index lies in a box at the origin."""
    return all(0 <= at < extent for at, extent in zip(cell, box, strict=True))


def numbers_of(data: torch.Tensor) -> torch.Tensor:
    """A copy that plain indexing can compute with."""
    return data.double() if data.dtype.is_floating_point else data.long().clone()


def window(
    source: Shaped,
    shape: list[int],
    offset: list[int],
    valid: list[int] | None,
    drop: list[int] | None = None,
) -> torch.Tensor:
    """The window's cells that the source holds, zero elsewhere."""
    data = numbers_of(source.data)
    out = torch.zeros(shape, dtype=data.dtype)
    for cell in cells(shape):
        at = tuple(o + c for o, c in zip(offset, cell, strict=True))
        if holds(source.data.shape, at) and holds(valid or shape, cell):
            out[cell] = data[at]
    return out.reshape([extent for axis, extent in enumerate(shape) if axis not in (drop or ())])


@reference("tile.load")
def load(
    tensor: Shaped, offsets: list[int], shapes: list[int], valid_shape: list[int], **ignored: object
) -> torch.Tensor:
    """out[i] = tensor[offsets + i]"""
    return window(tensor, shapes, offsets, valid_shape)


@reference("tile.slice", "tensor.slice")
def slice_(
    input: Shaped,
    shape: list[int],
    offset: list[int],
    valid_shape: list[int] | None = None,
    drop_dims: list[int] | None = None,
    **ignored: object,
) -> torch.Tensor:
    """out[i] = input[offset + i]; of a view the valid part is compared only."""
    out = window(input, shape, offset, valid_shape or None, drop_dims)
    return out[tuple(slice(0, extent) for extent in valid_shape)] if valid_shape else out


def written_cells(tile: Sequence[int], block: Sequence[int]) -> list[tuple[int, ...]]:
    """The tile's cells that a block of those extents has, in its order: all, or those of its corner."""
    if math.prod(tile) == math.prod(block):
        return [*cells(tile)]
    rows, columns = math.prod(block[:-1]), block[-1]
    return [(row, column) for row in range(rows) for column in range(columns)]


def converted(data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The numbers that cells of another dtype hold: to the nearest, ties to even, no integer out of range."""
    if dtype.is_floating_point and dtype.itemsize > 1 or dtype == data.dtype or dtype == torch.bool:
        return numbers_of(data.to(dtype))
    info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    numbers = [0 if math.isnan(value) else value for value in data.flatten().tolist()]
    held = [min(max(value, info.min), info.max) for value in numbers]
    if dtype.is_floating_point:
        return numbers_of(torch.tensor(held).to(dtype)).reshape(data.shape)
    return torch.tensor([round(value) for value in held]).reshape(data.shape)


def write(target: Shaped, source: Shaped, offset: list[int], block: list[int], *, add: bool) -> torch.Tensor:
    """target[offset + i] = source[i] for the valid i, the source read row by row as the block."""
    out = numbers_of(target.data)
    order = dict(zip(written_cells(source.data.shape, block), cells(block), strict=True))
    part = converted(source.data, target.data.dtype)
    lead = (0,) * (out.dim() - len(block))
    for cell, place in order.items():
        at = tuple(o + c for o, c in zip(offset, lead + place, strict=True))
        if holds(source.valid, cell) and holds(out.shape, at):
            out[at] = out[at] + part[cell] if add else part[cell]
    return out if out.is_floating_point() else wrapped(out, target.data.dtype)


@reference("tile.store")
def store(
    tile: Shaped,
    offsets: list[int],
    output_tensor: Shaped,
    shapes: list[int] | None = None,
    atomic: str = "None_",
    **ignored: object,
) -> torch.Tensor:
    """tensor[offsets + i] (=|+=) tile[i]"""
    block = shapes or [*tile.data.shape]
    return write(output_tensor, tile, offsets, block, add=atomic == "Add")


@reference("tile.assemble", "tensor.assemble")
def assemble(
    target: Shaped, source: Shaped, offset: list[int], atomic: str = "None_", **ignored: object
) -> torch.Tensor:
    """target[offset + i] (=|+=) source[i]"""
    return write(target, source, offset, [*source.data.shape], add=atomic == "Add")


@reference("tile.fillpad", "tensor.fillpad", "tile.fillpad_inplace")
@reference("tile.fillpad_expand", "tensor.fillpad_expand")
def fillpad(
    pad_value: str,
    result: torch.dtype,
    tile: Shaped | None = None,
    tensor: Shaped | None = None,
    shape: list[int] | None = None,
) -> torch.Tensor:
    """The valid cells, and the pad everywhere else."""
    source = tile or tensor
    assert source is not None
    if result.is_floating_point:
        pad = {"zero": 0.0, "min": -torch.inf, "max": torch.inf}[pad_value]
    else:
        info = torch.iinfo(result)
        pad = {"zero": 0, "min": info.min, "max": info.max}[pad_value]
    numbers = numbers_of(source.data)
    out = torch.full(shape or numbers.shape, pad, dtype=numbers.dtype)
    for cell in cells(source.valid):
        out[cell] = numbers[cell]
    return out


@reference("tile.move")
def move(tile: Shaped, result: torch.dtype, **ignored: object) -> torch.Tensor:
    """The value as it is; bytes that become scales are the exponents of powers of two."""
    if result != torch.float8_e8m0fnu or tile.data.dtype == result:
        return tile.part
    powers = [2.0 ** (code - 127) if code < 255 else math.nan for code in tile.part.flatten().tolist()]
    return torch.tensor(powers, dtype=torch.float64).reshape(tile.part.shape)


@reference("tile.reshape", "tensor.reshape")
def reshape(input: Shaped, shape: list[int], **ignored: object) -> torch.Tensor:
    """The cells one after the other."""
    out = torch.zeros(shape, dtype=numbers_of(input.data).dtype)
    numbers = numbers_of(input.data).flatten().tolist()
    for cell, number in zip(cells(shape), numbers, strict=True):
        out[cell] = number
    return out


@reference("tile.transpose_view")
def transpose_view(input: Shaped, **ignored: object) -> torch.Tensor:
    """out[j, i] = input[i, j]"""
    rows, columns = input.part.shape
    return torch.stack([torch.stack([input.part[i, j] for i in range(rows)]) for j in range(columns)])


@reference("tensor.read")
def read(tensor: Shaped, indices: list[int], **ignored: object) -> torch.Tensor:
    """One element."""
    return numbers_of(tensor.data)[tuple(indices)]


@reference("tensor.dim")
def dim(tensor: Shaped, axis: int, **ignored: object) -> torch.Tensor:
    """One extent."""
    return torch.tensor([*tensor.data.shape][axis])


@reference("tile.transpose", "tensor.transpose")
def transpose(input: Shaped, axis1: int, axis2: int, **ignored: object) -> torch.Tensor:
    """out[..., j, ..., i, ...] = input[..., i, ..., j, ...]"""
    numbers = numbers_of(input.data)
    axes = list(range(numbers.dim()))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    out = torch.zeros([numbers.shape[axis] for axis in axes], dtype=numbers.dtype)
    for cell in cells(numbers.shape):
        out[tuple(cell[axis] for axis in axes)] = numbers[cell]
    return out


@reference("tile.extract")
def extract(src: Shaped, index_row: int, index_col: int, shape: list[int], **ignored: object) -> torch.Tensor:
    """out[i, j] = src[index_row + i, index_col + j]"""
    return window(src, shape, [index_row, index_col], None)


@reference("tile.concat", "tensor.concat")
def concat(src0: Shaped, src1: Shaped, **ignored: object) -> torch.Tensor:
    """Each row of src0, then that of src1."""
    rows = zip(numbers_of(src0.data).tolist(), numbers_of(src1.data).tolist(), strict=True)
    return torch.tensor([left + right for left, right in rows], dtype=numbers_of(src0.data).dtype)


@reference("tile.reinterpret_view", "tensor.reinterpret_view")
def reinterpret_view(
    data: Shaped, result: torch.dtype, dtype: str, shape: list[int] | None = None
) -> torch.Tensor:
    """The same bytes, by numpy; the first of two elements of four bits is the low half of a byte.

    No sample is of INT8 or FP8, whose torch dtypes carry INT4 and FP4.
    """
    rows = data.data.shape[0]
    if data.data.dtype == torch.int8:
        stored = bytes_of([number & 15 for number in data.data.flatten().tolist()])
    elif data.data.dtype == torch.float8_e4m3fn:
        stored = bytes_of([code_of(number) for number in data.data.float().flatten().tolist()])
    else:
        stored = data.data.numpy().tobytes()
    if dtype in ("INT4", "FP4"):
        codes = [half for byte in stored for half in (byte % 16, byte // 16)]
        numbers = (
            [(code + 8) % 16 - 8 for code in codes] if dtype == "INT4" else [FP4[code] for code in codes]
        )
        return torch.tensor(numbers, dtype=torch.float64 if dtype == "FP4" else None).reshape(
            shape or [rows, -1]
        )
    names = {torch.int8: "<i1", torch.uint8: "<u1", torch.int16: "<i2", torch.uint32: "<u4"}
    read = np.frombuffer(stored, dtype=names[result]).astype(np.int64)
    return torch.from_numpy(read).reshape(shape or [rows, -1])


FP4 = [sign * number for sign in (1, -1) for number in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]


def code_of(number: float) -> int:
    """The code of an FP4 number."""
    return FP4.index(abs(number)) + 8 * (math.copysign(1, number) < 0)


def bytes_of(codes: list[int]) -> bytes:
    """Codes of four bits, the first of two in the low half of a byte."""
    return bytes(low + 16 * high for low, high in zip(codes[::2], codes[1::2], strict=True))


@reference("tensor.view")
def view(
    input: Shaped, shape: list[int] | None = None, layout: str = "ND", **ignored: object
) -> torch.Tensor:
    """The cells one after the other: out[i, j] = cell j * rows + i in DN, cell i * columns + j else."""
    numbers = numbers_of(input.data).flatten().tolist()
    rows, columns = shape or [*input.data.shape][:: -1 if layout == "DN" else 1]
    out = torch.zeros(rows, columns, dtype=numbers_of(input.data).dtype)
    for i, j in cells(out.shape):
        out[i, j] = numbers[j * rows + i if layout == "DN" else i * columns + j]
    return out


@reference("tile.set_validshape", "tensor.set_validshape")
def set_validshape(
    tile: Shaped | None = None, tensor: Shaped | None = None, **ignored: object
) -> torch.Tensor:
    """The value as it is."""
    source = tile or tensor
    assert source is not None
    return numbers_of(source.data)
