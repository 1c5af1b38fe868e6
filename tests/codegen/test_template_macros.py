"""Macros of a script template, called from Python."""

from pathlib import Path

import pytest

from pypto_tmpl.cli.time_limit import TimeLimitError
from pypto_tmpl.codegen.environment import (
    TemplateError,
    TemplateMacros,
    UndefinedNameError,
    create_environment,
    render,
)

TEXT = """\
{% macro assign(target, value) %}{{ target }} = {{ value }}{% endmacro %}
{% macro either(value, other) %}{{ "none" if other is none else value }}{% endmacro %}
{% macro slow(work) %}{{ work() }}{% endmacro %}
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
        "   = macros: assign, broken, either, slow; did you mean 'assign'?"
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
        "  --> lines.py.jinja:5\n"
        "   = did you mean 'value'?"
    )


def test_a_time_limit_that_ends_in_a_template_is_told_as_it_is(
    macros: TemplateMacros, tmp_path: Path
) -> None:
    """However the macro is called, it raises once: the clock of a limit does not ring again."""
    calls: list[int] = []

    def work() -> str:
        calls.append(1)
        raise TimeLimitError("not done after the time limit of 5 s")

    with pytest.raises(TimeLimitError) as caught:
        macros.slow(work)
    assert str(caught.value) == "error[time-limit]: not done after the time limit of 5 s"
    (tmp_path / "page.jinja").write_text("{{ work() }}")
    with pytest.raises(TimeLimitError):
        render(create_environment([tmp_path], cache_folder=tmp_path / "cache"), "page.jinja", {"work": work})
    assert len(calls) == 2
