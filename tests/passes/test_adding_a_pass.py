"""The pass of docs/adding-a-pass.md is the real one, and runs as the page has it."""

import ast
import re
from pathlib import Path

import pytest
from passes.recorded_pairs import Pair, recorded_pairs

from pypto_tmpl import ir

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/adding-a-pass.md").read_text()
THE_PASS, THE_RUN = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_the_code_of_the_pass():
    assert (ROOT / "pypto_tmpl/passes/structure/flatten_call_expr.py").read_text() == THE_PASS


def test_the_pass_is_as_short_as_the_page_says():
    """Lines that are neither empty nor of imports and docstrings."""
    tree = ast.parse(THE_PASS)
    beside: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            beside.update(range(node.lineno, node.end_lineno + 1))
    lines = [line for number, line in enumerate(THE_PASS.splitlines(), 1) if line and number not in beside]
    assert len(lines) == int(re.search(r"(\d+) lines besides imports and texts", PAGE)[1])


@pytest.mark.parametrize("pair", recorded_pairs("FlattenCallExpr"), ids=str)
def test_the_pass_of_the_page_makes_what_was_recorded(pair: Pair):
    namespace = {"__name__": "page"}
    exec(compile(THE_PASS, "adding-a-pass.md", "exec"), namespace)
    got = namespace["FlattenCallExpr"]()(pair.before())
    ir.assert_structural_equal(got, pair.after())


def test_the_example_prints_the_calls_by_themselves(capsys):
    exec(compile(THE_RUN, "adding-a-pass.md", "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out
    assert re.findall(r"^ +(\w+): [^=]* = pl\.tile\.(\w+)", printed, re.MULTILINE) == [
        ("t__tmp_v0", "load"),
        ("t__tmp_v1", "exp"),
        ("done", "store"),
    ]
