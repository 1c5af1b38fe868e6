"""IR that shares very much: it is small in memory and on the wire, but not when it is written out."""

from __future__ import annotations

import pytest
from ir.printer_samples import (
    BOOL,
    INDEX,
    NOWHERE,
    TENSOR,
    assign,
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
    tensor,
    yields,
)

from pypto_tmpl import ir
from pypto_tmpl.ir.unfolded import MAX_PARTS, unfolded_size
from pypto_tmpl.ir.verifier import TooLargeError

X, FLAG, A = scalar("x"), scalar("flag", BOOL), tensor("a")
WORK = evaluate(call("system.bar_all"))
LEVELS = 100


def doubled_expression() -> ir.Expr:
    found: ir.Expr = X
    for _ in range(LEVELS):
        found = ir.Add(found, found, INDEX, NOWHERE)
    return found


def doubled_statement(kind: str) -> ir.Stmt:
    found: ir.Stmt = sequence() if kind == "empty sequence" else WORK
    for _ in range(LEVELS):
        found = branch(FLAG, found, found) if kind == "branch" else sequence(found, found)
    return found


def doubled_type() -> ir.Type:
    found: ir.Type = TENSOR
    for _ in range(LEVELS):
        found = ir.TupleType([found, found])
    return found


HUGE: list[tuple[str, ir.Function]] = [
    ("expression", function("f", [X], evaluate(doubled_expression()))),
    *(
        (kind, function("f", [X, FLAG], doubled_statement(kind)))
        for kind in ("branch", "sequence", "empty sequence")
    ),
    ("type", function("f", [tensor("t", doubled_type())], WORK)),
    ("extent", function("f", [X, tensor("t", ir.TensorType([doubled_expression()], INDEX))], WORK)),
]


@pytest.mark.parametrize(("kind", "node"), HUGE, ids=[kind for kind, _ in HUGE])
def test_text_that_would_fill_the_memory_is_refused(kind: str, node: ir.Function) -> None:
    for found in (node, program(node)):
        with pytest.raises(ir.PrintError) as raised:
            ir.python_print(found)
        what = f"the text would have over {MAX_PARTS} parts: what is shared is written at every use"
        assert raised.value.what == what


@pytest.mark.parametrize(("kind", "node"), HUGE, ids=[kind for kind, _ in HUGE])
def test_statements_that_cannot_all_be_visited_are_not_verified(kind: str, node: ir.Function) -> None:
    if kind in ("branch", "sequence", "empty sequence"):
        with pytest.raises(
            TooLargeError, match="function 'f' has over 2000000 statements, shared ones included"
        ):
            ir.verify(node)
    else:
        assert ir.verify(node, list(ir.CHECKED_PROPERTIES)) == []


@pytest.mark.parametrize(("kind", "node"), HUGE, ids=[kind for kind, _ in HUGE])
def test_what_does_not_write_it_out_takes_it(kind: str, node: ir.Function) -> None:
    assert ir.structural_equal(node, node)
    assert ir.structural_hash(node) == ir.structural_hash(node)
    assert len(list(ir.walk(node))) < 1_000
    if kind != "type":  # the wire format writes types out
        assert ir.structural_equal(ir.deserialize(ir.serialize(node)), node)


def test_size_counts_every_use() -> None:
    twice = ir.Add(X, X, INDEX, NOWHERE)
    assert unfolded_size(X.type) == 1
    assert unfolded_size(twice) == 3
    assert unfolded_size(ir.Mul(twice, twice, INDEX, NOWHERE)) == 7
    assert unfolded_size(sequence(evaluate(twice), evaluate(twice))) == 9


def test_a_variable_is_a_name_but_where_it_is_defined() -> None:
    """Else a chain of loops that each use their carry twice would seem to double with every loop."""
    assert unfolded_size(assign(tensor("t"), A)) == 1 + unfolded_size(tensor("t")) + 1
    stmts: list[ir.Stmt] = []
    value: ir.Expr = X
    for _ in range(LEVELS):
        c, r = carry("c", ir.Add(value, value, INDEX, NOWHERE)), scalar("r")
        body = yields(ir.Add(c, c, INDEX, NOWHERE))
        stmts.append(loop(scalar("i"), integer(0), X, integer(1), body, [c], [r]))
        value = r
    node = function("f", [X], sequence(*stmts, returns(value)), [X.type])
    assert unfolded_size(node) < 20 * LEVELS
    assert ir.python_print(node).count("pl.range") == LEVELS
    assert ir.verify(node, list(ir.CHECKED_PROPERTIES)) == []


def test_text_that_is_mostly_indentation_is_refused() -> None:
    nested: ir.Stmt = WORK
    for _ in range(20_000):
        nested = branch(FLAG, nested)
    with pytest.raises(ir.PrintError, match=f"over {2**28} characters: blocks nest too deeply"):
        ir.python_print(function("f", [FLAG], nested))
