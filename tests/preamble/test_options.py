"""The record of debug options: constants under another name, and what the environment says."""

import pytest
from preamble.rendered import Script, read_helpers

TOPICS = ("cross_core", "mixed_kernel", "matmul")
DEFAULTS = {
    "pipe_wait_timeout_sec": 10,
    "mixed_kernel_timeout_sec": 30,
    "bounded_pipes": False,
    "strict_leftovers": False,
    "schedule_seed": None,
    "race_check": False,
    "poison": False,
    "packed_scales": False,
}
NAMES = ", ".join(DEFAULTS)


def test_every_option_has_a_constant_that_says_what_it_does():
    helpers = read_helpers("options")
    assert list(helpers) == ["_OPTIONS", *(f"_{name.upper()}" for name in DEFAULTS)]
    for name in list(helpers)[1:]:
        assert helpers[name][2].startswith("# "), name


def test_defaults():
    script = Script(TOPICS)
    assert {name: getattr(script["_OPTIONS"], name) for name in DEFAULTS} == DEFAULTS
    assert list(script["_OPTIONS"].names) == list(DEFAULTS)


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_option_and_its_constant_are_one(name):
    script = Script(TOPICS)
    setattr(script["_OPTIONS"], name, 7)
    assert script[f"_{name.upper()}"] == 7
    script[f"_{name.upper()}"] = 8
    assert getattr(script["_OPTIONS"], name) == 8


def test_an_option_that_the_script_has_no_use_for():
    script = Script(("regions",))
    assert script["_OPTIONS"].schedule_seed is None
    script["_OPTIONS"].schedule_seed = 3
    assert "_LaneGroup" not in script.namespace


@pytest.mark.parametrize("name", ["bounded_pipe", "POISON", "_constant", "x"])
def test_an_unknown_name(name):
    options = Script(("regions",))["_OPTIONS"]
    for access in (lambda: setattr(options, name, True), lambda: options.__getattr__(name)):
        with pytest.raises(AttributeError) as caught:
            access()
        assert str(caught.value) == f"no option {name!r}; options: {NAMES}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("poison", "1", True),
        ("poison", "TRUE", True),
        ("bounded_pipes", "0", False),
        ("race_check", "false", False),
        ("strict_leftovers", "", False),
        ("schedule_seed", "12", 12),
        ("schedule_seed", "-1", -1),
        ("schedule_seed", "", None),
        ("pipe_wait_timeout_sec", "0.5", 0.5),
        ("mixed_kernel_timeout_sec", "90", 90.0),
    ],
)
def test_the_environment_sets_an_option_when_the_script_starts(monkeypatch, name, text, value):
    monkeypatch.setenv(f"PYPTO_TMPL_{name.upper()}", text)
    options = Script(TOPICS)["_OPTIONS"]
    assert getattr(options, name) == value
    assert {other for other in DEFAULTS if getattr(options, other) != DEFAULTS[other]} <= {name}


@pytest.mark.parametrize(("name", "text"), [("poison", "yes"), ("pipe_wait_timeout_sec", "10s")])
def test_what_the_environment_may_not_say(monkeypatch, name, text):
    monkeypatch.setenv(f"PYPTO_TMPL_{name.upper()}", text)
    with pytest.raises(ValueError) as caught:
        Script(TOPICS)
    assert str(caught.value) == f"PYPTO_TMPL_{name.upper()} must be 1, 0 or a number, not '{text}'"
