"""Keys `pto` that mean nothing: load errors with file, line and op."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ops.conftest import FILES

from pypto_tmpl.ops import load_table

MACROS = """\
{% macro compute(c) -%}
{{ c.op }}
{%- endmacro %}
"""
CASES = {
    "pto: {macro: computed, op: pto.trowsum}": "pto/ops.pto.jinja has no macro 'computed'",
    "pto: trowsum": "'trowsum' is no operation of the pto dialect",
    "pto: {macro: compute}": "the common form needs the operation",
    "pto: {op: pto.trowsum, ins: [tle]}": "`ins` names 'tle', no operand",
    "pto: {op: pto.trowsum, into: tle}": "`into` names 'tle', no operand",
    "pto: {op: pto.trowsum, with: {keyword: axis}}": "`keyword` is 'axis', no keyword",
    "pto: {op: pto.trowsum, backends: [Ascend9]}": "'Ascend9' is no backend",
    "pto: {op: pto.trowsum, shares: all}": "pto.shares cannot be 'all'",
    "pto: {op: pto.trowsum, hidden: [rank]}": "pto.hidden[0] cannot be 'rank'",
    "pto: {mnemonic: pto.trowsum}": "unknown key 'mnemonic' in pto",
}


UNUSED = """
{% macro turned(c) -%}
{{ c.op }} turned
{%- endmacro %}
"""


@pytest.mark.parametrize(("line", "what"), CASES.items(), ids=range(len(CASES)))
def test_a_text_that_cannot_be(load_errors: Callable[..., str], line: str, what: str) -> None:
    old, new = "    emit: reduce_last", f"    {line}\n    emit: reduce_last"
    text = load_errors(old, new, **{"pto/ops.pto.jinja": MACROS})
    first, place = text.splitlines()[:2]
    assert f"tile.row_sum: {what}" in first
    assert place == "  --> T/ops/reduce.yaml:9"


def test_a_macro_that_no_op_names(load_errors: Callable[..., str]) -> None:
    old, new = "    emit: reduce_last", "    pto: pto.trowsum\n    emit: reduce_last"
    text = load_errors(old, new, **{"pto/ops.pto.jinja": MACROS + UNUSED})
    assert "no op and no used macro names the macro 'turned'" in text
    assert "T/pto/ops.pto.jinja:5" in text


def test_a_macro_that_another_calls_is_used(table_dir: Callable[..., Path]) -> None:
    entry = FILES["ops/reduce.yaml"].replace("    emit:", "    pto: pto.trowsum\n    emit:")
    macros = MACROS.replace("{{ c.op }}", "{{ turned(c) }}") + UNUSED
    table = load_table([table_dir({"ops/reduce.yaml": entry, "pto/ops.pto.jinja": macros})])
    spec = table["tile.row_sum"].pto_spec
    assert spec is not None
    assert (spec.op, spec.macro, spec.ins) == ("pto.trowsum", "compute", None)


def test_macros_that_are_no_jinja(load_errors: Callable[..., str]) -> None:
    old, new = "    emit: reduce_last", "    pto: {op: pto.trowsum, macro: lost}\n    emit: reduce_last"
    text = load_errors(old, new, **{"pto/ops.pto.jinja": "{% macro lost(c) %}"})
    assert "error[template-syntax]" in text
