"""Bodies as lists of statements, and what they end in."""

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import IN_PLACE, as_body, direct, flat, last_of, statements, trailing_yield

SPAN = ir.Span.unknown()
A, B, C = (ir.BreakStmt(SPAN) for _ in range(3))
YIELD = ir.YieldStmt([], SPAN)


def seq(*inside):
    return ir.SeqStmts(inside, SPAN)


def scope(body):
    return ir.RuntimeScopeStmt(body=body, manual=False, span=SPAN)


def test_sequences_in_sequences_are_opened_and_scopes_where_that_is_asked():
    inner = scope(seq(B, seq(C)))
    assert list(flat(seq(A, seq(seq(), inner)))) == [A, inner]
    assert list(flat(seq(A, seq(seq(), inner)), IN_PLACE)) == [A, B, C]
    assert list(flat([A, seq(B)])) == [A, B]
    assert direct(A) == (A,)


def test_one_statement_is_a_body_by_itself():
    assert as_body([seq(seq(A))], SPAN) is A
    assert as_body([A, seq(B)], SPAN).stmts == (A, B)
    assert as_body([], SPAN).stmts == ()


@pytest.mark.parametrize(
    ("body", "plain", "opened"),
    [
        (seq(), None, None),
        (seq(A, seq(B)), B, B),
        (seq(A, seq()), None, None),
        (YIELD, YIELD, YIELD),
        (seq(A, scope(seq(B, YIELD))), "scope", YIELD),
    ],
)
def test_what_a_body_ends_in(body, plain, opened):
    last = last_of(body)
    assert last is (body.stmts[-1] if plain == "scope" else plain)
    assert last_of(body, IN_PLACE) is opened
    assert trailing_yield(body) is (opened if opened is YIELD else None)


def test_every_statement_in_the_order_of_the_text():
    body, inner = seq(A, B), scope(C)
    whole = seq(body, inner)
    assert list(statements(whole)) == [whole, body, A, B, inner, C]


def test_depth_needs_no_stack():
    deep = A
    for _ in range(20000):
        deep = seq(deep)
    assert list(flat(deep)) == [A]
    assert last_of(deep) is A
