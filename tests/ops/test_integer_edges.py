"""Integer division, remainders, shifts and wrap-around at the edges, written out."""

import pytest
import torch
from ops.sampled import DTYPES, emit, operand, run

SIGNED = ("INT8", "INT16", "INT32", "INT64")
UNSIGNED = ("UINT8", "UINT16", "UINT32")
LOWEST = "lowest"


def tile(numbers, dtype):
    lowest = torch.iinfo(DTYPES[dtype]).min
    return torch.tensor([lowest if n == LOWEST else n for n in numbers], dtype=DTYPES[dtype])


def computed(op, lhs, rhs, dtype, **more):
    """The op on two rows of numbers, or on a row and a scalar."""
    left = tile(lhs, dtype)
    kind = f"{dtype}[{len(lhs)}]"
    sample = {"lhs": kind, "rhs": kind if isinstance(rhs, list) else str(rhs)}
    if op.startswith(("tile.rem", "tile.xor")):
        sample["tmp"] = kind
    arguments = {"lhs": left, "tmp": left} | ({"rhs": tile(rhs, dtype)} if isinstance(rhs, list) else {})
    got = run(emit(op, sample | more), arguments)
    assert got.dtype == left.dtype
    return [LOWEST if n == torch.iinfo(got.dtype).min < 0 else n for n in got.tolist()]


DIVIDENDS = [7, -7, 7, -7, 5, -5, 0, LOWEST, LOWEST, 9, LOWEST]
DIVISORS = [2, 2, -2, -2, 0, 0, 0, -1, 1, -1, LOWEST]


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize(
    ("op", "numbers"),
    [
        ("tile.div", [3, -3, -3, 3, 0, 0, 0, LOWEST, LOWEST, -9, 1]),
        ("tensor.div", [3, -3, -3, 3, 0, 0, 0, LOWEST, LOWEST, -9, 1]),
        ("tile.fmod", [1, -1, 1, -1, 5, -5, 0, 0, 0, 0, 0]),
        ("tensor.fmod", [1, -1, 1, -1, 5, -5, 0, 0, 0, 0, 0]),
        ("tile.rem", [1, 1, -1, -1, 5, -5, 0, 0, 0, 0, 0]),
    ],
)
def test_quotients_and_remainders(op, dtype, numbers):
    assert computed(op, DIVIDENDS, DIVISORS, dtype) == numbers


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize(
    ("op", "divisor", "numbers"),
    [
        ("tile.divs", 3, [1, -1, 0]),
        ("tile.divs", -3, [-1, 1, 0]),
        ("tile.divs", 0, [0, 0, 0]),
        ("tensor.divs", -1, [-5, 5, 0]),
        ("tile.fmods", 3, [2, -2, 0]),
        ("tensor.fmods", -3, [2, -2, 0]),
        ("tile.fmods", 0, [5, -5, 0]),
        ("tile.fmods", -1, [0, 0, 0]),
        ("tile.rems", 3, [2, 1, 0]),
        ("tile.rems", -3, [-1, -2, 0]),
        ("tile.rems", 0, [5, -5, 0]),
        ("tile.rems", -1, [0, 0, 0]),
    ],
)
def test_scalar_divisors(op, dtype, divisor, numbers):
    assert computed(op, [5, -5, 0], divisor, dtype) == numbers


