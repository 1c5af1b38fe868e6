"""Clamped loads that begin before the first element: cells that the tensor has not are never stored."""

import pytest
import torch

import pypto_tmpl.language as pl
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
