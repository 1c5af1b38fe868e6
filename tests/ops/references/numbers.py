"""New values and conversions."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import torch
from ops.references.arithmetic import held
from ops.references.registry import Shaped, reference, wrapped


@reference("tile.create", "tensor.create", "tensor.create_l1")
def create(
    shape: list[int], result: torch.dtype, init_value: float | None = None, **ignored: object
) -> torch.Tensor:
    """Zeros, or the initial value."""
    return torch.zeros(shape).double() + float(held(init_value or 0, result))


@reference("tile.full", "tensor.full")
def full(shape: list[int], value: float, dtype: str, result: torch.dtype) -> torch.Tensor:
    """One value everywhere, in the dtype."""
    return torch.zeros(shape).double() + float(held(value, result))


@reference("tile.ci", "tensor.ci")
def ci(
    start: int, shape: list[int], result: torch.dtype, dtype: str = "INT32", descending: bool = False
) -> torch.Tensor:
    """out[0, k] = start + k, or start - k"""
    step = -1 if descending else 1
    return wrapped(torch.tensor([start + step * k for k in range(shape[-1])]), result).reshape(shape)


def rounded(x: Fraction, mode: str, *, to_odd: bool) -> int:
    """The integer that a number becomes."""
    low = math.floor(x)
    rest = x - low
    if rest == 0:
        return low
    half = Fraction(1, 2)
    if mode == "odd":
        odd = low + 1 - low % 2
        return odd if to_odd or rest == half else low + (rest > half)
    if mode in ("rint", "round"):
        even = low + low % 2
        away = low + 1 if x > 0 else low
        return low + (rest > half) if rest != half else even if mode == "rint" else away
    return {"floor": low, "ceil": low + 1}.get(mode, math.trunc(x))


SIGNIFICANT_BITS = {torch.float16: (11, -14), torch.bfloat16: (8, -126), torch.float32: (24, -126)}
SIGNIFICANT_BITS |= {torch.float8_e4m3fn: (4, -6), torch.float8_e5m2: (3, -14)}


@reference("tile.cast", "tensor.cast")
def cast(
    target_type: str,
    mode: str,
    result: torch.dtype,
    tile: Shaped | None = None,
    input: Shaped | None = None,
) -> torch.Tensor:
    """Every element converted by itself, in exact arithmetic."""
    operand = tile or input
    assert operand is not None
    numbers = [
        cast_one(number, operand.data.dtype, result, mode, target_type)
        for number in operand.part.flatten().tolist()
    ]
    dtype = torch.float64 if result.is_floating_point else torch.int64
    return torch.tensor(numbers, dtype=dtype).reshape(operand.part.shape)


def cast_one(number: float, source: torch.dtype, result: torch.dtype, mode: str, target_type: str) -> float:
    """One element converted."""
    if not result.is_floating_point:
        info = torch.iinfo(result)
        if target_type.endswith("INT4"):
            info = (
                SimpleNamespace(min=0, max=15) if target_type == "UINT4" else SimpleNamespace(min=-8, max=7)
            )
        if not source.is_floating_point:
            return (int(number) - info.min) % (info.max - info.min + 1) + info.min
        if math.isnan(number):
            return 0
        if math.isinf(number):
            return info.max if number > 0 else info.min
        return min(max(rounded(Fraction(number), mode, to_odd=False), info.min), info.max)
    is_fp4 = target_type == "FP4"
    largest = 6.0 if is_fp4 else torch.finfo(result).max
    beyond = largest if result.itemsize == 1 else math.inf
    if is_fp4 and math.isnan(number):
        return 0.0
    if math.isinf(number):
        return math.copysign(beyond, number)
    if math.isnan(number) or number == 0:
        return float(number)
    significant, smallest = (2, 0) if is_fp4 else SIGNIFICANT_BITS[result]
    exponent = max(math.frexp(number)[1] - 1, smallest)
    quantum = Fraction(2) ** (exponent - significant + 1)
    mode = "rint" if mode == "none" else mode
    converted = rounded(Fraction(number) / quantum, mode, to_odd=True) * quantum
    if abs(converted) > Fraction(largest):
        return math.copysign(beyond, number)
    return math.copysign(float(converted), number)


@reference("tile.tri")
def tri(
    diagonal: int, shape: list[int], result: torch.dtype, upper: bool = False, **ignored: object
) -> torch.Tensor:
    """1 where j <= i + diagonal, or j >= i + diagonal; else 0"""
    rows, columns = shape
    inside = [
        [j >= i + diagonal if upper else j <= i + diagonal for j in range(columns)] for i in range(rows)
    ]
    return torch.tensor(inside).to(torch.float64 if result.is_floating_point else torch.int64)


def philox(counter: int, key: tuple[int, int], rounds: int) -> int:
    """Word 0 of Philox 4x32 (Salmon et al., 2011) at a 128-bit counter."""
    words = [counter >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    for _ in range(rounds):
        left, right = divmod(0xD2511F53 * words[0], 2**32), divmod(0xCD9E8D57 * words[2], 2**32)
        words = [right[0] ^ words[1] ^ key[0], right[1], left[0] ^ words[3] ^ key[1], left[1]]
        key = ((key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32)
    return words[0]


@reference("tile.random", "tensor.random")
def random(
    key0: int, key1: int, shape: list[int], result: torch.dtype, rounds: int = 10, **operands: Any
) -> torch.Tensor:
    """out[i, j] = word 0 at counter + i * ceil(columns / 4) + j"""
    start = sum((operands[f"counter{word}"] % 2**32) << 32 * word for word in range(4))
    rows, columns = shape
    key = (key0 % 2**32, key1 % 2**32)
    words = [
        [philox(start + i * math.ceil(columns / 4) + j, key, rounds) for j in range(columns)]
        for i in range(rows)
    ]
    return wrapped(torch.tensor(words), result)
