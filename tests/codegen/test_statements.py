"""Control flow: the values that scripts of hand-built IR compute."""

import pytest
import torch
from codegen.builders import (
    FP32,
    INDEX,
    U,
    as_expr,
    assign,
    body_text,
    call,
    carry,
    evaluate,
    evaluate_body,
    for_loop,
    function,
    if_,
    numbers,
    op,
    ret,
    run,
    scalar,
    script,
    seq,
    tensor,
    tensor_type,
    while_loop,
    yields,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, j, n = scalar("i"), scalar("j"), scalar("n")


# Values


def test_assignment_reads_the_old_value():
    x = scalar("x")
    assert evaluate_body(assign(x, 4), assign(x, x + x), assign(x, x * 10), ret(x)) == 80


def test_an_expression_for_its_effect():
    out = tensor("out", [2])
    value = numbers(2)
    store = op("tensor.assemble", [out, out, [0]], out.type, atomic=1)
    assert evaluate_body(evaluate(store), args=[(out, value)]) is None
    assert value.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_return_of_some_values(count):
    expected = {0: None, 1: 5}.get(count, (5, 6, 7)[:count])
    assert evaluate_body(ret(*(5, 6, 7)[:count])) == expected


def test_constants():
    inf = ir.ConstFloat(float("inf"), FP32, U)
    nan = ir.ConstFloat(float("nan"), FP32, U)
    values = [-3, 2**63 - 1, 0.5, -0.0, 1e30, True, False]
    found = evaluate_body(ret(*values, inf, ir.ConstFloat(float("-inf"), FP32, U), nan))
    assert found[:7] == tuple(values)
    assert [type(value) for value in found[:7]] == [int, int, float, float, float, bool, bool]
    assert str(found[3]) == "-0.0"
    assert found[7:9] == (float("inf"), float("-inf"))
    assert found[9] != found[9]


def test_tuples():
    t, x = ir.Var("t", ir.TupleType([ir.ScalarType(INDEX)] * 2), U), scalar("x")
    body = [
        assign(t, ir.MakeTuple([x + 1, x * 2], U)),
        ret(ir.TupleGetItemExpr(t, 1, U), ir.TupleGetItemExpr(ir.MakeTuple([t, x], U), 0, U)),
    ]
    assert evaluate_body(*body, args=[(x, 10)]) == (20, (11, 20))


def test_a_tuple_of_one_stays_a_tuple():
    assert evaluate_body(ret(ir.MakeTuple([as_expr(3)], U))) == (3,)


def test_functions_that_return_tuples():
    x, pair = scalar("x"), ir.Var("pair", ir.TupleType([ir.ScalarType(INDEX)] * 2), U)
    two = function("two", [x], ret(x, x + 1))
    a = scalar("a")
    one = function(
        "one", [a], assign(pair, call("two", [a * 2], pair.type)), ret(ir.TupleGetItemExpr(pair, 1, U), pair)
    )
    assert script(one, two)["one"](5) == (11, (10, 11))


def test_a_nested_call_that_returns_a_tuple_is_one_argument():
    x, pair = scalar("x"), ir.Var("pair", ir.TupleType([ir.ScalarType(INDEX)] * 2), U)
    two = function("two", [x], ret(x, x + 1))
    second = function("second", [pair], ret(ir.TupleGetItemExpr(pair, 1, U)))
    a = scalar("a")
    one = function("one", [a], ret(call("second", [call("two", [a], pair.type)], ir.ScalarType(INDEX))))
    assert script(one, second, two)["one"](5) == 6


def test_leading_comments_stand_above_their_statement():
    statement = assign(n, 1)
    ir.attach_leading_comments(statement, ["first", "second\nline  ", "", "odd \x00\ud800\x0c"])
    assert body_text(statement, ret(n)) == "# first\n# second\n# line\n#\n# odd ??\nn = 1\nreturn n"


def test_a_block_of_comments_alone_is_still_a_block():
    noop = evaluate(op("system.tfree_to_aic", [tensor("x", [1])]))
    ir.attach_leading_comments(noop, ["nothing to do"])
    x = tensor("x", [1])
    free = evaluate(op("system.tfree_to_aic", [x]))
    ir.attach_leading_comments(free, ["nothing to do"])
    assert evaluate_body(for_loop(i, 2, free), if_(True, free, free), ret(1), args=[(x, numbers(1))]) == 1


# Inline statements


def inline(text):
    return ir.InlineStmt(text, ir.InlineLanguage.Python, U)


def test_inline_python():
    x = scalar("x")
    statement = inline("    if x > 1:\n        x = x * 10\r\n\n    y = x\n")
    assert evaluate_body(statement, for_loop(i, 2, inline("x += 1  # again")), ret(x), args=[(x, 3)]) == 32


def test_an_empty_inline_statement():
    assert evaluate_body(for_loop(i, 2, inline("\n  # only a comment\n")), if_(True, inline("")), ret(1)) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x =", "an inline statement that is no Python: invalid syntax (<unknown>, line 1)"),
        (
            'x = """a\nb"""',
            "an inline statement with a string over several lines, which indenting would change",
        ),
    ],
)
def test_an_inline_statement_that_cannot_stand(text, problem):
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(function("f", [], inline(text)))
    assert caught.value.notes == (f"{problem} (function 'f', no source line)",)