@pytest.mark.parametrize("op", ["tile.divs", "tile.fmods", "tile.rems"])
def test_the_lowest_integer_survives_a_divisor_known_at_run_time(op):
    sample = {"lhs": "INT32[2]", "rhs": operand("n", "INT32[1]"), "tmp": "INT32[2]"}
    sample["rhs"].shape = sample["rhs"].rank = None
    if op != "tile.rems":
        del sample["tmp"]
    lhs = torch.tensor([-(2**31), 6], dtype=torch.int32)
    wanted = {"tile.divs": [[-(2**31), -6], [0, 0]], "tile.fmods": [[0, 0], [-(2**31), 6]]}
    wanted["tile.rems"] = wanted["tile.fmods"]
    for divisor, numbers in zip((-1, 0), wanted[op], strict=True):
        assert run(emit(op, sample), {"lhs": lhs, "n": divisor}).tolist() == numbers


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_division(dtype):
    top = torch.iinfo(DTYPES[dtype]).max
    lhs, rhs = [top, top, 7, 3], [2, top, 0, top - 1]
    assert computed("tile.div", lhs, rhs, dtype) == [top // 2, 1, 0, 0]
    assert computed("tile.rem", lhs, rhs, dtype) == [1, 0, 7, 3]
    assert computed("tile.fmod", lhs, rhs, dtype) == [1, 0, 7, 3]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("namespace", ["tile", "tensor"])
def test_shifts_by_nothing_by_the_width_and_beyond(dtype, namespace):
    info = torch.iinfo(DTYPES[dtype])
    bits, top = info.bits, info.max
    numbers = [1, 5, top, LOWEST if info.min else 0, -1 if info.min else top]
    last_bit = LOWEST if info.min else 1 << (bits - 1)
    sign = -1 if info.min else 0
    left, right = {}, {}
    for count in (0, bits - 1, bits, bits + 1):
        left[count] = computed(f"{namespace}.shls", numbers, count, dtype)
        right[count] = computed(f"{namespace}.shrs", numbers, count, dtype)
        assert computed(f"{namespace}.shl", numbers, [count] * 5, dtype) == left[count]
        assert computed(f"{namespace}.shr", numbers, [count] * 5, dtype) == right[count]
    assert left[0] == right[0] == numbers
    assert left[bits - 1] == [last_bit, last_bit, last_bit, 0, last_bit]
    assert left[bits] == left[bits + 1] == [0] * 5
    assert right[bits - 1] == [0, 0, 0 if info.min else 1, sign, -1 if info.min else 1]
    assert right[bits] == right[bits + 1] == [0, 0, 0, sign, sign]


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "dtype", "numbers"),
    [
        ("tile.add", [65535, 0], [1, 65535], "UINT16", [0, 65535]),
        ("tile.sub", [3, 0], [5, 1], "UINT16", [65534, 65535]),
        ("tile.add", [200], [100], "UINT8", [44]),
        ("tile.mul", [127, -128], [2, -1], "INT8", [-2, LOWEST]),
        ("tile.subs", [LOWEST], 1, "INT32", [2**31 - 1]),
        ("tensor.muls", [2**15 - 1], 2, "INT16", [-2]),
        ("tile.shrs", [0x80000000], 1, "UINT32", [0x40000000]),
        ("tile.shls", [0x80000001], 1, "UINT32", [2]),
        ("tile.ors", [0x80], -1, "UINT8", [255]),
        ("tile.xors", [0x0F], 255, "INT8", [-16]),
        ("tile.ands", [-1], 255, "INT16", [255]),
        ("tile.maximums", [0x80000000, 5], 7, "UINT32", [0x80000000, 7]),
        ("tile.minimums", [0x80000000, 5], 7, "UINT32", [7, 5]),
        ("tile.minimum", [0x8000, 5], [7, 9], "UINT16", [7, 5]),
    ],
)
def test_integers_wrap_and_keep_their_dtype(op, lhs, rhs, dtype, numbers):
    assert computed(op, lhs, rhs, dtype) == numbers


@pytest.mark.parametrize(
    ("dtype", "numbers", "complement"),
    [
        ("INT16", [0, -1, 5], [-1, 0, -6]),
        ("UINT16", [0, 65535, 5], [65535, 0, 65530]),
        ("UINT32", [1], [2**32 - 2]),
        ("UINT8", [0, 255], [255, 0]),
    ],
)
def test_complements(dtype, numbers, complement):
    text = emit("tile.not", {"tile": f"{dtype}[{len(numbers)}]"})
    assert run(text, {"tile": tile(numbers, dtype)}).tolist() == complement


@pytest.mark.parametrize(("op", "numbers"), [("addc", [-126, 30]), ("subc", [120, -20])])
def test_three_operands(op, numbers):
    names = {"lhs": [127, 5], "rhs": [1, 20], "rhs2": [2, 5]}
    if op == "subc":
        names["lhs"] = [123, 5]
    text = emit(f"tile.{op}", dict.fromkeys(names, "INT8[2]"))
    assert run(text, {name: tile(numbers, "INT8") for name, numbers in names.items()}).tolist() == numbers


def test_a_converted_dividend_rounds_half_away():
    """16777217 is halfway between two FP32 numbers."""
    text = emit("tensor.div", {"lhs": "INT32[2]", "rhs": "FP32[2]"})
    lhs = torch.tensor([16777217, -16777217], dtype=torch.int32)
    assert run(text, {"lhs": lhs, "rhs": torch.ones(2)}).tolist() == [16777218.0, -16777218.0]


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "BF16"])
@pytest.mark.parametrize(
    ("op", "numbers"),
    [
        ("tile.fmod", [2, -2, 2, -2, -0.0]),
        ("tensor.fmod", [2, -2, 2, -2, -0.0]),
        ("tile.rem", [2, 1, -1, -2, 0]),
    ],
)
def test_remainders_of_floats(op, dtype, numbers):
    kind = f"{dtype}[5]"
    sample = {"lhs": kind, "rhs": kind} | ({"tmp": kind} if op == "tile.rem" else {})
    lhs = torch.tensor([5, -5, 5, -5, -6.0]).to(DTYPES[dtype])
    rhs = torch.tensor([3, 3, -3, -3, 3.0]).to(DTYPES[dtype])
    got = run(emit(op, sample), {"lhs": lhs, "rhs": rhs})
    assert got.dtype == DTYPES[dtype]
    assert got.tolist() == numbers


@pytest.mark.parametrize("op", ["tile.div", "tile.fmod", "tile.rem"])
def test_floats_divided_by_zero(op):
    sample = {"lhs": "FP32[3]", "rhs": "FP32[3]"} | ({"tmp": "FP32[3]"} if op == "tile.rem" else {})
    got = run(emit(op, sample), {"lhs": torch.tensor([1.0, -1, 0]), "rhs": torch.zeros(3)})
    assert str(got.tolist()) == ("[inf, -inf, nan]" if op == "tile.div" else "[nan, nan, nan]")
