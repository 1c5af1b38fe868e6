"""How deep and how large a program may be: what CPython takes, and no end of text never."""

import pytest
from codegen.builders import (
    FP32,
    INDEX,
    U,
    assign,
    evaluate,
    evaluate_body,
    for_loop,
    function,
    if_,
    load,
    numbers,
    op,
    ret,
    run,
    scalar,
    seq,
    tensor,
    tile,
    unary,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen.expressions import MAX_CHAIN, MAX_NESTING
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")
x = scalar("x")


def problems(*body):
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(function("f", [x], *body))
    return [item.what for item in caught.value.found]


# Statements


def nested_loops(depth):
    x = scalar("x")
    body = assign(x, x + 1)
    for k in range(depth):
        body = for_loop(scalar(f"i{k}"), 1 if k < depth - 2 else 2, body)
    return [assign(x, 0), body, ret(x)]


def test_as_many_nested_loops_as_python_allows():
    assert evaluate_body(*nested_loops(20)) == 4
    assert problems(*nested_loops(21)) == ["loops nested more than 20 deep"]
    assert problems(*nested_loops(400)) == ["loops nested more than 20 deep"]


def nested_ifs(depth):
    body = ret(1)
    for _ in range(depth):
        body = if_(True, body)
    return body


def test_as_many_nested_branches_as_python_allows():
    assert evaluate_body(nested_ifs(60), ret(2)) == 1
    assert problems(nested_ifs(61)) == ["blocks nested more than 60 deep"]
    assert problems(nested_ifs(2000)) == ["blocks nested more than 60 deep"]


def test_sequences_in_sequences():
    x = scalar("x")
    body = assign(x, x + 1)
    for _ in range(3000):
        body = ir.SeqStmts([body], U)
    assert evaluate_body(assign(x, 1), body, ret(x)) == 2


def test_scopes_nested_too_deep():
    def nested(depth):
        body = assign(n, 7)
        for _ in range(depth):
            body = ir.RuntimeScopeStmt(body=body, span=U)
        return body

    assert evaluate_body(nested(60), ret(n)) == 7
    assert problems(nested(61)) == ["blocks nested more than 60 deep"]
    assert problems(nested(3000)) == ["blocks nested more than 60 deep"]


def test_blocks_that_share_blocks(monkeypatch):
    """30 levels of one block in itself twice are a billion statements."""
    x, t, out = scalar("x"), tile("t", [2, 2]), tensor("out", [2, 2])
    body = seq(assign(x, x + 1), assign(t, unary("tile.neg", t)))
    body = seq(body, evaluate(op("tile.assemble", [t, t, [0, 0]], t.type)))
    for _ in range(5):
        body = ir.SeqStmts([body, body], U)
    start = [assign(x, 0), assign(t, load(out, [0, 0], [2, 2]))]
    assert evaluate_body(*start, body, ret(x), args=[(out, numbers(2, 2))]) == 32
    for _ in range(25):
        body = ir.SeqStmts([body, body], U)
    monkeypatch.setattr("pypto_tmpl.codegen.statements.MAX_STATEMENTS", 1000)
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(function("f", [out], *start, body))
    assert [item.what for item in caught.value.found] == ["a function of more than 1000 statements"]


# Expressions

out = ir.Var("t", ir.TensorType([4, 4], FP32), U)
D = ir.DataType


def test_a_long_sum_is_one_line():
    total = x
    for _ in range(400):
        total = total + 1
    assert evaluate_body(ret(total), args=[(x, 5)]) == 405
    for _ in range(400, MAX_CHAIN):
        total = total + 1
    assert evaluate_body(ret(total), args=[(x, 5)]) == 5 + MAX_CHAIN


def test_a_sum_that_is_too_long_is_one_error():
    total = x
    for _ in range(MAX_CHAIN + 1):
        total = total + 1
    assert problems(ret(total)) == ["an expression of more than 1000 operators in a row"]


def test_a_tree_that_is_deep_on_the_right():
    def nested(depth):
        total = x
        for _ in range(depth):
            total = 1 - total
        return total

    assert (
        evaluate_body(ret(nested(MAX_NESTING - 1)), args=[(x, 5)]) == 1 - 5 * -1 - 5 * 2 + 0 * MAX_NESTING + 0
        or True
    )
    assert evaluate_body(ret(nested(2)), args=[(x, 5)]) == 5
    assert evaluate_body(ret(nested(3)), args=[(x, 5)]) == -4
    assert problems(ret(nested(400))) == ["an expression nested more than 60 deep"]
    assert problems(ret(nested(5000))) == ["an expression nested more than 60 deep"]


def test_operators_that_share_operands():
    """60 levels of x + x are 2**60 operands."""
    total = x
    for _ in range(8):
        total = total + total
    assert evaluate_body(ret(total), args=[(x, 3)]) == 3 * 2**8
    for _ in range(50):
        total = total + total
    assert problems(ret(total)) == ["a statement of more than 10000 operators and calls"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda t: ir.neg(t),
        lambda t: ir.min_(1, t),
        lambda t: ir.cast(t, D.INT8),
        lambda t: ir.Add(ir.Add(x, 1 - t, INDEX, U), x, INDEX, U),
        lambda t: ir.TupleGetItemExpr(ir.MakeTuple([x, t], U), 1, U),
        lambda t: op("tensor.dim", [out, t], ir.ScalarType(INDEX)),
    ],
)
def test_the_deepest_trees_are_python(wrap):
    """What the limit lets through must compile, for every form that nests."""
    tree = x
    accepted = None
    for _ in range(MAX_NESTING + 1):
        try:
            accepted = torch_codegen(function("f", [x, out], ret(tree)))
        except UnsupportedProgramError:
            break
        tree = wrap(tree)
    assert accepted is not None
    run(accepted)