# Loops with carries


def test_fibonacci():
    a, b = carry("a", 0), carry("b", 1)
    results = [scalar("ra"), scalar("rb")]
    loop = for_loop(i, 5, yields(b, a + b), carries=[a, b], results=results)
    assert evaluate_body(loop, ret(*results)) == (5, 8)


def test_swap():
    a, b = carry("a", 1), carry("b", 2)
    results = [scalar("ra"), scalar("rb")]
    loop = for_loop(i, 3, yields(b, a), carries=[a, b], results=results)
    assert evaluate_body(loop, ret(*results)) == (2, 1)


def test_swap_of_tensors():
    x, y = tensor("x", [2]), tensor("y", [2])
    a, b = carry("a", x), carry("b", y)
    results = [tensor("ra", [2]), tensor("rb", [2])]
    loop = for_loop(i, n, yields(b, a), carries=[a, b], results=results)
    first, second = numbers(2), -numbers(2)
    found = evaluate_body(loop, ret(*results), args=[(x, first), (y, second), (n, 3)])
    assert found[0] is second
    assert found[1] is first


def test_shift_register():
    """lag2 = lag1; lag1 = v for v = 1, 2, 3, 4: what lag2 is before each update."""
    seen = tensor("seen", [4])
    lag1, lag2 = carry("lag1", 0.0), carry("lag2", 0.0)
    v = scalar("v", FP32)
    note = op(
        "tensor.assemble",
        [seen, op("tensor.full", [[1], lag2], tensor_type([1]), dtype=FP32), [i]],
        seen.type,
    )
    loop = for_loop(
        i,
        4,
        assign(v, ir.cast(i + 1, FP32)),
        evaluate(note),
        yields(v, lag1),
        carries=[lag1, lag2],
        results=[scalar("r1", FP32), scalar("r2", FP32)],
    )
    values = torch.full([4], -1.0)
    evaluate_body(loop, args=[(seen, values)])
    assert values.tolist() == [0.0, 0.0, 1.0, 2.0]


def test_rotation_of_three():
    a, b, c = carry("a", 1), carry("b", 2), carry("c", 3)
    results = [scalar(f"r{k}") for k in range(3)]
    loop = for_loop(i, 4, yields(b, c, a), carries=[a, b, c], results=results)
    assert evaluate_body(loop, ret(*results)) == (2, 3, 1)


def test_a_carry_that_stays_needs_no_line():
    a, b = carry("a", 7), carry("b", 1)
    results = [scalar("ra"), scalar("rb")]
    loop = for_loop(i, n, yields(a, b * 2), carries=[a, b], results=results)
    assert evaluate_body(loop, ret(*results), args=[(n, 4)]) == (7, 16)
    assert body_text(loop, ret(*results), params=[n]) == (
        "a, b = 7, 1\nfor i in range(n):\n    b = b * 2\nra, rb = a, b\nreturn ra, rb"
    )


