"""Text of statements other than scopes (spec: DSL, 12.8)."""

import ast

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INT64,
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
    returns,
    scalar,
    sequence,
    tensor,
    text,
    while_loop,
    yields,
)

from pypto_tmpl import ir

A, B = tensor("a"), tensor("b")
N, K = scalar("n"), scalar("i")
P = scalar("p", BOOL)
ZERO, ONE, EIGHT = integer(0), integer(1), integer(8)
WORK = evaluate(call("system.bar_all"))
TENSOR_TEXT = "pl.Tensor[[16, 64], pl.FP32]"


def test_simple_statements() -> None:
    assert body_text(
        assign(A, call("tensor.exp", B)),
        evaluate(call("tensor.write", A, N)),
        ir.BreakStmt(NOWHERE),
        ir.ContinueStmt(NOWHERE),
        returns(),
        returns(A),
        returns(A, N + 1),
        params=[B, N],
    ) == (
        f"a: {TENSOR_TEXT} = pl.tensor.exp(b)\n"
        "pl.tensor.write(a, n)\n"
        "break\n"
        "continue\n"
        "return\n"
        "return a\n"
        "return a, n + 1\n"
    )


def test_concise_text_has_no_types_on_assignments() -> None:
    result = tensor("r")
    body = sequence(
        assign(A, call("tensor.exp", B)),
        branch(P, yields(A), yields(B), [result]),
        returns(result),
    )
    assert text(function("f", [B, P], body), concise=True) == (
        "@pl.function\n"
        f"def f(b: {TENSOR_TEXT}, p: pl.Scalar[pl.BOOL]):\n"
        "    a = pl.tensor.exp(b)\n"
        "    if p:\n"
        "        r = pl.yield_(a)\n"
        "    else:\n"
        "        r = pl.yield_(b)\n"
        "    return r\n"
    )


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [
        (ZERO, N, ONE, "n"),
        (ONE, N, ONE, "1, n"),
        (ZERO, N, EIGHT, "0, n, 8"),
        (N, EIGHT, N, "n, 8, n"),
        (ZERO, integer(8, INT64), ONE, "pl.const(8, pl.INT64)"),
        (integer(0, INT64), EIGHT, ONE, "pl.const(0, pl.INT64), 8"),
        (ZERO, EIGHT, integer(1, INT64), "0, 8, pl.const(1, pl.INT64)"),
    ],
)
def test_bounds(start: ir.Expr, stop: ir.Expr, step: ir.Expr, expected: str) -> None:
    printed = body_text(loop(K, start, stop, step, WORK), params=[N])
    assert printed == f"for i in pl.range({expected}):\n    pl.system.bar_all()\n"


@pytest.mark.parametrize(
    ("kind", "attrs", "expected"),
    [
        (ir.ForKind.Sequential, None, "pl.range(8)"),
        (ir.ForKind.Parallel, None, "pl.parallel(8)"),
        (ir.ForKind.Unroll, None, "pl.unroll(8)"),
        (ir.ForKind.Pipeline, {"pipeline_stages": 2}, "pl.pipeline(8, stage=2)"),
        (
            ir.ForKind.Pipeline,
            {"first": 1, "pipeline_stages": 2, "pipeline_overlap_stores": False},
            'pl.pipeline(8, stage=2, attrs={"first": 1, "pipeline_overlap_stores": False})',
        ),
        (ir.ForKind.Sequential, {"pipeline_stages": 2}, 'pl.range(8, attrs={"pipeline_stages": 2})'),
        (ir.ForKind.Pipeline, None, "pl.pipeline(8)"),
    ],
)
def test_loop_kinds(kind: ir.ForKind, attrs: dict[str, object] | None, expected: str) -> None:
    printed = body_text(loop(K, ZERO, EIGHT, ONE, WORK, kind=kind, attrs=attrs))
    assert printed == f"for i in {expected}:\n    pl.system.bar_all()\n"


