"""The debug options of scripts, seen from outside."""

import os

import pytest
from preamble.rendered import Script

from pypto_tmpl.debug import OptionError, script_options, set_options
from pypto_tmpl.execution.options import set_options_of_later_scripts

NAMES = (
    "pipe_wait_timeout_sec, mixed_kernel_timeout_sec, bounded_pipes, strict_leftovers, schedule_seed,"
    " race_check, poison, packed_scales"
)


def test_the_options_are_those_that_scripts_declare():
    record = Script(("mixed_kernel", "cross_core", "matmul"))["_OPTIONS"]
    options = script_options()
    assert list(options) == list(record.names) == NAMES.split(", ")
    assert {name: option.default for name, option in options.items()} == {
        name: getattr(record, name) for name in record.names
    }
    assert options["race_check"].variable == "PYPTO_TMPL_RACE_CHECK"
    assert options["strict_leftovers"].meaning == (
        "Tiles left in a pipe when a group ends are an error instead of a warning."
    )


def test_setting_options_of_a_script():
    namespace = Script(("mixed_kernel", "cross_core")).namespace
    set_options(namespace, poison=True, schedule_seed=7, pipe_wait_timeout_sec=0.5)
    assert (namespace["_POISON"], namespace["_SCHEDULE_SEED"], namespace["_PIPE_WAIT_TIMEOUT_SEC"]) == (
        True,
        7,
        0.5,
    )
    set_options(namespace, schedule_seed=None)
    assert namespace["_SCHEDULE_SEED"] is None


def test_a_script_that_has_no_use_for_any_option():
    namespace = Script(("casts",)).namespace
    set_options(namespace, race_check=True)
    assert "_OPTIONS" not in namespace


def test_an_option_that_there_is_not():
    namespace = Script(("mixed_kernel", "cross_core")).namespace
    with pytest.raises(OptionError) as caught:
        set_options(namespace, poison=True, race_chek=True)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == (
        "error[script-option]: scripts have no option 'race_chek'\n"
        f"   = options: {NAMES}; did you mean 'race_check'?"
    )
    assert namespace["_POISON"] is False  # all or none


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("poison", 2, "true or false, not 2"),
        ("poison", "yes", "true or false, not 'yes'"),
        ("schedule_seed", 1.5, "an integer or none, not 1.5"),
        ("schedule_seed", True, "an integer or none, not True"),
        ("pipe_wait_timeout_sec", 0, "a number of seconds above 0, not 0"),
        ("mixed_kernel_timeout_sec", "10", "a number of seconds above 0, not '10'"),
    ],
)
def test_a_value_that_an_option_cannot_have(name, value, wanted):
    with pytest.raises(OptionError) as caught:
        set_options({}, **{name: value})
    assert str(caught.value) == f"error[script-option]: option {name!r} is {wanted}"


@pytest.mark.parametrize(
    ("name", "text", "value", "variable"),
    [
        ("poison", "1", True, "1"),
        ("poison", "true", True, "1"),
        ("race_check", "OFF", False, "False"),
        ("schedule_seed", "12", 12, "12"),
        ("schedule_seed", "none", None, ""),
        ("pipe_wait_timeout_sec", "0.5", 0.5, "0.5"),
    ],
)
def test_texts_of_values_and_what_the_environment_makes_of_them(monkeypatch, name, text, value, variable):
    option = script_options()[name]
    monkeypatch.setenv(option.variable, "")
    assert option.parse(text) == value
    set_options_of_later_scripts({name: text})
    assert os.environ[option.variable] == variable
    assert getattr(Script(("mixed_kernel", "cross_core"))["_OPTIONS"], name) == value


@pytest.mark.parametrize("text", ["", "maybe", "1 +", "[1]"])
def test_texts_that_are_no_value(text):
    with pytest.raises(OptionError) as caught:
        set_options_of_later_scripts({"poison": text})
    value = [1] if text == "[1]" else text
    assert str(caught.value) == f"error[script-option]: option 'poison' is true or false, not {value!r}"
