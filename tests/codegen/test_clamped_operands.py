"""Operands loaded from before the first element: ops neither write such cells nor use them as data."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen

KERNEL = """\
import pypto.language as pl

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.{kind})
    def kernel(
        self, {params}, r: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[{out}]]
    ) -> pl.Tensor[{out}]:
        {body}
        return out
"""
ROWS = [0, 2, 3, 4]  # the windows begin 3 rows before


def run(params, body, tensors, r, out, kind="InCore"):
    """The output of a kernel; ``params`` tells shape and dtype of each."""
    declared = ", ".join(f"{name}: pl.Tensor[{type_}]" for name, type_ in params.items() if name != "out")
    lines = "\n        ".join(body)
    text = KERNEL.format(kind=kind, params=declared, out=params["out"], body=lines)
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    before = [tensor.clone() for tensor in tensors]
    namespace["kernel"](*tensors, r, out)
    assert all(map(torch.equal, tensors, before))
    return out


def numbers(*shape, start=1):
    count = torch.Size(shape).numel()
    return torch.arange(float(start), start + count).reshape(shape)


def window(x, start):
    """Eight rows from ``start`` on as a list: None for a row that the tensor has not."""
    return [x[start + row] if 0 <= start + row < len(x) else None for row in range(8)]


PARTS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "max": torch.maximum,
    "min": torch.minimum,
}
TWO = {"x": "[8, 8], pl.FP32", "y": "[8, 8], pl.FP32", "out": "[8, 8], pl.FP32"}


@pytest.mark.parametrize("r", ROWS)
@pytest.mark.parametrize("form", ["loaded", "computed"])
@pytest.mark.parametrize("kind", sorted(PARTS))
def test_a_partial_op_takes_the_other_operand_there(kind, form, r):
    body = ["a = pl.load(x, [r - 3, 0], [8, 8], clamp=True)", "b = pl.load(y, [0, 0], [8, 8])"]
    body += ["c = pl.add(a, 1.0)"] if form == "computed" else ["c = a"]
    body += [f"u = pl.tile.part_{kind}(b, c)", "out = pl.store(u, [0, 0], out)"]
    x, y = numbers(8, 8), numbers(8, 8, start=30)
    more = 1 if form == "computed" else 0
    expected = [
        there if given is None else PARTS[kind](there, given + more)
        for there, given in zip(y, window(x, r - 3), strict=True)
    ]
    assert torch.equal(run(TWO, body, [x, y], r, torch.full((8, 8), 9.0)), torch.stack(expected))


@pytest.mark.parametrize("r", ROWS)
def test_a_partial_op_of_two_keeps_what_the_first_lacks(r):
    """As the type rule has it: the result is valid where the first operand is."""
    body = [
        "a = pl.load(x, [r - 3, 0], [8, 8], clamp=True)",
        "b = pl.load(y, [r - 1, 0], [8, 8], clamp=True)",
    ]
    body += ["u = pl.tile.part_add(pl.add(a, 1.0), pl.add(b, 1.0))", "out = pl.store(u, [0, 0], out)"]
    x, y = numbers(8, 8), numbers(8, 8, start=100)
    expected = torch.full((8, 8), 9.0)
    for row, (left, right) in enumerate(zip(window(x, r - 3), window(y, r - 1), strict=True)):
        if left is not None:
            expected[row] = left + 1 if right is None else left + right + 2
    assert torch.equal(run(TWO, body, [x, y], r, torch.full((8, 8), 9.0)), expected)


SCATTER = {"x": "[8, 8], pl.FP32", "places": "[8, 8], pl.INT32", "out": "[8, 8], pl.FP32"}
TARGET = "d = pl.tile.full([8, 8], dtype=pl.FP32, value=5.0)"
STORE = "out = pl.store(u, [0, 0], out)"


@pytest.mark.parametrize("r", [0, 2, 3])
@pytest.mark.parametrize(("source", "index"), [("r - 3", "0"), ("0", "r - 3"), ("r - 2", "r - 3")])
def test_scattered_elements(source, index, r):
    """Element k of the indices is 63 - k."""
    places = torch.arange(63, -1, -1, dtype=torch.int32).reshape(8, 8)
    body = [f"s = pl.add(pl.load(x, [{source}, 0], [8, 8], clamp=True), 1.0)"]
    body += [f"i = pl.load(places, [{index}, 0], [8, 8], clamp=True)"]
    body += [TARGET, "u = pl.tile.scatter(d, s, i)", STORE]
    x, expected = numbers(8, 8), torch.full((64,), 5.0)
    starts = [{"0": 0, "r - 3": r - 3, "r - 2": r - 2}[text] for text in (source, index)]
    for values, where in zip(window(x, starts[0]), window(places, starts[1]), strict=True):
        if values is not None and where is not None:
            expected[where.long()] = values + 1
    got = run(SCATTER, body, [x, places], r, torch.full((8, 8), 9.0))
    assert torch.equal(got, expected.reshape(8, 8))


@pytest.mark.parametrize("r", ROWS)
def test_elements_scattered_into_a_tensor(r):
    places = torch.arange(63, -1, -1, dtype=torch.int32).reshape(8, 8)
    body = ["s = pl.add(pl.load(x, [r - 3, 0], [8, 8], clamp=True), 1.0)"]
    body += ["i = pl.load(places, [0, 0], [8, 8])", "out = pl.tile.mscatter(s, i, out)"]
    x, expected = numbers(8, 8), torch.full((64,), 9.0)
    for row, values in enumerate(window(x, r - 3)):
        if values is not None:
            expected[places[row].long()] = values + 1
    got = run(SCATTER, body, [x, places], r, torch.full((8, 8), 9.0))
    assert torch.equal(got, expected.reshape(8, 8))


@pytest.mark.parametrize("r", ROWS)
def test_columns_that_a_mask_selects(r):
    params = {"x": "[8, 8], pl.FP32", "out": "[8, 16], pl.FP32"}
    body = ["s = pl.add(pl.load(x, [r - 3, 0], [8, 8], clamp=True), 1.0)"]
    body += ["d = pl.tile.full([8, 16], dtype=pl.FP32, value=5.0)"]
    body += ["u = pl.tile.scatter_mask(d, s, mask_pattern=1)", STORE]
    x, expected = numbers(8, 8), torch.zeros(8, 16)
    for row, values in enumerate(window(x, r - 3)):
        if values is not None:
            expected[row, 0::2] = values + 1
    assert torch.equal(run(params, body, [x], r, torch.full((8, 16), 9.0)), expected)


@pytest.mark.parametrize("columns", ["0", "r - 2"])
@pytest.mark.parametrize("r", [0, 1, 2])
def test_rows_that_are_written(r, columns):
    """Row k of the source goes to row 7 - k, the cells that its tensor has."""
    params = {"x": "[8, 8], pl.FP32", "places": "[1, 8], pl.INT32", "out": "[8, 8], pl.FP32"}
    body = [f"s = pl.add(pl.load(x, [r - 3, {columns}], [8, 8], clamp=True), 1.0)"]
    body += ["i = pl.load(places, [0, 0], [1, 8])", TARGET, "u = pl.tile.scatter_update(d, -2, i, s)", STORE]
    x, expected = numbers(8, 8), torch.full((8, 8), 5.0)
    shift = r - 2 if columns != "0" else 0
    for row, values in enumerate(window(x, r - 3)):
        for column in range(8) if values is not None else ():
            if column + shift >= 0:
                expected[7 - row, column] = values[column + shift] + 1
    places = torch.arange(7, -1, -1, dtype=torch.int32).reshape(1, 8)
    assert torch.equal(run(params, body, [x, places], r, torch.full((8, 8), 9.0)), expected)


@pytest.mark.parametrize("r", ROWS)
def test_elements_that_compare(r):
    """A row lists the columns whose number is below 100; padding would be."""
    params = {"x": "[8, 8], pl.INT32", "out": "[8, 8], pl.INT32"}
    body = ["s = pl.load(x, [0, r - 3], [8, 8], clamp=True)"]
    body += ["w = pl.create_tile([8, 8], dtype=pl.UINT8)"]
    body += ["u, n = pl.tile.gather_compare(s, 100, w, cmp_mode='lt', out_cols=8)", STORE]
    x = (numbers(8, 8).int() * 37) % 200
    expected = torch.zeros(8, 8, dtype=torch.int32)
    for row in range(8):
        found = [column for column in range(8) if 0 <= column + r - 3 < 8 and x[row, column + r - 3] < 100]
        expected[row, : len(found)] = torch.tensor(found, dtype=torch.int32)
    assert torch.equal(run(params, body, [x], r, torch.full((8, 8), 9, dtype=torch.int32)), expected)


def test_a_scaled_product():
    """Of 64 numbers along K, the first 40 of each factor lie before its tensor."""
    text = """\
