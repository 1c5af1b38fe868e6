"""Names in printed text (spec: DSL, 13)."""

import ast
import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir.printer_samples import (
    FP32,
    NOWHERE,
    assign,
    body_text,
    branch,
    call,
    carry,
    evaluate,
    function,
    integer,
    loop,
    program,
    returns,
    scalar,
    sequence,
    text,
    yields,
)

from pypto_tmpl import ir


def printed_params(*hints: str) -> list[str]:
    """Names of the parameters of a function that returns them all in order."""
    params = [scalar(hint) for hint in hints]
    tree = ast.parse(text(function("f", params, returns(*params))))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    names = [arg.arg for arg in definition.args.args]
    returned = [node.id for node in ast.walk(definition.body[0]) if isinstance(node, ast.Name)]
    assert returned == names
    return names


@pytest.mark.parametrize(
    ("hints", "names"),
    [
        (("x", "y"), ["x", "y"]),
        (("x", "x", "x"), ["x", "x_1", "x_2"]),
        (("M", "M", "M_1"), ["M", "M_2", "M_1"]),
        (("x", "x", "x_1"), ["x", "x_2", "x_1"]),
        (("x", "x", "x_1", "x_1"), ["x", "x_1", "x_1_1", "x_1_2"]),
        (("x_1", "x_1", "x", "x"), ["x_1", "x_1_1", "x", "x_2"]),
        (("class", "None", "1a", "a.b", "", "__"), ["class_", "None_", "_1a", "a_b", "v", "__"]),
        (("class", "class_"), ["class_", "class__1"]),
        (("x-y", "x.y"), ["x_y", "x_y_1"]),
        (("变量", "ﬁ", "fi"), ["变量", "fi", "fi_1"]),  # Python reads the ligature as `fi`
        (("a\u0301", "á"), ["á", "á_1"]),
        (("a b\tc\nd", "🙂"), ["a_b_c_d", "_"]),
        (("pl", "pld", "self"), ["pl_1", "pld_1", "self_1"]),
        (("pl", "pl_1"), ["pl_2", "pl_1"]),
        (("x" * 300,), ["x" * 300]),
    ],
)
def test_names_of_parameters(hints: tuple[str, ...], names: list[str]) -> None:
    assert printed_params(*hints) == names


HINTS = st.sampled_from(["x", "x_1", "x_1_1", "x__1", "X", "1x", "x.y", "x-y", "x_y", "v", "", "pl", "if"])


@given(st.lists(HINTS | st.text(max_size=5), max_size=12))
def test_distinct_variables_have_distinct_identifiers(hints: list[str]) -> None:
    names = printed_params(*hints)
    assert len(set(names)) == len(hints)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names)


def test_order_of_definitions_decides() -> None:
    x = [scalar("x") for _ in range(6)]
    init = carry("x", x[0])
    node = loop(
        x[1],
        integer(0),
        integer(4),
        integer(1),
        sequence(branch(scalar("p"), assign(x[2], x[1])), yields(x[2])),
        [init],
        [x[3]],
    )
    assert body_text(node, assign(x[4], x[3]), params=[x[0]]) == (
        "for x_1, (x_2,) in pl.range(4, init_values=(x,)):\n"
        "    if p__FREE_VAR:\n"
        "        x_4: pl.Scalar[pl.INDEX] = x_1\n"
        "    x_3: pl.Scalar[pl.INDEX] = pl.yield_(x_4)\n"
        "x_5: pl.Scalar[pl.INDEX] = x_3\n"
    )


def test_assigning_again_keeps_the_name() -> None:
    x = scalar("x")
    assert body_text(assign(x, integer(1)), assign(x, x + 1)) == (
        "x: pl.Scalar[pl.INDEX] = 1\nx: pl.Scalar[pl.INDEX] = x + 1\n"
    )


def test_variables_that_nothing_defines() -> None:
    assert body_text(evaluate(scalar("x") + scalar("y"))) == "x__FREE_VAR + y__FREE_VAR\n"
    assert body_text(evaluate(scalar("x") + scalar("x"))) == "x__FREE_VAR + x_1__FREE_VAR\n"
    # A name that another variable has is avoided.
    assert body_text(evaluate(scalar("x") + scalar("x__FREE_VAR")), params=[scalar("x__FREE_VAR")]) == (
        "x__FREE_VAR_ + x__FREE_VAR_1__FREE_VAR\n"
    )
    # Outside of a function nothing is defined.
    assert text(scalar("x") + 1) == "x + 1"
    assert text(evaluate(scalar("x"))) == "x\n"


def test_local_variables_make_room_for_dimensions() -> None:
    dim, param = scalar("N"), scalar("N")
    x = ir.Var("x", ir.TensorType([dim], FP32), NOWHERE)
    printed = text(program(function("f", [param, x], returns(param, dim))))
    assert 'N = pl.dynamic("N")' in printed
    assert "def f(self, N_1: pl.Scalar[pl.INDEX], x: pl.Tensor[[N], pl.FP32]):" in printed
    assert "return N_1, N\n" in printed


def test_dimensions_of_one_name_are_told_apart() -> None:
    params = [ir.Var("x", ir.TensorType([scalar("N"), scalar("N")], FP32), NOWHERE) for _ in range(2)]
    printed = text(program(function("f", params[:1], returns()), function("g", params[1:], returns())))
    declared = [line.split(" = ")[0] for line in printed.splitlines() if "dynamic" in line]
    assert declared == ["N", "N_1", "N_2", "N_3"]
    assert "def f(self, x: pl.Tensor[[N, N_1], pl.FP32]):" in printed
    assert "def g(self, x: pl.Tensor[[N_2, N_3], pl.FP32]):" in printed


def test_allocations_of_one_name_are_told_apart() -> None:
    def placed(name: str) -> ir.Var:
        memref = ir.MemRef(ir.Var("pool", ir.PtrType(), NOWHERE), 0, 16)
        return ir.Var(name, ir.TensorType([4], FP32, memref), NOWHERE)

    assert body_text(
        assign(placed("a"), call("tensor.create")), assign(placed("b"), call("tensor.create"))
    ) == (
        'a: pl.Tensor[[4], pl.FP32, pl.MemRef("pool", pl.const(0, pl.INT64), 16)] = pl.tensor.create()\n'
        'b: pl.Tensor[[4], pl.FP32, pl.MemRef("pool_1", pl.const(0, pl.INT64), 16)] = pl.tensor.create()\n'
    )


def test_names_do_not_depend_on_object_identity() -> None:
    call_ = call("tensor.exp", ir.Var("a", ir.TensorType([4], FP32), NOWHERE))
    texts = {body_text(*(assign(scalar("x"), call_) for _ in range(40))) for _ in range(20)}
    assert len(texts) == 1
