"""Parentheses that Python reads an expression no other way without."""

import ast

import pytest

from pypto_tmpl.codegen.precedence import without_brackets_of_tuple, without_needless_parentheses

LEAN = {
    "torch.exp((-torch.abs(b)))": "torch.exp(-torch.abs(b))",
    "_assemble(out, (x + y), [r, 0])": "_assemble(out, x + y, [r, 0])",
    "(a + b)": "a + b",
    "((a + b))": "a + b",
    "((a * b) + c)": "a * b + c",
    "(a + (b * c))": "a + b * c",
    "((a - b) - c)": "a - b - c",
    "f(x=(a or b))": "f(x=a or b)",
    "x[(r + 1) : (r + 1) + 32]": "x[r + 1 : r + 1 + 32]",
    "(a if c else b)": "a if c else b",
    "f((a if c else b), d)": "f(a if c else b, d)",
    'f(("a(" + b))': 'f("a(" + b)',
    "[(a + b), ((c))]": "[a + b, c]",
    "(x)[0]": "x[0]",
    "f(*(g(x)))": "f(*g(x))",
    "f(lambda: (a + b))": "f(lambda: a + b)",
}
NEEDED = [
    "(a + b) * c",
    "a - (b - c)",
    "a / (b * c)",
    "-(a + b)",
    "-(a * b)",
    "(-a) ** b",
    "a ** (b ** c)",
    "(a < b) < c",
    "(a == b).to(torch.int32)",
    "(a + b).float()",
    "(a, b)",
    "(a,)",
    "f((a, b))",
    "(*f(x), _TASK_DONE)",
    "(f(x), _TASK_DONE)[-1]",
    "([0] * 4)[1]",
    "()",
    "(1).real",
    "(a if b else c) + d",
    "(a if b else c) if d else e",
    "(lambda: a)()",
    "not (a or b)",
    "a & (b == c)",
    '"(a)" + b',
    "a * (b + c)[0]",
    "-(-a) + b",
    "~(-a)",
]


@pytest.mark.parametrize("text", LEAN)
def test_needless_parentheses_go(text):
    assert without_needless_parentheses(text) == LEAN[text]


@pytest.mark.parametrize("text", NEEDED)
def test_those_that_bind_stay(text):
    assert without_needless_parentheses(text) == text


@pytest.mark.parametrize("text", [*LEAN, *NEEDED])
def test_python_reads_the_same(text):
    found = without_needless_parentheses(text)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("(f(a, (b + c)), _TASK_DONE)", "f(a, (b + c)), _TASK_DONE"),
        ("(*f(x), _TASK_DONE)", "*f(x), _TASK_DONE"),
        ('(f(")"), [a])', 'f(")"), [a]'),
        ("(a), (b)", "(a), (b)"),
        ("f(a, b)", "f(a, b)"),
        ("(a, b)[0]", "(a, b)[0]"),
        ("[a, b]", "[a, b]"),
    ],
)
def test_a_tuple_behind_an_equals_sign_needs_no_brackets(text: str, bare: str) -> None:
    assert without_brackets_of_tuple(text) == bare
    assert ast.dump(ast.parse(f"x, y = {text}")) == ast.dump(ast.parse(f"x, y = {bare}"))
