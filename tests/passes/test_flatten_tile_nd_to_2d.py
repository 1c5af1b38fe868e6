"""FlattenTileNdTo2D: what no recorded program shows, above all where rows could not tell what axes did."""

import pytest
import torch
from passes.kernels import after, program

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen

PASS = "FlattenTileNdTo2D"
KERNEL = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[2, 8, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.Out[pl.Tensor[[2, 8, 16], pl.FP32]]):
"""
LOAD = "a = pl.load(x, [0, 0, 0], [2, 8, 16])"
STORE = "done = pl.store(b, [0, 0, 0], out)"


def kernel(*lines: str) -> ir.Program:
    return program(KERNEL + "".join(f"        {line}\n" for line in lines))


def refused(node: ir.Program, message: str) -> None:
    with pytest.raises(passes.PassError, match=message) as raised:
        passes.make_pass(PASS)(node)
    assert "in function 'kernel'" in str(raised.value)
    assert "-->" in str(raised.value)


def test_rows_of_all_pages():
    assert after(PASS, kernel(LOAD, "b = pl.exp(a)", STORE, "return done")) == [
        "a = pl.tile.load(x, [0, 0, 0], [2, 8, 16], [2, 8, 16], target_memory=pl.Mem.Vec)",
        "b = pl.tile.exp(a)",
        "done = pl.tile.store(b, [0, 0, 0], out, [2, 8, 16])",
        "return done",
    ]
    text = ir.python_print(passes.make_pass(PASS)(kernel(LOAD, "b = pl.exp(a)", STORE)), format=False)
    assert "a: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec]" in text


def test_what_a_loop_carries_and_a_branch_gives_is_of_two_axes():
    lines = [
        LOAD,
        "for i, (c,) in pl.range(3, init_values=(a,)):",
        "    if i > n:",
        "        d = pl.exp(c)",
        "        e = pl.yield_(d)",
        "    else:",
        "        e = pl.yield_(c)",
        "    b = pl.yield_(e)",
        STORE,
    ]
    text = ir.python_print(passes.make_pass(PASS)(kernel(*lines)), format=False)
    assert "pl.Tile[[2, 8, 16]" not in text
    assert text.count("pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.yield_(") == 3


def test_valid_rows_that_follow_each_other():
    load = "a = pl.load(x, [1, 0, 0], [1, 8, 16], [1, n, 16])"
    text = ir.python_print(passes.make_pass(PASS)(kernel(load, "b = pl.exp(a)", STORE)), format=False)
    assert "b: pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 16])]" in text


REFUSED = {
    "valid rows with gaps": (
        ["a = pl.load(x, [0, 0, 0], [2, 8, 16], [2, 4, 16])"],
        "tile.load: the valid rows of the tile do not follow each other",
    ),
    "read": (
        [LOAD, "s = pl.tile.read(a, [1, 0, 0])"],
        "tile.read: it cannot be done to a tile of more than two",
    ),
    "slice": ([LOAD, "b = pl.slice(a, [1, 8, 16], [0, 0, 0])"], "tile.slice: it cannot be done to a tile"),
    "band": (
        [LOAD, "c = pl.load(x, [0, 0, 0], [2, 4, 16])", "b = pl.tile.assemble(a, c, [0, 0, 0])"],
        "tile.assemble: its source is not of rows that follow each other in the target",
    ),
    "axes": ([LOAD, "b = pl.transpose(a, 0, 1)"], "tile.transpose: only the last two axes of a tile"),
    "several pages": (
        [LOAD, "c = pl.load(x, [0, 0, 0], [1, 8, 16])", "b = pl.add(a, c)"],
        "tile.add: its tiles have other leading extents than each other",
    ),
}


@pytest.mark.parametrize(("lines", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_rows_cannot_tell(lines, message):
    refused(kernel(*lines), message)


def test_extents_that_are_not_constant():
    text = KERNEL.replace("[2, 8, 16]", "[M, 8, 16]")
    lines = ["a = pl.load(x, [0, 0, 0], [n, 8, 16])", "b = pl.exp(a)"]
    node = program("    M = pl.dynamic('M')\n" + text + "".join(f"        {line}\n" for line in lines))
    refused(
        node, r"tile 'a' has more than two axes, of extents that are not constant: \[n, 8, 16\]; take tiles"
    )


def test_other_functions_stay():
    text = KERNEL.replace("InCore", "Opaque")
    node = program(text + f"        {LOAD}\n")
    assert passes.make_pass(PASS)(node) is node


BATCHED = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.{x}[pl.Tensor[[2, 32, 32], pl.FP32]], y: pl.Tensor[[2, 16, 32], pl.FP32],
               out: pl.InOut[pl.Tensor[[2, 16, 32], pl.FP32]]):
        a = pl.load(y, [0, 0, 0], [2, 16, 32], target_memory=pl.Mem.Mat)
        b = pl.load(x, [0, {row}, 0], [2, {rows}, 32], target_memory=pl.Mem.Mat)
"""