def test_a_loop_without_rounds_yields_its_initial_values():
    a, r = carry("a", 42), scalar("r")
    loop = for_loop(i, n, yields(a + 1), start=5, carries=[a], results=[r])
    assert evaluate_body(loop, ret(r), args=[(n, 5)]) == 42
    assert evaluate_body(loop, ret(r), args=[(n, 2)]) == 42
    assert evaluate_body(loop, ret(r), args=[(n, 7)]) == 44


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 10, 3), (10, 0, -4), (3, 4, 1), (2, 9, 1)])
def test_the_range_of_a_loop(start, stop, step):
    a, r = carry("a", 0), scalar("r")
    loop = for_loop(i, stop, yields(a * 100 + i), start=start, step=step, carries=[a], results=[r])
    expected = 0
    for value in range(start, stop, step):
        expected = expected * 100 + value
    assert evaluate_body(loop, ret(r)) == expected


def test_bounds_are_evaluated_once_and_before_the_carries():
    """The stop is the outer x: a carry of the same name must not change it."""
    x = scalar("x")
    a, r = carry("x", 0), scalar("r")
    assert evaluate_body(
        for_loop(i, x, yields(a + 10), carries=[a], results=[r]), ret(r, x), args=[(x, 3)]
    ) == (30, 3)


@pytest.mark.parametrize("kind", list(ir.ForKind), ids=lambda kind: kind.name)
def test_every_kind_of_loop_runs_in_order(kind):
    a, r = carry("a", 0), scalar("r")
    attrs = {"pipeline_stages": 2} if kind is ir.ForKind.Pipeline else {"iter_arg_rebind_0": True}
    loop = for_loop(i, 4, yields(a * 10 + i), carries=[a], results=[r], kind=kind, attrs=attrs)
    assert evaluate_body(loop, ret(r)) == 123


def test_a_loop_whose_body_is_just_a_loop():
    a = carry("a", 0)
    b = carry("b", a)
    inner_r, r = scalar("inner"), scalar("r")
    inner = for_loop(j, 3, yields(b + 1), carries=[b], results=[inner_r])
    outer = for_loop(i, 4, inner, yields(inner_r), carries=[a], results=[r])
    assert evaluate_body(outer, ret(r)) == 12
    x = tensor("x", [3, 4])
    store = evaluate(
        op(
            "tensor.assemble",
            [x, op("tensor.full", [[1, 1], 5.0], tensor_type([1, 1]), dtype=FP32), [i, j]],
            x.type,
        )
    )
    bare = ir.ForStmt(i, as_expr(0), as_expr(2), as_expr(1), [], for_loop(j, 3, store), [], U)
    values = torch.zeros(3, 4)
    evaluate_body(bare, args=[(x, values)])
    assert values.tolist() == [[5.0, 5.0, 5.0, 0.0]] * 2 + [[0.0] * 4]


def test_an_empty_loop_body():
    assert evaluate_body(for_loop(i, 3, ir.SeqStmts([], U)), ret(i)) == 2


def test_while_with_carries():
    a, b = carry("a", 1), carry("b", 0)
    results = [scalar("ra"), scalar("rb")]
    loop = while_loop(ir.lt(a, 100), yields(a * 3, b + 1), carries=[a, b], results=results)
    assert evaluate_body(loop, ret(*results)) == (243, 5)


def test_while_that_never_runs():
    a, r = carry("a", 100), scalar("r")
    assert evaluate_body(while_loop(ir.lt(a, 100), yields(a * 3), carries=[a], results=[r]), ret(r)) == 100


def test_while_with_simultaneous_carries():
    a, b = carry("a", 48), carry("b", 18)
    results = [scalar("ra"), scalar("rb")]
    loop = while_loop(ir.ne(b, 0), yields(b, ir.mod(a, b)), carries=[a, b], results=results)
    assert evaluate_body(loop, ret(*results)) == (6, 0)


