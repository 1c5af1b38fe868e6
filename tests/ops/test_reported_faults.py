"""Faults that users of such tools have met: each a kernel, from its text to the numbers that it writes.

Expected numbers were worked out by hand.
"""

import math

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen

HEAD = """\
import pypto.language as pl

@pl.program
class Fault:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, {params}) -> pl.Tensor[{shape}, pl.{dtype}]:
"""
DTYPES = {
    torch.float32: "FP32", torch.float16: "FP16", torch.bfloat16: "BF16", torch.int8: "INT8",
    torch.int16: "INT16", torch.int32: "INT32", torch.uint8: "UINT8", torch.uint16: "UINT16",
    torch.uint32: "UINT32",
}  # fmt: skip


def text_of(body, tensors, scalars=()):
    """The text of a kernel over tensors, the last of which is the output, and INDEX scalars."""
    *inputs, out = tensors
    kinds = {
        name: f"pl.Tensor[{[*value.shape]}, pl.{DTYPES[value.dtype]}]" for name, value in tensors.items()
    }
    params = [f"{name}: {kinds[name]}" for name in inputs]
    params += [f"{name}: pl.Scalar[pl.INDEX]" for name in scalars]
    params.append(f"{out}: pl.Out[{kinds[out]}]")
    head = HEAD.format(
        params=", ".join(params), shape=[*tensors[out].shape], dtype=DTYPES[tensors[out].dtype]
    )
    lines = [line.strip() for line in body.strip().splitlines()]
    return head + "".join(f"        {line}\n" for line in [*lines, f"return {out}"])


def ran(body, check_shapes=True, scalars=None, declared=None, **tensors):
    """The output of a kernel; the tensors are changed in place. `declared` are those the text tells of."""
    program = pl.parse(text_of(body, declared or tensors, scalars or {}))
    namespace = {}
    exec(torch_codegen(program, check_shapes=check_shapes), namespace)
    *inputs, out = tensors.values()
    return namespace["kernel"](*inputs, *(scalars or {}).values(), out)


def nines(*shape, dtype=torch.float32):
    return torch.full(shape, 9).to(dtype)


