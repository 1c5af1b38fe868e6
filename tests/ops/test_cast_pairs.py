"""Casts between every pair of dtypes in every mode, as the op's emitted text does them.

The expected numbers are looked up: every float code is decoded from its layout, a source number lies
between two neighbours of that list, and the mode chooses one.
"""

import itertools
from types import SimpleNamespace

import numpy
import pytest
import torch
from ops.sampled import DTYPES, emit, run

MODES = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")
LAYOUTS = {  # bits of the exponent and of the fraction, bias, codes of finite numbers without sign
    "FP16": (5, 10, 15, 0x7C00),
    "BF16": (8, 7, 127, 0x7F80),
    "FP8E4M3FN": (4, 3, 7, 0x7F),
    "FP8E5M2": (5, 2, 15, 0x7C),
}
INTEGERS = ("INT4", "UINT4", "INT8", "UINT8", "INT16", "INT32", "INT64", "UINT64")
FLOATS = ("FP32", *LAYOUTS)
PAIRS = [pair for pair in itertools.product((*FLOATS, *INTEGERS), repeat=2) if pair[0] != pair[1]]
FROM_FLOAT = [pair for pair in PAIRS if pair[0] in FLOATS]
FROM_INTEGER = [pair for pair in PAIRS if pair[0] in INTEGERS]


def magnitudes(name):
    """The numbers of a dtype from 0 up, by code, and one step beyond the largest."""
    _, fraction, bias, count = LAYOUTS[name]
    codes = numpy.arange(count + 1)
    exponents, fractions = codes >> fraction, codes & ((1 << fraction) - 1)
    leading = numpy.where(exponents == 0, 0.0, 1.0)
    return numpy.ldexp(leading + fractions / 2.0**fraction, numpy.maximum(exponents, 1) - bias)


def steps_up(mode, negative, is_even, below_half, is_half):
    """Whether a number between two neighbours goes to the one of larger magnitude."""
    if mode == "floor":
        return negative
    if mode == "ceil":
        return ~negative
    if mode == "trunc":
        return numpy.zeros_like(negative)
    if mode == "odd":
        return is_even
    nearest = ~below_half & ~is_half
    return nearest | is_half & (~is_even if mode in ("rint", "none") else True)


def to_float(numbers, name, mode):
    """What float64 numbers become in a 16-bit or 8-bit float, as float64."""
    grid = magnitudes(name)
    largest = grid[-2]
    beyond = largest if name.startswith("FP8") else numpy.inf
    size = numpy.minimum(numpy.nan_to_num(numpy.abs(numbers), nan=0.0), grid[-1])
    low = numpy.searchsorted(grid, size, side="right") - 1
    high = numpy.minimum(low + 1, len(grid) - 1)
    rest, half = size - grid[low], (grid[high] - grid[low]) / 2
    up = steps_up(mode, numpy.signbit(numbers), low % 2 == 0, rest < half, rest == half)
    result = numpy.where((rest > 0) & up, grid[high], grid[low])
    result = numpy.where(result > largest, beyond, result)
    return numpy.copysign(numpy.where(numpy.isnan(numbers), numpy.nan, result), numbers)


NIBBLES = {"INT4": SimpleNamespace(min=-8, max=7), "UINT4": SimpleNamespace(min=0, max=15)}


def limits(name):
    return NIBBLES.get(name) or torch.iinfo(DTYPES[name])


def to_integer(numbers, name, mode):
    """What float64 numbers become in an integer dtype, as Python integers."""
    info = limits(name)
    numbers = numpy.clip(numpy.nan_to_num(numbers, nan=0.0), -(2.0**70), 2.0**70)
    size = numpy.abs(numbers)
    whole = numpy.floor(size)
    rest = size - whole
    is_even = whole % 2 == 0
    if mode == "odd":
        up = (rest > 0.5) | (rest == 0.5) & is_even
    else:
        chosen = "trunc" if mode == "none" else mode
        up = (rest > 0) & steps_up(chosen, numpy.signbit(numbers), is_even, rest < 0.5, rest == 0.5)
    rounded = numpy.copysign(whole + up, numbers)
    return [min(max(int(number), info.min), info.max) for number in rounded.tolist()]


def with_neighbours(numbers):
    """FP32 numbers with those just below and above, of both signs."""
    middle = numpy.asarray(numbers, dtype=numpy.float32)
    up, down = numpy.nextafter(middle, numpy.float32("inf")), numpy.nextafter(middle, -numpy.float32("inf"))
    return numpy.unique(numpy.concatenate([middle, up, down, -middle, -up, -down]).view(numpy.int32))


