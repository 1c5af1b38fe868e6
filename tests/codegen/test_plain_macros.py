"""Macros as functions of Python give what Jinja gives, or are left to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2.runtime import Macro

from pypto_tmpl.codegen.environment import TemplateError, TemplateMacros, create_environment
from pypto_tmpl.codegen.plain_macros import plain_functions

PLAIN = {
    "{% macro m(a, b) %}{{ a }} = {{ b }}{% endmacro %}": [("x", 1), (None, True), (1.5, ["a"])],
    '{% macro m(a) %}[{{ a | join(", ") }}]{% endmacro %}': [([],), (["x"],), (("x", 2),)],
    '{% macro m(a) %}{{ a }}{{ ", " if a | length == 1 }}{% endmacro %}': [("x",), ("xy",)],
    "{% macro m(a) %}{% if a %}{{ a }}{% elif a is none %}none{% else %}no{% endif %}{% endmacro %}": [
        ("x",),
        (None,),
        (0,),
    ],
    '{% macro m(a, b) %}{{ "<" ~ a ~ (b if b is not none) ~ ">" }}{% endmacro %}': [("x", None), ("x", 3)],
    '{% macro m(a) %}{{ ([a, "y"] + ["z"]) | join("-") }}{{ (["0"] * a) | join(" ") }}{% endmacro %}': [
        (2,),
        (0,),
    ],
    '{% macro m(a, b) %}{{ "both" if a and not b or a == 1 != b else "else" }}{% endmacro %}': [
        (0, 0),
        (1, 0),
        (1, 1),
        (2, 1),
    ],
    "{% macro o(x) %}<{{ x }}>{% endmacro %}{% macro m(a) %}{{ o(a) }}{{ o(a | string) }}{% endmacro %}": [
        ("x",),
        (2,),
    ],
    "{% macro m(a) %}first{{ a }}{% endmacro %}\n{% macro m(a) %}second{{ a }}{% endmacro %}": [("x",)],
}
OTHERS = [
    "{% macro m(a) %}{% for x in a %}{{ x }}{% endfor %}{% endmacro %}",
    "{% macro m(a) %}{% set b = a %}{{ b }}{% endmacro %}",
    "{% macro m(a) %}{{ a.shape }}{% endmacro %}",
    "{% macro m(a, b=1) %}{{ a }}{{ b }}{% endmacro %}",
    "{% macro m(a) %}{{ other }}{% endmacro %}",
    "{% macro m(a) %}{{ a is defined }}{% endmacro %}",
    '{% macro m(a) %}{{ a | map("string") | list }}{% endmacro %}',
    "{% macro m(a) %}{{ a(1) }}{% endmacro %}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{% if 1 %}{% macro m(a) %}{{ a }}{{ a }}{% endmacro %}{% endif %}",
    "{% set m = 1 %}{% macro m(a) %}{{ a }}{% endmacro %}",
]


def environment_of(folder: Path, text: str) -> jinja2.Environment:
    (folder / "t.jinja").write_text(text)
    return create_environment([folder], cache_folder=folder / "cache")


def in_full(name: str) -> Callable[..., str]:
    """No macro runs in full where its plain form does."""

    def refused(*args: Any) -> str:
        raise AssertionError(f"{name}{args}")

    return refused


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_macro_gives_what_jinja_gives(tmp_path: Path, text: str) -> None:
    environment = environment_of(tmp_path, text)
    macro = environment.get_template("t.jinja").module
    plain = plain_functions(environment, "t.jinja", in_full)
    for args in PLAIN[text]:
        assert plain["m"](*args) == macro.m(*args)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_more_than_an_expression_is_left_to_jinja(tmp_path: Path, text: str) -> None:
    assert "m" not in plain_functions(environment_of(tmp_path, text), "t.jinja", in_full)


def test_most_macros_of_the_project_are_plain() -> None:
    environment = create_environment()
    for name in ("script/expressions.py.jinja", "script/statements.py.jinja"):
        module = vars(environment.get_template(name).module)
        macros = {key for key, value in module.items() if isinstance(value, Macro)}
        assert len(plain_functions(environment, name, in_full)) > 0.8 * len(macros)


def test_where_a_plain_macro_raises_the_line_of_the_template_is_told(tmp_path: Path) -> None:
    text = "{% macro m(a) %}\n{{ a }}\n{{ a | torch_dtype }}\n{% endmacro %}"
    macros = TemplateMacros(environment_of(tmp_path, text), "t.jinja")
    with pytest.raises(TemplateError, match=r"macro 'm' fails: torch has no dtype for 'x'") as failure:
        macros.m("x")
    assert failure.value.where == f"{tmp_path / 't.jinja'}:3"
