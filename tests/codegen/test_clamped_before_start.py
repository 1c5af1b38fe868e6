"""Clamped loads that begin before the first element: cells that the tensor has not are never stored."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

KERNEL = """\
import pypto.language as pl

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[16, 8], pl.FP32], r: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[{shape}, pl.FP32]]
    ) -> pl.Tensor[{shape}, pl.FP32]:
        {body}
        return out
"""
BODIES = {
    "add": "u = pl.add(t, 1.0)",
    "two": "u = pl.mul(pl.add(t, t), 0.5)",
    "exp": "u = pl.exp(t)",
    "carried": """v = pl.add(t, 1.0)
        for i, (u,) in pl.range(2, init_values=(v,)):
            u = pl.yield_(pl.add(u, 1.0))""",
}
VALUES = {
    "add": lambda x: x + 1,
    "two": lambda x: x,
    "exp": torch.exp,
    "carried": lambda x: x + 3,
}


def kernel(body, shape="[8, 8]"):
    text = KERNEL.format(shape=shape, body="\n        ".join(body))
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    return namespace["kernel"]


def data():
    return torch.arange(1.0, 129).reshape(16, 8) / 16


def rows(x, start, value):
    """Eight rows from `start` on of what is computed of a tensor, 9 where it has none."""
    expected = torch.full((8, x.shape[1]), 9.0)
    for row in range(8):
        if 0 <= start + row < len(x):
            expected[row] = value(x[start + row])
    return expected


LOAD = "t = pl.load(x, [r - 3, 0], [8, 8], clamp=True)"
STORE = "out = pl.store(u, [0, 0], out)"


@pytest.mark.parametrize("r", [0, 1, 3, 5, 13, -5, -20, 30])
@pytest.mark.parametrize("form", sorted(BODIES))
def test_what_is_computed_of_cells_before_the_start_is_not_stored(form, r):
    out = kernel([LOAD, BODIES[form], STORE])(data(), r, torch.full((8, 8), 9.0))
    assert torch.allclose(out, rows(data(), r - 3, VALUES[form]))


@pytest.mark.parametrize("r", [0, 2, 4])
def test_both_axes(r):
    body = ["t = pl.load(x, [r - 3, r - 2], [8, 8], clamp=True)", "u = pl.add(t, 1.0)", STORE]
    out = kernel(body)(data(), r, torch.full((8, 8), 9.0))
    expected = torch.full((8, 8), 9.0)
    for row in range(8):
        for column in range(8):
            if r - 3 + row >= 0 and 0 <= r - 2 + column < 8:
                expected[row, column] = data()[r - 3 + row, r - 2 + column] + 1
    assert torch.equal(out, expected)


@pytest.mark.parametrize("r", [0, 2, 4])
def test_a_reduction_keeps_the_rows(r):
    body = [LOAD, "tmp = pl.create_tile([8, 8], dtype=pl.FP32)", "u = pl.row_sum(pl.add(t, 1.0), tmp)", STORE]
    out = kernel(body, "[8, 1]")(data(), r, torch.full((8, 1), 9.0))
    sums = (data() + 1).sum(dim=1, keepdim=True)
    assert torch.allclose(out, rows(sums, r - 3, lambda row: row))


@pytest.mark.parametrize("r", [0, 2, 4])
def test_a_window_of_what_was_computed(r):
    body = [LOAD, "v = pl.add(t, 1.0)", "u = pl.slice(v, [6, 8], [2, 0])", "out = pl.store(u, [2, 0], out)"]
    out = kernel(body)(data(), r, torch.full((8, 8), 9.0))
    expected = rows(data(), r - 3, lambda row: row + 1)
    expected[:2] = 9
    assert torch.equal(out, expected)


@pytest.mark.parametrize("r", [0, 2, 4])
def test_an_assembled_part(r):
    body = [LOAD, "v = pl.add(t, 1.0)", "w = pl.tile.full([8, 8], dtype=pl.FP32, value=5.0)"]
    body += ["u = pl.assemble(w, v, [0, 0])", STORE]
    out = kernel(body)(data(), r, torch.full((8, 8), 9.0))
    expected = rows(data(), r - 3, lambda row: row + 1)
    expected[: max(3 - r, 0)] = 5
    assert torch.equal(out, expected)


@pytest.mark.parametrize("r", [0, 2, 4])
def test_an_atomic_addition(r):
    body = [LOAD, "u = pl.add(t, 1.0)", "out = pl.store(u, [0, 0], out, atomic=pl.AtomicType.Add)"]
    out = kernel(body)(data(), r, torch.full((8, 8), 9.0))
    assert torch.equal(out, rows(data(), r - 3, lambda row: row + 10))


def test_an_offset_that_cannot_be_negative_needs_no_care():
    text = KERNEL.format(
        shape="[8, 8]",
        body="for i in pl.range(3):\n            t = pl.load(x, [i * 8, 0], [8, 8], clamp=True)\n"
        "            u = pl.add(t, 1.0)\n            out = pl.store(u, [0, 0], out)",
    )
    assert "_past_edge" not in torch_codegen(pl.parse(text))


REDUCE = """\
import pypto.language as pl