def batched(*lines: str, x: str = "InOut", row: int = 0, rows: int = 32) -> ir.Program:
    text = BATCHED.format(x=x, row=row, rows=rows)
    return program(text + "".join(f"        {line}\n" for line in lines))


def result(node: ir.Program) -> torch.Tensor:
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    x, y, out = operands()
    namespace["kernel"](x, y, out)
    return out


def operands() -> tuple[torch.Tensor, ...]:
    numbers = torch.Generator().manual_seed(0)
    return tuple(torch.randn(2, rows, 32, generator=numbers) for rows in (32, 16, 16))


def test_stores_of_pages_keep_their_keywords():
    lines = ["c = pl.batch_matmul(a, b)", "done = pl.store(c, [0, 0, 0], out, atomic=pl.AtomicType.Add)"]
    x, y, out = operands()
    got = result(passes.make_pass(PASS)(batched(*lines)))
    torch.testing.assert_close(got, out + torch.bmm(y, x), rtol=1e-5, atol=1e-5)


def test_a_product_that_is_read_again_is_a_tile():
    lines = [
        "c = pl.batch_matmul(a, b)",
        "once = pl.store(c, [0, 0, 0], out)",
        "again = pl.store(c, [0, 0, 0], once, atomic=pl.AtomicType.Add)",
    ]
    x, y, _ = operands()
    got = result(passes.make_pass(PASS)(batched(*lines)))
    torch.testing.assert_close(got, 2 * torch.bmm(y, x), rtol=1e-5, atol=1e-5)


def test_an_accumulator_of_several_pages():
    lines = [
        "c = pl.batch_matmul(a, b)",
        "d = pl.tile.batch_matmul_acc(c, a, b)",
        "done = pl.store(d, [0, 0, 0], out)",
    ]
    node = passes.make_pass(PASS)(batched(*lines))
    x, y, _ = operands()
    torch.testing.assert_close(result(node), 2 * torch.bmm(y, x), rtol=1e-5, atol=1e-5)
    assert [line for line in after(PASS, batched(*lines)) if "acc" in line] == [
        "acc_page_0 = pl.tile.slice(c_2, [16, 32], [0, 0])",
        "matmul_acc_0 = pl.tile.matmul_acc(acc_page_0, lhs_slice_0_1, rhs_slice_0_1)",
        "c_3 = pl.tile.assemble(c_2, matmul_acc_0, [0, 0])",
        "acc_page_1 = pl.tile.slice(c_3, [16, 32], [16, 0])",
        "matmul_acc_1 = pl.tile.matmul_acc(acc_page_1, lhs_slice_1_1, rhs_slice_1_1)",
        "d = pl.tile.assemble(c_3, matmul_acc_1, [16, 0])",
    ]


def test_pages_are_not_loaded_after_the_tensor_was_written():
    lines = [
        "z = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)",
        "w = pl.store(z, [0, 0, 0], x)",
        "c = pl.batch_matmul(a, t)",
        "done = pl.store(c, [0, 0, 0], out)",
    ]
    text = BATCHED.replace(
        "b = pl.load(x, [0, {row}, 0], [2, {rows}, 32]", "t = pl.load(x, [0, 0, 0], [2, 32, 16]"
    )
    node = program(text.format(x="InOut") + "".join(f"        {line}\n" for line in lines))
    passes.make_pass(PASS)(node)  # a window of whole rows is loaded at its place
    text = text.replace("[2, 32, 16]", "[2, 16, 16]").replace("[2, 16, 32], target", "[2, 16, 16], target")
    node = program(text.format(x="InOut") + "".join(f"        {line}\n" for line in lines))
    refused(node, "tile.batch_matmul: 'x' is written after it was loaded for this product")


def test_matrices_are_left_alone():
    node = program("""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        a = pl.load(x, [0, 0], [16, 16])
        done = pl.store(pl.exp(a), [0, 0], out)
""")
    node = passes.make_pass("FlattenCallExpr")(node)
    assert passes.make_pass(PASS)(node) is node
