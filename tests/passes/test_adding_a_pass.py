"""The pass of docs/adding-a-pass.md is the real one, and runs as the page has it."""

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