def test_a_while_in_a_for_with_carries():
    """Collatz lengths of 1 .. 5, added up: 0 + 1 + 7 + 2 + 5."""
    total, length = carry("t", 0), carry("l", 0)
    value = carry("v", i + 1)
    half, rl, rv, rt = scalar("half"), scalar("rl"), scalar("rv"), scalar("rt")
    step = if_(
        ir.eq(ir.mod(value, 2), 0), yields(ir.floordiv(value, 2)), yields(value * 3 + 1), results=[half]
    )
    inner = while_loop(
        ir.ne(value, 1), step, yields(length + 1, half), carries=[length, value], results=[rl, rv]
    )
    outer = for_loop(i, 5, inner, yields(total + rl), carries=[total], results=[rt])
    assert evaluate_body(outer, ret(rt)) == 15


# Branches


@pytest.mark.parametrize(("x", "expected"), [(5, (10, 5)), (-5, (-5, 10))])
def test_if_with_results(x, expected):
    p, q, v = scalar("p"), scalar("q"), scalar("v")
    branch = if_(ir.gt(v, 0), yields(v * 2, v), yields(v, v * -2), results=[p, q])
    assert evaluate_body(branch, ret(p, q), args=[(v, x)]) == expected


def test_an_if_in_a_loop_yields_the_carries():
    """Fibonacci, but the two carries swap in odd rounds instead: (0,1) (1,1) (1,1) (1,2) (2,1) (1,3)."""
    a, b = carry("a", 0), carry("b", 1)
    p, q, ra, rb = scalar("p"), scalar("q"), scalar("ra"), scalar("rb")
    branch = if_(ir.eq(ir.mod(i, 2), 0), yields(b, a + b), yields(b, a), results=[p, q])
    loop = for_loop(i, 5, branch, yields(p, q), carries=[a, b], results=[ra, rb])
    x, y = 0, 1
    for k in range(5):
        x, y = (y, x + y) if k % 2 == 0 else (y, x)
    assert evaluate_body(loop, ret(ra, rb)) == (x, y)


def test_an_if_that_only_one_branch_has():
    x = scalar("x")
    body = [if_(ir.gt(x, 3), assign(x, x * 10)), ret(x)]
    assert evaluate_body(*body, args=[(x, 4)]) == 40
    assert evaluate_body(*body, args=[(x, 3)]) == 3


def test_an_if_whose_then_branch_does_nothing():
    x = tensor("x", [1])
    free = evaluate(op("system.tfree_to_aic", [x]))
    body = [assign(n, 1), if_(ir.ConstBool(False, U), free, assign(n, 2)), ret(n)]
    assert evaluate_body(*body, args=[(x, numbers(1))]) == 2


def test_nested_ifs_with_results():
    v, inner, outer = scalar("v"), scalar("inner"), scalar("outer")
    nested = seq(if_(ir.gt(v, 10), yields(100), yields(10), results=[inner]), yields(inner + 1))
    branch = if_(ir.gt(v, 0), nested, yields(0), results=[outer])
    assert [evaluate_body(branch, ret(outer), args=[(v, x)]) for x in (11, 1, -1)] == [101, 11, 0]


def test_returns_in_both_branches():
    v = scalar("v")
    body = if_(ir.gt(v, 0), ret(v, 1), ret(0, v))
    assert evaluate_body(body, args=[(v, 7)]) == (7, 1)
    assert evaluate_body(body, args=[(v, -7)]) == (0, -7)


def test_a_return_within_a_loop():
    v = scalar("v")
    body = [for_loop(i, 10, if_(ir.gt(i * i, v), ret(i))), ret(-1)]
    assert evaluate_body(*body, args=[(v, 30)]) == 6
    assert evaluate_body(*body, args=[(v, 300)]) == -1


# Before SSA form: one variable, many assignments


def test_rebinding_in_a_loop():
    x = scalar("x")
    assert evaluate_body(assign(x, 1), for_loop(i, 5, assign(x, x * 2)), ret(x)) == 32


