"""RunConfig: fields, levels, old names, rings."""

import dataclasses
import warnings

import pytest

from pypto_tmpl.runtime import RunConfig


def test_defaults():
    config = RunConfig()
    assert (config.platform, config.device_id, config.backend_type) == ("a2a3sim", 0, "Ascend910B")
    assert (config.rtol, config.atol, config.dump_passes) == (1e-5, 1e-5, False)
    assert not config.any_dfx_enabled()
    assert not config.save_kernels


def test_the_backend_follows_from_the_platform():
    assert RunConfig(platform="a5", backend_type="Ascend910B").backend_type == "Ascend950"


def test_an_invalid_platform():
    with pytest.raises(ValueError) as caught:
        RunConfig(platform="a3")
    assert str(caught.value) == "Invalid platform 'a3'. Expected 'a2a3sim', 'a2a3', 'a5sim', or 'a5'."


@pytest.mark.parametrize(("given", "level"), [(True, 4), (False, 0), (0, 0), (1, 1), (3, 3), (4, 4)])
def test_swimlane_levels(given, level):
    assert RunConfig(enable_chip_swimlane=given).enable_chip_swimlane == level
    with pytest.warns(DeprecationWarning):
        assert RunConfig(enable_l2_swimlane=given).enable_chip_swimlane == level


@pytest.mark.parametrize("name", ["enable_chip_swimlane", "enable_l2_swimlane"])
@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (5, ValueError, "enable_chip_swimlane must be 0 to 4, got 5"),
        (-1, ValueError, "enable_chip_swimlane must be 0 to 4, got -1"),
        ("2", TypeError, "enable_chip_swimlane must be an int or a bool, got str '2'"),
        (1.0, TypeError, "enable_chip_swimlane must be an int or a bool, got float 1.0"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_wrong_swimlane_levels(name, given, error, text):
    with pytest.raises(error) as caught:
        RunConfig(**{name: given})
    assert str(caught.value) == text


def test_the_old_name_warns_once_and_works():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = RunConfig(enable_l2_swimlane=2)
    assert [str(w.message) for w in caught] == [
        "enable_l2_swimlane is deprecated; use enable_chip_swimlane instead"
    ]
    assert caught[0].filename == __file__
    assert config.enable_chip_swimlane == config.enable_l2_swimlane == 2
    with pytest.warns(DeprecationWarning, match="use enable_chip_swimlane"):
        config.enable_l2_swimlane = True
    assert config.enable_chip_swimlane == 4


def test_runtime_profiling_is_ored_into_the_swimlane():
    with pytest.warns(DeprecationWarning, match="RunConfig.runtime_profiling is deprecated; use enable_l2"):
        assert RunConfig(runtime_profiling=True).enable_chip_swimlane == 4
    with pytest.warns(DeprecationWarning):
        assert RunConfig(runtime_profiling=True, enable_chip_swimlane=1).enable_chip_swimlane == 1


@pytest.mark.parametrize(
    ("new", "old"),
    [("enable_chip_swimlane", "enable_l2_swimlane"), ("enable_dump_args", "enable_dump_tensor")],
)
def test_both_names_of_a_flag_are_an_error(new, old):
    with pytest.raises(ValueError) as caught:
        RunConfig(**{new: 1, old: 1})
    assert str(caught.value) == f"{new} and {old} are the same flag: give only {new}"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_replace_keeps_and_changes_levels():
    config = RunConfig(enable_l2_swimlane=4, enable_dump_tensor=True)
    assert dataclasses.replace(config, enable_chip_swimlane=1).enable_chip_swimlane == 1
    assert dataclasses.replace(config, device_id=3).enable_chip_swimlane == 4
    assert "enable_l2_swimlane" not in {field.name for field in dataclasses.fields(config)}


def test_dump_levels_and_their_old_name():
    assert RunConfig(enable_dump_args=True).enable_dump_args == 1
    assert RunConfig(enable_dump_tensor=True).enable_dump_args == 2
    assert not RunConfig().enable_dump_tensor
    with pytest.raises(ValueError, match="enable_dump_args must be 0 to 3, got 4"):
        RunConfig(enable_dump_args=4)


def test_counters():
    assert RunConfig(enable_pmu=True).enable_pmu == 2  # what the bare command-line flag means
    assert RunConfig(enable_pmu=7).enable_pmu == 7


def test_a_diagnostic_flag_keeps_the_kernels():
    assert RunConfig(enable_dep_gen=True).save_kernels
    assert RunConfig(enable_dep_gen=True).any_dfx_enabled()


def test_an_unknown_field_names_the_fields():
    with pytest.raises(TypeError) as caught:
        RunConfig(platfrom="a5")
    assert str(caught.value).startswith("RunConfig has no field 'platfrom'; fields: aicpu_thread_num, ")
    assert str(caught.value).endswith("; did you mean 'platform'?")


@pytest.mark.parametrize(
    ("ring", "good", "bad"),
    [
        (
            "ring_task_window",
            [4, 64, (4, 8, 0, 16), [0, 0, 0, 0]],
            [3, 6, True, 2.0, (4, 8), "8", (4, 4, 4, 5)],
        ),
        ("ring_heap", [1024, 1 << 30], [512, 1025, False]),
        ("ring_dep_pool", [4, 7, 2**31 - 1], [3, 2**31, -4]),
    ],
)
def test_rings(ring, good, bad):
    for value in good:
        assert getattr(RunConfig(**{ring: value}), ring) == value
    for value in bad:
        with pytest.raises(ValueError, match=ring):
            RunConfig(**{ring: value})


def test_the_text_of_a_ring_error():
    with pytest.raises(ValueError) as caught:
        RunConfig(ring_heap=1000)
    assert str(caught.value) == "ring_heap must be a power of two, at least 1024, got 1000"
    with pytest.raises(ValueError) as caught:
        RunConfig(ring_dep_pool=(8, 8))
    assert str(caught.value) == "ring_dep_pool has 4 entries, one a ring, got 2"
