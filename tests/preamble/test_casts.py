"""Conversions with a rounding mode. Expected values come from exact fractions."""

import math
from fractions import Fraction

import pytest
import torch
from preamble.rendered import Script

INF, NAN = float("inf"), float("nan")
MODES = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]
FLOATS = {  # significant bits, exponent of the smallest normal number, largest number
    torch.float16: (11, -14, 65504.0),
    torch.bfloat16: (8, -126, torch.finfo(torch.bfloat16).max),
    torch.float32: (24, -126, torch.finfo(torch.float32).max),
    torch.float8_e4m3fn: (4, -6, 448.0),
    torch.float8_e5m2: (3, -14, 57344.0),
}


@pytest.fixture(scope="module")
def script():
    return Script(("casts",))


def integral(x, mode, *, sticky_odd=False):
    """The integer that a fraction becomes, from the definition of the mode."""
    low = math.floor(x)
    rest = x - low
    if rest == 0:
        return low
    odd = low if low % 2 else low + 1
    toward_zero = low if x > 0 else low + 1
    away = low + 1 if x > 0 else low
    nearest = low if rest < Fraction(1, 2) else low + 1
    is_tie = rest == Fraction(1, 2)
    return {
        "none": toward_zero,
        "rint": (low if low % 2 == 0 else low + 1) if is_tie else nearest,
        "round": away if is_tie else nearest,
        "floor": low,
        "ceil": low + 1,
        "trunc": toward_zero,
        "odd": odd if is_tie or sticky_odd else nearest,
    }[mode]


def narrowed(value, dtype, mode):
    """The number that a float becomes in a dtype, from its layout."""
    if math.isnan(value) or value == 0:
        return value
    significant, smallest, largest = FLOATS[dtype]
    if math.isinf(value):
        is_big = True
    else:
        x = Fraction(value)
        exponent = max(math.frexp(value)[1] - 1, smallest)
        quantum = Fraction(2) ** (exponent - significant + 1)
        mode = "rint" if mode == "none" else mode
        rounded = integral(x / quantum, mode, sticky_odd=mode == "odd") * quantum
        is_big = abs(rounded) > Fraction(largest)
    if is_big:
        saturates = dtype.itemsize == 1
        return math.copysign(largest if saturates else INF, value)
    return math.copysign(float(rounded), value)


def same(got, want):
    """Equal bit for bit, except that one NaN is as good as another."""
    return len(got) == len(want) and all(
        (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
        for a, b in zip(got, want, strict=True)
    )


def interesting(dtype):
    """Neighbours of numbers of a dtype, ties between them, its edges, and what lies beyond."""
    significant, smallest, largest = FLOATS[dtype]
    values = [0.0, -0.0, INF, -INF, NAN, 1e-45, 0.1, 1 / 3, 255.99, 3.3e38]
    for exponent in (0, 5, -3, smallest, smallest - 2, smallest - significant, smallest - significant + 1):
        quantum = 2.0 ** (max(exponent, smallest) - significant + 1)
        base = 2.0**exponent
        for steps in (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3.5):
            values.append(base + steps * quantum)
    last = 2.0 ** (math.frexp(largest)[1] - significant)
    values += [largest + steps * last for steps in (-1, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5)]
    values += [-value for value in values]
    as_float32 = torch.tensor(values, dtype=torch.float64).float().tolist()
    return torch.tensor(as_float32)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [dtype for dtype in FLOATS if dtype != torch.float32], ids=str)
def test_narrowing_rounds_once_as_the_mode_says(script, dtype, mode):
    x = interesting(dtype)
    converted = script["_cast_narrow"](x, dtype, mode)
    assert converted.dtype == dtype
    assert same(converted.double().tolist(), [narrowed(value, dtype, mode) for value in x.tolist()])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_rint_agrees_with_torch(script, dtype):
    generator = torch.Generator().manual_seed(7)
    x = torch.randint(-(2**31), 2**31, (20000,), generator=generator).int().view(torch.float32)
    assert same(script["_cast_narrow"](x, dtype, "rint").tolist(), x.to(dtype).tolist())


@pytest.mark.parametrize("source", [torch.float16, torch.bfloat16], ids=str)
def test_between_the_16_bit_floats(script, source):
    target = torch.bfloat16 if source == torch.float16 else torch.float16
    bits = torch.arange(-(2**15), 2**15, 23).to(torch.int16)
    x = bits.view(source)
    for mode in MODES:
        want = [narrowed(value, target, mode) for value in x.double().tolist()]
        assert same(script["_cast_narrow"](x, target, mode).double().tolist(), want)