E = math.e
UNARY = {
    "neg": -1.0, "exp": E, "abs": 1.0, "sqrt": 1.0, "rsqrt": 1.0, "recip": 1.0, "log": 0.0,
    "sin": math.sin(1), "cos": math.cos(1), "relu": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_an_operator_of_one_operand_keeps_the_region(name):
    body = f"""
        t = pl.load(x, [0, 0], [16, 8], valid_shape=[16, 4])
        u = pl.tile.{name}(t)
        out = pl.store(u, [0, 0], out)"""
    got = ran(body, x=torch.ones(16, 8), out=nines(16, 8))
    assert torch.allclose(got[:, :4], torch.tensor(UNARY[name]))
    assert got[:, 4:].eq(9).all()


def test_a_chain_of_casts_and_bits_keeps_the_region():
    body = """
        t = pl.load(x, [0, 0], [16, 8], valid_shape=[16, 4])
        i = pl.cast(t, target_type=pl.INT16, mode='rint')
        n = pl.tile.not_(i)
        out = pl.store(n, [0, 0], out)"""
    got = ran(body, x=torch.ones(16, 8), out=nines(16, 8, dtype=torch.int16))
    assert got[:, :4].eq(-2).all()
    assert got[:, 4:].eq(9).all()


def test_arithmetic_turns_no_padding_into_data():
    body = """
        t = pl.load(x, [0, 0], [16, 8], valid_shape=[16, 4])
        u = pl.add(pl.mul(t, 2.0), t)
        out = pl.store(u, [0, 0], out)"""
    got = ran(body, x=torch.ones(16, 8), out=nines(16, 8))
    assert got[:, :4].eq(3).all()
    assert got[:, 4:].eq(9).all()


def test_of_two_tiles_the_first_says_the_region():
    body = """
        a = pl.load(x, [0, 0], [16, 8], valid_shape=[16, 4])
        b = pl.load(x, [0, 0], [16, 8], valid_shape=[16, 6])
        u = pl.add({}, {})
        out = pl.store(u, [0, 0], out)"""
    for first, second, columns in (("a", "b", 4), ("b", "a", 6)):
        got = ran(body.format(first, second), x=torch.ones(16, 8), out=nines(16, 8))
        assert got.ne(9).sum(1).tolist() == [columns] * 16


def test_of_two_tensors_neither_says_the_region():
    body = """
        a = pl.tensor.slice(x, [16, 8], [0, 0], valid_shape=[16, 4])
        b = pl.tensor.slice(x, [16, 8], [0, 0], valid_shape=[16, {}])
        u = pl.add({}, {})
        out = pl.tensor.assemble(out, u, [0, 0])"""
    for width, first, second, columns in ((6, "a", "b", 8), (6, "b", "a", 8), (4, "a", "b", 4)):
        got = ran(body.format(width, first, second), x=torch.ones(16, 8), out=nines(16, 8))
        assert got.ne(9).sum(1).tolist() == [columns] * 16
        assert got[:, :4].eq(2).all()


def test_a_reshape_maps_the_region_or_is_refused():
    reshaped = """
        t = pl.load(x, [0, 0], [8, 16], valid_shape=[5, 16])
        r = pl.tile.reshape(t, {shape})
        u = pl.exp(r)
        out = pl.store(u, [0, 0], out)"""
    x = torch.rand(8, 16)
    got = ran(reshaped.format(shape=[16, 8]), x=x, out=nines(16, 8))
    assert torch.allclose(got[:10], x.exp().reshape(16, 8)[:10])
    assert got[10:].eq(9).all()
    with pytest.raises(ValueError, match="reshape"):  # 5 rows of 16 are two rows and a half of 32
        ran(reshaped.format(shape=[4, 32]), x=x, out=nines(4, 32))


def test_a_sliced_part_of_a_block_stays_one_when_reshaped():
    body = """
        xs = pl.tensor.slice(x, [1, 8, 16], [0, 0, 0], valid_shape=[1, 5, 16])
        rs = pl.tensor.reshape(xs, [8, 16])
        u = pl.tensor.exp(rs)
        out = pl.tensor.assemble(out, u, [0, 0])"""
    x = torch.rand(1, 8, 16)
    got = ran(body, x=x, out=nines(8, 16))
    assert torch.allclose(got[:5], x[0, :5].exp())
    assert got[5:].eq(9).all()


def test_a_write_joins_the_region_of_its_target_or_is_refused():
    body = """
        t = pl.load(x, [0, 0], [8, 16], valid_shape=[4, 16])
        s = pl.load(x, [0, 0], [2, 16])
        u = pl.tile.assemble(t, s, [{row}, 0])
        out = pl.store(u, [0, 0], out)"""
    got = ran(body.format(row=4), x=torch.ones(8, 16), out=nines(8, 16))
    assert got.eq(1).sum(1).tolist() == [16] * 6 + [0] * 2
    with pytest.raises(ValueError, match="assemble"):  # rows 4 and 5 would be a hole
        ran(body.format(row=6), x=torch.ones(8, 16), out=nines(8, 16))


def test_a_reduction_of_a_part_sees_no_padding():
    load = "t = pl.load(x, [0, 0], [4, 64], valid_shape=[4, 40])"
    tmp = "w = pl.tile.create([4, 64], dtype=pl.FP32)"
    x = torch.full((4, 64), -1.0)
    expected = {
        "pl.tile.row_max(t, w)": -1.0,
        "pl.tile.row_max(pl.tile.fillpad(t, pad_value=pl.PadValue.min), w)": -1.0,
        "pl.tile.row_sum(pl.tile.fillpad(t, pad_value=pl.PadValue.zero), w)": -40.0,
        "pl.tile.row_sum(pl.exp(pl.tile.fillpad(t, pad_value=pl.PadValue.zero)), w)": 40 / E + 24,
        "pl.tile.row_sum(pl.exp(pl.tile.fillpad(t, pad_value=pl.PadValue.min)), w)": 40 / E,
    }
    for text, number in expected.items():
        got = ran(f"{load}\n{tmp}\nout = pl.store({text}, [0, 0], out)", x=x, out=nines(4, 1))
        assert torch.allclose(got, torch.tensor(number)), text


def test_a_window_over_the_edge_keeps_its_place():
    x = torch.arange(64.0).reshape(1, 64)
    read = "t = pl.load(x, [0, o], [1, 8], clamp=True)\nout = pl.store(t, [0, 0], out)"
    for at, seen in ((0, 8), (56, 8), (57, 7), (60, 4), (64, 0), (70, 0)):
        got = ran(read, x=x, out=nines(1, 8), scalars={"o": at})
        assert got[0].tolist() == [*range(at, at + seen), *[9] * (8 - seen)]
    sliced = """
        t = pl.tensor.slice(x, [1, 8], [0, o], valid_shape=[1, 6], clamp=True)
        u = pl.tensor.neg(t)
        out = pl.tensor.assemble(out, u, [0, 0])"""
    got = ran(sliced, x=x, out=nines(1, 8), scalars={"o": 60})
    assert got[0].tolist() == [-60, -61, -62, -63, 9, 9, 9, 9]
    write = "t = pl.load(x, [0, 0], [1, 8])\nout = pl.store(t, [0, o], out)"
    got = ran(write, x=x, out=nines(1, 64), scalars={"o": 60})
    assert got[0, 60:].tolist() == [0, 1, 2, 3]
    assert got[0, :60].eq(9).all()


# The type takes the whole window for valid; what the tensor did not have is dropped all the same.
UNPROVEN = {
    "load": "t = pl.load(x, [0, o], [1, 8])\nout = pl.store(t, [0, 0], out)",
    "move": "t = pl.load(x, [0, o], [1, 8])\nu = pl.tile.move(t, target_memory=pl.Mem.Vec)\n"
    "out = pl.store(u, [0, 0], out)",
    "slice": "t = pl.tensor.slice(x, [1, 8], [0, o])\nout = pl.tensor.assemble(out, t, [0, 0])",
    "nested": "out = pl.tensor.assemble(out, pl.tensor.slice(x, [1, 8], [0, o]), [0, 0])",
}


@pytest.mark.parametrize("text", UNPROVEN.values(), ids=UNPROVEN)
@pytest.mark.parametrize("at", [-9, -8, -3, 0, 56, 57, 60, 64, 70])
def test_a_window_that_may_lie_over_the_edge_writes_what_the_tensor_had(text, at):
    x = torch.arange(64.0).reshape(1, 64)
    expected = [float(at + column) if 0 <= at + column < 64 else 9.0 for column in range(8)]
    assert ran(text, x=x, out=nines(1, 8), scalars={"o": at})[0].tolist() == expected


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("at", [-3, 0, 60, 64])
def test_a_gathered_window_over_the_edge_leaves_the_rest_alone(at, transpose):
    x = torch.arange(64.0).reshape(1, 64)
    text = f"""
        t = pl.load(y, [0, 0], [8, 8])
        u = pl.tile.gather_row(t, x, [0, 0], [0, o], [1, 8], transpose={transpose})
        out = pl.store(u, [0, 0], out)"""
    got = ran(text, x=x, y=nines(8, 8), out=nines(8, 8), scalars={"o": at})
    expected = nines(8, 8)
    for step in range(8):
        if 0 <= at + step < 64:
            expected[(step, 0) if transpose else (0, step)] = at + step
    assert torch.equal(got, expected)


@pytest.mark.parametrize(("predicate", "number"), [("True", 3), ("False", 103), ("None", 103)])
def test_a_true_predicate_overwrites_the_accumulator(predicate, number):
    body = f"""
        acc = pl.tensor.full([2, 2], dtype=pl.FP32, value=100.0)
        s = pl.tensor.matmul_acc(acc, a, b, init_cond={predicate})
        out = pl.tensor.assemble(out, s, [0, 0])"""
    got = ran(body, a=torch.ones(2, 3), b=torch.ones(3, 2), out=nines(2, 2))
    assert got.eq(number).all()


def test_a_predicate_in_a_loop_is_evaluated_in_each_round():
    body = """
        acc = pl.tensor.full([2, 2], dtype=pl.FP32, value=100.0)
        for k in pl.range(4):
            acc = pl.tensor.matmul_acc(acc, a, b, init_cond=k == 0)
        out = pl.tensor.assemble(out, acc, [0, 0])"""
    lines = text_of(body, {"a": torch.ones(2, 3), "b": torch.ones(3, 2), "out": nines(2, 2)})
    lines = lines.replace("        acc = pl.tensor.matmul_acc", "            acc = pl.tensor.matmul_acc")
    namespace = {}
    exec(torch_codegen(pl.parse(lines), check_shapes=True), namespace)
    assert namespace["kernel"](torch.ones(2, 3), torch.ones(3, 2), nines(2, 2)).eq(12).all()


PRODUCTS = """
    l = pl.load(a, [0, 0], {left}, target_memory=pl.Mem.Mat)
    r = pl.load(b, [0, 0], {right}, target_memory=pl.Mem.Mat)
    left = pl.tile.move(l, target_memory=pl.Mem.Left)
    right = pl.tile.move(r, target_memory=pl.Mem.Right)
    p = pl.tile.matmul(left, right)
    out = pl.store(p, [0, 0], out)"""


def test_a_product_of_16_bit_floats_is_accumulated_in_fp32():
    ones = torch.ones(1, 1024, dtype=torch.bfloat16)
    ones[0, 0] = 256
    body = PRODUCTS.format(left=[1, 1024], right=[1024, 1])
    assert ran(body, a=ones, b=torch.ones(1024, 1).bfloat16(), out=nines(1, 1)).item() == 1279
    big = torch.full((1, 16), 300.0).half()
    body = PRODUCTS.format(left=[1, 16], right=[16, 1])
    assert ran(body, a=big, b=big.mT.contiguous(), out=nines(1, 1)).item() == 1440000


def test_a_product_of_bytes_is_accumulated_in_int32():
    hundreds = torch.full((1, 16), 100, dtype=torch.int8)
    body = PRODUCTS.format(left=[1, 16], right=[16, 1])
    got = ran(body, a=hundreds, b=hundreds.mT.contiguous(), out=nines(1, 1, dtype=torch.int32))
    assert got.item() == 160000


def test_products_are_added_one_after_the_other():
    """1 added four times to 2 ** 24 is lost four times; the sum of the four would not be."""
    body = """
        acc = pl.tensor.full([1, 1], dtype=pl.FP32, value=16777216.0)
        a1 = pl.tensor.matmul_acc(acc, x, x)
        a2 = pl.tensor.matmul_acc(a1, x, x)
        a3 = pl.tensor.matmul_acc(a2, x, x)
        a4 = pl.tensor.matmul_acc(a3, x, x)
        out = pl.tensor.assemble(out, a4, [0, 0])"""
    assert ran(body, x=torch.ones(1, 1), out=nines(1, 1)).item() == 16777216.0


def cast(numbers, dtype, mode=None):
    given = "" if mode is None else f", mode='{mode}'"
    body = f"""
        t = pl.load(x, [0, 0], [1, {len(numbers)}])
        c = pl.cast(t, target_type=pl.{DTYPES[dtype]}{given})
        out = pl.store(c, [0, 0], out)"""
    return ran(body, x=torch.tensor([numbers]), out=nines(1, len(numbers), dtype=dtype))[0].tolist()


def test_the_default_of_a_cast_rounds_ties_away_from_zero():
    tie = [1.01953125, -1.01953125]
    assert cast(tie, torch.bfloat16, "rint") == [1.015625, -1.015625]
    assert cast(tie, torch.bfloat16, "round") == cast(tie, torch.bfloat16) == [1.0234375, -1.0234375]


@pytest.mark.parametrize(
    ("mode", "integers"),
    [
        ("rint", [2, -2, 0, 2]), ("round", [3, -3, 1, 2]), ("floor", [2, -3, 0, 1]), ("ceil", [3, -2, 1, 2]),
        ("trunc", [2, -2, 0, 1]), ("none", [2, -2, 0, 1]), ("odd", [3, -3, 1, 1]),
    ],
)  # fmt: skip
def test_each_rounding_mode_has_its_own_value(mode, integers):
    assert cast([2.5, -2.5, 0.5, 1.5], torch.int32, mode) == integers


def test_a_cast_to_the_same_type_is_refused_when_it_is_built():
    with pytest.raises(ValueError, match=r"(?s)pl\.FP32.* is FP32: they must differ.*:8:13"):
        cast([1.0], torch.float32)


UNSIGNED = [
    ("pl.add(t, u)", torch.uint16, 65535, 1, 0),
    ("pl.sub(t, u)", torch.uint16, 3, 5, 65534),
    ("pl.tile.shr(t, u)", torch.uint32, 0x80000000, 1, 0x40000000),
    ("pl.add(t, u)", torch.uint8, 200, 100, 44),
    ("pl.tile.maximum(t, u)", torch.uint32, 0x80000000, 1, 0x80000000),
]


@pytest.mark.parametrize(("text", "dtype", "left", "right", "expected"), UNSIGNED)
@pytest.mark.parametrize("is_carried", [False, True], ids=["own dtype", "signed carrier"])
def test_unsigned_arithmetic_is_modulo_the_width(text, dtype, left, right, expected, is_carried):
    body = f"""
        t = pl.load(x, [0, 0], [1, 8])
        u = pl.load(y, [0, 0], [1, 8])
        out = pl.store({text}, [0, 0], out)"""
    declared = {name: torch.zeros(1, 8, dtype=dtype) for name in ("x", "y", "out")}
    carrier = torch.int64 if is_carried and dtype != torch.uint8 else dtype
    given = {"x": left, "y": right, "out": 9}
    tensors = {name: torch.full((1, 8), number).to(carrier) for name, number in given.items()}
    assert ran(body, declared=declared, **tensors).long().eq(expected).all()


@pytest.mark.parametrize(
    ("text", "dtype", "number", "expected"),
    [
        ("pl.add(t, 5)", torch.int32, 7, 12),
        ("pl.tile.ands(t, 255)", torch.int32, 0x1FF, 0xFF),
        ("pl.mul(t, 2)", torch.int16, 20000, 40000 - 65536),
        ("pl.mul(t, 0.1)", torch.bfloat16, 3.0, 0.30078125),
    ],
)
def test_a_literal_takes_the_dtype_of_the_tile(text, dtype, number, expected):
    body = f"t = pl.load(x, [0, 0], [1, 8])\nout = pl.store({text}, [0, 0], out)"
    got = ran(body, x=torch.full((1, 8), number).to(dtype), out=nines(1, 8, dtype=dtype))
    assert got.eq(expected).all()


def test_division_and_remainders_of_negative_numbers():
    body = """
        t = pl.load(x, [0, 0], [1, 8])
        u = pl.load(y, [0, 0], [1, 8])
        w = pl.tile.create([1, 8], dtype=pl.INT32)
        out = pl.store({}, [0, 0], out)"""
    expected = {"pl.tile.fmod(t, u)": [-2, 2], "pl.tile.rem(t, u, w)": [1, -1], "pl.tile.div(t, u)": [-1, -1]}
    for text, (first, second) in expected.items():
        for left, right, number in ((-5, 3, first), (5, -3, second)):
            sides = {"x": left, "y": right}
            given = {name: torch.full((1, 8), side, dtype=torch.int32) for name, side in sides.items()}
            got = ran(body.format(text), **given, out=nines(1, 8, dtype=torch.int32))
            assert got.eq(number).all(), (text, left, right)


def test_scalar_quotients_round_down_folded_or_not():
    body = """
        a = pl.cast({n} // 2, pl.INT32)
        b = pl.cast({n} % 3, pl.INT32)
        t = pl.tile.full([1, 8], dtype=pl.INT32, value=0)
        t1 = pl.tile.write(t, [0, 0], a)
        t2 = pl.tile.write(t1, [0, 1], b)
        out = pl.store(t2, [0, 0], out)"""
    for number, scalars in (("n", {"n": -5}), ("-5", {"n": 0}), ("(0 - 5)", {"n": 0})):
        got = ran(body.format(n=number), x=nines(1, 8), out=nines(1, 8, dtype=torch.int32), scalars=scalars)
        assert got[0, :2].tolist() == [-3, 1], number


def test_a_nan_is_the_greatest_and_the_least():
    nan = math.nan
    x = torch.tensor([[nan, 6, 8, 7], [nan] * 4, [5, 6, 8, 7]])
    body = """
        t = pl.load(x, [0, 0], [3, 4])
        w = pl.tile.create([3, 4], dtype=pl.FP32)
        out = pl.store(pl.tile.{}(t, w), [0, 0], out)"""
    for name, number in (("row_max", 8), ("row_min", 5)):
        got = ran(body.format(name), x=x, out=nines(3, 1))
        assert str(got.flatten().tolist()) == str([nan, nan, float(number)])
    zero = "t = pl.load(x, [0, 0], [3, 4])\nout = pl.store(pl.tile.maximums(t, 0.0), [0, 0], out)"
    assert ran(zero, x=x, out=nines(3, 4)).isnan().sum(1).tolist() == [1, 4, 0]


def test_a_nan_of_tensors_is_the_greatest_and_the_least():
    nan = math.nan
    x = torch.tensor([[nan, 6, 8, 7], [nan] * 4, [5, 6, 8, 7]])
    for name, number in (("row_max", 8), ("row_min", 5)):
        got = ran(f"out = pl.tensor.assemble(out, pl.tensor.{name}(x), [0, 0])", x=x, out=nines(3, 1))
        assert str(got.flatten().tolist()) == str([nan, nan, float(number)])
    for name, number in (("maximum", 8), ("minimum", 0)):
        body = f"out = pl.tensor.assemble(out, pl.tensor.{name}(x, y), [0, 0])"
        got = ran(body, x=x, y=torch.zeros(3, 4), out=nines(3, 4))
        assert got.isnan().sum(1).tolist() == [1, 4, 0]
        assert got[2, 2].item() == number
    for name, column in (("row_argmax", 2), ("row_argmin", 0)):  # of a row without NaN; no row raises
        body = f"out = pl.tensor.assemble(out, pl.tensor.{name}(x), [0, 0])"
        assert ran(body, x=x, out=nines(3, 1, dtype=torch.int32))[2].item() == column


def test_nested_calls_are_those_of_two_statements():
    load = "a = pl.load(x, [0, 0], [4, 8])\nb = pl.load(y, [0, 0], [4, 8])\n"
    nested = load + "out = pl.store(pl.add(pl.mul(a, b), pl.exp(a)), [0, 0], out)"
    apart = load + "m = pl.mul(a, b)\ne = pl.exp(a)\ns = pl.add(m, e)\nout = pl.store(s, [0, 0], out)"
    x, y = torch.rand(4, 8), torch.rand(4, 8)
    first, second = (ran(body, x=x, y=y, out=nines(4, 8)) for body in (nested, apart))
    assert torch.equal(first, second)
    assert torch.allclose(first, x * y + x.exp())


def test_the_declared_dtype_of_a_product_counts():
    body = "p = pl.tensor.matmul(a, b, out_dtype=pl.BF16)\nout = pl.tensor.assemble(out, p, [0, 0])"
    ones = torch.ones(1, 1024, dtype=torch.bfloat16)
    ones[0, 0] = 256
    got = ran(body, a=ones, b=torch.ones(1024, 1).bfloat16(), out=nines(1, 1, dtype=torch.bfloat16))
    assert got.item() == 1280


def test_what_writes_yields_what_it_wrote_into():
    body = """
        t = pl.load(x, [0, 0], [2, 8])
        t2 = pl.tile.write(t, [0, 1], 5.0)
        t3 = pl.tile.write(t2, [1, 0], 6.0)
        out = pl.store({}, [0, 0], out)"""
    for name in ("t3", "t"):  # one buffer, whatever its name
        got = ran(body.format(name), x=torch.zeros(2, 8), out=nines(2, 8))
        assert (got[0, 1].item(), got[1, 0].item(), got.sum().item()) == (5, 6, 11)


def test_a_transpose_is_one_of_cells_not_of_shapes():
    x = torch.arange(12.0).reshape(3, 4)
    sliced = """
        t = pl.tensor.transpose(x, 0, 1)
        s = pl.tensor.slice(t, [1, 3], [1, 0])
        r = pl.tensor.reshape(s, [3, 1])
        out = pl.tensor.assemble(out, r, [0, 0])"""
    assert ran(sliced, x=x, out=nines(3, 1)).flatten().tolist() == [1, 5, 9]
    twice = """
        t = pl.tensor.transpose(pl.tensor.transpose(x, 0, 1), 0, 1)
        out = pl.tensor.assemble(out, t, [0, 0])"""
    assert torch.equal(ran(twice, x=x, out=nines(3, 4)), x)
    relaid = """
        t = pl.tensor.view(x, [4, 3], layout=pl.TensorLayout.DN)
        s = pl.tensor.slice(t, [1, 3], [1, 0])
        out = pl.tensor.assemble(out, s, [0, 0])"""
    assert ran(relaid, x=x, out=nines(1, 3)).flatten().tolist() == [1, 5, 9]


@pytest.mark.parametrize(("predicate", "number"), [("None", 8), ("True", 4), ("n > 0", 4), ("n < 0", 8)])
@pytest.mark.parametrize("name", ["acc", "more"])
def test_the_accumulator_of_a_tile_product_is_one_buffer(name, predicate, number):
    body = f"""
        l = pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        left = pl.tile.move(l, target_memory=pl.Mem.Left)
        right = pl.tile.move(l, target_memory=pl.Mem.Right)
        acc = pl.tile.matmul(left, right)
        more = pl.tile.matmul_acc(acc, left, right, init_cond={predicate})
        out = pl.store({name}, [0, 0], out)"""
    got = ran(body, a=torch.full((16, 16), 0.5), out=nines(16, 16), scalars={"n": 5})
    assert got.eq(number).all()


@pytest.mark.parametrize(("name", "number"), [("acc", 4), ("more", 8)])
def test_the_accumulator_of_a_tensor_product_keeps_its_value(name, number):
    body = f"""
        acc = pl.tensor.matmul(a, a)
        more = pl.tensor.matmul_acc(acc, a, a)
        out = pl.tensor.assemble(out, {name}, [0, 0])"""
    assert ran(body, a=torch.full((16, 16), 0.5), out=nines(16, 16)).eq(number).all()