def test_rebinding_in_branches():
    x, v = scalar("x"), scalar("v")
    body = [assign(x, 1), if_(ir.gt(v, 0), assign(x, x + v), assign(x, x - 1)), ret(x)]
    assert evaluate_body(*body, args=[(v, 5)]) == 6
    assert evaluate_body(*body, args=[(v, -5)]) == 0


def test_rebinding_a_parameter():
    x = scalar("x")
    assert evaluate_body(for_loop(i, 3, assign(x, x + i)), ret(x), args=[(x, 10)]) == 13


def test_names_that_leak_out_of_a_body():
    x, y, v = scalar("x"), scalar("y"), scalar("v")
    body = [if_(ir.gt(v, 0), assign(x, 1), assign(x, 2)), for_loop(i, 3, assign(y, i * 7)), ret(x, y, i)]
    assert evaluate_body(*body, args=[(v, 1)]) == (1, 14, 2)


def test_a_while_without_carries():
    x, y = scalar("x"), scalar("y")
    body = [assign(y, 0), while_loop(ir.gt(x, 0), assign(x, x - 2), assign(y, y + x)), ret(x, y)]
    assert evaluate_body(*body, args=[(x, 5)]) == (-1, 3 + 1 - 1)


def test_break_and_continue():
    x = scalar("x")
    body = [
        assign(x, 0),
        for_loop(
            i,
            100,
            if_(ir.eq(ir.mod(i, 2), 1), ir.ContinueStmt(U)),
            if_(ir.gt(i, 10), ir.BreakStmt(U)),
            assign(x, x + i),
        ),
        ret(x),
    ]
    assert evaluate_body(*body) == 0 + 2 + 4 + 6 + 8 + 10


def test_break_leaves_a_while():
    x = scalar("x")
    loop = while_loop(ir.ConstBool(True, U), assign(x, x + 1), if_(ir.gt(x, 5), ir.BreakStmt(U)))
    assert evaluate_body(assign(x, 0), loop, ret(x)) == 6


def test_two_loops_share_a_loop_variable():
    x = scalar("x")
    body = [assign(x, 0), for_loop(i, 3, assign(x, x + i)), for_loop(i, 4, assign(x, x + i * 10)), ret(x)]
    assert evaluate_body(*body) == 3 + 60


# Names of one function are not those of another


def test_functions_do_not_share_names():
    x, y = scalar("x"), scalar("x")
    first = function("first", [x], ret(call("second", [x + 1], ir.ScalarType(INDEX)), x))
    second = function("second", [y], assign(y, y * 10), ret(y))
    assert script(first, second)["first"](1) == (20, 1)


# What cannot be emitted


def problems(*body, **options):
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(function("f", [], *body), **options)
    return [item.what for item in caught.value.found]


def test_malformed_control_flow_is_refused():
    a = carry("a", 0)
    assert problems(yields(1)) == ["a yield outside any loop or branch"]
    assert problems(for_loop(i, 2, yields(a), carries=[a])) == [
        "a loop with 1 carries and 0 return variables"
    ]
    assert problems(while_loop(as_expr(True), yields(a), carries=[a])) == [
        "a loop with 1 carries and 0 return variables"
    ]
    assert problems(for_loop(i, 2, yields(a, a), carries=[a], results=[n])) == [
        "a yield of 2 values to 1 variables"
    ]
    assert problems(if_(True, yields(1), None, [n])) == ["a branch with return variables and no else"]
    assert problems(ir.BreakStmt(U)) == ["a break outside any loop"]
    assert problems(if_(True, ir.ContinueStmt(U))) == ["a continue outside any loop"]


def test_a_function_alone():
    x = scalar("x")
    assert run(torch_codegen(function("f", [x], ret(x + 1))))["f"](1) == 2


def test_another_node_is_refused():
    with pytest.raises(TypeError, match="^torch_codegen takes a Program or a Function, got AssignStmt$"):
        torch_codegen(assign(n, 1))
