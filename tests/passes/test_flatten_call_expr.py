"""FlattenCallExpr: the order of what is pulled out, and what stays."""

import re

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes

HEAD = """
import pypto.language as pl

@pl.program
class p:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        a = pl.load(x, [0, 0], [16, 16])
"""


def flattened(*lines: str) -> list[str]:
    """The statements of the flattened kernel, without annotations, from the second on."""
    source = HEAD + "".join(f"        {line}\n" for line in lines)
    text = ir.python_print(passes.flatten_call_expr()(pl.parse(source)), format=False)
    body = text[text.index("target_memory") :].splitlines()[1:]
    return [re.sub(r": pl\.(Tile|Tensor|Scalar)\[.*?\] = ", " = ", line.strip()) for line in body]


def test_calls_are_pulled_out_in_the_order_in_which_they_are_evaluated():
    assert flattened("b = pl.add(pl.exp(pl.neg(a)), pl.mul(pl.abs(a), a))") == [
        "t__tmp_v0 = pl.tile.neg(a)",
        "t__tmp_v1 = pl.tile.exp(t__tmp_v0)",
        "t__tmp_v2 = pl.tile.abs(a)",
        "t__tmp_v3 = pl.tile.mul(t__tmp_v2, a)",
        "b = pl.tile.add(t__tmp_v1, t__tmp_v3)",
    ]


def test_new_statements_stay_in_their_body():
    got = flattened("for i in pl.range(pl.tile.get_block_idx(), n):", "    b = pl.exp(pl.neg(a))")
    assert got == [
        "t__tmp_v0 = pl.tile.get_block_idx()",
        "for i in pl.range(t__tmp_v0, n):",
        "t__tmp_v1 = pl.tile.neg(a)",
        "b = pl.tile.exp(t__tmp_v1)",
    ]


def test_a_call_that_is_an_element_of_a_tuple_stays_but_not_one_inside_an_element():
    got = flattened("b = pl.store(a, [pl.tile.get_block_idx(), pl.tile.get_subblock_idx() * 4], out)")
    assert got == [
        "t__tmp_v0 = pl.tile.get_subblock_idx()",
        "b = pl.tile.store(a, [pl.tile.get_block_idx(), t__tmp_v0 * 4], out)",
    ]


def test_returned_calls():
    assert flattened("return pl.store(a, [0, 0], out)") == [
        "t__tmp_v0 = pl.tile.store(a, [0, 0], out)",
        "return t__tmp_v0",
    ]


def test_names_that_are_taken_are_not_given_again():
    assert flattened("t__tmp_v0 = pl.neg(a)", "b = pl.exp(pl.abs(t__tmp_v0))")[1] == (
        "t__tmp_v1 = pl.tile.abs(t__tmp_v0)"
    )


def test_the_condition_of_a_while_is_no_place_to_take_calls_from():
    lines = ("i = n", "while i < pl.cast(pl.tile.get_block_idx(), pl.INDEX):", "    i = i + 1")
    with pytest.raises(passes.PassError) as raised:
        flattened(*lines)
    assert str(raised.value) == (
        "error[pass]: the condition of a while calls tile.get_block_idx, which every round has to call\n"
        "  --> <string>:11:27\n"
        "   = in function 'kernel'"
    )