@pytest.mark.parametrize(
    ("mode", "numbers"),
    [
        ("rint", [1.015625, -1.015625]),
        ("round", [1.0234375, -1.0234375]),
        ("floor", [1.015625, -1.0234375]),
        ("ceil", [1.0234375, -1.015625]),
        ("trunc", [1.015625, -1.015625]),
        ("odd", [1.0234375, -1.0234375]),
    ],
)
def test_a_tie_in_bf16(script, mode, numbers):
    x = torch.tensor([1.01953125, -1.01953125])
    assert script["_cast_narrow"](x, torch.bfloat16, mode).tolist() == numbers


@pytest.mark.parametrize(
    ("mode", "numbers"),
    [
        ("rint", [2, -2, 0, 2]),
        ("round", [3, -3, 1, 2]),
        ("floor", [2, -3, 0, 1]),
        ("ceil", [3, -2, 1, 2]),
        ("trunc", [2, -2, 0, 1]),
        ("none", [2, -2, 0, 1]),
        ("odd", [3, -3, 1, 1]),
    ],
)
def test_ties_in_int32(script, mode, numbers):
    converted = script["_cast_to_int"](torch.tensor([2.5, -2.5, 0.5, 1.5]), torch.int32, mode)
    assert converted.dtype == torch.int32
    assert converted.tolist() == numbers


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype",
    [torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64],
    ids=str,
)
def test_floats_round_then_saturate(script, dtype, mode):
    info = torch.iinfo(dtype)
    edges = [float(info.min), float(info.max)]
    values = [edge + step for edge in edges for step in (-2, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)]
    values += [0.49999997, 0.5, 0.50000006, 1.5, 8388607.5, 16777217.0, 1e10, 3e38, INF]
    x = torch.tensor([*values, *(-value for value in values), NAN, 0.0])
    want = [
        0 if math.isnan(value)
        else info.min if value == -INF
        else info.max if value == INF
        else min(max(integral(Fraction(value), mode), info.min), info.max)
        for value in x.tolist()
    ]  # fmt: skip
    assert script["_cast_to_int"](x, dtype, mode).tolist() == want


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("source", [torch.int16, torch.int32, torch.uint32, torch.int64], ids=str)
def test_integers_round_once_as_the_mode_says(script, source, target, mode):
    info = torch.iinfo(source)
    anchors = [1, 255, 257, 2049, 65503, 65520, 2**24 + 1, 2**24 + 2, 2**24 + 3, 2**25 + 6, 2**31 - 1]
    anchors += [2**53 + 1, 2**60 + 2**36, 2**60 + 2**36 + 1, 2**60 + 3 * 2**36 - 1, 2**62 + 1]
    numbers = {n for anchor in anchors for n in (anchor, -anchor)} | {0, info.min, info.max}
    values = sorted(n for n in numbers if info.min <= n <= info.max)
    x = torch.tensor(values, dtype=torch.int64).to(source)
    want = [narrowed_integer(value, target, mode) for value in values]
    assert script["_cast_int_to_float"](x, target, mode).double().tolist() == want


def narrowed_integer(value, dtype, mode):
    """`narrowed` for an integer, which need not be a float itself."""
    significant, _, largest = FLOATS[dtype]
    quantum = Fraction(2) ** max(abs(value).bit_length() - significant, -200)
    mode = "rint" if mode == "none" else mode
    rounded = integral(value / quantum, mode, sticky_odd=mode == "odd") * quantum
    return float(rounded) if abs(rounded) <= largest else math.copysign(INF, value)


def test_int32_to_fp32_honours_the_mode(script):
    x = torch.tensor([16777217, -16777217], dtype=torch.int32)
    converted = {mode: script["_cast_int_to_float"](x, torch.float32, mode).tolist() for mode in MODES}
    assert converted["rint"] == [16777216.0, -16777216.0]
    assert converted["round"] == [16777218.0, -16777218.0]
    assert converted["floor"] == [16777216.0, -16777218.0]
    assert converted["ceil"] == [16777218.0, -16777216.0]
    assert converted["trunc"] == [16777216.0, -16777216.0]
