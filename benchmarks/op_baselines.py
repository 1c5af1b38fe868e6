"""The plainest torch expression for each op on full regions, written by hand, beside the operands.

A case is an op, its operands (shapes as in the samples of the op table), its keywords, and the expression
in terms of the operands' names; where no expression does, a function of the operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

M, N = 128, 512
BOX, COLUMN, ROW = f"[{M}, {N}]", f"[{M}, 1]", f"[1, {N}]"


@dataclass(frozen=True)
class Case:
    """One op on full regions."""

    op: str
    sample: dict[str, Any]
    plain: str | Callable[..., Any]


CASES: list[Case] = []
BIT_VALUES = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8)


def case(names: str, plain: str | Callable[..., Any], /, **sample: Any) -> None:
    """A case for each of the ops, whose names stand one after the other."""
    CASES.extend(Case(name, sample, plain) for name in names.split())


def both(name: str, plain: str | Callable[..., Any], /, **sample: Any) -> None:
    """A case for the tile op and one for the tensor op of the name."""
    case(f"tile.{name} tensor.{name}", plain, **sample)


def pairs() -> None:
    """Two operands of one shape, or a vector repeated along rows or columns."""
    floats = {"lhs": f"FP32{BOX}", "rhs": f"FP32{BOX}"}
    ints = {"lhs": f"INT32{BOX}", "rhs": f"INT32{BOX}"}
    for name, plain in (
        ("add", "lhs + rhs"),
        ("sub", "lhs - rhs"),
        ("mul", "lhs * rhs"),
        ("div", "lhs / rhs"),
    ):
        both(name, plain, **floats)
        both(f"{name}s", plain.replace("rhs", "1.5"), lhs=f"FP32{BOX}", rhs="1.5")
    both("fmod", "torch.fmod(lhs, rhs)", **floats)
    both("fmods", "torch.fmod(lhs, 1.5)", lhs=f"FP32{BOX}", rhs="1.5")
    case("tile.rem", "torch.remainder(lhs, rhs)", **floats, tmp=f"FP32{BOX}")
    case("tile.rems", "torch.remainder(lhs, 1.5)", lhs=f"FP32{BOX}", rhs="1.5", tmp=f"FP32{BOX}")
    both("maximum", "torch.maximum(lhs, rhs)", **floats)
    both("minimum", "torch.minimum(lhs, rhs)", **floats)
    case("tile.maximums", "torch.clamp(lhs, min=0.5)", lhs=f"FP32{BOX}", rhs="0.5")
    case("tile.minimums", "torch.clamp(lhs, max=0.5)", lhs=f"FP32{BOX}", rhs="0.5")
    case("tile.addc", "lhs + rhs + rhs2", **floats, rhs2=f"FP32{BOX}")
    case("tile.subc", "lhs - rhs - rhs2", **floats, rhs2=f"FP32{BOX}")
    case("tile.addsc", "lhs + 1.5 + rhs2", lhs=f"FP32{BOX}", rhs="1.5", rhs2=f"FP32{BOX}")
    case("tile.subsc", "lhs - 1.5 - rhs2", lhs=f"FP32{BOX}", rhs="1.5", rhs2=f"FP32{BOX}")
    for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"), ("shl", "<<"), ("shr", ">>")):
        work = {"tmp": f"INT32{BOX}"} if name == "xor" else {}
        case(f"tile.{name}", f"lhs {sign} rhs", **ints, **work)
        case(f"tensor.{name}", f"lhs {sign} rhs", **ints)
        case(f"tile.{name}s", f"lhs {sign} 5", lhs=f"INT32{BOX}", rhs="5", **work)
        case(f"tensor.{name}s", f"lhs {sign} 5", lhs=f"INT32{BOX}", rhs="5")
    for name, function in (("add", "add"), ("mul", "mul"), ("max", "maximum"), ("min", "minimum")):
        both(f"part_{name}", f"torch.{function}(src0, src1)", src0=f"FP32{BOX}", src1=f"FP32{BOX}")
    operations = {
        "add": "{m} + {v}", "sub": "{m} - {v}", "mul": "{m} * {v}", "div": "{m} / {v}",
        "max": "torch.maximum({m}, {v})", "min": "torch.minimum({m}, {v})",
        "expdif": "torch.exp({m} - {v})",
    }  # fmt: skip
    for name, plain in operations.items():
        for level, matrix in (("tile", "tile"), ("tensor", "tensor")):
            text = plain.format(m=matrix, v="row_vec")
            case(f"{level}.row_expand_{name}", text, **{matrix: f"FP32{BOX}", "row_vec": f"FP32{COLUMN}"})
        for level, matrix, vector in (("tile", "target", "col_tile"), ("tensor", "tensor", "col_vec")):
            text = plain.format(m=matrix, v=vector)
            case(f"{level}.col_expand_{name}", text, **{matrix: f"FP32{BOX}", vector: f"FP32{ROW}"})
    both("row_expand", "row_vec.repeat(1, 512)", target=f"FP32{BOX}", row_vec=f"FP32{COLUMN}")
    case("tile.col_expand", "col_tile.repeat(128, 1)", target=f"FP32{BOX}", col_tile=f"FP32{ROW}")
    case("tensor.col_expand", "col_vec.repeat(128, 1)", tensor=f"FP32{BOX}", col_vec=f"FP32{ROW}")
    case("tensor.expand_clone", "input.repeat(128, 1)", input=f"FP32{ROW}", target=f"FP32{BOX}")
    both("expands", "torch.full((128, 512), 1.5)", target=f"FP32{BOX}", scalar="1.5")


def single() -> None:
    """One operand: functions, conversions, reductions."""
    functions = {
        "abs": "torch.abs({x})", "neg": "-{x}", "exp": "torch.exp({x})", "log": "torch.log({x})",
        "sin": "torch.sin({x})", "cos": "torch.cos({x})", "sqrt": "torch.sqrt({x})",
        "rsqrt": "torch.rsqrt({x})", "recip": "1 / {x}",
    }  # fmt: skip
    for name, plain in functions.items():
        case(f"tile.{name}", plain.format(x="tile"), tile=f"FP32{BOX}")
        case(f"tensor.{name}", plain.format(x="input"), input=f"FP32{BOX}")
    case("tile.relu", "torch.relu(tile)", tile=f"FP32{BOX}")
    case("tile.lrelu", "torch.nn.functional.leaky_relu(tile, 0.1)", tile=f"FP32{BOX}", slope="0.1")
    prelu = {"tile": f"FP32{BOX}", "slope": f"FP32{BOX}", "tmp": f"UINT8{BOX}"}
    case("tile.prelu", "torch.where(tile > 0, tile, tile * slope)", **prelu)
    case("tile.not", "~tile", tile=f"INT32{BOX}")
    case("tensor.not", "~input", input=f"INT32{BOX}")
    narrowed = {"target_type": "BF16", "mode": "rint"}
    case("tile.cast", "tile.bfloat16()", tile=f"FP32{BOX}", **narrowed)
    case("tensor.cast", "input.bfloat16()", input=f"FP32{BOX}", **narrowed)
    reductions = {
        "row_sum": "torch.sum({x}, -1, keepdim=True)", "row_max": "torch.amax({x}, -1, keepdim=True)",
        "row_min": "torch.amin({x}, -1, keepdim=True)", "row_prod": "torch.prod({x}, -1, keepdim=True)",
        "row_argmax": "torch.argmax({x}, -1, keepdim=True).int()",
        "row_argmin": "torch.argmin({x}, -1, keepdim=True).int()",
        "col_sum": "torch.sum({x}, 0, keepdim=True)", "col_max": "torch.amax({x}, 0, keepdim=True)",
        "col_min": "torch.amin({x}, 0, keepdim=True)", "col_prod": "torch.prod({x}, 0, keepdim=True)",
        "col_argmax": "torch.argmax({x}, 0, keepdim=True).int()",
        "col_argmin": "torch.argmin({x}, 0, keepdim=True).int()",
    }  # fmt: skip
    for name, plain in reductions.items():
        has_workspace = name.startswith("row") or "arg" in name
        work = {"tmp_tile": f"FP32{BOX}"} if has_workspace else {}
        case(f"tile.{name}", plain.format(x="tile"), tile=f"FP32{BOX}", **work)
        case(f"tensor.{name}", plain.format(x="input"), input=f"FP32{BOX}")


def masks() -> None:
    """Comparisons into packed bits, and selections by them."""
    packed = "(({}).unflatten(1, (64, 8)) * BIT_VALUES).sum(-1, dtype=torch.uint8)"
    both_sides = {"lhs": f"FP32{BOX}", "rhs": f"FP32{BOX}", "cmp_type": "gt"}
    case("tile.cmp", packed.format("lhs > rhs"), **both_sides)
    one_side = {"lhs": f"FP32{BOX}", "rhs": "0.5", "cmp_type": "gt"}
    case("tile.cmps", packed.format("lhs > 0.5"), **one_side)
    case("tensor.cmp", "(lhs > rhs).float()", **both_sides)
    unpacked = "((mask.unsqueeze(-1) & BIT_VALUES) != 0).flatten(1)"
    mask, work = f"UINT8[{M}, {N // 8}]", f"UINT8[1, {N // 8}]"
    sel = {"mask": mask, "lhs": f"FP32{BOX}", "rhs": f"FP32{BOX}", "tmp": work}
    case("tile.sel", f"torch.where({unpacked}, lhs, rhs)", **sel)
    sels = {"mask": mask, "src": f"FP32{BOX}", "tmp": work, "scalar": "1.5"}
    case("tile.sels", f"torch.where({unpacked}, src, 1.5)", **sels)


def movement() -> None:
    """Windows, writes, other shapes, padding."""
    window = {"offsets": [8, 16], "shapes": [M, N], "valid_shape": [M, N]}
    case("tile.load", "tensor[8:136, 16:528].clone()", tensor="FP32[256, 1024]", **window)
    sliced = {"input": "FP32[256, 1024]", "shape": [M, N], "offset": [8, 16]}
    case("tile.slice", "input[8:136, 16:528]", **sliced)
    case("tensor.slice", "input[8:136, 16:528].clone()", **sliced)
    corner = {"index_row": 8, "index_col": 16, "shape": [M, N], "target_memory": "Left"}
    case("tile.extract", "src[8:136, 16:528].clone()", src="FP32[256, 1024]", **corner)
    stored = {"tile": f"FP32{BOX}", "offsets": [8, 16], "output_tensor": "FP32[256, 1024]"}
    case("tile.store", "(output_tensor[8:136, 16:528].copy_(tile), output_tensor)[1]", **stored)
    placed = {"target": "FP32[256, 1024]", "source": f"FP32{BOX}", "offset": [8, 16]}
    both("assemble", "(target[8:136, 16:528].copy_(source), target)[1]", **placed)
    case("tile.move", "tile", tile=f"FP32{BOX}", target_memory="Vec")
    case("tile.fillpad", "tile.clone()", tile=f"FP32{BOX}", pad_value="zero")
    case("tensor.fillpad", "tensor.clone()", tensor=f"FP32{BOX}", pad_value="zero")
    case("tile.fillpad_inplace", "tile", tile=f"FP32{BOX}", pad_value="zero")
    padded = "torch.nn.functional.pad({}, (0, 128, 0, 32))"
    larger = {"shape": [160, 640], "pad_value": "zero"}
    case("tile.fillpad_expand", padded.format("tile"), tile=f"FP32{BOX}", **larger)
    case("tensor.fillpad_expand", padded.format("tensor"), tensor=f"FP32{BOX}", **larger)
    both("reshape", "input.reshape(256, 256)", input=f"FP32{BOX}", shape=[256, 256])
    both("transpose", "input.mT.clone(memory_format=torch.contiguous_format)",
         input=f"FP32{BOX}", axis1="0", axis2="1")  # fmt: skip
    case("tile.transpose_view", "input.mT", input=f"FP32{BOX}")
    both("concat", "torch.cat((src0, src1), 1)", src0="FP32[128, 256]", src1="FP32[128, 256]")
    both("reinterpret_view", "data.view(torch.int32)", data=f"FP32{BOX}", dtype="INT32")
    case("tensor.view", "input.reshape(256, 256)", input=f"FP32{BOX}", shape=[256, 256])
    case("tile.set_validshape", "tile", tile=f"FP32{BOX}", valid_rows="5", valid_cols="7")
    case("tensor.set_validshape", "tensor", tensor=f"FP32{BOX}", valid_rows="5", valid_cols="7")


def generation() -> None:
    """New values."""
    zeros = {"shape": [M, N], "dtype": "FP32"}
    case("tile.create tensor.create tensor.create_l1", "torch.zeros(128, 512)", **zeros)
    both("full", "torch.full((128, 512), 1.5)", **zeros, value="1.5")
    both("ci", "torch.arange(3, 65539, dtype=torch.int32).reshape(1, -1)",
         start="3", shape=[1, M * N], dtype="INT32")  # fmt: skip
    case("tile.tri", "torch.tril(torch.ones(128, 512))", diagonal="0", shape=[M, N], dtype="FP32")


def products() -> None:
    """Matrix products of [128, 512] and [512, 128]."""
    floats = {"lhs": f"FP32{BOX}", "rhs": f"FP32[{N}, {M}]"}
    case("tile.matmul tensor.matmul tile.batch_matmul", "lhs @ rhs", **floats)
    case("tile.matmul_acc tile.batch_matmul_acc", "acc.add_(lhs @ rhs)", acc="FP32[128, 128]", **floats)
    case("tensor.matmul_acc", "acc + lhs @ rhs", acc="FP32[128, 128]", **floats)
    case("tile.matmul_bias", "lhs @ rhs + bias", bias="FP32[1, 128]", **floats)
    vector = {"lhs": f"FP32{ROW}", "rhs": f"FP32[{N}, {M}]"}
    padded = "torch.nn.functional.pad({}, (0, 0, 0, 15))"
    case("tile.gemv", padded.format("lhs @ rhs"), **vector)
    case("tile.gemv_acc", "acc.add_(lhs @ rhs)", acc="FP32[16, 128]", **vector)
    case("tile.gemv_bias", padded.format("lhs @ rhs + bias"), bias="FP32[1, 128]", **vector)
    scaled = {"lhs": f"FP8E4M3FN{BOX}", "lhs_scale": "FP8E8M0[128, 16]"}
    scaled |= {"rhs": "FP8E4M3FN[512, 128]", "rhs_scale": "FP8E8M0[16, 128]"}
    wide = ("((lhs.double() * lhs_scale.double().repeat_interleave(32, 1))"
            " @ (rhs.double() * rhs_scale.double().repeat_interleave(32, 0))).float()")  # fmt: skip
    case("tile.matmul_mx", wide, **scaled)
    case("tile.matmul_mx_acc", f"acc.add_({wide})", acc="FP32[128, 128]", **scaled)
    case("tile.matmul_mx_bias", f"{wide} + bias", bias="FP32[1, 128]", **scaled)
    scales = {"dst_scale": "FP8E8M0[128, 16]", "src": f"FP8E4M3FN{BOX}"}
    case("tile.tget_scale_addr", "dst_scale", **scales)


def sort_runs(src: torch.Tensor, idx: torch.Tensor) -> torch.Tensor:
    """Runs of 32 sorted downwards, values and payloads in turns."""
    values, order = src.reshape(-1, 32).sort(dim=1, descending=True, stable=True)
    payload = idx.view(torch.int32).reshape(-1, 32).gather(1, order)
    return torch.stack([values, payload.view(torch.float32)], -1).reshape(src.shape[0], -1)


def merge_runs(src: torch.Tensor) -> torch.Tensor:
    """Every four runs of 64 columns, 32 pairs each, merged downwards."""
    pairs = src.reshape(M, 2, 128, 2)
    order = pairs[..., 0].sort(dim=2, descending=True, stable=True).indices
    return torch.take_along_dim(pairs, order.unsqueeze(-1), 2).reshape(M, N)


def merge_lists(src0: torch.Tensor, src1: torch.Tensor, **workspace: torch.Tensor) -> torch.Tensor:
    """Two lists of 256 pairs a row merged downwards."""
    pairs = torch.cat([src0, src1], 1).reshape(1, -1, 2)
    order = pairs[..., 0].sort(dim=1, descending=True, stable=True).indices
    return torch.take_along_dim(pairs, order.unsqueeze(-1), 1).reshape(1, -1)


def compare_columns(src: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The columns above 0.5, packed to the left, and how many there are."""
    chosen = src > 0.5
    counts = chosen.sum(1, dtype=torch.int32)
    columns = torch.where(chosen, torch.arange(N, dtype=torch.int32), N).sort(1).values[:, :64]
    return torch.where(columns < N, columns, 0), counts.unsqueeze(0)


