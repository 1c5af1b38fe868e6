"""runtime_cfg: which knobs there are and what they take."""

import pytest
import torch

from pypto_tmpl.runtime.options import RUNTIME_KNOBS, runtime_options, warn_without_records


def test_defaults():
    options = runtime_options(None)
    assert (options.platform.name, options.device_id) == ("a2a3sim", 0)
    assert options.torch_device == torch.device("cpu")
    assert options.dfx.enabled == ()


def test_none_is_the_default():
    names = ("platform", "device_id", "torch_device", "level", "log_level", "enable_pmu", "ring_heap")
    options = runtime_options(dict.fromkeys(names))
    assert (options.platform.name, options.device_id, options.dfx.enabled) == ("a2a3sim", 0, ())


def test_flags_that_are_off_are_taken_in_both_generations():
    old = {"enable_l2_swimlane": False, "enable_dump_tensor": False, "enable_pmu": 0, "enable_dep_gen": False}
    new = {"enable_chip_swimlane": 0, "enable_dump_args": 0, "enable_scope_stats": False}
    for flags in (old, new):
        assert runtime_options(flags).dfx.enabled == ()


def test_flags_that_are_on():
    with pytest.warns(DeprecationWarning, match="enable_l2_swimlane"):
        dfx = runtime_options({"enable_l2_swimlane": True, "enable_pmu": 2, "enable_dep_gen": True}).dfx
    assert dfx.enabled == ("enable_chip_swimlane", "enable_pmu", "enable_dep_gen")
    assert dfx.enable_chip_swimlane == 4
    assert (dfx.times_as_l2_records, dfx.dumps_as_tensor_dump) == (True, True)
    warn_without_records(dfx)  # all of these have records
    with pytest.warns(UserWarning) as caught:
        warn_without_records(runtime_options({"enable_scope_stats": True}).dfx)
    assert str(caught[0].message) == (
        "no records are written on a simulated platform for: enable_scope_stats"
    )


def test_the_name_of_a_flag_tells_its_generation():
    dfx = runtime_options({"enable_chip_swimlane": 1, "enable_dump_args": 2}).dfx
    assert (dfx.times_as_l2_records, dfx.dumps_as_tensor_dump) == (False, False)


def test_an_unknown_knob_names_the_knobs():
    with pytest.raises(TypeError) as caught:
        runtime_options({"platform": "a2a3sim", "devise_id": 0})
    assert str(caught.value) == (
        "error[knob]: runtime_cfg has no knob 'devise_id'\n"
        f"   = knobs: {', '.join(RUNTIME_KNOBS)}; did you mean 'device_id'?"
    )
    assert {"platform", "device_id", "log_level", "enable_l2_swimlane", "enable_chip_swimlane"} <= set(
        RUNTIME_KNOBS
    )


@pytest.mark.parametrize("value", ["0,1", [0, 1], (0,)])
def test_several_cards_are_refused(value):
    with pytest.raises(ValueError) as caught:
        runtime_options({"device_id": value})
    assert str(caught.value) == (
        f"error[multi-card]: device_id {value!r} names several cards\n   = programs run on one simulated card"
    )


@pytest.mark.parametrize(
    ("cfg", "text"),
    [
        ({"device_id": -1}, "device_id must be an int, 0 or more, got -1"),
        ({"device_id": "0"}, "device_id must be an int, 0 or more, got '0'"),
        ({"level": 3}, "level must be 2, one chip, got 3"),
        ({"ring_heap": 3}, "ring_heap must be a power of two, at least 1024, got 3"),
        ({"torch_device": "npu9000"}, "torch has no device 'npu9000'; examples: 'cpu', 'cuda', 'cuda:1'"),
        (
            {"enable_l2_swimlane": 1, "enable_chip_swimlane": 1},
            "enable_chip_swimlane and enable_l2_swimlane are the same flag: give only enable_chip_swimlane",
        ),
    ],
)
def test_values_that_knobs_do_not_take(cfg, text):
    with pytest.raises(ValueError) as caught:
        runtime_options(cfg)
    assert str(caught.value) == text


def test_a_cuda_device_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError) as caught:
        runtime_options({"torch_device": "cuda:1"})
    assert str(caught.value) == "torch_device 'cuda:1': torch sees no CUDA device here"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert runtime_options({"torch_device": "cuda:1"}).torch_device == torch.device("cuda", 1)


@pytest.mark.parametrize(
    ("event", "variable", "group"),
    [(4, "", 4), (3, "", 2), (9, "", 2), (4, "7", 7), (True, "1", 1), (4, "99", 2), (0, "4", 0)],
)
def test_the_event_group_that_is_recorded(monkeypatch, event, variable, group):
    monkeypatch.setenv("SIMPLER_PMU_EVENT_TYPE", variable)
    assert runtime_options({"enable_pmu": event}).dfx.enable_pmu == group


def test_an_event_group_that_is_none(monkeypatch):
    monkeypatch.setenv("SIMPLER_PMU_EVENT_TYPE", "memory")
    assert runtime_options(None).dfx.enable_pmu == 0
    with pytest.raises(
        ValueError, match="SIMPLER_PMU_EVENT_TYPE must be an event group, an int, got 'memory'"
    ):
        runtime_options({"enable_pmu": 2})