import pypto.language as pl

@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[16, 64], pl.FP8E4M3FN], y: pl.Tensor[[64, 16], pl.FP8E4M3FN],
        sx: pl.Tensor[[16, 2], pl.FP8E8M0], sy: pl.Tensor[[2, 16], pl.FP8E8M0],
        r: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        a = pl.load(x, [0, r - 40], [16, 64], target_memory=pl.Mem.Mat, clamp=True)
        b = pl.load(y, [r - 40, 0], [64, 16], target_memory=pl.Mem.Mat, clamp=True)
        s = pl.load(sx, [0, 0], [16, 2], target_memory=pl.Mem.Mat)
        t = pl.load(sy, [0, 0], [2, 16], target_memory=pl.Mem.Mat)
        p = pl.tile.matmul_mx(
            pl.move(a, target_memory=pl.Mem.Left), pl.move(s, target_memory=pl.Mem.LeftScale),
            pl.move(b, target_memory=pl.Mem.Right), pl.move(t, target_memory=pl.Mem.RightScale),
        )
        out = pl.store(p, [0, 0], out)
        return out
"""
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    torch.manual_seed(3)
    x, y = torch.randint(-8, 9, (16, 64)).float(), torch.randint(-8, 9, (64, 16)).float()
    sx, sy = 2.0 ** torch.randint(-2, 3, (16, 2)), 2.0 ** torch.randint(-2, 3, (2, 16))
    fp8, scale = torch.float8_e4m3fn, torch.float8_e8m0fnu
    out = torch.zeros(16, 16)
    for options in ({}, {"_POISON": True}):
        namespace.update(options)
        namespace["kernel"](x.to(fp8), y.to(fp8), sx.to(scale), sy.to(scale), 0, out)
        assert torch.equal(out, (x[:, :24] * sx[:, 1:]) @ (y[:24] * sy[1:]))
