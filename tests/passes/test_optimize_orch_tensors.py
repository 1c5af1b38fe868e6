"""OptimizeOrchTensors: what no recorded program shows, above all which buffers must stay."""

import pytest
import torch
from passes.kernels import after, program

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen

KERNELS = """
    @pl.function(type=pl.FunctionType.InCore)
    def first(self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
              ) -> pl.Tensor[[16, 16], pl.FP32]:
        done = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return done
    @pl.function(type=pl.FunctionType.InCore)
    def step(self, v: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
             ) -> pl.Tensor[[16, 16], pl.FP32]:
        done = pl.store(pl.add(pl.load(v, [0, 0], [16, 16]), 1.0), [0, 0], o)
        return done
    @pl.function(type=pl.FunctionType.InCore)
    def gap(self, a: pl.Tensor[[16, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32],
            o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        t = pl.sub(pl.load(a, [0, 0], [16, 16]), pl.load(b, [0, 0], [16, 16]))
        done = pl.store(t, [0, 0], o)
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
             ) -> pl.Tensor[[16, 16], pl.FP32]:
"""
CREATE = "pl.create_tensor([16, 16], dtype=pl.FP32)"
START = (f"b0 = {CREATE}", "v0 = self.first(x, b0)")
ROUND = ("for i, (v,) in pl.range(3, init_values=(v0,)):", f"    b = {CREATE}", "    w = self.step(v, b)")
END = ("    r = pl.yield_(w)",)


def main(*lines: str) -> ir.Program:
    return program(KERNELS + "".join(f"        {line}\n" for line in lines))


def values(node: ir.Program, entry: str = "main", size: int = 16) -> torch.Tensor:
    """What a program leaves in ``out``; ``x`` counts from 0."""
    namespace: dict[str, object] = {}
    exec(torch_codegen(node), namespace)
    x, out = torch.arange(size * 16.0).view(size, 16), torch.zeros(size, 16)
    given = x.clone()
    namespace[entry](x, out)
    assert torch.equal(x, given)
    return out


def test_a_carry_that_the_program_was_given_is_not_written():
    node = main("v0 = x", *ROUND, *END, "done = self.gap(r, x, out)", "return done")
    result = passes.make_pass("OptimizeOrchTensors")(node)
    assert torch.equal(values(result), torch.full((16, 16), 3.0))


STAY = {
    "carry is read later": (*START, *ROUND, "    g = self.gap(v, x, out)", *END, "return r"),
    "first value is read later": (*START, *ROUND, *END, "done = self.gap(r, v0, out)", "return done"),
    "other call of the kernel": (*START, *ROUND, *END, f"c = {CREATE}", "d = self.step(x, c)", "return d"),
    "buffer is read later": (*START, *ROUND, "    g = self.gap(b, x, out)", *END, "return r"),
    "carry has another name": (*START, *ROUND, "    y = v", "    g = self.gap(y, v, out)", *END, "return r"),
}  # fmt: skip


@pytest.mark.parametrize("lines", STAY.values(), ids=STAY.keys())
def test_buffers_that_stay(lines):
    node = main(*lines)
    result = passes.make_pass("OptimizeOrchTensors")(node)
    assert len(result.get_function("step").params) == 2
    assert torch.equal(values(result), values(node))


def test_a_carry_of_the_callers_own_is_written_over():
    node = main(*START, *ROUND, *END, "done = self.gap(r, x, out)", "return done")
    assert after("OptimizeOrchTensors", node, "main") == [
        "b0 = pl.tensor.create([16, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
        "v0 = self.first(x, b0)",
        "for i, (v,) in pl.range(3, init_values=(v0,)):",
        "  w = self.step(v)",
        "  r = pl.yield_(w)",
        "done = self.gap(r, x, out)",
        "return done",
    ]
    result = passes.make_pass("OptimizeOrchTensors")(node)
    assert torch.equal(values(result), torch.full((16, 16), 3.0))


WINDOW = """
    @pl.function(type=pl.FunctionType.InCore)
    def block(self, x: pl.Tensor[[64, 16], pl.FP32], r: pl.Scalar[pl.INDEX],
              o: pl.Out[pl.Tensor[[64, 16], pl.FP32]]) -> pl.Tensor[[64, 16], pl.FP32]:
        pl.func_attr({"windowize": True})
        t = pl.load(x, [r, 0], [16, 16])
        done = pl.store(pl.mul(t, 2.0), [r, 0], o)
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[64, 16], pl.FP32], out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]
             ) -> pl.Tensor[[64, 16], pl.FP32]:
        for i, (o,) in pl.range(0, STOP, 16, init_values=(out,)):
            w = self.block(x, i, o)
            r = pl.yield_(w)
        return r
"""


@pytest.mark.parametrize(
    ("stop", "is_windowed"), [("64", True), ("80", False)], ids=["inside", "beyond the end"]
)
def test_windows_are_inside_of_the_tensor(stop, is_windowed):
    node = program(WINDOW.replace("STOP", stop))
    result = passes.make_pass("OptimizeOrchTensors")(node)
    assert (result.get_function("block__windowed") is not None) is is_windowed
    if is_windowed:
        assert torch.equal(values(result, size=64), 2 * torch.arange(1024.0).view(64, 16))
