"""Which variables the lines of a scope take from before them."""

import ast

import pytest

from pypto_tmpl.runtime.records.script_names import names_taken


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = x\nb = a + y\na = z", ("x", "y", "z")),  # a is its own
        ("a = a + x", ("a", "x")),  # read before it is assigned
        ("y[0:2] = x", ("y", "x")),  # a part of y is written
        ("a += x", ("x", "a")),
        ("for i in range(n):\n    a = x[i]\n    y = a + y", ("range", "n", "x", "y")),
        ("for i in range(2):\n    a = x\nb = a", ("range", "x", "a")),  # the loop may not have run
        ("if c:\n    a = x\nelse:\n    b = a\nd = a", ("c", "x", "a")),
        ("with part(x) as p:\n    a = p\nb = a", ("part", "x")),
        ("a, b = f(x)\nc = a + b", ("f", "x")),
        ("def block(k, a=x):\n    b = a[k]\n    y[k] = b\nb = 1", ("x", "y")),
    ],
)
def test_names(text, names):
    last = text.count("\n") + 1
    assert names_taken(ast.parse(text).body, 1, last) == names


def test_lines_inside_of_a_function():
    text = "def main(x, y):\n    a = x\n    for i in range(3):\n        b = a\n        y[i] = b\n    return y"
    body = ast.parse(text).body
    assert names_taken(body, 4, 5) == ("a", "y", "i")
    assert names_taken(body, 5, 5) == ("y", "i", "b")
    assert names_taken(body, 2, 3) == ("x", "range", "y")  # a loop belongs to the line it starts on
