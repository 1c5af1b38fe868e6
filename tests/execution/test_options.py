"""The debug options of scripts, seen from outside."""

import os

import pytest
from codegen.builders import AIV, function, ret, store, tensor

from pypto_tmpl.codegen.options import ScriptOptions, environment_options, options_in, variable_of
from pypto_tmpl.debug import OptionError, script_options, set_options, torch_codegen
from pypto_tmpl.execution.options import set_options_of_later_scripts

x, out = tensor("x", [4, 8]), tensor("out", [4, 8])
NAMES = (
    "pipe_wait_timeout_sec, mixed_kernel_timeout_sec, bounded_pipes, strict_leftovers, schedule_seed,"
    " race_check, poison, packed_scales, source_map_file, storage, copy_yields, placed, ranks"
)


EVERY = {
    "bounded_pipes": True,
    "strict_leftovers": True,
    "schedule_seed": 3,
    "race_check": True,
    "poison": True,
}


def copying(options):
    """A script that copies a tensor, emitted with these options."""
    text = torch_codegen(function("main", [x, out], ret(store(x, [0, 0], out)), type=AIV), options=options)
    namespace = {"__name__": "copying"}
    exec(text, namespace)
    return namespace


def test_the_options_that_there_are():
    options = script_options()
    assert list(options) == NAMES.split(", ")
    assert {name: option.default for name, option in options.items()} == {
        **dict.fromkeys(NAMES.split(", "), False),
        "pipe_wait_timeout_sec": 10,
        "mixed_kernel_timeout_sec": 30,
        "schedule_seed": None,
        "copy_yields": False,
        "ranks": None,
    }
    assert options["race_check"].variable == "PYPTO_TMPL_RACE_CHECK"
    assert options["strict_leftovers"].meaning == (
        "Tiles left in a pipe when a group ends are an error instead of a warning."
    )


def test_setting_options_that_a_script_was_emitted_with():
    namespace = copying(EVERY)
    set_options(namespace, poison=False, schedule_seed=7)
    assert (namespace["_POISON"], namespace["_SCHEDULE_SEED"]) == (False, 7)
    set_options(namespace, schedule_seed=None)
    assert namespace["_SCHEDULE_SEED"] is None


@pytest.mark.parametrize(
    ("name", "value", "given"),
    [("race_check", True, "True"), ("schedule_seed", 5, "0"), ("poison", False, "True")],
)
def test_setting_an_option_that_a_script_was_emitted_without(name, value, given):
    namespace = copying({other: value for other, value in EVERY.items() if other != name})
    before = dict(namespace)
    with pytest.raises(OptionError) as caught:
        set_options(namespace, strict_leftovers=False, **{name: value})
    assert str(caught.value) == (
        f"error[script-option]: the script was emitted without the option {name!r}\n"
        f"   = emit it with torch_codegen(..., options={{{name!r}: {given}}}), or gen --option {name}={given}"
    )
    assert namespace == before  # all or none


def test_a_script_that_does_not_wait_has_no_timeouts():
    with pytest.raises(OptionError, match="it has no lanes that wait"):
        set_options(copying({}), pipe_wait_timeout_sec=1)


def test_an_option_that_there_is_not():
    for refused in (lambda: set_options(copying({}), race_chek=True), lambda: copying({"race_chek": True})):
        with pytest.raises(OptionError) as caught:
            refused()
        assert isinstance(caught.value, ValueError)
        assert str(caught.value) == (
            "error[script-option]: scripts have no option 'race_chek'\n"
            f"   = options: {NAMES}; did you mean 'race_check'?"
        )


def test_the_text_says_which_options_a_script_has(monkeypatch):
    kernel = function("main", [x, out], ret(store(x, [0, 0], out)), type=AIV)
    text = torch_codegen(kernel, options={"poison": True, "schedule_seed": 0, "race_check": False})
    assert text.split("\n")[:2] == [
        '"""main. Emitted by pypto_tmpl: change the IR or a template, not this text.',
        "Options: schedule_seed=0, poison=True",
    ]
    assert options_in(text) == ScriptOptions(poison=True, schedule_seed=0)
    monkeypatch.setenv("PYPTO_TMPL_POISON", "1")
    assert options_in(torch_codegen(kernel, options={})) == ScriptOptions()
    assert options_in(torch_codegen(kernel)) == ScriptOptions(poison=True)


@pytest.mark.parametrize(("name", "text"), [("poison", "yes"), ("pipe_wait_timeout_sec", "10s")])
def test_what_the_environment_may_not_say(monkeypatch, name, text):
    monkeypatch.setenv(f"PYPTO_TMPL_{name.upper()}", text)
    with pytest.raises(OptionError) as caught:
        copying(None)
    assert f"option {name!r} is " in str(caught.value) and f"not {text!r}" in str(caught.value)
    assert f"--> PYPTO_TMPL_{name.upper()}" in str(caught.value)


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
        ScriptOptions(**{name: value})
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
    monkeypatch.setenv(variable_of(name), "")
    set_options_of_later_scripts({name: text})
    assert os.environ[variable_of(name)] == variable
    assert dict(environment_options().items()) == {**dict(ScriptOptions().items()), name: value}


@pytest.mark.parametrize("text", ["", "maybe", "1 +", "[1]"])
def test_texts_that_are_no_value(text):
    with pytest.raises(OptionError) as caught:
        set_options_of_later_scripts({"poison": text})
    value = [1] if text == "[1]" else text
    assert str(caught.value) == f"error[script-option]: option 'poison' is true or false, not {value!r}"
