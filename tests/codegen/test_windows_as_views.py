"""Windows that lie inside are slices, and copies only where something may be written before they are used."""

import pytest
import torch
from codegen.builders import (
    InCore,
    Orchestration,
    assign,
    binary,
    body_text,
    call,
    evaluate,
    evaluate_body,
    for_loop,
    function,
    load,
    numbers,
    op,
    program,
    ret,
    run,
    scalar,
    store,
    tensor,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen


def test_a_window_that_is_used_at_once_is_a_slice():
    x, out, t, u = tensor("x", [8, 8]), tensor("out", [8, 8]), tile("t", [4, 8]), tile("u", [4, 8])
    body = [
        assign(t, load(x, [4, 0], [4, 8])),
        assign(u, binary("tile.add", t, t)),
        ret(store(u, [0, 0], out)),
    ]
    assert "t = x[4:8, 0:8]\n" in body_text(*body, params=[x, out])
    got = evaluate_body(*body, args=[(x, numbers(8, 8)), (out, torch.zeros(8, 8))])
    assert torch.equal(got[:4], numbers(8, 8)[4:] * 2)


def test_a_window_whose_tensor_is_written_before_it_is_used_is_a_copy():
    x, t, u = tensor("x", [8, 8]), tile("t", [4, 8]), tile("u", [4, 8])
    y, z = tensor("y", [8, 8]), tensor("z", [8, 8])
    body = [
        assign(t, load(x, [4, 0], [4, 8])),
        assign(u, load(x, [0, 0], [4, 8])),
        assign(y, store(u, [4, 0], x)),
        assign(z, store(t, [0, 0], y)),
        ret(z),
    ]
    text = body_text(*body, params=[x])
    assert "x[4:8, 0:8].clone()" in text
    data = numbers(8, 8)
    assert torch.equal(evaluate_body(*body, args=[(x, data.clone())]), data.roll(4, 0))


def test_a_window_that_a_user_s_line_may_write_before_it_is_used_is_a_copy():
    x, t, u = tensor("x", [8, 8]), tile("t", [4, 8]), tile("u", [4, 8])
    body = [
        assign(t, load(x, [4, 0], [4, 8])),
        ir.InlineStmt("x.zero_()", ir.InlineLanguage.Python, ir.Span.unknown()),
        assign(u, binary("tile.add", t, t)),
        ret(u),
    ]
    got = evaluate_body(*body, args=[(x, numbers(8, 8))])
    assert torch.equal(got, numbers(8, 8)[4:] * 2)


U = ir.Span.unknown()
X = tensor("x", [8, 8])
WRITES = evaluate(store(load(X, [0, 0], [4, 8]), [4, 0], X))  # one statement, which may stand in two places


@pytest.mark.parametrize(
    ("between", "behind", "is_copy"),
    [
        ([ir.SeqStmts([WRITES], U)], [], True),
        ([WRITES], [WRITES], True),
        ([], [WRITES, WRITES], False),
        ([], [WRITES, ir.BreakStmt(U)], False),
        ([ir.SeqStmts([], U)], [WRITES, ir.BreakStmt(U)], False),
        ([ir.SeqStmts([WRITES], U)], [ir.BreakStmt(U)], True),
    ],
)
def test_a_window_in_a_block_of_statements_of_any_kind(between, behind, is_copy):
    out, i, t, u = tensor("out", [4, 8]), scalar("i"), tile("t", [4, 8]), tile("u", [4, 8])
    body = [
        assign(t, load(X, [4, 0], [4, 8])),
        *between,
        assign(u, binary("tile.add", t, t)),
        evaluate(store(u, [0, 0], out)),
        *behind,
    ]
    loop = for_loop(i, 1, *body)
    text = body_text(loop, params=[X, out])
    assert ("t = x[4:8, 0:8].clone()\n" if is_copy else "t = x[4:8, 0:8]\n") in text
    got, data = torch.zeros(4, 8), numbers(8, 8)
    evaluate_body(loop, ret(out), args=[(X, data.clone()), (out, got)])
    assert torch.equal(got, data[4:] * 2)


def test_a_tile_that_is_written_is_a_copy():
    x, t, u = tensor("x", [4, 8]), tile("t", [4, 8]), tile("u", [4, 8])
    body = [
        assign(t, load(x, [0, 0], [4, 8])),
        assign(u, op("tile.write", [t, [0, 0], 5.0], t.type)),
        ret(op("tile.read", [u, [0, 1]], scalar("v").type)),
    ]
    data = numbers(4, 8)
    evaluate_body(*body, args=[(x, data)])
    assert torch.equal(data, numbers(4, 8))


def test_a_value_that_is_handed_on_is_a_copy():
    x, t, u = tensor("x", [4, 8]), tile("t", [4, 8]), tile("u", [4, 8])
    body = [assign(t, load(x, [0, 0], [4, 8])), assign(u, op("tile.reshape", [t, [4, 8]], u.type)), ret(u)]
    data = numbers(4, 8)
    got = evaluate_body(*body, args=[(x, data)])
    got.zero_()
    assert torch.equal(data, numbers(4, 8))


def test_windows_of_a_loop():
    x, out, i = tensor("x", [8, 8]), tensor("out", [8, 8]), scalar("i")
    t, u, stored = tile("t", [2, 8]), tile("u", [2, 8]), tensor("stored", [8, 8])
    row = binary_index(i, 2)
    inside = [assign(t, load(x, [row, 0], [2, 8])), assign(u, binary("tile.add", t, t))]
    for stop, text in ((4, "x[i * 2 : i * 2 + 2, 0:8]"), (5, "_tile_slice(x, [2, 8], [i * 2, 0])")):
        loop = for_loop(i, stop, *inside, assign(stored, store(u, [row, 0], out)))
        assert f"t = {text}\n" in body_text(loop, params=[x, out])
        got, data = torch.zeros(8, 8), numbers(8, 8)
        evaluate_body(loop, ret(out), args=[(x, data), (out, got)])
        assert torch.equal(got, data * 2)


def binary_index(i, factor):
    from codegen.builders import INDEX, U

    from pypto_tmpl import ir

    return ir.Mul(i, ir.ConstInt(factor, INDEX, U), INDEX, U)


def test_a_kernel_may_be_handed_less_than_its_parameter_says():
    x, out, t, u = tensor("x", [8, 8]), tensor("out", [8, 8]), tile("t", [8, 8]), tile("u", [8, 8])
    kernel = function(
        "kernel",
        [x, out],
        assign(t, load(x, [0, 0], [8, 8])),
        assign(u, binary("tile.add", t, 1.0)),
        ret(store(u, [0, 0], out)),
        type=InCore,
    )
    assert "x[0:8, 0:8]" not in torch_codegen(program(kernel))  # nobody says who calls it
    whole, target, n = tensor("whole", [8, 8]), tensor("target", [8, 8]), scalar("n")
    passed = function(
        "main", [whole, target], ret(call("kernel", [whole, target], target.type)), type=Orchestration
    )
    assert "t = x[0:8, 0:8]\n" in torch_codegen(program(kernel, passed))
    part = tensor("part", [8, 8])
    clipped = function(
        "main",
        [whole, n, target],
        assign(part, op("tensor.slice", [whole, [8, 8], [n, 0]], part.type)),
        ret(call("kernel", [part, target], target.type)),
        type=Orchestration,
    )
    assert "x[0:8, 0:8]" not in torch_codegen(program(kernel, clipped))


def total(a, b, c):
    return binary("tile.add", binary("tile.add", a, b), c)


def test_windows_that_an_expression_reads_before_it_writes_are_slices():
    for target in ("out", "x"):
        x, out = tensor("x", [8, 8]), tensor("out", [8, 8])
        written = tensor("written", [8, 8])
        a, b, c = (tile(name, [4, 8]) for name in "abc")
        body = [
            assign(a, load(x, [0, 0], [4, 8])),
            assign(b, load(x, [2, 0], [4, 8])),
            assign(c, load(x, [4, 0], [4, 8])),
            assign(written, store(total(a, b, c), [1, 0], x if target == "x" else out)),
            ret(written),
        ]
        text = body_text(*body, params=[x, out])
        assert "a = x[0:4, 0:8]\n" in text and "b = x[2:6, 0:8]\n" in text and "clone" not in text
        data = numbers(8, 8)
        expected = data.clone() if target == "x" else torch.zeros(8, 8)
        expected[1:5] = data[0:4] + data[2:6] + data[4:8]
        got = evaluate_body(*body, args=[(x, data.clone()), (out, torch.zeros(8, 8))])
        assert torch.equal(got, expected)


def test_a_window_within_the_expression_that_writes_is_a_slice():
    x, written = tensor("x", [8, 8]), tensor("written", [8, 8])
    value = binary("tile.add", load(x, [0, 0], [4, 8]), 1.0)
    body = [assign(written, store(value, [2, 0], x)), ret(written)]
    assert "x[0:4, 0:8] + 1.0" in body_text(*body, params=[x])
    data = numbers(8, 8)
    expected = data.clone()
    expected[2:6] = data[0:4] + 1
    assert torch.equal(evaluate_body(*body, args=[(x, data.clone())]), expected)


def test_a_window_that_is_written_itself_is_a_copy():
    x, t, written = tensor("x", [8, 8]), tile("t", [4, 8]), tensor("written", [8, 8])
    shown = op("tile.reshape", [t, [4, 8]], t.type)
    body = [assign(t, load(x, [0, 0], [4, 8])), assign(written, store(shown, [2, 0], x)), ret(written)]
    assert "x[0:4, 0:8].clone()" in body_text(*body, params=[x])
    data = numbers(8, 8)
    expected = data.clone()
    expected[2:6] = data[0:4]
    assert torch.equal(evaluate_body(*body, args=[(x, data.clone())]), expected)


def test_a_window_beside_a_store_within_an_expression_is_a_copy():
    x, t, written = tensor("x", [8, 8]), tile("t", [4, 8]), tensor("written", [8, 8])
    inner = store(binary("tile.add", t, 1.0), [0, 0], x)
    value = binary("tile.add", load(inner, [0, 0], [4, 8]), t)
    body = [assign(t, load(x, [0, 0], [4, 8])), assign(written, store(value, [0, 0], inner)), ret(written)]
    assert "t = x[0:4, 0:8].clone()" in body_text(*body, params=[x])


def called_with(*offsets, stop=3):
    """A script of a kernel that reads rows at 32 times an offset, of 96, and of its calls in a loop."""
    x, out, r, i = tensor("x", [96, 8]), tensor("out", [32, 8]), scalar("r"), scalar("i")
    t, u = tile("t", [32, 8]), tile("u", [32, 8])
    kernel = function(
        "kernel",
        [x, r, out],
        assign(t, load(x, [r, 0], [32, 8])),
        assign(u, binary("tile.add", t, t)),
        ret(store(u, [0, 0], out)),
        type=InCore,
        returns=[out.type],
    )
    calls = [
        assign(tensor(f"y{at}", [32, 8]), call("kernel", [x, of(i), out], out.type))
        for at, of in enumerate(offsets)
    ]
    main = function(
        "main", [x, out], for_loop(i, stop, *calls), ret(out), type=Orchestration, returns=[out.type]
    )
    return torch_codegen(program(main, kernel))


def test_a_window_is_inside_if_all_calls_say_so():
    text = called_with(lambda i: i * 32, lambda i: 64 - i * 32)
    assert "t = x[r : r + 32, 0:8]\n" in text
    out = torch.zeros(32, 8)
    run(text)["main"](numbers(96, 8), out)
    assert torch.equal(out, numbers(96, 8)[:32] * 2)


def test_a_window_of_which_one_call_says_nothing_is_looked_at_in_a_run():
    for text in (called_with(lambda i: i * 32, lambda i: i * 33), called_with(lambda i: i * 32, stop=4)):
        assert "t = _tile_slice(x, [32, 8], [r, 0])\n" in text
    out = torch.zeros(32, 8)
    run(called_with(lambda i: i * 33))["main"](numbers(96, 8), out)
    assert torch.equal(out[:30], numbers(96, 8)[66:] * 2) and not out[30:].any()