def test_one_carry() -> None:
    acc, result = carry("acc", A), tensor("result")
    nxt = tensor("nxt")
    body = sequence(assign(nxt, call("tensor.add", acc, B)), yields(nxt))
    node = loop(K, ZERO, N, ONE, body, [acc], [result], attrs={"iter_arg_rebind_0": False})
    assert body_text(node, returns(result), params=[A, B, N]) == (
        'for i, (acc,) in pl.range(n, init_values=(a,), attrs={"iter_arg_rebind_0": False}):\n'
        f"    nxt: {TENSOR_TEXT} = pl.tensor.add(acc, b)\n"
        f"    result: {TENSOR_TEXT} = pl.yield_(nxt)\n"
        "return result\n"
    )


def test_two_carries() -> None:
    x, y = carry("x", A), carry("y", N)
    r, s = tensor("r"), scalar("s")
    node = loop(K, ZERO, N, ONE, yields(x, y + 1), [x, y], [r, s])
    assert body_text(node, params=[A, N]) == (
        "for i, (x, y) in pl.range(n, init_values=(a, n)):\n    r, s = pl.yield_(x, y + 1)\n"
    )


def test_loop_without_yield_shows_no_results() -> None:
    acc = carry("acc", A)
    printed = body_text(loop(K, ZERO, N, ONE, WORK, [acc], [tensor("r")]), params=[A, N])
    assert printed == "for i, (acc,) in pl.range(n, init_values=(a,)):\n    pl.system.bar_all()\n"


def test_yields_that_bind_nothing_and_as_many_as_there_are_names() -> None:
    assert body_text(loop(K, ZERO, N, ONE, yields(A)), params=[A, N]) == (
        "for i in pl.range(n):\n    pl.yield_(a)\n"
    )
    # Wrong IR, but all of it shows.
    assert body_text(branch(P, yields(A), None, [B, N]), params=[A, P]) == (
        "if p:\n    b, n = pl.yield_(a)\n"
    )
    assert text(yields(N)) == "pl.yield_(n)\n"
    assert body_text(yields(N), params=[N]) == "return n\n"
    assert body_text(yields(), params=[N]) == "return\n"


def test_while_loops() -> None:
    assert body_text(while_loop(ir.lt(N, EIGHT), WORK), params=[N]) == (
        "while n < 8:\n    pl.system.bar_all()\n"
    )
    count, total = carry("count", ZERO), carry("total", N)
    r, s = scalar("r"), scalar("s")
    one = while_loop(ir.lt(count, N), yields(count + 1), [count], [r])
    two = while_loop(ir.lt(count, N), yields(count + 1, total + count), [count, total], [r, s])
    assert body_text(one, params=[N]) == (
        "for (count,) in pl.while_(init_values=(0,)):\n"
        "    pl.cond(count < n)\n"
        "    r: pl.Scalar[pl.INDEX] = pl.yield_(count + 1)\n"
    )
    assert body_text(two, params=[N]) == (
        "for (count, total) in pl.while_(init_values=(0, n)):\n"
        "    pl.cond(count < n)\n"
        "    r, s = pl.yield_(count + 1, total + count)\n"
    )


def test_branches() -> None:
    inner = branch(ir.eq(N, ONE), returns(A), returns(B))
    assert body_text(branch(P, WORK), params=[P]) == "if p:\n    pl.system.bar_all()\n"
    assert body_text(branch(P, returns(A), inner), params=[A, B, N, P]) == (
        "if p:\n    return a\nelse:\n    if n == 1:\n        return a\n    else:\n        return b\n"
    )


def test_results_of_branches() -> None:
    v, w = tensor("v"), scalar("w")
    assert body_text(branch(P, yields(A, N), yields(B, ZERO), [v, w]), params=[A, B, N, P]) == (
        "if p:\n    v, w = pl.yield_(a, n)\nelse:\n    v, w = pl.yield_(b, 0)\n"
    )
    nested = branch(P, sequence(branch(P, yields(A), yields(B), [v]), yields(v)), yields(B), [w])
    assert body_text(nested, params=[A, B, P]) == (
        "if p:\n"
        "    if p:\n"
        f"        v: {TENSOR_TEXT} = pl.yield_(a)\n"
        "    else:\n"
        f"        v: {TENSOR_TEXT} = pl.yield_(b)\n"
        "    w: pl.Scalar[pl.INDEX] = pl.yield_(v)\n"
        "else:\n"
        "    w: pl.Scalar[pl.INDEX] = pl.yield_(b)\n"
    )