def gather_pages(src: torch.Tensor, indices: torch.Tensor, block_table: torch.Tensor) -> torch.Tensor:
    """Rows of a pool of blocks of 16, all of which exist."""
    index = indices.reshape(-1).long()
    return src[block_table.reshape(-1).long()[index // 16] * 16 + index % 16]


def scatter_cells(target: torch.Tensor, indices: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Values at flat indices that are all different."""
    target.view(-1)[indices.reshape(-1).long()] = values.reshape(-1)
    return target


def sorting_and_gathering() -> None:
    """Sorted runs, elements and rows at indices."""
    both("sort32", sort_runs, src=f"FP32{BOX}", idx=f"UINT32{BOX}")
    both("mrgsort_format1", merge_runs, src=f"FP32{BOX}", block_len="64")
    lists = {"src0": f"FP32{ROW}", "src1": f"FP32{ROW}"}
    case("tensor.mrgsort_format2", merge_lists, **lists)
    case("tile.mrgsort_format2", merge_lists, **lists, tmp_or_src2=f"FP32[1, {2 * N}]")
    box, places = f"FP32{BOX}", f"INT32{BOX}"
    case("tile.gather", "src.take(indices.long())", src=box, indices=places, tmp=places)
    case("tensor.gather", "input.gather(1, index.long())", input=box, index=places, dim=1)
    case("tile.gather_mask", "src[:, ::2].clone()", src=box, mask_pattern="P0101")
    case("tensor.gather_mask", "input[:, ::2].clone()", input=box, mask_pattern="P0101")
    compared = {"kvalue": "0.5", "cmp_mode": "gt", "out_cols": 64}
    case("tile.gather_compare", lambda src, **work: compare_columns(src), src=box, tmp=box, **compared)
    case("tensor.gather_compare", lambda input: compare_columns(input), input=box, **compared)
    rows = {"src": "FP32[256, 1024]", "dst_offset": [0, 0], "src_offset": [8, 16], "shapes": [M, N]}
    window = "{}.copy_(src[8:136, 16:528])"
    case("tile.gather_row", window.format("dst"), dst=box, **rows)
    case("tensor.gather_row", window.format("acc.clone()"), acc=box, **rows)
    pages = {"src": "FP32[256, 512]", "indices": f"INT32[1, {M}]", "block_table": "INT32[1, 16]"}
    sizes = {"block_size": 16, "max_indices": M, "size": N}
    case("tensor.paged_gather", gather_pages, **pages, **sizes)
    case("tile.mgather", "mem[idx.reshape(-1).long()]", mem="FP32[256, 512]", idx=f"INT32[1, {M}]")
    blocks = "src.view(torch.int64).reshape(-1, 4)[offset.reshape(-1).long() // 32]"
    case("tile.gatherb", f"{blocks}.view(torch.float32).reshape(128, 512)", src=box, offset=f"INT32[{M}, 64]")
    case("tile.mscatter", lambda src, idx, output_tensor: scatter_cells(output_tensor, idx, src),
         src=box, idx=places, output_tensor=box)  # fmt: skip
    case("tile.scatter", lambda dst, src, indexes: scatter_cells(dst, indexes, src),
         dst=box, src=box, indexes=places)  # fmt: skip
    case("tensor.scatter", "input.scatter(1, index.long(), src)", input=box, index=places, src=box, dim=-1)
    updated = {"input": "FP32[256, 512]", "index": "INT32[2, 64]", "src": box, "dim": -2}
    case("tile.scatter_update", "input.index_copy_(0, index.reshape(-1).long(), src)", **updated)
    case("tensor.scatter_update", "input.index_copy(0, index.reshape(-1).long(), src)", **updated)
    halves = {"dst": box, "mask_pattern": "P0101"}
    case("tile.scatter_mask", lambda dst, src: (dst.zero_()[:, ::2].copy_(src), dst)[1],
         src=f"FP32[{M}, {N // 2}]", **halves)  # fmt: skip
    case("tensor.scatter_mask", lambda dst, input: (new := dst.clone(), new[:, ::2].copy_(input))[0],
         input=f"FP32[{M}, {N // 2}]", **halves)  # fmt: skip


def elements() -> None:
    """Single elements and extents."""
    case("tile.read", "tile[3, 5].item()", tile=f"FP32{BOX}", indices=[3, 5])
    case("tensor.read", "tensor[3, 5].item()", tensor=f"FP32{BOX}", indices=[3, 5])
    case("tensor.dim", "tensor.shape[1]", tensor=f"FP32{BOX}", axis="1")
    write = "({x}.__setitem__((3, 5), 1.5), {x})[1]"
    case("tile.write", write.format(x="tile"), tile=f"FP32{BOX}", indices=[3, 5], value="1.5")
    case("tensor.write", write.format(x="tensor"), tensor=f"FP32{BOX}", indices=[3, 5], value="1.5")


for _group in (pairs, single, masks, movement, generation, products, sorting_and_gathering, elements):
    _group()

# Why an op has no case.
WITHOUT_CASE = {
    "array": "lists of Python numbers",
    "cross_core": "transfers between threads, which benchmarks/pipes.py times, and indices of a launch",
    "prefetch": "no value",
    "system": "calls of the run-time of the pipes",
    "task": "Python numbers",
    "tile.random": "torch has no generator of these numbers",
    "tensor.random": "torch has no generator of these numbers",
}
