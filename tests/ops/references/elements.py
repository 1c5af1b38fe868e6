"""Single elements, and gathers and scatters one element at a time."""

import torch
from ops.references.arithmetic import held
from ops.references.masks import compared
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
    out[tuple(indices)] = held(value, result)
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


@reference("tile.scatter")
def scatter(dst: Shaped, src: Shaped, indexes: Shaped, **ignored: object) -> torch.Tensor:
    """flat dst[indexes[i, j]] = src[i, j]"""
    return put(dst.data, indexes, src.data)


@reference("tensor.scatter")
def scatter_columns(input: Shaped, index: Shaped, src: Shaped, **ignored: object) -> torch.Tensor:
    """out[b, index[b, k]] = src[b, k]"""
    out, numbers = numbers_of(input.data), numbers_of(src.data)
    for b, k in cells(index.valid):
        column = int(index.data[b, k])
        if 0 <= column < out.shape[1]:
            out[b, column] = numbers[b, k]
    return out


@reference("tile.scatter_mask", keeps=False)
@reference("tensor.scatter_mask", keeps=True)
def scatter_mask(
    dst: Shaped,
    mask_pattern: str,
    keeps: bool,
    src: Shaped | None = None,
    input: Shaped | None = None,
    **ignored: object,
) -> torch.Tensor:
    """The columns whose digit is 1 take the elements of the row one after the other."""
    source = src or input
    assert source is not None
    digits = mask_pattern.removeprefix("P")[::-1]
    out = numbers_of(dst.data) if keeps else torch.zeros_like(numbers_of(dst.data))
    columns = [column for column in range(out.shape[1]) if digits[column % 4] == "1"]
    for i, k in cells(source.valid):
        out[i, columns[k]] = numbers_of(source.data)[i, k]
    return out


@reference("tile.scatter_update", "tensor.scatter_update")
def scatter_update(input: Shaped, index: Shaped, src: Shaped, **ignored: object) -> torch.Tensor:
    """Row index.flat[k] of input is row k of src."""
    width = input.data.shape[-1]
    out = numbers_of(input.data).reshape(-1, width)
    rows = numbers_of(src.data).reshape(-1, width)
    for k, cell in enumerate(cells(index.data.shape)):
        number = int(index.data[cell])
        if holds(index.valid, cell) and 0 <= number < len(out):
            out[number] = rows[k]
    return out.reshape(input.data.shape)


@reference("tile.gatherb")
def gatherb(src: Shaped, offset: Shaped, result: torch.dtype, **ignored: object) -> torch.Tensor:
    """32 bytes at each offset, zeros behind the source."""
    memory = src.data.numpy().tobytes() + bytes(64)
    read = [bytearray(memory[at : at + 32].ljust(32, b"\0")) for at in offset.data.long().flatten().tolist()]
    numbers = torch.stack([torch.frombuffer(block, dtype=result) for block in read])
    return numbers_of(numbers.reshape(offset.data.shape[0], -1))


@reference("tile.gather_compare", "tensor.gather_compare")
def gather_compare(
    kvalue: float,
    cmp_mode: str,
    out_cols: int,
    src: Shaped | None = None,
    input: Shaped | None = None,
    offset: int = 0,
    count_dtype: str = "INT32",
    **ignored: object,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each row the columns that compare so, plus the offset, and their number."""
    source = src or input
    assert source is not None
    bits = compared(source, kvalue, cmp_mode, source.data.dtype)
    found = [[column for column, bit in enumerate(row) if bit] for row in bits.tolist()]
    found += [[]] * (len(source.data) - len(found))
    packed = [([column + offset for column in row] + [0] * out_cols)[:out_cols] for row in found]
    return torch.tensor(packed), torch.tensor([[len(row) for row in found]])


@reference("tile.gather_row", "tensor.gather_row")
def gather_row(
    src: Shaped,
    dst_offset: list[int],
    src_offset: list[int],
    shapes: list[int],
    dst: Shaped | None = None,
    acc: Shaped | None = None,
    valid_shape: list[int] | None = None,
    transpose: bool = False,
    **ignored: object,
) -> torch.Tensor:
    """dst[dst_offset + (i, j)] = src[src_offset + (i, j)], or dst[dst_offset + (j, i)]"""
    target = dst or acc
    assert target is not None
    out, numbers = numbers_of(target.data), numbers_of(src.data)
    for i, j in cells(valid_shape or shapes):
        down, right = (j, i) if transpose else (i, j)
        out[dst_offset[0] + down, dst_offset[1] + right] = numbers[src_offset[0] + i, src_offset[1] + j]
    return out


@reference("tensor.paged_gather")
def paged_gather(
    src: Shaped,
    indices: Shaped,
    block_table: Shaped,
    block_size: int,
    size: int,
    max_indices: int,
    col_off: int = 0,
    is_trans: bool = False,
    **ignored: object,
) -> torch.Tensor:
    """Row k is row idx % block_size of the block that block_table names for idx // block_size."""
    table, rows = block_table.data.flatten().tolist(), []
    for index in indices.data.flatten().tolist()[:max_indices]:
        block = table[index // block_size] if index // block_size < len(table) else len(src.data)
        row = block * block_size + index % block_size
        exists = row < len(src.data)
        rows.append(src.part[row, col_off : col_off + size] if exists else src.part[0, :size] * 0)
    return torch.stack(rows, dim=1 if is_trans else 0)