def test_empty_bodies() -> None:
    empty = sequence()
    assert body_text() == "pass\n"
    assert body_text(branch(P, empty, empty), params=[P]) == "if p:\n    pass\nelse:\n    pass\n"
    assert body_text(loop(K, ZERO, N, ONE, sequence(empty, empty)), params=[N]) == (
        "for i in pl.range(n):\n    pass\n"
    )


def test_nested_sequences_read_as_one() -> None:
    assert body_text(sequence(WORK, sequence(WORK)), WORK) == "pl.system.bar_all()\n" * 3


def test_comments() -> None:
    first = evaluate(call("system.bar_all"))
    condition = branch(P, first)
    ir.attach_leading_comments(first, ["why", "two\nlines", "", "# hash", "trailing  "])
    ir.attach_leading_comments(condition, ["above"])
    assert body_text(condition, params=[P]) == (
        "# above\n"
        "if p:\n"
        "    # why\n"
        "    # two\n"
        "    # lines\n"
        "    #\n"
        "    # # hash\n"
        "    # trailing\n"
        "    pl.system.bar_all()\n"
    )


def test_inline_text() -> None:
    node = ir.InlineStmt("for x in y:\n    print(x)\n\nreturn 1", ir.InlineLanguage.Python, NOWHERE)
    assert body_text(branch(P, node), params=[P]) == (
        "if p:\n    for x in y:\n        print(x)\n\n    return 1\n"
    )
    with pytest.raises(ir.PrintError, match="an empty InlineStmt has a text only as the body"):
        body_text(ir.InlineStmt("", ir.InlineLanguage.Python, NOWHERE))


def test_error_says_where() -> None:
    span = ir.Span("k.py", 12, 5)
    broken = ir.EvalStmt(ir.Call(ir.Op("tensor.cast"), (A,), {"mode": 9}, span), span)
    with pytest.raises(ir.PrintError) as caught:
        text(function("kernel", [A], sequence(WORK, broken)))
    assert str(caught.value) == (
        "error[unprintable]: keyword 'mode' of tensor.cast: 9 is no cast mode (0 to 6)\n"
        "  --> function kernel, k.py:12:5"
    )


def test_class_without_text_is_an_error() -> None:
    class StrangeStmt(ir.Stmt):
        __slots__ = ()

    strange = object.__new__(StrangeStmt)
    object.__setattr__(strange, "span", NOWHERE)
    object.__setattr__(strange, "leading_comments", ())
    with pytest.raises(ir.PrintError, match="no text for a statement of class StrangeStmt"):
        text(strange)


def test_long_and_deep_programs() -> None:
    chain: list[ir.Stmt] = []
    previous: ir.Var = A
    for number in range(10_000):
        current = tensor(f"t{number}")
        chain.append(assign(current, call("tensor.exp", previous)))
        previous = current
    printed = text(function("f", [A], sequence(*chain, returns(previous))))
    assert printed.count("\n") == 10_003
    assert printed.endswith("return t9999\n")
    nested: ir.Stmt = WORK
    for number in range(400):
        nested = loop(scalar(f"i{number}"), ZERO, EIGHT, ONE, branch(P, nested))
    assert text(function("f", [P], nested)).endswith(" " * 4 * 801 + "pl.system.bar_all()\n")
    values: ir.Type = ir.ScalarType(FP32)
    for _ in range(400):
        values = ir.TupleType([values])
    assert text(values) == "pl.Tuple[" * 400 + "pl.Scalar[pl.FP32]" + "]" * 400


def test_many_variables_of_one_name() -> None:
    variables = [tensor("t") for _ in range(5_000)]
    stmts = [assign(var, call("tensor.exp", A)) for var in variables]
    printed = text(function("f", [A], sequence(*stmts)))
    tree = ast.parse(printed)
    names = [node.target.id for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
    assert names == ["t", *(f"t_{number}" for number in range(1, 5_000))]
