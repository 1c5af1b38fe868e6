"""Dtypes that torch computes little with, through whole scripts that check what they are given."""

import pytest
import torch
from codegen.builders import InCore, assign, function, load, op, ret, script, store, tensor, tile

from pypto_tmpl import ir

D = ir.DataType
SHAPE = [2, 8]
TORCH = {
    D.INT16: torch.int16, D.INT32: torch.int32, D.UINT8: torch.uint8, D.UINT16: torch.uint16,
    D.UINT32: torch.uint32, D.UINT64: torch.uint64, D.BF16: torch.bfloat16,
    D.FP8E4M3FN: torch.float8_e4m3fn, D.FP8E5M2: torch.float8_e5m2, D.FP8E8M0: torch.float8_e8m0fnu,
}  # fmt: skip


def computed(name, scalar, dtype, number, carrier=None):
    """A tile of one number, the op with a scalar, and the dtype that its result is handed back in."""
    x, out = tensor("x", SHAPE, dtype), tensor("out", SHAPE, dtype)
    loaded, result = tile("loaded", SHAPE, dtype), tile("result", SHAPE, dtype)
    stored = tensor("stored", SHAPE, dtype)
    body = [
        assign(loaded, load(x, [0, 0], SHAPE)),
        assign(result, op(name, [loaded, scalar], result.type)),
        assign(stored, store(result, [0, 0], out)),
        ret(stored),
    ]
    kernel = function("kernel", [x, out], *body, type=InCore, returns=[out.type])
    given = torch.full(SHAPE, number, dtype=carrier or TORCH[dtype])
    got = script(kernel, check_shapes=True)["kernel"](given, torch.zeros(SHAPE, dtype=TORCH[dtype]))
    assert got.dtype == TORCH[dtype]
    assert len(set(got.flatten().tolist())) == 1
    return got[0, 0].item()


@pytest.mark.parametrize(
    ("name", "dtype", "number", "scalar", "expected", "carriers"),
    [
        ("tile.adds", D.UINT16, 65535, 1, 0, [torch.uint16, torch.int32, torch.int64]),
        ("tile.subs", D.UINT16, 3, 5, 65534, [torch.uint16, torch.int32, torch.int64]),
        ("tile.shrs", D.UINT32, 0x80000000, 1, 0x40000000, [torch.uint32, torch.int64]),
        ("tile.adds", D.UINT8, 200, 100, 44, [torch.uint8]),
        ("tile.shrs", D.UINT64, 2**63, 1, 2**62, [torch.uint64]),
        ("tile.adds", D.UINT64, 2**64 - 1, 1, 0, [torch.uint64]),
    ],
)
def test_unsigned_arithmetic_wraps(name, dtype, number, scalar, expected, carriers):
    for carrier in carriers:
        assert computed(name, scalar, dtype, number, carrier) == expected


def test_an_int32_tensor_brings_the_bits_of_a_uint32_one():
    assert computed("tile.shrs", 1, D.UINT32, -(2**31), torch.int32) == 0x40000000
    assert computed("tile.shrs", 1, D.UINT64, -(2**63), torch.int64) == 2**62


def test_another_dtype_is_refused():
    with pytest.raises(TypeError, match=r"x: got a tensor of torch.float32, expected torch.uint16"):
        computed("tile.adds", 1, D.UINT16, 1.0, torch.float32)


@pytest.mark.parametrize(
    ("name", "dtype", "number", "scalar", "expected"),
    [
        ("tile.adds", D.INT32, 7, 5, 12),
        ("tile.ands", D.INT32, 0x1FF, 255, 255),
        ("tile.muls", D.INT16, 300, 2, 600),
        ("tile.muls", D.INT16, 20000, 2, 40000 - 65536),
        ("tile.muls", D.BF16, 3.0, 0.1, torch.tensor(3 * 0.10009765625).bfloat16().item()),
    ],
)
def test_a_literal_takes_the_dtype_of_the_tile(name, dtype, number, scalar, expected):
    assert computed(name, scalar, dtype, number) == expected


@pytest.mark.parametrize("dtype", [D.FP8E4M3FN, D.FP8E5M2, D.FP8E8M0], ids=str)
def test_every_code_of_an_8_bit_float_is_moved_as_it_is(dtype):
    x, out = tensor("x", [16, 16], dtype), tensor("out", [16, 16], dtype)
    loaded, moved, buffer = (tile(name, [16, 16], dtype) for name in ("loaded", "moved", "buffer"))
    lower, filled = tile("lower", [8, 16], dtype), tile("filled", [16, 16], dtype)
    stored = tensor("stored", [16, 16], dtype)
    body = [
        assign(loaded, load(x, [0, 0], [16, 16])),
        assign(moved, op("tile.move", [loaded], moved.type, target_memory=ir.MemorySpace.Vec)),
        assign(lower, op("tile.slice", [moved, [8, 16], [8, 0]], lower.type)),
        assign(buffer, op("tile.create", [[16, 16]], buffer.type, dtype=dtype)),
        assign(filled, op("tile.assemble", [buffer, lower, [0, 0]], filled.type)),
        assign(stored, store(filled, [0, 0], out)),
        ret(stored),
    ]
    kernel = function("kernel", [x, out], *body, type=InCore, returns=[out.type])
    codes = torch.arange(256).to(torch.uint8).reshape(16, 16)
    given, empty = codes.view(TORCH[dtype]), torch.zeros(16, 16, dtype=TORCH[dtype])
    got = script(kernel, check_shapes=True)["kernel"](given, empty)
    assert got.dtype == TORCH[dtype]
    assert torch.equal(got.view(torch.uint8)[:8], codes[8:])


@pytest.mark.parametrize("dtype", [D.HF4], ids=str)
def test_a_dtype_without_a_carrier_is_refused_by_name(dtype):
    x, out = tensor("x", SHAPE), tensor("out", SHAPE, dtype)
    loaded, result = tile("loaded", SHAPE), tile("result", SHAPE, dtype)
    body = [
        assign(loaded, load(x, [0, 0], SHAPE)),
        assign(result, op("tile.cast", [loaded], result.type, target_type=dtype, mode=2)),
        ret(store(result, [0, 0], out)),
    ]
    with pytest.raises(ValueError, match=dtype.name):
        script(function("kernel", [x, out], *body, type=InCore))