def sweep(target):
    """FP32 numbers on and around every rounding boundary of the target dtype."""
    special = [0.0, numpy.inf, 1e-45, 1e-38, 3e38, *(2.0 ** numpy.arange(-140, 128))]
    if target in LAYOUTS:
        grid = magnitudes(target)
        numbers = [*special, *grid, *((grid[:-1] + grid[1:]) / 2)]
    else:
        halves = numpy.arange(0, 700) / 2
        numbers = [*special, *halves]
        for power in (8, 15, 16, 22, 23, 24):
            numbers += [*(2.0**power + halves), *(2.0**power - halves)]
    bits = with_neighbours([number for number in numbers if number <= 3.4e38 or number == numpy.inf])
    return torch.cat([torch.from_numpy(bits).view(torch.float32), torch.tensor([-0.0, torch.nan])])


def sources(source, target):
    """All numbers of a dtype of at most 16 bits; of a longer one those around the boundaries."""
    dtype = DTYPES[source]
    if source in NIBBLES:
        return torch.arange(limits(source).min, limits(source).max + 1).to(dtype)
    if source == "FP32":
        return sweep(target)
    if dtype.itemsize < 4:
        count = 1 << 8 * dtype.itemsize
        carrier = torch.uint8 if dtype.itemsize == 1 else torch.int16
        return torch.arange(-(count // 2), count // 2).to(carrier).view(dtype)
    info = torch.iinfo(dtype)
    anchors = {
        sign * (1 << power) + step for power in range(64) for step in range(-9, 10) for sign in (1, -1)
    }
    anchors |= {
        sign * (1 << p | 1 << q | r) for p in range(64) for q in range(p) for r in (0, 1) for sign in (1, -1)
    }
    anchors |= {info.min, info.max, info.max - 1}
    return torch.tensor(sorted(n for n in anchors if info.min <= n <= info.max), dtype=dtype)


def cast(x, source, target, mode):
    kind = f"{source}[1, {x.numel()}]"
    got = run(
        emit("tile.cast", {"tile": kind, "target_type": target, "mode": mode}), {"tile": x.reshape(1, -1)}
    )
    assert got.dtype == DTYPES[target]
    return got[0]


def assert_same_floats(x, got, want):
    got, want = got.double().numpy(), numpy.asarray(want)
    same = (got == want) & (numpy.signbit(got) == numpy.signbit(want)) | numpy.isnan(got) & numpy.isnan(want)
    wrong = numpy.flatnonzero(~same)[:5]
    assert not len(wrong), [(x[i].item(), got[i], want[i]) for i in wrong]


def with_bits(number, significant, mode):
    """What an integer becomes in a float with so many significant bits."""
    size = abs(number)
    drop = max(size.bit_length() - significant, 0)
    low, rest = size >> drop, size & ((1 << drop) - 1)
    flags = (number < 0, low % 2 == 0, 2 * rest < 1 << drop, 2 * rest == 1 << drop)
    up = rest > 0 and bool(steps_up(mode, *(numpy.bool_(flag) for flag in flags)))
    return float((low + up) << drop) * (-1 if number < 0 else 1)


@pytest.mark.parametrize(("source", "target"), FROM_FLOAT)
def test_from_a_float(source, target):
    x = sources(source, target)
    numbers = x.double().numpy()
    for mode in MODES:
        got = cast(x, source, target, mode)
        if target in INTEGERS:
            want = to_integer(numbers, target, mode)
            assert got.tolist() == want, mode
        else:
            assert_same_floats(x, got, numbers if target == "FP32" else to_float(numbers, target, mode))


@pytest.mark.parametrize(("source", "target"), FROM_INTEGER)
def test_from_an_integer(source, target):
    x = sources(source, target)
    numbers = x.tolist()
    for mode in MODES:
        got = cast(x, source, target, mode)
        if target in ("FP32", "BF16"):
            significant = 24 if target == "FP32" else 8
            assert_same_floats(x, got, [with_bits(number, significant, mode) for number in numbers])
        elif target in LAYOUTS:  # what float64 cannot tell apart is far out of range
            assert_same_floats(x, got, to_float(numpy.array(numbers, dtype=numpy.float64), target, mode))
        else:
            info = limits(target)
            span = info.max - info.min + 1
            assert got.tolist() == [(number - info.min) % span + info.min for number in numbers], mode


@pytest.mark.parametrize("name", LAYOUTS)
def test_torch_holds_the_numbers_of_the_layout(name):
    grid = magnitudes(name)[:-1]
    codes = torch.arange(len(grid)).to(torch.uint8 if DTYPES[name].itemsize == 1 else torch.int16)
    assert codes.view(DTYPES[name]).double().tolist() == grid.tolist()


@pytest.mark.parametrize("name", ["FP8E4M3FN", "FP8E5M2"])
def test_every_8_bit_code_survives_the_way_through_a_wider_float(name):
    codes = torch.arange(256).to(torch.uint8)
    x = codes.view(DTYPES[name])
    is_finite = x.float().isfinite()
    for wide, mode in itertools.product(("FP32", "FP16", "BF16"), MODES):
        back = cast(cast(x, name, wide, mode), wide, name, mode)
        assert torch.equal(back.view(torch.uint8)[is_finite], codes[is_finite])
        assert bool(back.float().isnan()[x.float().isnan()].all())
