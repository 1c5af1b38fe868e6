"""Elementwise ops, broadcasts and reductions."""

import math
from collections.abc import Callable

import torch
from ops.references.registry import Shaped, reference, wrapped

BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: math.trunc(x / y) if isinstance(x, int) else x / y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shr": lambda x, y: x >> y,
    "max": max,
}


def each(function: Callable[..., float], *parts: torch.Tensor) -> torch.Tensor:
    """The function of every element, one at a time; parts of extent 1 are repeated."""
    parts = torch.broadcast_tensors(*parts)
    numbers = [function(*cells) for cells in zip(*(part.flatten().tolist() for part in parts), strict=True)]
    dtype = torch.float64 if any(isinstance(number, float) for number in numbers) else torch.int64
    return torch.tensor(numbers, dtype=dtype).reshape(parts[0].shape)


def scalar_like(number: float, dtype: torch.dtype) -> torch.Tensor:
    """A scalar after its conversion to a dtype: floats round, integers truncate and wrap."""
    if dtype.is_floating_point:
        return torch.tensor(float(number)).to(dtype).double()
    return wrapped(torch.tensor(math.trunc(number)), dtype)


def pairwise(lhs: Shaped, rhs: Shaped | float, result: torch.dtype, *, name: str) -> torch.Tensor:
    """Both operands in the result's dtype, then the operation."""
    left = lhs.part
    right = rhs.part if isinstance(rhs, Shaped) else scalar_like(rhs, result)
    if result.is_floating_point:
        left, right = left.double(), right.double()
    return each(BINARY[name], left, right)


for _name in ("add", "sub", "mul", "or", "xor"):
    reference(f"tile.{_name}", f"tensor.{_name}", name=_name)(
        lambda lhs, rhs, result, name, tmp=None: pairwise(lhs, rhs, result, name=name)
    )
for _name in ("add", "sub", "mul", "and", "shr"):
    reference(f"tile.{_name}s", f"tensor.{_name}s", name=_name)(pairwise)
reference("tile.divs", name="div")(pairwise)
reference("tile.maximum", "tensor.maximum", "tile.maximums", name="max")(pairwise)


@reference("tile.row_expand_add", "tensor.row_expand_add", name="add")
@reference("tile.row_expand_sub", "tensor.row_expand_sub", name="sub")
@reference("tile.row_expand_mul", "tensor.row_expand_mul", name="mul")
@reference("tile.row_expand_div", "tensor.row_expand_div", name="div")
def row_expand(
    row_vec: Shaped, result: torch.dtype, name: str, tile: Shaped | None = None, tensor: Shaped | None = None
) -> torch.Tensor:
    """out[i, j] = matrix[i, j] <op> row_vec[i, 0]"""
    matrix = tile or tensor
    assert matrix is not None
    vector = Shaped(row_vec.data, [matrix.valid[0], 1])
    return pairwise(matrix, vector, result, name=name)


@reference("tile.col_expand_add", "tensor.col_expand_add", name="add")
@reference("tile.col_expand_mul", "tensor.col_expand_mul", name="mul")
def col_expand(
    result: torch.dtype,
    name: str,
    target: Shaped | None = None,
    col_tile: Shaped | None = None,
    tensor: Shaped | None = None,
    col_vec: Shaped | None = None,
) -> torch.Tensor:
    """out[i, j] = matrix[i, j] <op> vector[0, j]"""
    matrix, vector = target or tensor, col_tile or col_vec
    assert matrix is not None
    assert vector is not None
    return pairwise(matrix, Shaped(vector.data, [1, matrix.valid[1]]), result, name=name)


@reference("tile.abs", "tensor.abs", name="abs")
@reference("tile.neg", "tensor.neg", name="neg")
@reference("tile.exp", "tensor.exp", name="exp")
@reference("tile.recip", "tensor.recip", name="recip")
@reference("tile.rsqrt", "tensor.rsqrt", name="rsqrt")
def unary(
    result: torch.dtype,
    name: str,
    tile: Shaped | None = None,
    input: Shaped | None = None,
    tmp: object = None,
) -> torch.Tensor:
    """One function of every element."""
    operand = tile or input
    assert operand is not None
    functions: dict[str, Callable[[float], float]] = {
        "abs": abs,
        "neg": lambda x: -x,
        "exp": math.exp,
        "recip": lambda x: 1.0 / x if x else math.copysign(math.inf, x),
        "rsqrt": lambda x: math.nan if x < 0 else 1.0 / math.sqrt(x) if x else math.inf,
    }
    return each(functions[name], operand.part)


@reference("tile.row_sum", "tensor.row_sum", function=sum)
@reference("tile.row_max", "tensor.row_max", function=max)
@reference("tile.row_min", "tensor.row_min", function=min)
def reduce_last(
    result: torch.dtype,
    function: Callable[[list[float]], float],
    tile: Shaped | None = None,
    input: Shaped | None = None,
    tmp_tile: object = None,
    axis: int = -1,
    keep_dim: bool = True,
) -> torch.Tensor:
    """One number for the valid elements along an axis."""
    operand = tile or input
    assert operand is not None
    rows = operand.part.movedim(axis, -1)
    numbers = [function(row) for row in rows.reshape(-1, rows.shape[-1]).tolist()]
    reduced = torch.tensor(numbers, dtype=rows.dtype).reshape(rows.shape[:-1])
    return reduced.unsqueeze(axis) if keep_dim else reduced
