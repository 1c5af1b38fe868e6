"""Platforms: what each is compiled for, and which of them can be run."""

import pytest

from pypto_tmpl.runtime.platforms import PLATFORMS, find_platform, require_simulated


def test_the_four_platforms():
    facts = {name: (p.backend, p.is_simulated, p.simulated_name) for name, p in PLATFORMS.items()}
    assert facts == {
        "a2a3": ("Ascend910B", False, "a2a3sim"),
        "a2a3sim": ("Ascend910B", True, "a2a3sim"),
        "a5": ("Ascend950", False, "a5sim"),
        "a5sim": ("Ascend950", True, "a5sim"),
    }


@pytest.mark.parametrize("name", ["A2A3", "", None, 5, ["a5"]])
def test_an_unknown_platform_names_those_there_are(name):
    with pytest.raises(ValueError) as caught:
        find_platform(name)
    assert str(caught.value) == (
        f"error[platform]: Unknown runtime platform {name!r}; "
        "expected one of ['a2a3', 'a2a3sim', 'a5', 'a5sim']"
    )


@pytest.mark.parametrize(("name", "simulated"), [("a2a3", "a2a3sim"), ("a5", "a5sim")])
def test_a_device_is_refused_with_its_simulated_platform(name, simulated):
    with pytest.raises(RuntimeError) as caught:
        require_simulated(find_platform(name))
    assert str(caught.value) == (
        f"error[hardware-needed]: platform '{name}' needs a real Ascend NPU, which is not driven from here\n"
        f"   = run on its simulated platform instead: '{simulated}'"
    )


def test_simulated_platforms_are_not_refused():
    for name in ("a2a3sim", "a5sim"):
        require_simulated(find_platform(name))
