"""HF8 in programs: bytes whose numbers are decoded here by hand, field by field."""

import bisect
import itertools
import math

import pytest
import torch
from codegen.builders import assign, function, load, op, ret, script, store, tensor, tile

from pypto_tmpl import ir

D, InCore = ir.DataType, ir.FunctionType.InCore
MODES = {"none": 0, "rint": 1, "round": 2, "floor": 3, "ceil": 4, "trunc": 5, "odd": 6}
TORCH = {
    D.FP32: torch.float32,
    D.FP16: torch.float16,
    D.BF16: torch.bfloat16,
    D.HF8: torch.uint8,
    D.INT16: torch.int16,
}


def decoded(code):
    """The number of a code: sign, `11`, `10`, `01`, `001`, `0001` or `0000`, then exponent and fraction."""
    if code == 0x80:
        return math.nan
    bits = f"{code:08b}"
    sign, rest = -1.0 if bits[0] == "1" else 1.0, bits[1:]
    if rest == "1101111":
        return sign * math.inf
    if rest.startswith("0000"):
        return sign * 2.0 ** (int(rest[4:], 2) - 23) if "1" in rest else 0.0
    prefix = next(prefix for prefix in ("11", "10", "01", "001", "0001") if rest.startswith(prefix))
    width = {"11": 4, "10": 3, "01": 2, "001": 1, "0001": 0}[prefix]
    exponent, fraction = rest[len(prefix) : len(prefix) + width], rest[len(prefix) + width :]
    power = int("1" + exponent[1:], 2) * (-1 if exponent[0] == "1" else 1) if exponent else 0
    return sign * (1 + int(fraction, 2) / 2 ** len(fraction)) * 2.0**power


def cast_kernel(shape, source, target, mode="rint"):
    x, out = tensor("x", shape, source), tensor("out", shape, target)
    loaded, result = tile("loaded", shape, source), tile("result", shape, target)
    converted = op("tile.cast", [loaded], result.type, target_type=target, mode=MODES[mode])
    body = [assign(loaded, load(x, [0, 0], shape)), assign(result, converted)]
    body.append(ret(store(result, [0, 0], out)))
    return script(function("kernel", [x, out], *body, type=InCore), check_shapes=True)["kernel"]


def test_landmarks_of_the_format():
    landmarks = {0x01: 2.0**-22, 0x07: 2.0**-16, 0x08: 1.0, 0x0F: 1.875, 0x10: 2.0, 0x18: 0.5, 0x6E: 32768.0}
    landmarks |= {0x7E: 2.0**-15, 0x20: 4.0, 0x40: 16.0, 0x60: 256.0, 0x88: -1.0}
    codes = torch.tensor([[*landmarks]], dtype=torch.uint8)
    got = cast_kernel([1, len(landmarks)], D.HF8, D.FP32)(codes, torch.zeros(1, len(landmarks)))
    assert got[0].tolist() == [*landmarks.values()]


@pytest.mark.parametrize("target", [D.FP32, D.FP16, D.BF16], ids=str)
def test_every_code_is_decoded(target):
    codes = torch.arange(256, dtype=torch.uint8).reshape(1, 256)
    got = cast_kernel([1, 256], D.HF8, target)(codes, torch.zeros(1, 256, dtype=TORCH[target]))
    expected = torch.tensor([[decoded(code) for code in range(256)]]).to(TORCH[target])
    assert torch.equal(got.isnan(), expected.isnan())
    assert torch.equal(got.nan_to_num(7.0), expected.nan_to_num(7.0))


SIZES = sorted((decoded(code), code) for code in range(128) if math.isfinite(decoded(code)))


def encoded(number, mode):
    """The code that a number becomes, looked up among those of its sign."""
    if number != number:
        return 0x80
    sizes, size = [size for size, _ in SIZES], min(abs(number), 32768.0)
    at = bisect.bisect_right(sizes, size) - 1
    if sizes[at] != size:
        half, last_bit = (sizes[at] + sizes[at + 1]) / 2, SIZES[at][1] & 1
        at += {
            "rint": size > half or (size == half and last_bit),
            "round": size >= half,
            "floor": number < 0,
            "ceil": number > 0,
            "trunc": False,
            "odd": not last_bit,
        }["rint" if mode == "none" else mode]
    code = SIZES[at][1]
    return code | 0x80 if number < 0 and code else code


@pytest.mark.parametrize("mode", MODES)
def test_a_cast_rounds_as_its_mode_says(mode):
    grid = [size for size, _ in SIZES]
    middle = [(low + high) / 2 for low, high in itertools.pairwise(grid)]
    numbers = [number * step for number in (*grid, *middle) for step in (1 - 2.0**-20, 1.0, 1 + 2.0**-20)]
    numbers += [40000.0, 1e30, math.inf, math.nan, 1e-30]
    numbers += [-number for number in numbers]
    x = torch.tensor([numbers])
    got = cast_kernel([1, len(numbers)], D.FP32, D.HF8, mode)(
        x, torch.zeros(1, len(numbers), dtype=torch.uint8)
    )
    assert got[0].tolist() == [encoded(number, mode) for number in x[0].tolist()]


def test_integers_are_converted_both_ways():
    numbers = [0, 1, 17, 18, -19, 300, 384, 32767, -32768]
    x = torch.tensor([numbers], dtype=torch.int16)
    codes = cast_kernel([1, 9], D.INT16, D.HF8)(x, torch.zeros(1, 9, dtype=torch.uint8))
    assert codes[0].tolist() == [encoded(number, "rint") for number in numbers]
    back = cast_kernel([1, 9], D.HF8, D.INT16, "trunc")(codes, torch.zeros(1, 9, dtype=torch.int16))
    assert back[0].tolist() == [0, 1, 16, 16, -20, 256, 384, 32767, -32768]
