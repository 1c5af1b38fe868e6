"""FP4 in programs: packed two in a byte in tensors, exact in tiles. The codes are decoded here by hand."""

import itertools

import pytest
import torch
from codegen.builders import (
    U,
    assign,
    function,
    load,
    op,
    program,
    ret,
    run,
    scalar,
    script,
    store,
    tensor,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

D, InCore = ir.DataType, ir.FunctionType.InCore
NUMBERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
NUMBERS += [-number for number in NUMBERS]  # by code: a sign, two bits of exponent, one of fraction
MODES = {"none": 0, "rint": 1, "round": 2, "floor": 3, "ceil": 4, "trunc": 5, "odd": 6}


def packed(codes):
    """Rows of codes as torch holds them, the first of two in the low half of a byte."""
    rows = [[low | high << 4 for low, high in zip(row[::2], row[1::2], strict=True)] for row in codes]
    return torch.tensor(rows, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


def codes_of(x):
    """The codes of a packed tensor, row by row."""
    return [[code for byte in row for code in (byte & 15, byte >> 4)] for row in x.view(torch.uint8).tolist()]


def cast_kernel(shape, source, target, mode="rint"):
    x, out = tensor("x", shape, source), tensor("out", shape, target)
    loaded, result = tile("loaded", shape, source), tile("result", shape, target)
    converted = op("tile.cast", [loaded], result.type, target_type=target, mode=MODES[mode])
    body = [assign(loaded, load(x, [0, 0], shape)), assign(result, converted)]
    body.append(ret(store(result, [0, 0], out)))
    return script(function("kernel", [x, out], *body, type=InCore), check_shapes=True)["kernel"]


@pytest.mark.parametrize("target", [D.BF16, D.FP16, D.FP32], ids=str)
def test_every_pair_of_codes_is_decoded(target):
    pairs = [list(pair) for pair in itertools.product(range(16), repeat=2)]
    dtype = {D.BF16: torch.bfloat16, D.FP16: torch.float16, D.FP32: torch.float32}[target]
    got = cast_kernel([256, 2], D.FP4, target)(packed(pairs), torch.zeros(256, 2, dtype=dtype))
    expected = torch.tensor([[NUMBERS[low], NUMBERS[high]] for low, high in pairs], dtype=dtype)
    assert torch.equal(got, expected)
    assert torch.equal(got.signbit(), expected.signbit())


def test_every_number_is_encoded_as_its_code():
    x = torch.tensor([NUMBERS], dtype=torch.bfloat16)
    got = cast_kernel([1, 16], D.BF16, D.FP4)(x, packed([[0] * 16]))
    assert codes_of(got) == [list(range(16))]


def rounded(number, mode):
    """The code of the number that a number becomes, looked up among the eight of a sign."""
    if number != number:
        return 0
    negative, size = number < 0 or str(number) == "-0.0", min(abs(number), 6.0)
    low = max(code for code in range(8) if NUMBERS[code] <= size)
    if NUMBERS[low] == size:
        return low + 8 * negative
    half = (NUMBERS[low] + NUMBERS[low + 1]) / 2
    nearest = low + (size > half)
    code = {
        "rint": low + low % 2 if size == half else nearest,
        "round": low + 1 if size == half else nearest,
        "floor": low + negative,
        "ceil": low + (not negative),
        "trunc": low,
        "odd": low + 1 - low % 2,
    }["rint" if mode == "none" else mode]
    return code + 8 * negative


@pytest.mark.parametrize("mode", MODES)
def test_a_cast_rounds_as_its_mode_says(mode):
    grid = NUMBERS[:8]
    middle = [(low + high) / 2 for low, high in itertools.pairwise(grid)]
    around = [number + step for number in (*grid, *middle) for step in (-0.0078125, 0.0, 0.0078125)]
    numbers = [*around, 5.0, 7.0, 1e30, float("inf"), float("nan"), 1e-30, 0.0]
    numbers += [-number for number in numbers]
    x = torch.tensor([numbers])
    got = cast_kernel([1, len(numbers)], D.FP32, D.FP4, mode)(x, packed([[0] * len(numbers)]))
    assert codes_of(got) == [[rounded(number, mode) for number in x[0].tolist()]]


@pytest.mark.parametrize("offset", [[1, 4], [0, 5], [2, -3], [3, 11]])
@pytest.mark.parametrize("valid", [[2, 6], [2, 3], [1, 0]])
def test_windows_count_numbers_also_odd_ones(offset, valid):
    """A part of x is written into out, of which all other numbers stay."""
    x, out = tensor("x", [4, 16], D.FP4), tensor("out", [4, 16], D.FP4)
    part = tile("part", [2, 6], D.FP4, valid)
    fetched = load(x, [1, 3], [2, 6], valid)
    body = [assign(part, ir.Call(fetched.op, fetched.args, fetched.kwargs, part.type, U))]
    kernel = script(function("kernel", [x, out], *body, ret(store(part, offset, out)), type=InCore))["kernel"]
    source = [[(5 * row + column) % 16 for column in range(16)] for row in range(4)]
    expected = [[9] * 16 for _ in range(4)]
    for row, column in itertools.product(range(valid[0]), range(valid[1])):
        down, right = offset[0] + row, offset[1] + column
        if 0 <= down < 4 and 0 <= right < 16:
            expected[down][right] = source[1 + row][3 + column]
    target = packed([[9] * 16] * 4)
    assert kernel(packed(source), target) is target
    assert codes_of(target) == expected


def test_an_extent_that_is_read_off_a_packed_tensor_counts_numbers():
    n = ir.Var("n", ir.ScalarType(D.INDEX), U)
    x = tensor("x", [4, n], D.FP4)
    text = torch_codegen(program(function("kernel", [x], ret(n))))
    assert run(text)["kernel"](packed([[0] * 6] * 4)) == 6


def test_moved_and_sliced_numbers_stay_what_they_are():
    x, out = tensor("x", [2, 16], D.FP4), tensor("out", [2, 8], D.FP4)
    loaded, moved = tile("loaded", [2, 16], D.FP4), tile("moved", [2, 16], D.FP4)
    half = tile("half", [2, 8], D.FP4)
    body = [
        assign(loaded, load(x, [0, 0], [2, 16])),
        assign(moved, op("tile.move", [loaded], moved.type, target_memory=ir.MemorySpace.Vec)),
        assign(half, op("tile.slice", [moved, [2, 8], [0, 8]], half.type)),
        ret(store(half, [0, 0], out)),
    ]
    kernel = script(function("kernel", [x, out], *body, type=InCore), check_shapes=True)["kernel"]
    assert codes_of(kernel(packed([[*range(16)], [*range(15, -1, -1)]]), packed([[0] * 8] * 2))) == [
        [*range(8, 16)],
        [*range(7, -1, -1)],
    ]


def made(call, type_, *params, kind=InCore):
    """A function that returns what a call of an op on its parameters yields."""
    value = ir.Var("value", type_, U)
    return script(
        function("kernel", list(params), assign(value, call), ret(value), type=kind), check_shapes=True
    )["kernel"]


@pytest.mark.parametrize("mode", ["rint", "floor"])
def test_tensors_are_converted_from_numbers_and_to_numbers(mode):
    numbers = [0.0, 0.3, -0.75, 1.25, 2.5, -5.0, 1e9, float("nan")]
    wide, narrow = tensor("x", [1, 8], D.BF16), tensor("y", [1, 8], D.FP4)
    call = op("tensor.cast", [wide], narrow.type, target_type=D.FP4, mode=MODES[mode])
    x = torch.tensor([numbers]).bfloat16()
    codes = codes_of(made(call, narrow.type, wide)(x))
    assert codes == [[rounded(number, mode) for number in x[0].tolist()]]
    call = op("tensor.cast", [narrow], wide.type, target_type=D.BF16, mode=MODES[mode])
    assert made(call, wide.type, narrow)(packed(codes))[0].tolist() == [NUMBERS[code] for code in codes[0]]


@pytest.mark.parametrize("offset", [[1, 4], [0, 5], [3, 12]])
def test_a_slice_of_a_tensor_is_a_copy_in_kernels(offset):
    x, part = tensor("x", [4, 16], D.FP4), tensor("part", [2, 6], D.FP4)
    source = [[(5 * row + column) % 16 for column in range(16)] for row in range(4)]
    given = packed(source)
    got = made(op("tensor.slice", [x, [2, 6], offset], part.type), part.type, x)(given)
    given.view(torch.uint8).zero_()
    down, right = offset
    expected = [[*row[right : right + 6], *[0] * 6][:6] for row in [*source[down:], [0] * 16][:2]]
    assert codes_of(got) == expected


def test_a_slice_of_a_tensor_is_a_view_in_orchestration():
    x, part = tensor("x", [4, 16], D.FP4), tensor("part", [2, 6], D.FP4)
    given, place = packed([[1] * 16] * 4), scalar("place")
    call = op("tensor.slice", [x, [2, 6], [1, place]], part.type)
    window = made(call, part.type, x, place, kind=ir.FunctionType.Orchestration)
    window(given, 4).view(torch.uint8).fill_(0x32)
    assert codes_of(given) == [[1] * 16, *[[1] * 4 + [2, 3] * 3 + [1] * 6] * 2, [1] * 16]
    with pytest.raises(ValueError, match="begins at an even number, not at 5"):
        window(given, 5)


def test_a_tensor_is_put_into_another():
    x, out = tensor("x", [2, 4], D.FP4), tensor("out", [3, 8], D.FP4)
    target = packed([[9] * 8] * 3)
    got = made(op("tensor.assemble", [out, x, [1, 3]], out.type), out.type, x, out)(
        packed([[1, 2, 3, 4]] * 2), target
    )
    assert got is target
    assert codes_of(target) == [[9] * 8, *[[9, 9, 9, 1, 2, 3, 4, 9]] * 2]


def test_a_tensor_is_created_and_reshaped():
    flat, made_type = tensor("flat", [4, 4], D.FP4), tensor("made", [2, 8], D.FP4).type
    for fill, code in (({}, 0), ({"init_value": 1.4}, 3)):
        got = made(op("tensor.create", [[2, 8]], made_type, dtype=D.FP4, **fill), made_type)()
        assert codes_of(got) == [[code] * 8] * 2
    call = op("tensor.reshape", [flat, [2, 8]], made_type)
    rows = [[4 * row + column for column in range(4)] for row in range(4)]
    assert codes_of(made(call, made_type, flat)(packed(rows))) == [[*range(8)], [*range(8, 16)]]


@pytest.mark.parametrize("created", [False, True])
def test_a_tile_is_put_into_another(created):
    x, out = tensor("x", [2, 8], D.FP4), tensor("out", [2, 8], D.FP4)
    whole, half, joined = (
        tile(name, [2, 4 if name == "half" else 8], D.FP4) for name in ("t", "half", "joined")
    )
    new = op("tile.create", [[2, 8]], whole.type, dtype=D.FP4)
    body = [
        assign(whole, new if created else load(x, [0, 0], [2, 8])),
        assign(half, load(x, [0, 0], [2, 4])),
        assign(joined, op("tile.assemble", [whole, half, [0, 4]], joined.type)),
        ret(store(joined, [0, 0], out)),
    ]
    kernel = script(function("kernel", [x, out], *body, type=InCore), check_shapes=True)["kernel"]
    got = codes_of(kernel(packed([[*range(8)]] * 2), packed([[9] * 8] * 2)))
    assert got == [[*([0] * 4 if created else range(4)), *range(4)]] * 2


def test_a_tensor_of_the_wrong_width_is_refused():
    kernel = cast_kernel([1, 16], D.BF16, D.FP4)
    with pytest.raises(TypeError, match="expected torch.float4_e2m1fn_x2"):
        kernel(torch.zeros(1, 16).bfloat16(), torch.zeros(1, 16, dtype=torch.uint8))


def test_arithmetic_on_fp4_is_refused_by_name():
    x = tile("x", [1, 8], D.FP4)
    with pytest.raises(ValueError, match=r"'tile\.add' on dtype FP4"):
        torch_codegen(program(function("kernel", [x], ret(op("tile.add", [x, x], x.type)), type=InCore)))
