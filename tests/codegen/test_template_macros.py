"""Macros of a script template, called from Python."""

from pathlib import Path

import pytest

from pypto_tmpl.codegen.environment import (
    TemplateError,
    TemplateMacros,
    UndefinedNameError,
    create_environment,
)

TEXT = """\
{% macro assign(target, value) %}{{ target }} = {{ value }}{% endmacro %}
{% macro either(value, other) %}{{ "none" if other is none else value }}{% endmacro %}
{% macro broken(value) %}
{{ valeu }}
{% endmacro %}
"""


@pytest.fixture
def macros(tmp_path: Path) -> TemplateMacros:
    (tmp_path / "lines.py.jinja").write_text(TEXT)
    return TemplateMacros(create_environment([tmp_path], cache_folder=tmp_path / "cache"), "lines.py.jinja")


def test_a_macro_is_a_method(macros: TemplateMacros) -> None:
    assert macros.assign("x", 1) == "x = 1"
    assert macros.either("x", None) == "none"
    assert type(macros.assign("x", 1)) is str


def test_an_unknown_macro(macros: TemplateMacros) -> None:
    with pytest.raises(TemplateError) as caught:
        macros.asign("x", 1)
    assert str(caught.value) == (
        "error[missing-macro]: lines.py.jinja has no macro 'asign'\n"
        "   = macros: assign, broken, either; did you mean 'assign'?"
    )


def test_a_parameter_left_out(macros: TemplateMacros) -> None:
    with pytest.raises(TemplateError) as caught:
        macros.either("x")
    assert str(caught.value) == (
        "error[template]: macro 'either' fails: TypeError: it takes (value, other), 1 given\n"
        "  --> lines.py.jinja"
    )


def test_an_undefined_name(macros: TemplateMacros, tmp_path: Path) -> None:
    with pytest.raises(UndefinedNameError) as caught:
        macros.broken("x")
    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        "error[undefined-name]: macro 'broken' fails: 'valeu' is undefined\n"
        "  --> lines.py.jinja:4\n"
        "   = did you mean 'value'?"
    )
