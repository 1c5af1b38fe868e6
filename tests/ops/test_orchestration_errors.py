"""Keys `orchestration` and `driver` that mean nothing: load errors with file, line and op."""

from collections.abc import Callable

from pypto_tmpl.ops import load_table

MACROS = """\
{% macro read(c) -%}
{{ c.out }}
{%- endmacro %}
"""
FILE, DRIVER = "orchestration/ops.cpp.jinja", "orchestration/ops.py.jinja"


def entry_with(line: str) -> tuple[str, str]:
    return "    emit: reduce_last", f"    {line}\n    emit: reduce_last"


def test_a_macro_that_there_is_not(load_errors: Callable[..., str]) -> None:
    text = load_errors(*entry_with("orchestration: raed"), **{FILE: MACROS})
    assert "error[orchestration]: tile.row_sum: orchestration/ops.cpp.jinja has no macro 'raed'" in text
    assert "  --> T/ops/reduce.yaml:9" in text
    assert "did you mean 'read'?" in text


def test_a_macro_that_no_op_names(load_errors: Callable[..., str]) -> None:
    more = MACROS + MACROS.replace("read", "write")
    text = load_errors(*entry_with("orchestration: read"), **{FILE: more})
    assert "no op and no used macro names the macro 'write'" in text
    assert f"T/{FILE}:4" in text


def test_the_ops_of_orchestration_code_say_how() -> None:
    table = load_table()
    named = {name for name in table if table[name].orchestration is not None}
    assert {"tensor.create", "tensor.slice", "array.get_element", "system.task_dummy"} <= named
    assert not any(name.startswith("tile.") for name in named)


def test_a_macro_of_the_driver_that_there_is_not(load_errors: Callable[..., str]) -> None:
    text = load_errors(*entry_with("driver: raed"), **{DRIVER: MACROS})
    assert "error[driver]: tile.row_sum: orchestration/ops.py.jinja has no macro 'raed'" in text
    assert "  --> T/ops/reduce.yaml:9" in text
    assert "did you mean 'read'?" in text


def test_a_macro_of_the_driver_that_no_op_names(load_errors: Callable[..., str]) -> None:
    more = MACROS + MACROS.replace("read", "write")
    text = load_errors(*entry_with("driver: read"), **{DRIVER: more})
    assert "no op and no used macro names the macro 'write'" in text
    assert f"T/{DRIVER}:4" in text
