"""FuseCreateAssembleToSlice: what becomes a window, and what must stay a buffer of its own."""

import pytest
from passes.kernels import after, program

from pypto_tmpl import passes

FILL = """
    @pl.function(type=pl.FunctionType.InCore)
    def fill(self, x: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
             ) -> pl.Tensor[[16, 16], pl.FP32]:
        filled = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return filled
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
             whole: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
"""
CREATE = "b = pl.create_tensor([16, 16], dtype=pl.FP32)"
FILLED = "b_1 = self.fill(x, b)"
ASSEMBLE = "done = pl.assemble(whole, b_1, [16, 0])"


def fused(*lines: str) -> list[str]:
    node = program(FILL + "".join(f"        {line}\n" for line in lines))
    return after("FuseCreateAssembleToSlice", node, "main")


def test_the_buffer_is_a_window_of_the_target():
    assert fused(CREATE, FILLED, ASSEMBLE, "return done") == [
        "b = pl.tensor.slice(whole, [16, 16], [16, 0])",
        "b_1 = self.fill(x, b)",
        "return whole",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (CREATE, FILLED, "seen = pl.slice(whole, [16, 16], [16, 0])", ASSEMBLE),
        (CREATE, FILLED, ASSEMBLE, "again = self.fill(x, b_1)"),
        (CREATE, FILLED, "m = n * 2", "done = pl.assemble(whole, b_1, [m, 0])"),
        (CREATE, FILLED, ASSEMBLE, "more = pl.assemble(done, b_1, [32, 0])"),
        (CREATE, "for i in pl.range(2):", "    b_1 = self.fill(x, b)", f"    {ASSEMBLE}"),
        ("b = pl.create_tensor([16, 16], dtype=pl.FP32, init_value=0.0)", FILLED, ASSEMBLE),
    ],
    ids=["target read", "buffer written", "offset comes later", "assembled twice", "in a loop", "zeros"],
)
def test_what_stays_a_buffer(lines):
    assert any("create" in line for line in fused(*lines))


@pytest.mark.parametrize(
    "made",
    [
        "pl.mul(b_1, 2.0)",
        "pl.slice(b_1, [8, 16], [8, 0])",
        "pl.reshape(b_1, [8, 32])",
        "pl.matmul_acc(b_1, x, x)",
    ],
)
def test_what_is_made_of_the_buffer_is_no_part_of_the_target(made):
    """The cells of the buffer lie elsewhere than those that are assembled."""
    lines = (CREATE, FILLED, f"other = {made}", "done = pl.assemble(whole, other, [16, 0])", "return done")
    assert fused(*lines)[0].startswith("b = pl.tensor.create(")


def test_carries_branches_and_edits_of_the_buffer_are_the_buffer():
    lines = (
        CREATE,
        "for i, (c,) in pl.range(4, init_values=(b,)):",
        "    d = self.fill(x, c)",
        "    b_1 = pl.yield_(d)",
        "b_2 = pl.assemble(b_1, x, [0, 0])",
        "done = pl.assemble(whole, b_2, [16, 0])",
        "return done",
    )
    found = fused(*lines)
    assert found[0] == "b = pl.tensor.slice(whole, [16, 16], [16, 0])" and found[-1] == "return whole"


def test_windows_show_their_tensor_in_orchestration_only():
    text = FILL + "".join(f"        {line}\n" for line in (CREATE, FILLED, ASSEMBLE, "return done"))
    node = program(text.replace("FunctionType.Orchestration", "FunctionType.Opaque"))
    assert passes.fuse_create_assemble_to_slice()(node) is node


def test_parameters_that_a_caller_passes_one_tensor_for_are_one_tensor():
    inner = """
        w = pl.slice(seen, [16, 16], [8, 0])
        b = pl.create_tensor([16, 16], dtype=pl.FP32)
        b_1 = self.fill(w, b)
        done = pl.assemble(whole, b_1, [16, 0])
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def outer(self, x: pl.Tensor[[64, 16], pl.FP32], whole: pl.Out[pl.Tensor[[64, 16], pl.FP32]]):
        result = self.main({passed}, whole)
        return result
"""
    old = "x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX]"
    head = FILL.replace(old, "seen: pl.Tensor[[64, 16], pl.FP32]")
    kept = {
        passed: "pl.tensor.create"
        in after("FuseCreateAssembleToSlice", program(head + inner.format(passed=passed)), "main")[1]
        for passed in ("whole", "x")
    }
    assert kept == {"whole": True, "x": False}