@pl.program
class Reduced:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[{extents}], pl.{dtype}], r: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[1, 1], pl.{result}]],
    ) -> pl.Tensor[[1, 1], pl.{result}]:
        {body}
        return out
"""
NUMBERS = {"sum": [3.0, 1.0, 4.0], "prod": [3.0, 2.0, 4.0], "max": [-3.0, -1.0, -4.0], "min": [3.0, 1.0, 4.0]}
REDUCED = {"sum": 8.0, "prod": 24.0, "max": -1.0, "min": 1.0}


def reduced(extents, body, values, r, dtype="FP32", result=None):
    text = REDUCE.format(
        extents=extents, dtype=dtype, result=result or dtype, body="\n        ".join([*body, STORE])
    )
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    out = torch.full((1, 1), 9, dtype=torch.int32 if result == "INT32" else values.dtype)
    return namespace["kernel"](values, r, out).item()


@pytest.mark.parametrize("form", ["loaded", "computed"])
@pytest.mark.parametrize("kind", sorted(NUMBERS))
@pytest.mark.parametrize(("axis", "tmp"), [("row", True), ("col", True), ("col", False)])
def test_cells_before_the_start_take_no_part_in_a_reduction(axis, kind, form, tmp):
    shape, extents = ("[1, 8]", "1, 8") if axis == "row" else ("[8, 1]", "8, 1")
    offset = "[0, r - 5]" if axis == "row" else "[r - 5, 0]"
    workspace = f"pl.create_tile({shape}, dtype=pl.FP32)"
    takes_one = axis == "row" or kind == "sum"
    body = [f"t = pl.load(x, {offset}, {shape}, clamp=True)"]
    body += ["t2 = pl.add(t, 1.0)", "t3 = pl.add(t2, -1.0)"] if form == "computed" else ["t3 = t"]
    body += [f"u = pl.{axis}_{kind}(t3, {workspace})" if takes_one and tmp else f"u = pl.{axis}_{kind}(t3)"]
    values = torch.full((8,), 50.0)  # beyond the window
    values[:3] = torch.tensor(NUMBERS[kind])
    got = reduced(extents, body, values.reshape([int(e) for e in extents.split(", ")]), 0)
    assert got == REDUCED[kind]


@pytest.mark.parametrize(("kind", "index"), [("max", 6), ("min", 7)])
def test_the_place_of_the_greatest_is_not_before_the_start(kind, index):
    numbers = [-3.0, -1.0, -4.0] if kind == "max" else [3.0, 4.0, 1.0]
    body = ["t = pl.load(x, [0, r - 5], [1, 8], clamp=True)", "tmp = pl.create_tile([1, 8], dtype=pl.FP32)"]
    body += [f"u = pl.tile.row_arg{kind}(t, tmp)"]
    values = torch.tensor([[*numbers, 0.0, 0.0, 0.0, 0.0, 0.0]])
    assert reduced("1, 8", body, values, 0, result="INT32") == index


@pytest.mark.parametrize(("kind", "value"), [("sum", 11.0), ("max", 5.0), ("min", 2.0)])
def test_a_reduction_of_a_tensor(kind, value):
    text = REDUCE.format(
        extents="1, 8",
        dtype="FP32",
        result="FP32",
        body=f"""\
