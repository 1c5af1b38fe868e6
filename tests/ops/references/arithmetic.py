"""Elementwise ops and broadcasts."""

import itertools
import math
from collections.abc import Callable

import torch
from ops.references.registry import Shaped, reference, wrapped


def quotient(x: float, y: float) -> float:
    """x / y; integers toward zero, and 0 where the divisor is 0."""
    if isinstance(x, int):
        return (abs(x) // abs(y)) * (-1 if (x < 0) != (y < 0) else 1) if y else 0
    if y == 0 and not math.isnan(x) and x != 0:
        return math.copysign(math.inf, x) * math.copysign(1, y)
    return x / y if y else math.nan


def remainder(x: float, y: float) -> float:
    """x - floor(x / y) * y: the divisor's sign; an integer itself where the divisor is 0."""
    if isinstance(x, int):
        return x % y if y else x
    return x % y if y and math.isfinite(x) else math.nan


def fmod(x: float, y: float) -> float:
    """x - trunc(x / y) * y: the dividend's sign; an integer itself where the divisor is 0."""
    if isinstance(x, int):
        return x - int(quotient(x, y)) * int(y)
    return math.fmod(x, y) if y and math.isfinite(x) else math.nan


def greater(x: float, y: float) -> float:
    """The greater of two numbers; NaN where one of them is."""
    return math.nan if math.isnan(x) or math.isnan(y) else max(x, y)


def lesser(x: float, y: float) -> float:
    """The lesser of two numbers; NaN where one of them is."""
    return math.nan if math.isnan(x) or math.isnan(y) else min(x, y)


BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": quotient,
    "rem": remainder,
    "fmod": fmod,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x << y,
    "shr": lambda x, y: x >> y,
    "max": greater,
    "min": lesser,
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


def held(number: float, dtype: torch.dtype) -> torch.Tensor:
    """A scalar that is stored, compared with or a bound: as scalar_like, but integers saturate."""
    if dtype.is_floating_point:
        return scalar_like(number, dtype)
    info = torch.iinfo(dtype)
    return torch.tensor(min(max(math.trunc(number), info.min), min(info.max, 2**63 - 1)))


WRAPPING = ("add", "sub", "mul", "and", "or", "xor", "shl", "shr")


def pairwise(
    lhs: Shaped, rhs: Shaped | float, result: torch.dtype, *, name: str, **ignored: object
) -> torch.Tensor:
    """Both operands in the result's dtype, then the operation; `tmp` is a workspace."""
    left = lhs.part
    scalar = scalar_like if name in WRAPPING else held
    right = rhs.part if isinstance(rhs, Shaped) else scalar(rhs, result)
    if result.is_floating_point:
        left, right = left.to(result).double(), right.to(result).double()
    if name == "expdif":
        return each(math.exp, each(BINARY["sub"], left, right).to(result).double())
    return each(BINARY[name], left, right)


@reference("tile.div", "tensor.div")
def divided(lhs: Shaped, rhs: Shaped, result: torch.dtype, **ignored: object) -> torch.Tensor:
    """Integers under a float, or over one, become floats by the mode round before they are divided."""
    left, right = (in_mode_round(side.part, result) for side in (lhs, rhs))
    return each(quotient, left, right)


def in_mode_round(part: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers in a dtype; integers become FP32 with ties away from zero."""
    if part.dtype == torch.float64 or dtype != torch.float32:
        return part
    return each(lambda x: float(rounded_to_bits(int(x), 24)), part)


def rounded_to_bits(number: int, bits: int) -> int:
    """An integer of that many significant bits, half of the last one rounded away from zero."""
    dropped = max(abs(number).bit_length() - bits, 0)
    magnitude = (abs(number) + (1 << dropped >> 1)) >> dropped << dropped
    return magnitude if number >= 0 else -magnitude


for _name in ("add", "sub", "mul", "fmod", "and", "or", "xor", "shl", "shr"):
    reference(f"tile.{_name}", f"tensor.{_name}", name=_name)(pairwise)
    reference(f"tile.{_name}s", f"tensor.{_name}s", name=_name)(pairwise)
reference("tile.divs", "tensor.divs", name="div")(pairwise)
reference("tile.rem", "tile.rems", name="rem")(pairwise)
reference("tile.maximum", "tensor.maximum", "tile.maximums", name="max")(pairwise)
reference("tile.minimum", "tensor.minimum", "tile.minimums", name="min")(pairwise)


@reference("tile.addc", "tile.addsc", sign=1)
@reference("tile.subc", "tile.subsc", sign=-1)
def three(lhs: Shaped, rhs: Shaped | float, rhs2: Shaped, result: torch.dtype, sign: int) -> torch.Tensor:
    """lhs + rhs + rhs2, or lhs - rhs - rhs2; rounded after each step, as the operators stand."""
    first = pairwise(lhs, rhs, result, name="add" if sign > 0 else "sub")
    stepped = first.to(result) if result.is_floating_point else wrapped(first, result)
    whole = Shaped(stepped.double() if result.is_floating_point else stepped, [*stepped.shape])
    return pairwise(whole, rhs2, result, name="add" if sign > 0 else "sub")


OPERATIONS = ("add", "sub", "mul", "div", "max", "min", "expdif")


def row_expand(
    row_vec: Shaped,
    result: torch.dtype,
    name: str,
    tile: Shaped | None = None,
    tensor: Shaped | None = None,
    tmp: object = None,
) -> torch.Tensor:
    """out[i, j] = matrix[i, j] <op> row_vec[i, j mod C], C being the columns of row_vec: 1, or of a block"""
    matrix = tile or tensor
    assert matrix is not None
    count = row_vec.valid[1]
    rows = row_vec.data[: matrix.valid[0]].tolist()
    repeated = [[row[j % count] for j in range(matrix.valid[1])] for row in rows]
    numbers = torch.tensor(repeated, dtype=row_vec.part.dtype).reshape(matrix.valid)
    return pairwise(matrix, Shaped(numbers, matrix.valid), result, name=name)


for _name in OPERATIONS:
    reference(f"tile.row_expand_{_name}", f"tensor.row_expand_{_name}", name=_name)(row_expand)


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


for _name in OPERATIONS:
    reference(f"tile.col_expand_{_name}", f"tensor.col_expand_{_name}", name=_name)(col_expand)


@reference("tile.row_expand", "tensor.row_expand", "tile.col_expand", "tensor.col_expand")
def vector_alone(
    result: torch.dtype,
    target: Shaped | None = None,
    tensor: Shaped | None = None,
    row_vec: Shaped | None = None,
    col_tile: Shaped | None = None,
    col_vec: Shaped | None = None,
) -> torch.Tensor:
    """out[i, j] = row_vec[i, 0], or vector[0, j]"""
    matrix, vector = target or tensor, row_vec or col_tile or col_vec
    assert matrix is not None
    assert vector is not None
    rows, columns = matrix.valid
    numbers = vector.data.tolist()
    repeated = [
        [numbers[i if row_vec else 0][0 if row_vec else j] for j in range(columns)] for i in range(rows)
    ]
    return torch.tensor(repeated, dtype=vector.part.dtype)


@reference("tile.expands", "tensor.expands")
def expands(target: Shaped, scalar: float, result: torch.dtype) -> torch.Tensor:
    """out[...] = scalar"""
    return held(scalar, result).expand(target.valid)


@reference("tensor.expand_clone")
def expand_clone(input: Shaped, target: Shaped, **ignored: object) -> torch.Tensor:
    """out[i, j, k] = input[i, j, k], 0 standing for the index along the axis of extent 1"""
    source, shape = input.part, target.data.shape
    out = torch.zeros(shape, dtype=source.dtype)
    for cell in itertools.product(*map(range, shape)):
        place = [0 if extent == 1 else i for i, extent in zip(cell, source.shape, strict=True)]
        out[cell] = source[tuple(place)]
    return out


@reference("tile.abs", "tensor.abs", name="abs")
@reference("tile.neg", "tensor.neg", name="neg")
@reference("tile.exp", "tensor.exp", name="exp")
@reference("tile.recip", "tensor.recip", name="recip")
@reference("tile.rsqrt", "tensor.rsqrt", name="rsqrt")
@reference("tile.sqrt", "tensor.sqrt", name="sqrt")
@reference("tile.log", "tensor.log", name="log")
@reference("tile.sin", "tensor.sin", name="sin")
@reference("tile.cos", "tensor.cos", name="cos")
@reference("tile.relu", name="relu")
@reference("tile.not", "tensor.not", name="not")
def unary(
    result: torch.dtype,
    name: str,
    tile: Shaped | None = None,
    input: Shaped | None = None,
    **ignored: object,
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
        "sqrt": lambda x: math.nan if x < 0 else math.sqrt(x),
        "log": lambda x: math.nan if x < 0 else math.log(x) if x else -math.inf,
        "sin": math.sin,
        "cos": math.cos,
        "relu": lambda x: x if x > 0 else type(x)(0),
        "not": lambda x: int(not x) if operand.data.dtype == torch.bool else -1 - x,
    }
    part = operand.part
    if not operand.data.dtype.is_floating_point and result.is_floating_point:
        part = part.to(result).double()
    return each(functions[name], part)


@reference("tile.prelu", "tile.lrelu")
def sloped(tile: Shaped, slope: Shaped | float, **ignored: object) -> torch.Tensor:
    """x where it is greater than 0, else x * slope, a scalar being an FP32 constant"""
    slopes = slope.part if isinstance(slope, Shaped) else scalar_like(slope, torch.float32)
    return each(lambda x, y: x if x > 0 else x * y, tile.part, slopes)
