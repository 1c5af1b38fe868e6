"""Edits of programs that are shrunk, by their texts."""

import ast

import pytest

from pypto_tmpl.hunt.shrinking import edits

TEXT = """
class Hunted:
    def helper(self, a, b):
        return pl.add(a, b)

    def main(self, x, n):
        v = pl.mul(x, 2.0)
        for i, (c,) in pl.range(1, 4, init_values=(v,)):
            w = pl.sub(c, x)
            r = pl.yield_(w)
        if n > 16:
            r = self.helper(r, v)
        return r, v
"""
TREE = ast.parse(TEXT)


def bodies(found, function="main"):
    """The body of a function in each program, a line each."""
    for tree in found:
        functions = [
            one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == function
        ]
        yield [line for stmt in functions[0].body for line in ast.unparse(stmt).splitlines()]


def test_statements_are_counted():
    assert edits.statement_count(TEXT) == 8


def test_functions_go_on_returning_what_callers_take():
    text = TEXT.replace("def main(self, x, n):", "def main(self, x, n) -> T:")
    for given, count in ((TEXT, 1), (text, 0)):
        found = [ast.unparse(tree) for tree in edits.without_statements(ast.parse(given), 1)]
        assert all("return pl.add(a, b)" in tree for tree in found if "def helper" in tree)
        assert sum("return (r, v)" not in tree for tree in found) == count


def test_without_statements_one_by_one():
    found = list(edits.without_statements(TREE, 1))
    assert len(found) == 8  # without the return of the helper, and with the helper
    assert "helper" not in [n.name for n in ast.walk(found[0]) if isinstance(n, ast.FunctionDef)]
    assert list(bodies(found))[1][0].startswith("for i")


def test_blocks_that_are_empty_go():
    bodies_left = list(bodies(edits.without_statements(TREE, 2)))
    assert ["v = pl.mul(x, 2.0)", "return (r, v)"] not in bodies_left
    assert any(not any(line.startswith("if") for line in body) for body in bodies_left)


def test_a_loop_becomes_its_first_round():
    first, *_ = bodies(edits.unwrapped(TREE))
    assert first[:5] == ["v = pl.mul(x, 2.0)", "i = 1", "c = v", "w = pl.sub(c, x)", "r = w"]


def test_a_variable_becomes_what_its_value_was_made_of():
    first, *_ = bodies(edits.without_variables(TREE))
    assert first[0] == "for i, (c,) in pl.range(1, 4, init_values=(x,)):"
    assert first[-1] == "return (r, x)"


def test_expressions_become_their_parts():
    texts = ["\n".join(body) for body in bodies(edits.simpler_expressions(TREE))]
    assert any("v = x\n" in text for text in texts)
    assert any("r = r\n" in text or "r = v\n" in text for text in texts)
    assert any("pl.range(1, 4):" in text for text in texts)


def test_numbers_become_smaller():
    texts = ["\n".join(body) for body in bodies(edits.smaller_numbers(TREE))]
    assert any("pl.range(0, 4" in text for text in texts) and any("pl.range(1, 2" in text for text in texts)
    assert any("if n > 8:" in text for text in texts)


def test_shapes_become_smaller_together():
    tree = ast.parse("class H:\n    def main(self, x: T[[16, 32]]):\n        y = f(x, [16, 24], [8, 16])\n")
    assert [ast.unparse(one) for one in edits.smaller_shapes(tree)][-1] == ast.unparse(
        ast.parse("class H:\n    def main(self, x: T[[8, 16]]):\n        y = f(x, [8, 24], [8, 8])\n")
    )


@pytest.mark.parametrize(
    ("function", "position", "call"), [("helper", 0, "self.helper(v)"), ("helper", 1, "self.helper(r)")]
)
def test_parameters_go_with_their_arguments(function, position, call):
    texts = [ast.unparse(one) for one in edits.without_parameters(TREE)]
    assert sum(call in text for text in texts) == 1


def test_results_of_the_entry_go():
    assert [body[-1] for body in bodies(edits.without_results(TREE))] == ["return v", "return r"]
