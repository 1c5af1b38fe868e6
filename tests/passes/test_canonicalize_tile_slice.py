"""CanonicalizeTileSlice: what is copied and what stays, and writes that a copy would hide."""

import pytest
from passes.kernels import after, program

from pypto_tmpl import ir, passes

PASS = "CanonicalizeTileSlice"
KERNEL = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], row: pl.Tensor[[1, 16], pl.FP32],
               n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        a = pl.load(x, [0, 0], [16, 64])
        r = pl.load(row, [0, 0], [1, 16])
"""


def kernel(*lines: str) -> ir.Program:
    return program(KERNEL + "".join(f"        {line}\n" for line in lines))


def got(*lines: str) -> list[str]:
    return after(PASS, kernel(*lines))[2:]


def test_a_window_that_begins_at_a_block_stays():
    lines = ["s = pl.tile.slice(a, [16, 8], [0, 8])", "b = pl.exp(s)"]
    assert got(*lines) == ["s = pl.tile.slice(a, [16, 8], [0, 8])", "b = pl.tile.exp(s)"]


def test_a_window_between_blocks_is_copied_for_each_that_reads_it():
    assert got("s = pl.tile.slice(a, [16, 8], [0, 12])", "b = pl.exp(s)", "c = pl.add(s, b)") == [
        "s_textract = pl.tile.extract(a, 0, 12, [16, 8], target_memory=pl.Mem.Vec)",
        "b = pl.tile.exp(s_textract)",
        "s_textract_1 = pl.tile.extract(a, 0, 12, [16, 8], target_memory=pl.Mem.Vec)",
        "c = pl.tile.add(s_textract_1, b)",
    ]


@pytest.mark.parametrize(
    ("offset", "is_copied"),
    [("n", True), ("n * 8", False), ("n * 8 + 16", False), ("n * 8 - 4", True), ("pl.min(n * 8, 8)", True)],
)
def test_offsets_that_only_a_run_knows(offset, is_copied):
    lines = got(f"k = {offset}", "s = pl.tile.slice(a, [16, 8], [0, k])", "b = pl.exp(s)")
    assert lines[-1] == ("b = pl.tile.exp(s_textract)" if is_copied else "b = pl.tile.exp(s)")


def test_rows_begin_at_blocks_if_a_row_is_blocks():
    assert got("s = pl.tile.slice(a, [1, 64], [n, 0])", "b = pl.exp(s)")[-1] == "b = pl.tile.exp(s)"


def test_an_op_over_columns_reads_one_block():
    assert got("s = pl.tile.slice(a, [8, 16], [0, 16])", "b = pl.col_expand_mul(s, r)") == [
        "s_textract = pl.tile.extract(a, 0, 16, [8, 16], target_memory=pl.Mem.Vec)",
        "b = pl.tile.col_expand_mul(s_textract, r)",
    ]
    whole = got("s = pl.tile.slice(a, [1, 16], [3, 16])", "b = pl.col_expand_mul(s, r)")
    assert whole[-1] == "b = pl.tile.col_expand_mul(s, r)"


def test_a_window_of_a_window():
    lines = [
        "s = pl.tile.slice(a, [16, 32], [0, 16])",
        "k = 3",
        "t = pl.tile.slice(s, [8, 8], [8, k])",
        "b = pl.exp(t)",
    ]
    assert got(*lines) == [
        "k = 3",
        "t_textract = pl.tile.extract(a, 8, 19, [8, 8], target_memory=pl.Mem.Vec)",
        "b = pl.tile.exp(t_textract)",
    ]


def refused(node: ir.Program, message: str) -> None:
    with pytest.raises(passes.PassError, match=message) as raised:
        passes.make_pass(PASS)(node)
    assert "in function 'kernel'" in str(raised.value)
    assert "-->" in str(raised.value)


SLICE = "s = pl.tile.slice(a, [16, 8], [0, 3])"


def test_what_is_written_into_a_window_must_reach_the_tile():
    node = kernel(
        SLICE, "z = pl.tile.full([16, 8], dtype=pl.FP32, value=0.0)", "w = pl.tile.assemble(s, z, [0, 0])"
    )
    refused(node, "tile.assemble writes into 's', a window that does not begin at a block")


WRITE = [
    "z = pl.tile.full([16, 8], dtype=pl.FP32, value=0.0)",
    "w = pl.tile.assemble(a, z, [0, 0])",
    "e = pl.exp(t)",
]


def test_a_second_name_of_a_window_of_a_tile_that_is_written():
    refused(
        kernel(SLICE, "t = s", *WRITE), "'s', a window of a tile that is written, does not begin at a block"
    )
    assert "t = pl.tile.extract(a, 0, 3, [16, 8], target_memory=pl.Mem.Vec)" in got(
        SLICE, "t = s", "e = pl.exp(t)"
    )


def test_an_accumulator_that_is_a_window_is_of_whole_rows():
    node = program("""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[32, 32], pl.BF16]):
        a = pl.load(x, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
        c = pl.matmul(a, a)
        s = pl.tile.slice(c, [16, 16], [0, 16])
        l = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
        r = pl.load(x, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
        d = pl.matmul_acc(s, l, r)
""")
    refused(node, "tile.matmul_acc: the window that it adds to is not of whole rows of the accumulator")