t = pl.slice(x, [1, 8], [0, r - 5], clamp=True)
        u = pl.row_{kind}(pl.add(t, 1.0))
        out = pl.assemble(out, u, [0, 0])""",
    )
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    values = torch.tensor([[3.0, 1.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    assert namespace["kernel"](values, 0, torch.zeros(1, 1)).item() == value


def test_a_reduction_of_a_window_that_no_edge_cuts():
    body = ["t = pl.load(x, [0, r - 5], [1, 2], clamp=True)", "tmp = pl.create_tile([1, 2], dtype=pl.FP32)"]
    values = torch.arange(8.0).reshape(1, 8)
    assert reduced("1, 8", [*body, "u = pl.row_max(t, tmp)"], values, 8) == 4
    assert torch.equal(values, torch.arange(8.0).reshape(1, 8))


FILLS = {
    "fillpad": "u = pl.fillpad(t, pad_value=pl.PadValue.{})",
    "computed": "u = pl.fillpad(pl.add(t, 0.0), pad_value=pl.PadValue.{})",
    "in place": "u = pl.tile.fillpad_inplace(t, pad_value=pl.PadValue.{})",
    "expand": "u = pl.tile.fillpad_expand(t, [8, 8], pad_value=pl.PadValue.{})",
}


@pytest.mark.parametrize("form", sorted(FILLS))
@pytest.mark.parametrize(("pad", "number"), [("min", -torch.inf), ("max", torch.inf), ("zero", 0.0)])
@pytest.mark.parametrize("r", [0, 2, 3, 12])
def test_cells_before_the_start_are_filled(form, pad, number, r):
    given = data() + 1
    body = ["t = pl.load(x, [r - 3, r - 3], [8, 8], clamp=True)", FILLS[form].format(pad), STORE]
    before = given.clone()
    out = kernel(body)(given, r, torch.full((8, 8), 9.0))
    expected = torch.full((8, 8), number)
    for row in range(8):
        for column in range(8):
            if 0 <= r - 3 + row < 16 and 0 <= r - 3 + column < 8:
                expected[row, column] = before[r - 3 + row, r - 3 + column]
    assert torch.equal(out, expected) and torch.equal(given, before)


def test_products_leave_them_out():
    text = """\
import pypto.language as pl

@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[16, 16], pl.FP32], r: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        a = pl.add(pl.slice(x, [16, 16], [0, r - 13], clamp=True), 1.0)
        b = pl.add(pl.slice(x, [16, 16], [r - 13, 0], clamp=True), 1.0)
        out = pl.assemble(out, pl.matmul(a, b), [0, 0])
        return out
"""
    namespace = {}
    exec(torch_codegen(pl.parse(text)), namespace)
    x = torch.arange(256.0).reshape(16, 16) % 7
    got = namespace["kernel"](x, 0, torch.zeros(16, 16))
    assert torch.equal(got, (x[:, :3] + 1) @ (x[:3] + 1))


def clamped(body, kind="InCore", shape="8, 16"):
    """A kernel of `x`, with rows 1, 17, 33, ... from the first column on, an offset `n` and an output."""
    text = """\
import pypto.language as pl

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.{kind})
    def kernel(
        self, x: pl.Tensor[[8, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[{shape}], pl.FP32]],
    ) -> pl.Tensor[[{shape}], pl.FP32]:
        {body}
        return out
"""
    namespace = {}
    text = text.format(kind=kind, shape=shape, body="\n        ".join(body))
    exec(torch_codegen(pl.parse(text)), namespace)
    x = torch.arange(1.0, 129).reshape(8, 16)
    return lambda n: namespace["kernel"](x, n, torch.full([int(e) for e in shape.split(",")], 9.0))


def load(offset):
    return f"pl.load(x, [{offset}, 0], [4, 16], clamp=True)"


TWICE = {
    "bound again": (
        [
            f"t = {load('n')}",
            "for i in pl.range(2):",
            f"    t = {load('n')}",
            "    out = pl.store(pl.add(t, 1.0), [0, 0], out)",
        ],
        {-2: [9, 9, 2, 18, 9, 9, 9, 9], 1: [18, 34, 50, 66, 9, 9, 9, 9]},
    ),
    "branches": (
        [
            "if n < 0:",
            f"    t = pl.yield_(pl.add({load('n')}, 1.0))",
            "else:",
            f"    t = pl.yield_(pl.add({load(0)}, 1.0))",
            "out = pl.store(t, [0, 0], out)",
        ],
        {-2: [9, 9, 2, 18, 9, 9, 9, 9], 1: [2, 18, 34, 50, 9, 9, 9, 9]},
    ),
    "equal branches": (
        [
            "if n < 0:",
            f"    t = pl.yield_(pl.add({load('n')}, 1.0))",
            "else:",
            f"    t = pl.yield_(pl.mul({load('n')}, 2.0))",
            "out = pl.store(t, [0, 0], out)",
        ],
        {-2: [9, 9, 2, 18, 9, 9, 9, 9], 1: [34, 66, 98, 130, 9, 9, 9, 9]},
    ),
    "carried": (
        [
            f"t = pl.add({load('n')}, 1.0)",
            "for i, (u,) in pl.range(2, init_values=(t,)):",
            "    out = pl.store(u, [i * 4, 0], out)",
            f"    r = pl.yield_(pl.add({load('n + 1')}, 1.0))",
        ],
        {-2: [9, 9, 2, 18, 9, 2, 18, 34], 1: [18, 34, 50, 66, 34, 50, 66, 82]},
    ),
    "swapped": (
        [
            f"a = pl.add({load('n')}, 1.0)",
            f"b = pl.add({load('n + 1')}, 1.0)",
            "for i, (c, d) in pl.range(1, init_values=(a, b)):",
            "    e, f = pl.yield_(d, c)",
            "out = pl.store(e, [0, 0], out)",
            "out = pl.store(f, [4, 0], out)",
        ],
        {-2: [9, 2, 18, 34, 9, 9, 2, 18], 1: [34, 50, 66, 82, 18, 34, 50, 66]},
    ),
    "an offset that changes": (
        [
            "m = n + 1",
            f"t = pl.add({load('m')}, 1.0)",
            "m = m + 3",
            "out = pl.store(t, [0, 0], out)",
        ],
        {-2: [9, 2, 18, 34, 9, 9, 9, 9]},
    ),
    "written": (
        [
            f"t = pl.mul({load('n')}, 2.0)",
            "t = pl.tile.write(t, [3, 0], 5.0)",
            "out = pl.store(t, [0, 0], out)",
        ],
        {-2: [9, 9, 2, 5, 9, 9, 9, 9], 1: [34, 66, 98, 5, 9, 9, 9, 9]},
    ),
}


@pytest.mark.parametrize("form", sorted(TWICE))
def test_the_start_is_that_of_the_value_which_is_stored(form):
    body, expected = TWICE[form]
    kernel = clamped(body)
    assert {n: kernel(n)[:, 0].tolist() for n in expected} == expected


@pytest.mark.parametrize("axes", ["0, 1", "-1, -2"])
def test_a_transposed_window(axes):
    body = ["with pl.at(level=pl.Level.CORE_GROUP):"]
    body += ["    t = pl.tensor.slice(x, [4, 8], [n, 0], clamp=True)"]
    body += [f"    out = pl.assemble(out, pl.transpose(pl.add(t, 100.0), {axes}), [0, 0])"]
    out = clamped(body, "Opaque", "16, 8")(-2)
    assert out[0].tolist() == [9, 9, 101, 117, 9, 9, 9, 9]
    assert out[8:].eq(9).all()


def test_a_window_with_another_axis():
    body = ["t = pl.tensor.slice(x, [4, 16], [n, 0], clamp=True)"]
    body += ["out = pl.assemble(out, pl.reshape(pl.mul(t, 2.0), [1, 4, 16]), [0, 0, 0])"]
    assert clamped(body, shape="1, 4, 16")(-2)[0, :, 0].tolist() == [9, 9, 2, 34]


def test_a_window_of_which_nobody_can_tell_what_is_left_is_refused():
    body = ["t = pl.tensor.slice(x, [4, 16], [n, 0], clamp=True)"]
    body += ["v = pl.tensor.reinterpret_view(pl.mul(t, 2.0), pl.FP16)", "u = pl.cast(v, pl.FP32)"]
    body += ["out = pl.assemble(out, u, [0, 0])"]
    with pytest.raises(UnsupportedProgramError, match="tensor.reinterpret_view.*may begin before"):
        clamped(body, shape="4, 32")


CALLER = """\
import pypto.language as pl

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(
        self, t: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        out = pl.store(pl.load(t, [0, 0], [8, 8]), [0, 0], out)
        return out

    @pl.function
    def main(
        self, x: pl.Tensor[[16, 8], pl.FP32], r: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        t = pl.slice(x, [8, 8], [{offset}, 0], clamp=True)
        {rest}
"""


@pytest.mark.parametrize("rest", ["return self.twice(t, out)", "return pl.add(t, 1.0)"])
def test_a_window_that_leaves_its_function_is_refused(rest):
    with pytest.raises(UnsupportedProgramError, match="may begin before its tensor and leaves the function"):
        torch_codegen(pl.parse(CALLER.format(offset="r - 3", rest=rest)))


def test_a_window_that_no_edge_cuts_may_leave_its_function():
    assert "twice" in torch_codegen(pl.parse(CALLER.format(offset="3", rest="return self.twice(t, out)")))


def test_a_window_that_is_pushed_to_the_other_core_is_refused():
    body = ["t = pl.load(x, [r - 3, 0], [8, 8], clamp=True)", "pl.tile.tpush_to_aic(pl.add(t, 1.0), split=0)"]
    with pytest.raises(UnsupportedProgramError, match="may begin before its tensor and leaves the function"):
        kernel(body)
